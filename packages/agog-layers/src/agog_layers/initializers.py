"""Initial values of weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from agog_core import Tensor, TensorLike, as_dtype, constant, dtypes, ones, random_normal, random_uniform, zeros

InitializerFunction = Callable[..., Any]


class Initializer:
    """Base of initializers: objects that make a tensor of a shape and dtype.

    Args:
        dtype: the dtype of calls that give none.
    """

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        """Make an initial value.

        Args:
            shape: the shape, fully known.
            dtype: the dtype; None for the initializer's own.
            partition_info: not used; kept for compatibility.

        Returns:
            A new tensor.
        """
        return self.fill(tuple(int(size) for size in shape), self.dtype if dtype is None else as_dtype(dtype))

    def fill(self, shape: tuple[int, ...], dtype: dtypes.DType) -> Tensor:
        """Make an initial value; initializers say here how.

        Args:
            shape: the shape.
            dtype: the dtype.

        Returns:
            A new tensor.
        """
        raise NotImplementedError(
            f"{type(self).__name__}.fill is not implemented; it makes a tensor of a shape and dtype."
        )


class Zeros(Initializer):
    """Zeros.

    >>> print(Zeros()([2]))
    tf.Tensor([0. 0.], shape=(2,), dtype=float32)
    """

    def fill(self, shape: tuple[int, ...], dtype: dtypes.DType) -> Tensor:
        return zeros(shape, dtype)


class Ones(Initializer):
    """Ones.

    >>> print(Ones()([2]))
    tf.Tensor([1. 1.], shape=(2,), dtype=float32)
    """

    def fill(self, shape: tuple[int, ...], dtype: dtypes.DType) -> Tensor:
        return ones(shape, dtype)


class Constant(Initializer):
    """A given value.

    Args:
        value: a number, or an array or nested list; where it has fewer elements than the shape, the last one is
            repeated.
        dtype: the dtype of calls that give none.

    >>> print(Constant([1, 2])([2]))
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """

    def __init__(self, value: TensorLike = 0, dtype: Any = dtypes.float32) -> None:
        super().__init__(dtype)
        self.value = value

    def fill(self, shape: tuple[int, ...], dtype: dtypes.DType) -> Tensor:
        return constant(self.value, dtype, shape)


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
        self, minval: float = -0.05, maxval: float | None = 0.05, seed: int | None = None, dtype: Any = dtypes.float32
    ) -> None:
        super().__init__(dtype)
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def fill(self, shape: tuple[int, ...], dtype: dtypes.DType) -> Tensor:
        return random_uniform(shape, self.minval, self.maxval, dtype, self.seed)


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
        self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None, dtype: Any = dtypes.float32
    ) -> None:
        super().__init__(dtype)
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def fill(self, shape: tuple[int, ...], dtype: dtypes.DType) -> Tensor:
        return random_normal(shape, self.mean, self.stddev, dtype, self.seed)


_MODES = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS = ("uniform", "untruncated_normal")


class VarianceScaling(Initializer):
    """Random numbers of mean 0 and variance ``scale / n``, where ``n`` counts the connections of a unit.

    Args:
        scale: the factor, above 0.
        mode: what ``n`` is: ``"fan_in"``, ``"fan_out"``, or their mean ``"fan_avg"``.
        distribution: ``"uniform"`` or ``"untruncated_normal"``.
        seed: the op's seed.
        dtype: the dtype of calls that give none.

    Raises:
        ValueError: an argument is none of these.

    >>> VarianceScaling(mode="fan_avg", distribution="uniform", seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        *,
        distribution: str,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        if scale <= 0:
            raise ValueError(f"VarianceScaling: scale must be above 0; got {scale}.")
        if mode not in _MODES:
            raise ValueError(f"VarianceScaling: mode must be one of {', '.join(_MODES)}; got {mode!r}.")
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
        return random_normal(shape, 0.0, math.sqrt(variance), dtype, self.seed)


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """How many inputs and outputs a unit has.

    Args:
        shape: a weight's shape: (inputs, outputs), with the axes of a convolution's window before them.

    Returns:
        The pair (fan in, fan out).

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
        seed: the op's seed.
        dtype: the dtype of calls that give none.

    Returns:
        The initializer.

    >>> glorot_uniform(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """
    return VarianceScaling(1.0, "fan_avg", distribution="uniform", seed=seed, dtype=dtype)


def he_uniform(seed: int | None = None, dtype: Any = dtypes.float32) -> VarianceScaling:
    """Uniform in ``±sqrt(6 / fan_in)``.

    K. He et al., "Delving deep into rectifiers", ICCV 2015.

    Args:
        seed: the op's seed.
        dtype: the dtype of calls that give none.

    Returns:
        The initializer.

    >>> he_uniform(seed=1)([2, 3]).shape
    TensorShape([2, 3])
    """
    return VarianceScaling(2.0, "fan_in", distribution="uniform", seed=seed, dtype=dtype)


def random_uniform_initializer(
    minval: float = 0, maxval: float | None = None, seed: int | None = None, dtype: Any = dtypes.float32
) -> RandomUniform:
    """`RandomUniform` with the defaults of ``tf.random_uniform_initializer``.

    Args:
        minval: the lower end.
        maxval: the upper end; None for 1.
        seed: the op's seed.
        dtype: the dtype of calls that give none.

    Returns:
        The initializer.
    """
    return RandomUniform(minval, maxval, seed, dtype)


def random_normal_initializer(
    mean: float = 0.0, stddev: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32
) -> RandomNormal:
    """`RandomNormal` with the defaults of ``tf.random_normal_initializer``.

    Args:
        mean: the mean.
        stddev: the standard deviation.
        seed: the op's seed.
        dtype: the dtype of calls that give none.

    Returns:
        The initializer.
    """
    return RandomNormal(mean, stddev, seed, dtype)


# The names that TensorFlow has outside of Keras, where the defaults are the same.
zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
variance_scaling_initializer = VarianceScaling
glorot_uniform_initializer = glorot_uniform

_BY_NAME: dict[str, Callable[[], InitializerFunction]] = {
    "zeros": Zeros,
    "ones": Ones,
    "constant": Constant,
    "random_uniform": RandomUniform,
    "random_normal": RandomNormal,
    "glorot_uniform": glorot_uniform,
    "he_uniform": he_uniform,
}


def get(identifier: str | InitializerFunction) -> InitializerFunction:
    """The initializer that an argument stands for.

    Args:
        identifier: a name, an initializer, a class of initializers, or any function of a shape and a dtype.

    Returns:
        The initializer.

    Raises:
        ValueError: the name is unknown.
        TypeError: the argument is none of these.

    >>> print(get("ones")([2]))
    tf.Tensor([1. 1.], shape=(2,), dtype=float32)
    """
    if isinstance(identifier, str):
        if identifier not in _BY_NAME:
            raise ValueError(
                f"Unknown initializer {identifier!r}; the names are {', '.join(_BY_NAME)}, or pass an initializer."
            )
        return _BY_NAME[identifier]()
    if isinstance(identifier, type):
        made: InitializerFunction = identifier()
        return made
    if not callable(identifier):
        raise TypeError(
            f"An initializer is a name or a function; got {identifier!r} of type {type(identifier).__name__}."
        )
    return identifier
