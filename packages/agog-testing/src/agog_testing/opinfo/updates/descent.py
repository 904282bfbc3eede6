"""Descent: facts about the ops of agog_core.ops.updates.descent."""

from __future__ import annotations

from collections.abc import Iterator

from agog_testing.opinfo.info import Array, Sample
from agog_testing.opinfo.steps import step_info, step_samples
from agog_testing.opinfo.values import Rng, is_float


def _add_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    scales: tuple[float, ...] = (1, 2) if dtype.startswith("u") else (1, 2, -1)
    if is_float(dtype):
        scales = (*scales, 0.5)
    yield from step_samples(2, *({"scale": scale} for scale in scales))(dtype, rng)


def _gradient_descent(variable: Array, gradient: Array, learning_rate: float) -> tuple[Array, ...]:
    return (variable - learning_rate * gradient,)


def _momentum(
    variable: Array, accumulation: Array, gradient: Array, learning_rate: float, momentum: float, use_nesterov: bool
) -> tuple[Array, ...]:
    accumulation = momentum * accumulation + gradient
    direction = gradient + momentum * accumulation if use_nesterov else accumulation
    return variable - learning_rate * direction, accumulation


def _keras_momentum(
    variable: Array, velocity: Array, gradient: Array, learning_rate: float, momentum: float, use_nesterov: bool
) -> tuple[Array, ...]:
    velocity = momentum * velocity - learning_rate * gradient
    return variable + (momentum * velocity - learning_rate * gradient if use_nesterov else velocity), velocity


_HEAVY = {"learning_rate": 0.1, "momentum": 0.9, "use_nesterov": False}

INFOS = (
    step_info(
        "apply_add",
        lambda variable, delta, scale: (variable + scale * delta,),
        2,
        {"scale": 1},
        samples=_add_samples,
    ),
    step_info("apply_gradient_descent", _gradient_descent, 2, {"learning_rate": 0.1}),
    step_info("apply_keras_momentum", _keras_momentum, 3, _HEAVY, {**_HEAVY, "use_nesterov": True}),
    step_info("apply_momentum", _momentum, 3, _HEAVY, {**_HEAVY, "use_nesterov": True}),
)
