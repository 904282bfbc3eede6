"""Models with several outputs, also of one layer: each has its name, its loss and its metrics, as in Keras."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agog_layers import LSTM, Dense, Input, Layer
from agog_training import Model

RANDOM = np.random.RandomState(0)
X, H, C = (RANDOM.rand(*shape).astype("float32") for shape in ((6, 4, 3), (6, 2), (6, 2)))
WEIGHTS = RANDOM.rand(6).astype("float32")


def states() -> Any:
    """A model whose two outputs are the states of one LSTM."""
    x = Input((4, 3), name="x")
    _, hidden, cell = LSTM(2, return_state=True, name="lstm")(x)
    return Model(x, [hidden, cell], name="states")


def squares(model: Any) -> list[Any]:
    """The squared errors of the outputs, for each example, in float64."""
    hidden, cell = (part.astype("float64") for part in model.predict(X))
    return [((hidden - H) ** 2).mean(axis=1), ((cell - C) ** 2).mean(axis=1)]


def test_outputs_of_one_layer_are_numbered() -> None:
    assert states().output_names == ["lstm", "lstm_1"]
    x = Input((4, 3))
    sequence, hidden, cell = LSTM(2, return_state=True, name="a")(x)
    one = Dense(1, name="a_1")(hidden)
    assert Model(x, [sequence, hidden, one, cell, one]).output_names == ["a", "a_1", "a_1_1", "a_2", "a_1_2"]


LOSSES: list[Any] = ["mse", ["mse", "mse"], {"lstm": "mse", "lstm_1": "mse"}]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("factors", [None, [2.0, 0.5], {"lstm_1": 0.5, "lstm": 2.0}])
@pytest.mark.parametrize("jit_compile", [False, True])
def test_each_output_has_its_loss(loss: Any, factors: Any, jit_compile: bool) -> None:
    model = states()
    model.compile("sgd", loss, ["mae"], loss_weights=factors, jit_compile=jit_compile)
    names = ["loss", "lstm_loss", "lstm_1_loss", "lstm_mae", "lstm_1_mae"]
    assert model.metrics_names == names
    first, second = (errors.mean() for errors in squares(model))
    a, b = (1.0, 1.0) if factors is None else (2.0, 0.5)
    expected = [a * first + b * second, first, second]
    np.testing.assert_allclose(model.test_on_batch(X, [H, C])[:3], expected, rtol=1e-5)
    np.testing.assert_allclose(model.evaluate(X, {"lstm": H, "lstm_1": C}, verbose=0)[:3], expected, rtol=1e-5)
    np.testing.assert_allclose(model.train_on_batch(X, [H, C])[:3], expected, rtol=1e-5)
    first, second = (errors.mean() for errors in squares(model))
    history = model.fit(X, [H, C], batch_size=6, validation_data=(X, [H, C]), verbose=0).history
    assert list(history) == [*names, *(f"val_{name}" for name in names)]
    np.testing.assert_allclose([history[name][0] for name in names[:3]], [a * first + b * second, first, second], 1e-5)
    assert [part.shape for part in model.predict(X)] == [(6, 2), (6, 2)]


@pytest.mark.parametrize("given", [[WEIGHTS, None], {"lstm": WEIGHTS}])
def test_weights_of_the_examples_of_one_output(given: Any) -> None:
    model = states()
    model.compile("sgd", "mse", weighted_metrics={"lstm": ["mse"]})
    assert model.metrics_names == ["loss", "lstm_loss", "lstm_1_loss", "lstm_weighted_mse"]
    first, second = squares(model)
    weighted = (first * WEIGHTS).sum() / WEIGHTS.sum()
    expected = [weighted + second.mean(), weighted, second.mean(), weighted]
    np.testing.assert_allclose(model.evaluate(X, [H, C], sample_weight=given, verbose=0), expected, rtol=1e-5)


def test_a_layer_with_two_outputs_of_its_own() -> None:
    class Both(Layer):
        def call(self, inputs: Any) -> Any:
            return inputs, 2.0 * inputs

    x = Input((2,))
    model = Model(x, Both(name="both")(Dense(2, kernel_initializer="zeros", bias_initializer="ones")(x)))
    model.compile("sgd", {"both": "mse", "both_1": "mae"})
    assert model.metrics_names == ["loss", "both_loss", "both_1_loss"]
    assert model.train_on_batch(H, [np.zeros((6, 2)), np.zeros((6, 2))]) == [3.0, 1.0, 2.0]


@pytest.mark.parametrize("labels", [C, [C], {"lstm_1": C}])
def test_an_output_without_a_loss_needs_no_labels(labels: Any) -> None:
    model = states()
    model.compile("sgd", [None, "mse"])
    assert model.metrics_names == ["loss", "lstm_1_loss"]
    expected = squares(model)[1].mean()
    np.testing.assert_allclose(model.evaluate(X, labels, verbose=0), [expected, expected], rtol=1e-5)


def test_a_metric_that_is_given_twice_has_two_names() -> None:
    model = states()
    model.compile("sgd", "mse", metrics={"lstm": ["mae", "mae"]})
    assert model.metrics_names == ["loss", "lstm_loss", "lstm_1_loss", "lstm_mae", "lstm_mae_1"]
    results = model.evaluate(X, [H, C], verbose=0, return_dict=True)
    assert list(results) == model.metrics_names
    assert results["lstm_mae"] == results["lstm_mae_1"]


def test_a_metric_object_for_all_outputs_adds_up_each_of_them() -> None:
    from agog_layers.metrics.keras import MeanSquaredError

    model = states()
    model.compile("sgd", "mse", metrics=[MeanSquaredError(name="error")])
    results = model.evaluate(X, [H, C], verbose=0, return_dict=True)
    np.testing.assert_allclose(results["lstm_error"], squares(model)[0].mean(), rtol=1e-5)
    np.testing.assert_allclose(results["lstm_1_error"], squares(model)[1].mean(), rtol=1e-5)


def test_a_metric_object_without_a_description_counts_one_output() -> None:
    class Seen:
        name = "seen"

        def __call__(self, y: Any, output: Any) -> None: ...
        def reset_states(self) -> None: ...
        def result(self) -> float:
            return 1.0

        def __repr__(self) -> str:
            return "<Seen>"

    model = states()
    text = (
        "^Model 'states': the metric <Seen> adds up one output, and cannot be made anew for another one, since it has "
        r"no description; give each output its own: metrics=\{output: \[\.\.\.\]\}\.$"
    )
    with pytest.raises(ValueError, match=text):
        model.compile("sgd", "mse", metrics=[Seen()])
    model.compile("sgd", "mse", metrics={"lstm": [Seen()]})
    assert model.evaluate(X, [H, C], verbose=0)[-1] == 1.0
