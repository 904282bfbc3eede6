"""Models with the methods that scikit-learn calls."""

from __future__ import annotations

import numpy as np
import pytest

import agog_core as ag
from agog_keras.estimators import KerasClassifier, KerasRegressor
from agog_layers import Dense
from agog_testing import says
from agog_training import Sequential

XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def build(units: int = 2, loss: str = "binary_crossentropy") -> Sequential:
    last = Dense(2, activation="softmax") if loss == "categorical_crossentropy" else Dense(1, activation="sigmoid")
    model = Sequential([Dense(units, activation="tanh"), last])
    model.compile("adam", loss, metrics=["accuracy"])
    return model


@pytest.mark.parametrize("loss", ["binary_crossentropy", "categorical_crossentropy"])
def test_classifiers(loss: str) -> None:
    ag.set_random_seed(0)
    classifier = KerasClassifier(build, units=3, loss=loss, epochs=1, verbose=0)
    assert classifier.fit(XOR, np.array(["no", "yes", "yes", "no"])).epoch == [0]
    answers = classifier.predict(XOR).ravel()
    likely = classifier.predict_proba(XOR)
    assert answers.tolist() == [["no", "yes"][n] for n in likely.argmax(-1)]
    np.testing.assert_allclose(likely.sum(-1), np.ones(4), rtol=1e-5)
    score = classifier.score(XOR, np.array(["no", "yes", "yes", "no"]))
    assert score == pytest.approx((answers == ["no", "yes", "yes", "no"]).mean())
    assert classifier.set_params(epochs=2).get_params() == {
        "units": 3,
        "loss": loss,
        "epochs": 2,
        "verbose": 0,
        "build_fn": build,
    }


def test_regressors_and_wrong_arguments() -> None:
    def line() -> Sequential:
        model = Sequential([Dense(1, use_bias=False, kernel_initializer="ones", input_dim=2)])
        model.compile("sgd", "mse")
        return model

    regressor = KerasRegressor(line, epochs=0, verbose=0)
    regressor.fit(XOR, XOR.sum(-1))
    assert regressor.predict(XOR).tolist() == [0.0, 1.0, 1.0, 2.0]
    assert regressor.score(XOR, XOR.sum(-1) + 1) == -1.0
    with pytest.raises(ValueError, match="KerasRegressor: hue is not a legal parameter; known are"):
        KerasRegressor(line, hue=3)
    with says(ValueError, "KerasClassifier: build_fn must be a function that returns a compiled model."):
        KerasClassifier()
