"""Arguments that a method does not have, and those that change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agog_layers import BatchNormalization, Dense, Layer
from agog_layers.merging.functions import add
from agog_testing import says
from agog_training import Model, Sequential

X = np.ones((4, 3), np.float32)
Y = np.ones((4, 1), np.float32)


def compiled() -> Any:
    model = Sequential([Dense(1, input_shape=(3,), kernel_initializer="zeros")])
    model.compile("sgd", "mse")
    return model


class Derived(Layer):
    """Its constructor hands on what it does not know."""

    def __init__(self, size: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.size = size


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda: compiled().fit(X, Y, epoch=3), "fit has no argument 'epoch'; did you mean 'epochs'?"),
        (lambda: compiled().fit(X, Y, batchsize=3), "fit has no argument 'batchsize'; did you mean 'batch_size'?"),
        (
            lambda: compiled().fit(X, Y, validation_dat=(X, Y)),
            "fit has no argument 'validation_dat'; did you mean 'validation_data'?",
        ),
        (lambda: compiled().fit(X, Y, callback=[]), "fit has no argument 'callback'; did you mean 'callbacks'?"),
        (lambda: compiled().fit(X, Y, worker=2), "fit has no argument 'worker'; did you mean 'workers'?"),
        (
            lambda: compiled().evaluate(X, Y, bach_size=2),
            "evaluate has no argument 'bach_size'; did you mean 'batch_size'?",
        ),
        (lambda: compiled().predict(X, step=2), "predict has no argument 'step'; did you mean 'steps'?"),
        (
            lambda: compiled().compile("sgd", "mse", metric=["mae"]),
            "compile has no argument 'metric'; did you mean 'metrics'?",
        ),
        (
            lambda: compiled().predict(X, zzz=2),
            "predict has no argument 'zzz'; its arguments are x, batch_size, verbose, steps, callbacks, "
            "max_queue_size, workers, use_multiprocessing.",
        ),
        (
            lambda: compiled().fit_generator(iter([(X, Y)]), steps_by_epoch=1),
            "fit has no argument 'steps_by_epoch'; did you mean 'steps_per_epoch'?",
        ),
        (
            lambda: compiled().evaluate_generator(iter([(X, Y)]), verbos=1),
            "evaluate has no argument 'verbos'; did you mean 'verbose'?",
        ),
        (
            lambda: compiled().predict_generator(iter([X]), verbos=1),
            "predict has no argument 'verbos'; did you mean 'verbose'?",
        ),
        (lambda: Dense(3, activaton="relu"), "Dense has no argument 'activaton'; did you mean 'activation'?"),
        (
            lambda: BatchNormalization(momentun=0.9),
            "BatchNormalization has no argument 'momentun'; did you mean 'momentum'?",
        ),
        (lambda: Derived(3, trainabel=False), "Derived has no argument 'trainabel'; did you mean 'trainable'?"),
        (lambda: Model(nam="m"), "Model has no argument 'nam'; did you mean 'name'?"),
        (lambda: add([X, X], nam="m"), "Add has no argument 'nam'; did you mean 'name'?"),
    ],
)
def test_misspelled(use: Any, text: str) -> None:
    with says(TypeError, text):
        use()


def test_what_has_no_effect_is_said() -> None:
    text = "no effect; read data in parallel with dataset.map(f, num_parallel_calls=n) and dataset.prefetch(n)."
    for use, names in (
        (lambda: compiled().fit(X, Y, verbose=0, workers=4), "fit: workers has"),
        (
            lambda: compiled().evaluate(X, Y, verbose=0, workers=2, use_multiprocessing=True),
            "evaluate: workers and use_multiprocessing have",
        ),
        (lambda: compiled().predict(X, max_queue_size=2), "predict: max_queue_size has"),
        (lambda: compiled().fit_generator(iter([(X, Y)]), verbose=0, workers=4), "fit: workers has"),
        (lambda: compiled().evaluate_generator(iter([(X, Y)]), workers=4), "evaluate: workers has"),
        (lambda: compiled().predict_generator(iter([X]), workers=4), "predict: workers has"),
    ):
        with pytest.warns(UserWarning, match="no effect") as caught:
            use()
        assert [str(each.message) for each in caught] == [f"{names} {text}"]
        assert caught[0].filename == __file__
    compiled().fit(X, Y, verbose=0, workers=1, max_queue_size=10, use_multiprocessing=False)  # Keras's defaults


def test_validation_steps_alone_are_an_error() -> None:
    with says(ValueError, "fit: validation_steps goes with validation_data; pass that too, or leave both out."):
        compiled().fit(X, Y, validation_steps=2)


def test_distribution_is_refused() -> None:
    model = compiled()
    with says(NotImplementedError, f"Model '{model.name}': compile does not support distribute; leave it out."):
        model.compile("sgd", "mse", distribute=object())
