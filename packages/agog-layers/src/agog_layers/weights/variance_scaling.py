"""Variance scaling: initializers with a variance by the number of a unit's connections."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from agog_core import Tensor, dtypes, random_normal, random_uniform, truncated_normal
from agog_core.calls.docstrings import documented_like
from agog_layers.weights.initializer import Initializer

__all__ = [
    "UniformUnitScaling",
    "VarianceScaling",
    "contrib_variance_scaling",
    "contrib_xavier",
    "fans",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "lecun_normal",
    "lecun_uniform",
]

_MODES = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS = ("truncated_normal", "untruncated_normal", "uniform")
# The standard deviation of standard normals between -2 and 2: sqrt(1 - 4 * pdf(2) / (2 * cdf(2) - 1)).
_TRUNCATED_STDDEV = 0.87962566103423978


class VarianceScaling(Initializer):
    """Random numbers of mean 0 and variance ``scale / n``, where ``n`` counts the connections of a unit.

    Args:
        scale: the factor, above 0.
        mode: what ``n`` is: ``"fan_in"``, ``"fan_out"``, or their mean ``"fan_avg"``.
        distribution: ``"truncated_normal"`` (``"normal"`` is the same), whose values are within two standard deviations
            of the untruncated distribution; ``"untruncated_normal"``; or ``"uniform"``.
        seed: the op's seed.
        dtype: the dtype of calls that give none.

    Raises:
        ValueError: an argument is none of these.

    >>> VarianceScaling(mode="fan_avg", seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        if scale <= 0:
            raise ValueError(f"VarianceScaling: scale must be above 0; got {scale}.")
        if mode not in _MODES:
            raise ValueError(f"VarianceScaling: mode must be one of {', '.join(_MODES)}; got {mode!r}.")
        distribution = "truncated_normal" if distribution == "normal" else distribution
        if distribution not in _DISTRIBUTIONS:
            allowed = ", ".join(_DISTRIBUTIONS)
            raise ValueError(f"VarianceScaling: distribution must be one of {allowed}; got {distribution!r}.")
        super().__init__(dtype)
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution, seed

    def fill(self, shape: tuple[int, ...], dtype: dtypes.DType) -> Tensor:
        fan_in, fan_out = fans(shape)
        connections = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, connections)
        if self.distribution == "uniform":
            limit = math.sqrt(3 * variance)
            return random_uniform(shape, -limit, limit, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return random_normal(shape, 0.0, math.sqrt(variance), dtype, self.seed)
        return truncated_normal(shape, 0.0, math.sqrt(variance) / _TRUNCATED_STDDEV, dtype, self.seed)


class UniformUnitScaling(Initializer):
    """Uniform random numbers that keep the scale of a layer's inputs; `VarianceScaling` has taken its place.

    They are in ``factor * sqrt(3 / n)`` around 0, where n is the product of all sizes but the last (D. Sussillo and
    L. F. Abbott, "Random walk initialization for training very deep feedforward networks", 2014).

    Args:
        factor: the factor.
        seed: the op's seed.
        dtype: the dtype of calls that give none.

    >>> UniformUnitScaling(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(dtype)
        self.factor, self.seed = factor, seed

    def fill(self, shape: tuple[int, ...], dtype: dtypes.DType) -> Tensor:
        limit = self.factor * math.sqrt(3 / max(1, math.prod(shape[:-1])))
        return random_uniform(shape, -limit, limit, dtype, self.seed)


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """How many inputs and outputs a unit has, of a weight of shape (window..., inputs, outputs).

    >>> fans((784, 10)), fans((3, 3, 16, 32)), fans((7,))
    ((784, 10), (144, 288), (7, 7))
    """
    if len(shape) < 2:
        size = shape[0] if shape else 1
        return size, size
    window = math.prod(shape[:-2])
    return window * shape[-2], window * shape[-1]


def glorot_uniform(seed: int | None = None, dtype: Any = dtypes.float32) -> VarianceScaling:
    """Uniform in ``±sqrt(6 / (fan_in + fan_out))``.

    X. Glorot and Y. Bengio, "Understanding the difficulty of training deep feedforward neural networks", AISTATS 2010.

    Args:
        seed, dtype: see `VarianceScaling`.

    Returns:
        The initializer.

    >>> glorot_uniform(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """
    return VarianceScaling(1.0, "fan_avg", "uniform", seed, dtype)


@documented_like(glorot_uniform)
def glorot_normal(seed: int | None = None, dtype: Any = dtypes.float32) -> VarianceScaling:
    """Truncated normals of standard deviation ``sqrt(2 / (fan_in + fan_out))``.

    X. Glorot and Y. Bengio, "Understanding the difficulty of training deep feedforward neural networks", AISTATS 2010.

    >>> glorot_normal(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """
    return VarianceScaling(1.0, "fan_avg", "truncated_normal", seed, dtype)


@documented_like(glorot_uniform)
def he_uniform(seed: int | None = None, dtype: Any = dtypes.float32) -> VarianceScaling:
    """Uniform in ``±sqrt(6 / fan_in)``.

    K. He et al., "Delving deep into rectifiers", ICCV 2015.

    >>> he_uniform(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """
    return VarianceScaling(2.0, "fan_in", "uniform", seed, dtype)


@documented_like(glorot_uniform)
def he_normal(seed: int | None = None, dtype: Any = dtypes.float32) -> VarianceScaling:
    """Truncated normals of standard deviation ``sqrt(2 / fan_in)``.

    K. He et al., "Delving deep into rectifiers", ICCV 2015.

    >>> he_normal(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed, dtype)


@documented_like(glorot_uniform)
def lecun_uniform(seed: int | None = None, dtype: Any = dtypes.float32) -> VarianceScaling:
    """Uniform in ``±sqrt(3 / fan_in)``.

    Y. LeCun et al., "Efficient backprop", in "Neural networks: tricks of the trade", Springer 1998.

    >>> lecun_uniform(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """
    return VarianceScaling(1.0, "fan_in", "uniform", seed, dtype)


@documented_like(glorot_uniform)
def lecun_normal(seed: int | None = None, dtype: Any = dtypes.float32) -> VarianceScaling:
    """Truncated normals of standard deviation ``sqrt(1 / fan_in)``.

    Y. LeCun et al., "Efficient backprop", in "Neural networks: tricks of the trade", Springer 1998.

    >>> lecun_normal(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed, dtype)


def contrib_variance_scaling(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: Any = dtypes.float32,
) -> VarianceScaling:
    """`VarianceScaling` with the arguments of ``tf.contrib.layers.variance_scaling_initializer``.

    Args:
        factor: the factor, above 0.
        mode: ``"FAN_IN"``, ``"FAN_OUT"`` or ``"FAN_AVG"``.
        uniform: whether the numbers are uniform; else they are truncated normals.
        seed, dtype: see `VarianceScaling`.

    Returns:
        The initializer.

    Raises:
        ValueError: the mode is none of these, or the factor is not above 0.
    """
    return VarianceScaling(factor, mode.lower(), "uniform" if uniform else "truncated_normal", seed, dtype)


def contrib_xavier(uniform: bool = True, seed: int | None = None, dtype: Any = dtypes.float32) -> VarianceScaling:
    """`VarianceScaling` with the arguments of ``tf.contrib.layers.xavier_initializer``.

    Args:
        uniform, seed, dtype: see `contrib_variance_scaling`.

    Returns:
        The initializer.
    """
    return contrib_variance_scaling(1.0, "FAN_AVG", uniform, seed, dtype)
