"""What programs of Keras 2 pass to models, and expect of them."""

from __future__ import annotations

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
