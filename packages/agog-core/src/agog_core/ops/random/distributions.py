"""Distributions: random numbers with parameters, the same bits on every backend.

Candidates are drawn, and accepted or rejected, in rounds for all elements at once; each round has bits of its own, and
the shape alone decides how many.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from agog_core import dtypes
from agog_core.calls.broadcasting import static_shape
from agog_core.calls.call import call
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import FLOATING, DType, as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, zeros_like
from agog_core.ops.math.arithmetic import maximum
from agog_core.random import Source, stream
from agog_core.shapes import Shape
from agog_core.tensors.convert import convert_to_tensor, host_value
from agog_core.tensors.tensor import Tensor, TensorLike
from agog_core.tracers import recorded

__all__ = ["multinomial", "random_gamma", "random_poisson"]

_GAMMA_ROUNDS = 16  # a candidate is rejected with a probability below 0.05, so that 16 are with one below 1e-20
_POISSON_ROUNDS = 24  # below 0.25, and 1e-14
_COUNTS = frozenset({dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64})


def random_gamma(
    shape: Any,
    alpha: TensorLike,
    beta: TensorLike = None,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Random numbers of gamma distributions; ``shape`` numbers for each pair of parameters.

    By rejection (G. Marsaglia and W. W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26(3), 2000),
    in float64 with operations that every device rounds the same way, from normals of 23 random bits. A number that is
    rejected 16 times, with a probability below 1e-20, is the distribution's mode. It has a gradient with respect to
    ``beta``, but none with respect to ``alpha``.

    Args:
        shape: the shape of the numbers for each pair of parameters.
        alpha: the shape parameters, above 0.
        beta: the inverse scales, whose shape broadcasts with ``alpha``'s; 1 by default.
        dtype: a float dtype.
        seed: the op's seed.

    Returns:
        A tensor of shape ``shape`` followed by the broadcast shape of the parameters; above 0, and NaN where ``alpha``
        is not.

    Raises:
        InvalidArgumentError: the dtype is not a float, or the parameters do not broadcast.

    >>> random_gamma([4], [0.5, 2.0]).shape
    TensorShape([4, 2])
    """
    kind, sizes = as_dtype(dtype), static_shape(shape)
    shapes = convert_to_tensor(alpha, kind)
    scales = None if beta is None else convert_to_tensor(beta, kind)
    if scales is not None:
        shapes = shapes + zeros_like(scales)
    count = math.prod((*sizes, *shapes._shape))
    key = stream(seed)(_blocks(count) * (_GAMMA_ROUNDS + 1))
    values = call(_random_gamma, recorded(shapes), shape=sizes, key=key, rounds=_GAMMA_ROUNDS)
    least = float(np.finfo(np.float32 if kind is dtypes.bfloat16 else kind.numpy_dtype).tiny)
    return maximum(values if scales is None else values / scales, least)


def _blocks(values: int) -> int:
    """A number of values, rounded up to whole blocks of four."""
    return 4 * math.ceil(values / 4)


_random_gamma = Op(
    "random_gamma",
    random_gamma,
    inputs=["alpha"],
    shape=lambda alpha, shape, key, rounds: (*shape, *alpha),
    dtypes=FLOATING,
    random=True,
    late=["key"],
)


