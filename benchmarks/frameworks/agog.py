"""agog: eager calls, and functions traced by tf.function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import agog as tf


class Eager:
    """Each op runs when it is called."""

    family, module = "agog", tf

    def __init__(self, name: str, threads: int) -> None:
        self.name = name
        tf.config.threading.set_intra_op_parallelism_threads(threads)

    def tensor(self, array: np.ndarray) -> Any:
        return tf.constant(np.asarray(array))

    def variable(self, array: np.ndarray) -> Any:
        return tf.Variable(np.asarray(array))

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def gradient(
        self, formula: Callable[..., Any], inputs: Sequence[Any], sources: Sequence[int]
    ) -> Callable[..., Any]:
        weights = self.tensor(_weights(formula(*inputs).numpy()))

        def gradients(*arguments: Any) -> Any:
            watched = [arguments[number] for number in sources]
            with tf.GradientTape() as tape:
                tape.watch(watched)
                result = formula(*arguments)
            return result, tape.gradient(result, watched, output_gradients=weights)

        return self.compiled(gradients)

    def training(
        self, loss: Callable[..., Any], parameters: Sequence[Any], batch: Sequence[Any], rate: float
    ) -> Callable[[], Any]:
        optimizer = tf.train.AdamOptimizer(rate)

        def step(*arguments: Any) -> Any:
            with tf.GradientTape() as tape:
                value = loss(*parameters, *arguments)
            optimizer.apply_gradients(zip(tape.gradient(value, parameters), parameters, strict=True))
            return value

        step = self.compiled(step)
        return lambda: step(*batch)

    def number(self, result: Any) -> float:
        return float(sum(np.abs(np.asarray(part, np.float64)).sum() for part in tf.nest.flatten(result)))


class Traced(Eager):
    """The whole function is traced once, and compiled at once, not when it has run for long."""

    def __init__(self, name: str, threads: int) -> None:
        super().__init__(name, threads)
        tf.config.compile_functions_at_once(True)

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return tf.function(function)


def _weights(result: np.ndarray) -> np.ndarray:
    """The gradient that comes in: unlike numbers, as a network's would be."""
    return np.linspace(-1, 1, result.size, dtype=result.dtype).reshape(result.shape)
