"""Models whose steps are traced: the same losses, weights, slots and random numbers, to the bit."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import BatchNormalization, Dense, Dropout, Embedding, Flatten, Masking, SimpleRNN
from agog_training import Model, Sequential, load_model
from agog_training.callbacks import LambdaCallback

X = np.random.RandomState(0).rand(40, 6).astype("float32")
Y = np.random.RandomState(1).randint(0, 3, 40)


def network() -> Sequential:
    first = Dense(8, activation="relu", input_shape=(6,), name="first")
    rest = [BatchNormalization(name="norm"), Dropout(0.3), Dense(3, activation="softmax", name="last")]
    return Sequential([first, *rest], name="net")


def trained(make: Any, jit: bool, x: Any = X, y: Any = Y, **options: Any) -> tuple[Any, ...]:
    """A model, its history, its weights and its optimizer's state after three epochs."""
    ag.set_random_seed(5)
    model = make()
    loss = options.pop("loss", "sparse_categorical_crossentropy")
    model.compile(options.pop("optimizer", "adam"), loss, ["accuracy"], jit_compile=jit)
    history = model.fit(x, y, batch_size=16, epochs=3, verbose=0, **options)
    state = [v.numpy() for v in model.optimizer.variables()]
    return model, history.history, model.get_weights(), state, ag.random.generator().get_state()["counters"]


def same(make: Any, *args: Any, **options: Any) -> Any:
    eager, jit = trained(make, False, *args, **options), trained(make, True, *args, **options)
    assert eager[1] == jit[1]
    for one, two in zip([*eager[2], *eager[3]], [*jit[2], *jit[3]], strict=True):
        np.testing.assert_array_equal(one, two)
    assert eager[4] == jit[4]
    return jit[0]


@pytest.mark.parametrize("optimizer", ["adam", "sgd", "rmsprop", "nadam"])
def test_training_is_bit_equal(optimizer: str) -> None:
    model = same(network, optimizer=optimizer, validation_split=0.2)
    assert model._compiled is not None
    (step,) = [f for f in model._compiled._steps.values() if f.__name__ == "_train"]
    assert len(step.traces()) <= 3  # one that makes slots, one for whole batches, one for the last


def test_weights_of_examples_and_classes() -> None:
    same(network, sample_weight=np.random.RandomState(2).rand(40).astype("float32"))
    same(network, class_weight={0: 1.0, 1: 2.0, 2: 0.5})


def test_masks_and_lookups() -> None:
    steps = np.random.RandomState(3).rand(20, 5, 4).astype("float32")
    steps[:, 3:] = 0
    same(lambda: Sequential([Masking(input_shape=(5, 4)), SimpleRNN(4), Dense(3, activation="softmax")]), steps, Y[:20])
    ids = np.random.RandomState(4).randint(0, 9, (20, 5))
    same(lambda: Sequential([Embedding(9, 4, input_length=5), Flatten(), Dense(3, activation="softmax")]), ids, Y[:20])


class Noisy(Model):
    """A model with a step of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = Dense(3)

    def call(self, inputs: Any) -> Any:
        return self.dense(inputs)

    def train_step(self, data: Any) -> dict[str, Any]:
        x, y = data
        with ag.GradientTape() as tape:
            logits = self(x + 0.1 * ag.random_normal(ag.shape(x)))
            loss = ag.reduce_mean(ag.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.weights), self.weights, strict=True))
        return {"loss": loss}


def test_a_step_of_ones_own() -> None:
    same(Noisy, loss=None)


def test_freezing_a_layer_is_seen() -> None:
    model = network()
    model.compile("sgd", "sparse_categorical_crossentropy", jit_compile=True)
    for _ in range(3):
        model.train_on_batch(X, Y)
    model.layers[0].trainable = False
    model.compile(model.optimizer, "sparse_categorical_crossentropy", jit_compile=True)
    before = model.layers[0].get_weights()[0]
    last = model.layers[-1].get_weights()[0]
    model.train_on_batch(X, Y)
    np.testing.assert_array_equal(before, model.layers[0].get_weights()[0])
    assert not np.array_equal(last, model.layers[-1].get_weights()[0])


def test_predict_and_evaluate() -> None:
    model = same(network)
    answers, results = model.predict(X), model.evaluate(X, Y, verbose=0)
    model.compile(model.optimizer, "sparse_categorical_crossentropy", ["accuracy"])
    np.testing.assert_array_equal(answers, model.predict(X))
    assert results == model.evaluate(X, Y, verbose=0)


def test_copies_trace_their_own() -> None:
    model = same(network)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        before = model.get_weights()
        other.train_on_batch(X, Y)
        for one, two in zip(before, model.get_weights(), strict=True):
            np.testing.assert_array_equal(one, two)
        assert not np.array_equal(other.get_weights()[0], before[0])


def test_a_model_file_trains_on(tmp_path: Any) -> None:
    model = same(network)
    model.save(tmp_path / "m.agog")
    loaded = load_model(tmp_path / "m.agog")
    state = ag.random.generator().get_state()
    first = model.train_on_batch(X, Y)
    ag.random.generator().set_state(state)
    assert loaded.train_on_batch(X, Y) == first


def test_callbacks_see_what_they_see() -> None:
    seen: list[dict[str, Any]] = []
    ag.set_random_seed(1)
    model = network()
    model.compile("adam", "sparse_categorical_crossentropy", jit_compile=True)
    model.fit(X, Y, verbose=0, callbacks=[LambdaCallback(on_batch_end=lambda n, logs: seen.append(dict(logs)))])
    assert [each["batch"] for each in seen] == [0, 1]
    assert all(isinstance(each["loss"], float) for each in seen)
