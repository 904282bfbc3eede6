"""Initializers: initial values of weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

import agog_core as ag
from agog_core import Tensor
from agog_layers.arguments.signature import needed_arguments
from agog_layers.serialization.lookup import Lookup
from agog_layers.weights.initializer import Initializer
from agog_layers.weights.variance_scaling import (
    UniformUnitScaling,
    VarianceScaling,
    fans,
    glorot_normal,
    glorot_uniform,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
)

__all__ = [
    "Constant",
    "Identity",
    "Initializer",
    "InitializerFunction",
    "Ones",
    "Orthogonal",
    "RandomNormal",
    "RandomUniform",
    "TruncatedNormal",
    "UniformUnitScaling",
    "VarianceScaling",
    "Zeros",
    "constant_initializer",
    "deserialize",
    "fans",
    "get",
    "glorot_normal",
    "glorot_normal_initializer",
    "glorot_uniform",
    "glorot_uniform_initializer",
    "he_normal",
    "he_uniform",
    "lecun_normal",
    "lecun_uniform",
    "ones_initializer",
    "orthogonal_initializer",
    "random_normal_initializer",
    "random_uniform_initializer",
    "serialize",
    "truncated_normal_initializer",
    "uniform_unit_scaling_initializer",
    "variance_scaling_initializer",
    "zeros_initializer",
]

InitializerFunction = Callable[..., Any]


class Zeros(Initializer):
    """Zeros.

    >>> print(Zeros()([2]))
    tf.Tensor([0. 0.], shape=(2,), dtype=float32)
    """

    def fill(self, shape: tuple[int, ...], dtype: ag.dtypes.DType) -> Tensor:
        return ag.zeros(shape, dtype)


class Ones(Initializer):
    """Ones.

    >>> print(Ones()([2]))
    tf.Tensor([1. 1.], shape=(2,), dtype=float32)
    """

    def fill(self, shape: tuple[int, ...], dtype: ag.dtypes.DType) -> Tensor:
        return ag.ones(shape, dtype)


class Constant(Initializer):
    """A given value.

    Args:
        value: a number, or an array or nested list; where it has fewer elements than the shape, the last one is
            repeated.
        dtype: the dtype of calls that give none.

    >>> print(Constant([1, 2])([2]))
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """

    def __init__(self, value: ag.TensorLike = 0, dtype: Any = ag.dtypes.float32) -> None:
        super().__init__(dtype)
        self.value = value

    def fill(self, shape: tuple[int, ...], dtype: ag.dtypes.DType) -> Tensor:
        value = ag.convert_to_tensor(self.value, dtype)
        missing = math.prod(shape) - ag.size(value).numpy()
        if len(value.shape) and missing > 0:
            flat = ag.reshape(value, [-1])
            value = ag.concat([flat, *[flat[-1:]] * missing], 0)
        return ag.constant(value, dtype, shape)


class RandomUniform(Initializer):
    """Random numbers, equally likely everywhere in ``[minval, maxval)``.

    Args:
        minval: the lower end.
        maxval: the upper end; None for 1.
        seed: the op's seed.
        dtype: the dtype of calls that give none.

    >>> RandomUniform(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(
        self,
        minval: float = -0.05,
        maxval: float | None = 0.05,
        seed: int | None = None,
        dtype: Any = ag.dtypes.float32,
    ) -> None:
        super().__init__(dtype)
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def fill(self, shape: tuple[int, ...], dtype: ag.dtypes.DType) -> Tensor:
        return ag.random_uniform(shape, self.minval, self.maxval, dtype, self.seed)


class RandomNormal(Initializer):
    """Normally distributed random numbers.

    Args:
        mean: the mean.
        stddev: the standard deviation.
        seed: the op's seed.
        dtype: the dtype of calls that give none.

    >>> RandomNormal(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(
        self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None, dtype: Any = ag.dtypes.float32
    ) -> None:
        super().__init__(dtype)
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def fill(self, shape: tuple[int, ...], dtype: ag.dtypes.DType) -> Tensor:
        return ag.random_normal(shape, self.mean, self.stddev, dtype, self.seed)


class TruncatedNormal(Initializer):
    """Normally distributed random numbers, of which none is further from the mean than two standard deviations.

    Args:
        mean: the mean.
        stddev: the standard deviation before values are cut off.
        seed: the op's seed.
        dtype: the dtype of calls that give none.

    >>> TruncatedNormal(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(
        self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None, dtype: Any = ag.dtypes.float32
    ) -> None:
        super().__init__(dtype)
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def fill(self, shape: tuple[int, ...], dtype: ag.dtypes.DType) -> Tensor:
        return ag.truncated_normal(shape, self.mean, self.stddev, dtype, self.seed)


class Identity(Initializer):
    """A multiple of the identity matrix; where it is not square, the rows and columns too many are zeros.

    Args:
        gain: the factor.
        dtype: the dtype of calls that give none.

    Raises:
        ValueError: a shape is asked for that is not a matrix's.

    >>> print(Identity(2.0)([2, 2]))
    tf.Tensor(
    [[2. 0.]
     [0. 2.]], shape=(2, 2), dtype=float32)
    """

    def __init__(self, gain: float = 1.0, dtype: Any = ag.dtypes.float32) -> None:
        super().__init__(dtype)
        self.gain = gain

    def fill(self, shape: tuple[int, ...], dtype: ag.dtypes.DType) -> Tensor:
        if len(shape) != 2:
            raise ValueError(f"Identity: only a matrix can be an identity; got shape {shape}.")
        return ag.eye(*shape, dtype=dtype) * self.gain


class Orthogonal(Initializer):
    """Rows, or columns where there are fewer, that are orthogonal and of length ``gain``.

    A. M. Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep linear neural networks", ICLR
    2014: the orthogonal factor of a matrix of random normals. All axes but the last one count as rows.

    Args:
        gain: the factor.
        seed: the op's seed.
        dtype: the dtype of calls that give none.

    Raises:
        ValueError: a shape of fewer than two axes is asked for.

    >>> Orthogonal(seed=1)([3, 3]).shape
    TensorShape([3, 3])
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = ag.dtypes.float32) -> None:
        super().__init__(dtype)
        self.gain, self.seed = gain, seed

    def fill(self, shape: tuple[int, ...], dtype: ag.dtypes.DType) -> Tensor:
        if len(shape) < 2:
            raise ValueError(f"Orthogonal: a tensor must have at least two axes to be orthogonal; got shape {shape}.")
        rows, columns = math.prod(shape[:-1]), shape[-1]
        wide = ag.dtypes.float32 if dtype.size == 2 else dtype  # nothing factorizes half precision
        with ag.device("/cpu:0"):  # each library factorizes with roundings of its own; weights begin alike everywhere
            q, r = ag.qr(ag.random_normal((max(rows, columns), min(rows, columns)), 0.0, 1.0, wide, self.seed))
            q = q * ag.sign(ag.matrix_diag_part(r))  # so that the matrix is equally likely to be any orthogonal one
            values = ag.cast(ag.reshape(ag.transpose(q) if rows < columns else q, shape) * self.gain, dtype)
        return ag.identity(values)


def random_uniform_initializer(
    minval: float = 0, maxval: float | None = None, seed: int | None = None, dtype: Any = ag.dtypes.float32
) -> RandomUniform:
    """`RandomUniform` with the defaults of ``tf.random_uniform_initializer``.

    Args:
        minval, maxval, seed, dtype: see `RandomUniform`.

    Returns:
        The initializer.
    """
    return RandomUniform(minval, maxval, seed, dtype)


def random_normal_initializer(
    mean: float = 0.0, stddev: float = 1.0, seed: int | None = None, dtype: Any = ag.dtypes.float32
) -> RandomNormal:
    """`RandomNormal` with the defaults of ``tf.random_normal_initializer``.

    Args:
        mean, stddev, seed, dtype: see `RandomNormal`.

    Returns:
        The initializer.
    """
    return RandomNormal(mean, stddev, seed, dtype)


def truncated_normal_initializer(
    mean: float = 0.0, stddev: float = 1.0, seed: int | None = None, dtype: Any = ag.dtypes.float32
) -> TruncatedNormal:
    """`TruncatedNormal` with the defaults of ``tf.truncated_normal_initializer``.

    Args:
        mean, stddev, seed, dtype: see `TruncatedNormal`.

    Returns:
        The initializer.
    """
    return TruncatedNormal(mean, stddev, seed, dtype)


# The names that TensorFlow has outside of Keras, where the defaults are the same.
zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
variance_scaling_initializer = VarianceScaling
uniform_unit_scaling_initializer = UniformUnitScaling
glorot_uniform_initializer = glorot_uniform
glorot_normal_initializer = glorot_normal
orthogonal_initializer = Orthogonal

_BY_NAME: dict[str, Callable[[], InitializerFunction]] = {
    "zeros": Zeros,
    "ones": Ones,
    "constant": Constant,
    "random_uniform": RandomUniform,
    "random_normal": RandomNormal,
    "truncated_normal": TruncatedNormal,
    "variance_scaling": VarianceScaling,
    "identity": Identity,
    "orthogonal": Orthogonal,
    "glorot_uniform": glorot_uniform,
    "glorot_normal": glorot_normal,
    "he_uniform": he_uniform,
    "he_normal": he_normal,
    "lecun_uniform": lecun_uniform,
    "lecun_normal": lecun_normal,
}

# Keras's older names, and those of the classes.
_OTHER_NAMES: dict[str, Callable[[], InitializerFunction]] = {
    "zero": Zeros,
    "one": Ones,
    "uniform": RandomUniform,
    "normal": RandomNormal,
    **{
        make.__name__: make
        for make in (
            *(Zeros, Ones, Constant, RandomUniform, RandomNormal, TruncatedNormal),
            *(VarianceScaling, Identity, Orthogonal),
        )
    },
}


class Initializers(Lookup):
    """The initializers by name. TensorFlow 1 tells functions of a partition too, and there is none."""

    def get(self, identifier: Any) -> InitializerFunction:
        made: InitializerFunction = super().get(identifier)
        asks = isinstance(made, FunctionType) and "partition_info" in needed_arguments(made)
        return partial(made, partition_info=None) if asks else made


INITIALIZERS = Initializers("initializer", makers=_BY_NAME, aliases=_OTHER_NAMES, default=...)
get, serialize, deserialize = INITIALIZERS.get, INITIALIZERS.serialize, INITIALIZERS.deserialize
