"""Small: ops whose computation takes no time, so that what a call costs is seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.frameworks import Framework
from benchmarks.kinds import SEED, Case, Gradient, Repeated, normal


class Add(Repeated):
    """`a + b` of three elements."""

    def arrays(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return normal(rng, 3), normal(rng, 3)

    def agog(self, tf: Any, a: Any, b: Any) -> Any:
        return a + b

    torch = jax = agog


class AddRecorded(Gradient):
    """`a + b` of three elements, and both gradients."""

    arrays, agog, torch, jax = Add.arrays, Add.agog, Add.agog, Add.agog


class Matmul(Repeated):
    """A product of 2 x 2 matrices."""

    def arrays(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return normal(rng, 2, 2), normal(rng, 2, 2)

    def agog(self, tf: Any, a: Any, b: Any) -> Any:
        return a @ b

    torch = jax = agog


class Square(Gradient):
    """The gradient of `x * x` of one number."""

    def arrays(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return (np.float32(3) + np.zeros((), np.float32),)

    def agog(self, tf: Any, x: Any) -> Any:
        return x * x

    torch = jax = agog


class Chain(Gradient):
    """50 ops of three elements in a chain, and the gradient."""

    def arrays(self, rng: np.random.Generator) -> Sequence[np.ndarray]:
        return (normal(rng, 3),)

    def agog(self, tf: Any, x: Any) -> Any:
        return self._chain(tf.sin, x)

    torch = agog

    def jax(self, jax: Any, x: Any) -> Any:
        return self._chain(jax.numpy.sin, x)

    def _chain(self, sin: Callable[[Any], Any], x: Any) -> Any:
        y = x
        for _ in range(25):
            y = sin(y) * x
        return y


class Huber(Case):
    """A step of linear regression on one example, with Python's `if` inside the loss."""

    unit = "step"

    def program(self, framework: Framework) -> Callable[[], Any]:
        x, y = normal(np.random.default_rng(SEED), 2)
        parameters = [framework.variable(np.zeros((), np.float32)) for _ in range(2)]
        return framework.training(self.formula(framework), parameters, [framework.tensor(a) for a in (x, y)], 1e-6)

    def agog(self, tf: Any, w: Any, b: Any, x: Any, y: Any) -> Any:
        error = y - (w * x + b)
        return error * error if abs(error) <= 1 else 2 * abs(error) - 1

    torch = agog

    def jax(self, jax: Any, w: Any, b: Any, x: Any, y: Any) -> Any:
        error = y - (w * x + b)
        return jax.numpy.where(abs(error) <= 1, error * error, 2 * abs(error) - 1)


SMALL = (Add(), AddRecorded(), Matmul(), Square(), Chain(), Huber())
