"""What programs of Keras 2 pass to models, and expect of them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_data import Dataset
from agog_layers import Dense, Dropout, Embedding, Input, Masking, TimeDistributed
from agog_layers.merging.functions import concatenate
from agog_testing import says
from agog_training import Model, Sequential
from agog_training.callbacks import BaseLogger, ReduceLROnPlateau
from agog_training.estimators import KerasClassifier, KerasRegressor
from agog_training.preparing.time_series import TimeseriesGenerator
from agog_training.preparing.word_pairs import make_sampling_table, skipgrams
from agog_training.progress_bar import Progbar

XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def ones(**kwargs: Any) -> Dense:
    return Dense(1, use_bias=False, kernel_initializer="ones", **kwargs)


def test_integers_are_floats_where_a_model_takes_floats() -> None:
    for model in (
        Sequential([ones(input_dim=2)]),
        Sequential([ones()]),
        Sequential([Masking(5.0), TimeDistributed(ones())]),
    ):
        model.compile("sgd", "mse")
        x = XOR[:, :, None] if len(model.layers) > 1 else XOR
        assert model.train_on_batch(x, x.sum(-1, keepdims=True)) == 0.0
    words = Sequential([Embedding(5, 2), Dense(1)])
    assert words.predict(XOR).shape == (4, 2, 1)


def test_inputs_by_name_keep_their_dtypes() -> None:
    words, numbers = Input((1,), dtype="int32", name="words"), Input((2,), name="numbers")
    table = Embedding(5, 2)(words)
    joined = concatenate([table[:, 0], numbers])
    model = Model([words, numbers], ones()(joined))
    given = {"numbers": XOR, "words": np.array([[1], [2], [3], [4]])}
    np.testing.assert_array_equal(model.predict(given), model.predict([given["words"], XOR]))


def test_a_model_without_names_takes_those_of_keras() -> None:
    class Sum(Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = ones()

        def call(self, inputs: Any) -> Any:
            first, second = inputs
            return self.dense(first) + 10.0 * self.dense(second)

    a, b = np.float32([[1.0]]), np.float32([[2.0]])
    assert Sum().predict({"input_1": a, "input_2": b}).tolist() == [[21.0]]


def test_labels_of_integers() -> None:
    model = Sequential([ones(input_dim=2)])
    model.compile("sgd", lambda y, p: y * p, metrics=[lambda y, p: y * p])
    y = np.array([1, 0, 2, 1])
    expected = (y * XOR.sum(-1)).mean()
    assert model.evaluate(XOR, y, verbose=0) == [expected, expected]
    kinds: list[str] = []

    def asks(y: Any, p: Any) -> Any:
        kinds.append(y.dtype.name)
        return p

    model.compile("sgd", asks)
    model.evaluate(XOR, y, verbose=0)
    assert kinds == ["int64"]
    model.compile("sgd", lambda y, p: y @ p)
    with pytest.raises(ag.errors.InvalidArgumentError, match="int64"):
        model.evaluate(XOR, y, verbose=0)


def test_dropout_inside_of_a_call_that_knows_nothing_of_training() -> None:
    class Net(Model):
        def __init__(self) -> None:
            super().__init__()
            self.drop, self.dense = Dropout(0.5), ones()

        def call(self, inputs: Any) -> Any:
            return self.dense(self.drop(inputs))

    ag.set_random_seed(1)
    model = Net()
    x = np.ones((20, 10), np.float32)
    y = model.predict(x)
    assert y.tolist() == [[10.0]] * 20
    model.compile("sgd", "mse")
    assert model.evaluate(x, y, verbose=0) == 0.0
    assert model.train_on_batch(x, y) > 0.5


def test_batches_of_streams() -> None:
    data = Dataset.from_tensor_slices((np.float32(XOR), np.float32([[0], [1], [1], [3]]))).batch(4)
    model = Sequential([ones(input_dim=2)])
    model.compile("sgd", "mse")
    assert model.test_on_batch(data) == 0.25
    assert model.predict_on_batch(data).tolist() == [[0.0], [1.0], [1.0], [2.0]]
    assert model.train_on_batch(iter(data)) == 0.25
    with pytest.raises(
        ValueError, match="when input `x` is a dataset or a dataset iterator: you should not specify a target"
    ):
        model.train_on_batch(data, XOR)


def test_iterators_of_datasets_need_steps() -> None:
    data = Dataset.from_tensor_slices((np.float32(XOR), np.float32([[0], [1], [1], [3]]))).batch(2)
    model = Sequential([ones(input_dim=2)])
    model.compile("sgd", "mse")
    for what, limit, use in (
        ("fit", "steps_per_epoch", model.fit),
        ("evaluate", "steps", model.evaluate),
        ("predict", "steps", model.predict),
    ):
        with says(
            ValueError,
            f"{what}: an iterator of a Dataset gives its data once, so you should specify the `{limit}` argument, the "
            "number of batches to take; or pass the Dataset.",
        ):
            use(iter(data), verbose=0)
    assert model.evaluate(iter(data), steps=2, verbose=0) == 0.25
    assert model.predict(data.map(lambda x, y: x)).shape == (4, 1)


def test_lists_of_numbers_for_several_inputs() -> None:
    a, b = Input((2,)), Input((2,))
    model = Model([a, b], [ones()(a), ones()(b)])
    model.compile("sgd", "mse")
    x, y = [XOR.tolist(), (2 * XOR).tolist()], [XOR.sum(1).tolist(), (2 * XOR).sum(1).tolist()]
    assert model.evaluate(x, y, verbose=0) == [0.0, 0.0, 0.0]
    assert model.fit(x, y, verbose=0).history["loss"] == [0.0]
    assert [part.shape for part in model.predict(x)] == [(4, 1), (4, 1)]


def test_a_dict_is_no_input_of_a_sequential_model() -> None:
    model = Sequential([ones(name="first")], name="m")
    with says(
        ValueError,
        "Sequential 'm': Passing a dictionary input to a Sequential Model which doesnt have FeatureLayer as the first "
        "layer is an error; got a dict of ['a', 'b'] for 'first', which takes one tensor. Pass that, or use the "
        "functional API.",
    ):
        model.predict({"b": XOR, "a": XOR})


def test_weights_of_steps() -> None:
    model = Sequential([TimeDistributed(ones(), input_shape=(2, 1))])
    x, y = np.float32([[[1], [1]], [[0], [0]]]), np.ones((2, 2, 1), np.float32)
    for mode in ("temporal", ["temporal"], {"time_distributed": None}, None):
        if isinstance(mode, dict):
            mode = {model.layers[0].name: None}
        model.compile("sgd", "mse", sample_weight_mode=mode, weighted_metrics=["accuracy"])
        assert model.evaluate(x, y, sample_weight=np.float32([[3, 4], [1, 2]]), verbose=0) == pytest.approx([0.3, 0.7])
        assert model.evaluate(x, y, sample_weight=np.zeros((2, 2)), verbose=0) == [0.0, 0.0]
    name = model.layers[0].name
    for wrong, text in (
        ([], f"Model 'q': sample_weight_mode has 0 entries; the outputs are ['{name}']."),
        ({"a": None}, f"Model 'q': sample_weight_mode has ['a'], but the outputs are ['{name}']."),
        ("spatial", "Model 'q': sample_weight_mode must be None or 'temporal'; got 'spatial'."),
    ):
        again = Sequential([model.layers[0]], name="q")
        with says(ValueError, text):
            again.compile("sgd", "mse", sample_weight_mode=wrong)


def test_a_frozen_discriminator_trains_by_itself() -> None:
    judge = Sequential([ones(input_dim=1)])
    judge.compile("sgd", "mse")
    maker = Sequential([ones(input_dim=1)])
    judge.trainable = False
    z = Input((1,))
    both = Model(z, judge(maker(z)))
    both.compile("sgd", "mse")
    x, y = np.float32([[1.0]]), np.float32([[3.0]])
    with pytest.warns(UserWarning, match="trainable was changed"):
        judge.train_on_batch(x, y)
    seen = judge.get_weights()[0].item()
    assert seen == pytest.approx(1.04)
    both.train_on_batch(x, y)
    assert judge.get_weights()[0].item() == seen
    assert maker.get_weights()[0].item() > 1.0


def test_classes_and_older_callbacks() -> None:
    model = Sequential([Dense(2, input_dim=2, kernel_initializer="identity")])
    assert model.predict_classes(np.float32([[1, 0], [0, 1]])).tolist() == [0, 1]
    one = Sequential([ones(input_dim=1)])
    assert one.predict_classes(np.float32([[0.75], [0.25]])).tolist() == [[1], [0]]
    assert one.predict_proba(np.float32([[0.75]])).tolist() == [[0.75]]
    assert ReduceLROnPlateau(epsilon=0.5).min_delta == 0.5
    one.compile("sgd", "mse")
    one.fit(np.ones((1, 1)), np.ones(1), verbose=0, callbacks=[BaseLogger(stateful_metrics=["acc"])])


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
        model = Sequential([ones(input_dim=2)])
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


def test_windows_of_series() -> None:
    x, y = np.arange(20).reshape(10, 2), np.arange(10)
    batches = TimeseriesGenerator(x, y, length=4, sampling_rate=2, stride=2, batch_size=2, reverse=True)
    assert len(batches) == 2
    windows, targets = batches[1]
    assert targets.tolist() == [8]
    assert windows[0].tolist() == [x[6].tolist(), x[4].tolist()]
    for make, text in (
        (
            lambda: TimeseriesGenerator([1, 2], [1], 1),
            "TimeseriesGenerator: data and targets must have the same length; got 2 and 1.",
        ),
        (
            lambda: TimeseriesGenerator([1, 2], [1, 2], 2),
            "TimeseriesGenerator: `start_index+length=2 > end_index=1` is disallowed, since no window lies between "
            "them.",
        ),
    ):
        with says(ValueError, text):
            make()


def test_pairs_of_words() -> None:
    random.seed(5)
    pairs, labels = skipgrams([1, 0, 2, 3], 4, window_size=1, negative_samples=2.0, categorical=True)
    near = [pair for pair, label in zip(pairs, labels, strict=True) if label == [0, 1]]
    assert sorted(near) == [[2, 3], [3, 2]]
    assert len(pairs) == 6
    assert all(1 <= other < 4 for _, other in pairs)
    kept, _ = skipgrams([1, 2], 3, sampling_table=np.zeros(3), negative_samples=0)
    assert kept == []
    table = make_sampling_table(100, 1e-3)
    rank = 50
    frequency = 1 / (rank * (np.log(rank) + 0.577) + 0.5 - 1 / (12 * rank))
    assert table[rank] == pytest.approx(min(1, np.sqrt(1e-3 / frequency)))


def test_bars(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Progbar(4, verbose=2, stateful_metrics=["rate"])
    bar.add(3, [("loss", 1.0), ("rate", 5.0)])
    bar.add(1, [("loss", 5.0), ("rate", 7.0)])
    assert capsys.readouterr().out == "4/4  loss: 2.0000  rate: 7.0000\n"
    shown = Progbar(2)
    shown.update(2)
    assert "2/2" in capsys.readouterr().err
