"""jax: JAX's compiled functions; Adam is written out, as in its documentation."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class Compiled:
    """jax.jit of the whole function."""

    family = "jax"

    def __init__(self, name: str, threads: int) -> None:
        self.name = name
        if threads == 1:  # XLA reads it when it is imported; for more threads the process's processors are its limit
            os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        import jax

        self.module = jax

    def tensor(self, array: np.ndarray) -> Any:
        return self.module.numpy.asarray(np.asarray(array))

    variable = tensor

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        compiled = self.module.jit(function)
        return lambda *arguments: self.module.block_until_ready(compiled(*arguments))

    def gradient(
        self, formula: Callable[..., Any], inputs: Sequence[Any], sources: Sequence[int]
    ) -> Callable[..., Any]:
        result = formula(*inputs)
        weights = self.tensor(np.linspace(-1, 1, result.size, dtype=result.dtype).reshape(result.shape))

        def gradients(*arguments: Any) -> Any:
            def watched(*chosen: Any) -> Any:
                mine = list(arguments)
                for number, argument in zip(sources, chosen, strict=True):
                    mine[number] = argument
                return formula(*mine)

            result, backward = self.module.vjp(watched, *(arguments[number] for number in sources))
            return result, backward(weights)

        return self.compiled(gradients)

    def training(
        self, loss: Callable[..., Any], parameters: Sequence[Any], batch: Sequence[Any], rate: float
    ) -> Callable[[], Any]:
        np_, tree = self.module.numpy, self.module.tree

        def update(state: Any, batch: Any) -> Any:
            t, parameters, means, squares = state
            value, gradients = self.module.value_and_grad(lambda p: loss(*p, *batch))(parameters)
            t = t + 1
            means = tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, gradients)
            squares = tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, squares, gradients)
            scale = rate * np_.sqrt(1 - 0.999**t) / (1 - 0.9**t)
            parameters = tree.map(lambda p, m, v: p - scale * m / (np_.sqrt(v) + 1e-8), parameters, means, squares)
            return (t, parameters, means, squares), value

        update = self.module.jit(update, donate_argnums=0)
        zeros = [np_.zeros_like(parameter) for parameter in parameters]
        state = (np_.float32(0), list(parameters), zeros, [zero + 0 for zero in zeros])

        def step() -> Any:
            nonlocal state
            state, value = update(state, batch)
            return self.module.block_until_ready(value)

        return step

    def number(self, result: Any) -> float:
        return float(sum(np.abs(np.asarray(part, np.float64)).sum() for part in self.module.tree.leaves(result)))