def random_poisson(
    lam: TensorLike, shape: Any, dtype: Any = dtypes.float32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Random numbers of Poisson distributions; ``shape`` numbers for each mean.

    For means below 10 by the inverse of the distribution function, else by rejection (W. Hoermann, "The transformed
    rejection method for generating Poisson random variables", Insurance: Mathematics and Economics 12, 1993), in
    float64 with operations that every device rounds the same way. A number that is rejected 24 times, with a
    probability below 1e-14, is the mean, rounded down.

    Args:
        lam: the means, not negative.
        shape: the shape of the numbers for each mean.
        dtype: float16, float32, float64, int32 or int64.
        seed: the op's seed.

    Returns:
        A tensor of shape ``shape`` followed by that of the means; NaN (0 for integers) where a mean is negative,
        infinite or NaN.

    Raises:
        InvalidArgumentError: the dtype is none of those above.

    >>> random_poisson([1.0, 100.0], [4]).shape
    TensorShape([4, 2])
    """
    kind, sizes = as_dtype(dtype), static_shape(shape)
    if kind not in _COUNTS:
        allowed = ", ".join(sorted(each.name for each in _COUNTS))
        raise InvalidArgumentError(f"random_poisson: dtype {kind.name} is not supported; use one of {allowed}.")
    means = convert_to_tensor(lam, preferred_dtype=kind if kind.is_floating else dtypes.float64)
    if means.dtype.is_integer:
        means = cast(means, dtypes.float64)
    count = math.prod((*sizes, *means._shape))
    key = stream(seed)(_blocks(2 * count) * _POISSON_ROUNDS + count)
    return call(_random_poisson, recorded(means), shape=sizes, key=key, rounds=_POISSON_ROUNDS, dtype=kind.name)


_random_poisson = define(
    random_poisson,
    shape=lambda lam, shape, key, rounds, dtype: (*shape, *lam),
    dtype=lambda given, shape, key, rounds, dtype: as_dtype(dtype),
    dtypes=FLOATING,
    random=True,
    late=["key"],
)


def multinomial(
    logits: TensorLike,
    num_samples: Any,
    seed: int | None = None,
    name: str | None = None,
    output_dtype: Any = None,
) -> Tensor:
    """Random class numbers, drawn with replacement.

    The probabilities are rounded to integers, whose running sums are exact, so that every backend draws the same
    classes. Classes whose probability is below 1e-18 of the largest may count as impossible.

    Args:
        logits: the logarithms of the classes' probabilities, up to a constant; floats of shape (batch, classes).
        num_samples: how many numbers to draw for each row.
        seed: the op's seed.
        output_dtype: int32 or int64, the default.

    Returns:
        A tensor of shape (batch, num_samples).

    Raises:
        InvalidArgumentError: the logits are not a matrix, or there are no classes, or the number is negative.

    >>> print(multinomial([[0.0, 50.0, 0.0]], 5))
    tf.Tensor([[1 1 1 1 1]], shape=(1, 5), dtype=int64)
    """
    return multinomial_from(stream(seed), logits, num_samples, output_dtype)


def categorical(
    logits: TensorLike, num_samples: Any, dtype: Any = None, seed: int | None = None, name: str | None = None
) -> Tensor:
    """See `multinomial`, the older name, whose ``output_dtype`` is ``dtype`` here."""
    return multinomial(logits, num_samples, seed, output_dtype=dtype)


def multinomial_from(source: Source, logits: TensorLike, num_samples: Any, dtype: Any) -> Tensor:
    """`multinomial`, from any source of bits; the dtype None is int64."""
    x = recorded(convert_to_tensor(logits))
    count = int(host_value(num_samples))
    kind: DType = dtypes.int64 if dtype is None else as_dtype(dtype)
    rows = x._shape[0] if x._shape else 0
    return call(_multinomial, x, num_samples=count, key=source(rows * max(count, 0)), dtype=kind.name)


def _multinomial_shape(logits: Shape, num_samples: int, key: Any, dtype: str) -> Shape:
    if len(logits) != 2 or not logits[1]:
        raise InvalidArgumentError(
            f"multinomial: logits must have shape (batch, classes), with at least one class; got {logits}."
        )
    if num_samples < 0:
        raise InvalidArgumentError(f"multinomial: num_samples must not be negative; got {num_samples}.")
    return logits[0], num_samples


_multinomial = define(
    multinomial,
    shape=_multinomial_shape,
    dtype=lambda given, num_samples, key, dtype: as_dtype(dtype),
    dtypes=FLOATING,
    random=True,
    late=["key"],
)
