"""Adam: facts about the ops of agog_core.ops.updates.adam."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from agog_testing.opinfo.info import Array, Sample
from agog_testing.opinfo.steps import step_info, step_samples
from agog_testing.opinfo.values import Rng

Arrays = tuple[Array, ...]


def _means(m: Array, v: Array, gradient: Array, beta1: float, beta2: float) -> Arrays:
    return beta1 * m + (1 - beta1) * gradient, beta2 * v + (1 - beta2) * gradient**2


def _adam(
    variable: Array,
    m: Array,
    v: Array,
    gradient: Array,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    use_nesterov: bool = False,
    weight_decay: float = 0.0,
) -> Arrays:
    m, v = _means(m, v, gradient, beta1, beta2)
    ahead = beta1 * m + (1 - beta1) * gradient if use_nesterov else m
    return variable - weight_decay * variable - learning_rate * ahead / (np.sqrt(v) + epsilon), m, v


def _amsgrad(
    variable: Array,
    m: Array,
    v: Array,
    largest: Array,
    gradient: Array,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> Arrays:
    m, v = _means(m, v, gradient, beta1, beta2)
    largest = np.maximum(largest, v)
    return variable - learning_rate * m / (np.sqrt(largest) + epsilon), m, v, largest


def _adamax(
    variable: Array,
    m: Array,
    v: Array,
    gradient: Array,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> Arrays:
    m = beta1 * m + (1 - beta1) * gradient
    v = np.maximum(beta2 * v, np.abs(gradient))
    return variable - learning_rate * m / (v + epsilon), m, v


def _nadam(
    variable: Array,
    m: Array,
    v: Array,
    gradient: Array,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    mean_share: float,
    gradient_share: float,
) -> Arrays:
    m, v = _means(m, v, gradient, beta1, beta2)
    return variable - learning_rate * (mean_share * m + gradient_share * gradient) / (np.sqrt(v) + epsilon), m, v


def _lamb(
    variable: Array,
    m: Array,
    v: Array,
    gradient: Array,
    learning_rate: float,
    correction: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    weight_decay: float,
) -> Arrays:
    m, v = _means(m, v, gradient, beta1, beta2)
    direction = correction * m / (np.sqrt(v) + epsilon) + weight_decay * variable
    size, length = np.sqrt(np.sum(variable**2)), np.sqrt(np.sum(direction**2))
    trust = size / length if size > 0 and length > 0 else 1.0
    return variable - learning_rate * trust * direction, m, v


def _lion(
    variable: Array,
    m: Array,
    gradient: Array,
    learning_rate: float,
    beta1: float,
    beta2: float,
    weight_decay: float,
) -> Arrays:
    direction = np.sign(beta1 * m + (1 - beta1) * gradient)
    return variable - learning_rate * (direction + weight_decay * variable), beta2 * m + (1 - beta2) * gradient


_RATE = {"learning_rate": 0.1}
_BETAS = {**_RATE, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-2}
_LAMB = {**_BETAS, "correction": 0.7, "weight_decay": 0.1}
_NADAM = {**_BETAS, "mean_share": 0.6, "gradient_share": 1.1}
_LION = {**_RATE, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1}


def _lion_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    """Samples of halves: their direction is 0 or far from it, so that no rounding gives it another sign."""
    for sample in step_samples(3, _LION, {**_LION, "weight_decay": 0.0})(dtype, rng):
        halves = [np.asarray(np.round(array.astype(np.float64) * 2) / 2, array.dtype) for array in sample.args]
        yield replace(sample, args=tuple(halves))


INFOS = (
    step_info(
        "apply_adam", _adam, 4, _BETAS, {**_BETAS, "use_nesterov": True}, {**_BETAS, "weight_decay": 0.1}, positive=(2,)
    ),
    step_info("apply_amsgrad", _amsgrad, 5, _BETAS, positive=(2, 3)),
    step_info("apply_adamax", _adamax, 4, _BETAS, positive=(2,)),
    step_info("apply_lamb", _lamb, 4, _LAMB, {**_LAMB, "weight_decay": 0.0}, positive=(2,)),
    step_info("apply_nadam", _nadam, 4, _NADAM, positive=(2,)),
    step_info("apply_lion", _lion, 3, _LION, samples=_lion_samples),
)
