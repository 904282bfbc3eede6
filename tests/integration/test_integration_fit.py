"""fit with datasets: as with arrays, and resumed in the middle with the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import agog as tf
from agog_core.random import generator
from agog_testing import says

RNG = np.random.default_rng(4)
X = RNG.normal(size=(50, 4)).astype(np.float32)
Y = RNG.integers(0, 3, size=50)


def make() -> Any:
    tf.set_random_seed(2)
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(8, activation="relu", input_shape=(4,)),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.Dropout(0.2),
            tf.keras.layers.Dense(3, activation="softmax"),
        ]
    )
    model.compile(tf.keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def test_datasets_train_as_arrays_do() -> None:
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(16)
    tests = tf.data.Dataset.from_tensor_slices((X[:10], Y[:10])).batch(4)
    by_arrays = make().fit(X, Y, 16, 3, verbose=0, shuffle=False, validation_data=(X[:10], Y[:10])).history
    by_datasets = make().fit(dataset, epochs=3, verbose=0, validation_data=tests).history
    in_steps = make().fit(
        dataset.repeat(), epochs=3, steps_per_epoch=4, verbose=0, validation_data=tests.repeat(), validation_steps=3
    )
    assert list(by_arrays) == ["loss", "accuracy", "val_loss", "val_accuracy"]
    for name, values in by_arrays.items():
        np.testing.assert_allclose(by_datasets[name], values, rtol=1e-6)
        assert in_steps.history[name] == by_datasets[name]


def test_datasets_that_never_end_are_an_error_at_the_start() -> None:
    def unread(*_: Any) -> Any:
        raise AssertionError("a batch was read")

    endless = tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(16).map(unread)
    finite = tf.data.Dataset.from_tensor_slices((X, Y)).batch(16)
    text = (
        "{}: the data never ends, so you should specify the `{}` argument, the number of batches to take; or end the "
        "data with dataset.take(n), or with dataset.repeat(n) in place of dataset.repeat()."
    )
    for use, what in (
        (lambda: make().fit(endless, verbose=0), ("fit", "steps_per_epoch")),
        (lambda: make().fit(finite, validation_data=endless, verbose=0), ("fit", "validation_steps")),
        (lambda: make().evaluate(endless, verbose=0), ("evaluate", "steps")),
        (lambda: make().predict(endless), ("predict", "steps")),
    ):
        with says(ValueError, text.format(*what)):
            use()


def test_sample_weights_come_with_datasets() -> None:
    weights = RNG.uniform(0.5, 2.0, size=50).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((X, Y, weights)).batch(16)
    by_arrays = make().fit(X, Y, 16, 2, sample_weight=weights, verbose=0, shuffle=False).history
    assert make().fit(dataset, epochs=2, verbose=0).history == by_arrays


def test_a_training_resumes_with_the_same_bits(tmp_path: Path) -> None:
    def train(model: Any, first: int, last: int) -> dict[str, list[float]]:
        history = model.fit(X, Y, 16, last, initial_epoch=first, verbose=0).history
        return dict(history)

    whole = train(make(), 0, 4)
    model = make()
    train(model, 0, 2)
    saved = tf.train.Checkpoint(model=model, random=generator()).save(tmp_path / "c")
    model = make()
    tf.train.Checkpoint(model=model, random=generator()).restore(saved)
    assert train(model, 2, 4) == {name: values[2:] for name, values in whole.items()}


def test_predictions_of_datasets() -> None:
    model = make()
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(16)
    np.testing.assert_allclose(model.predict(dataset), model.predict(X), rtol=1e-6)
    assert model.evaluate(dataset, verbose=0) == model.evaluate(X, Y, batch_size=16, verbose=0)


def test_a_dataset_without_batches_or_elements_says_so() -> None:
    dataset = tf.data.Dataset.from_tensor_slices((X, Y))
    unknown = tf.keras.Sequential([tf.keras.layers.Dense(3)])
    unknown.compile("sgd", "sparse_categorical_crossentropy")
    start = "fit: the data gives x of shape (4,) and y of shape (), but "
    for model, wanted in [
        (make(), "the model takes (?, 4)"),
        (unknown, "a batch has its examples along the first axis of each part"),
    ]:
        with says(ValueError, f"{start}{wanted}. Did you forget .batch(), as in dataset.batch(32)?"):
            model.fit(dataset, verbose=0)
        assert len(model.fit(dataset.batch(25), verbose=0).epoch) == 1
        with says(ValueError, "fit: the Dataset has no elements, so there is no batch."):
            model.fit(dataset.take(0).batch(25), verbose=0)
