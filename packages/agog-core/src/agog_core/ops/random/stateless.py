"""Stateless: random numbers as a pure function of a seed of two integers.

The seed is the key of the random bits, and the counter starts at 0.
"""

from __future__ import annotations

from typing import Any

from agog_core import dtypes
from agog_core.errors import InvalidArgumentError
from agog_core.ops.random.distributions import multinomial_from
from agog_core.ops.random.uniform_and_normal import (
    normal_from,
    standard_normal,
    standard_truncated_normal,
    uniform_from,
)
from agog_core.random import Source
from agog_core.tensors.convert import host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["stateless_multinomial", "stateless_random_normal", "stateless_random_uniform", "stateless_truncated_normal"]


def _keyed(seed: TensorLike) -> Source:
    host = host_value(seed)
    if host.shape != (2,) or host.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"A stateless seed must be two integers, of shape (2,); got shape {host.shape} and dtype {host.dtype}."
        )
    first, second = (int(word) & 2**64 - 1 for word in host)
    return lambda values: (first, second, 0)


def stateless_random_uniform(
    shape: Any,
    seed: TensorLike,
    minval: TensorLike = 0,
    maxval: TensorLike = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Random numbers that are equally likely everywhere in ``[minval, maxval)``; see `random_uniform`.

    Args:
        seed: two integers; InvalidArgumentError is raised for anything else.

    >>> bool((stateless_random_uniform([2], [1, 2]).numpy() == stateless_random_uniform([2], [1, 2]).numpy()).all())
    True
    """
    return uniform_from("stateless_random_uniform", _keyed(seed), shape, minval, maxval, dtype)


def stateless_random_normal(
    shape: Any,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Normally distributed random numbers; see `random_normal`.

    Args:
        seed: two integers; InvalidArgumentError is raised for anything else.

    >>> stateless_random_normal([2, 3], [1, 2]).shape
    TensorShape([2, 3])
    """
    return normal_from(standard_normal, _keyed(seed), shape, mean, stddev, dtype)


def stateless_truncated_normal(
    shape: Any,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Normally distributed random numbers within two standard deviations; see `truncated_normal`.

    Args:
        seed: two integers; InvalidArgumentError is raised for anything else.

    >>> stateless_truncated_normal([2, 3], [1, 2]).shape
    TensorShape([2, 3])
    """
    return normal_from(standard_truncated_normal, _keyed(seed), shape, mean, stddev, dtype)


def stateless_multinomial(
    logits: TensorLike,
    num_samples: Any,
    seed: TensorLike,
    output_dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Random class numbers, drawn with replacement; see `multinomial`.

    Args:
        seed: two integers; InvalidArgumentError is raised for anything else.

    >>> print(stateless_multinomial([[0.0, 50.0, 0.0]], 3, [1, 2]))
    tf.Tensor([[1 1 1]], shape=(1, 3), dtype=int64)
    """
    return multinomial_from(_keyed(seed), logits, num_samples, output_dtype)
