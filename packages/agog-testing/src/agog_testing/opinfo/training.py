"""Facts about the ops of agog_core.ops.training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_core.errors import InvalidArgumentError
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import Rng, constant, is_float, uniform

# The last one is longer than a kernel that works in pieces is likely to take at once.
_SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (2, 3), (0,), (67,), (40_001,))
# Steps round after each operation, those of half precision coarsely.
_TOLERANCES = {"float16": (1e-2, 1e-2), "bfloat16": (1e-1, 1e-1), "float32": (1e-5, 1e-5), "float64": (1e-12, 1e-12)}


def _samples(
    count: int, *attributes: dict[str, Any], slots_positive: bool = False
) -> Callable[[str, Rng], Iterator[Sample]]:
    """Samples of a step: ``count`` arrays of one shape, the variable first and the gradient last."""

    def samples(dtype: str, rng: Rng) -> Iterator[Sample]:
        for shape in _SHAPES:
            for kwargs in attributes if shape == (2, 3) else attributes[:1]:
                arrays = [
                    uniform(dtype, rng, shape, 0.1 if 0 < n < count - 1 and slots_positive else -3)
                    for n in range(count)
                ]
                yield Sample(f"shape {shape}, {kwargs}", tuple(arrays), kwargs)
        if is_float(dtype):
            special = [constant(dtype, [1.0, 1.0]) for _ in range(count - 1)]
            yield Sample("NaN and infinite gradients", (*special, constant(dtype, [np.nan, np.inf])), attributes[0])

    return samples


def _add_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    scales: tuple[float, ...] = (1, 2) if dtype.startswith("u") else (1, 2, -1)
    if is_float(dtype):
        scales = (*scales, 0.5)
    yield from _samples(2, *({"scale": scale} for scale in scales))(dtype, rng)


def _gradient_descent(variable: Array, gradient: Array, learning_rate: float) -> tuple[Array, ...]:
    return (variable - learning_rate * gradient,)


def _momentum(
    variable: Array, accumulation: Array, gradient: Array, learning_rate: float, momentum: float, use_nesterov: bool
) -> tuple[Array, ...]:
    accumulation = momentum * accumulation + gradient
    direction = gradient + momentum * accumulation if use_nesterov else accumulation
    return variable - learning_rate * direction, accumulation


def _adam(
    variable: Array,
    m: Array,
    v: Array,
    gradient: Array,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[Array, ...]:
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * gradient**2
    return variable - learning_rate * m / (np.sqrt(v) + epsilon), m, v


def _errors(op: str, count: int, **kwargs: Any) -> tuple[ErrorSample, ...]:
    same = [np.ones(2, np.float32)] * (count - 1)
    last = "delta" if op == "apply_add" else "gradient"
    return (
        ErrorSample(
            (*same, np.ones(3, np.float32)),
            kwargs,
            InvalidArgumentError,
            f"{op}: {last} has shape (3,); variable 'Variable:0' has shape (2,).",
        ),
        ErrorSample(
            (*same, np.ones(2)),
            kwargs,
            InvalidArgumentError,
            f"{op}: variable has dtype float32 and {last} has dtype float64 (shapes (2,) and (2,)), but they must be "
            "of one dtype; cast "
            f"one of them, such as tf.cast({last}, tf.float32).",
        ),
    )


_RATE = {"learning_rate": 0.1}
_HEAVY = {**_RATE, "momentum": 0.9, "use_nesterov": False}
_ADAM = {**_RATE, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-2}

INFOS = (
    OpInfo(
        name="apply_add",
        samples=_add_samples,
        reference=lambda variable, delta, scale: (variable + scale * delta,),
        differentiable=False,
        errors=_errors("apply_add", 2, scale=1),
        tolerances=_TOLERANCES,
    ),
    OpInfo(
        name="apply_gradient_descent",
        samples=_samples(2, _RATE),
        reference=_gradient_descent,
        differentiable=False,
        errors=_errors("apply_gradient_descent", 2, **_RATE),
        tolerances=_TOLERANCES,
    ),
    OpInfo(
        name="apply_momentum",
        samples=_samples(3, _HEAVY, {**_HEAVY, "use_nesterov": True}),
        reference=_momentum,
        differentiable=False,
        errors=_errors("apply_momentum", 3, **_HEAVY),
        tolerances=_TOLERANCES,
    ),
    OpInfo(
        name="apply_adam",
        samples=_samples(4, _ADAM, slots_positive=True),
        reference=_adam,
        differentiable=False,
        errors=_errors("apply_adam", 4, **_ADAM),
        tolerances=_TOLERANCES,
    ),
)
