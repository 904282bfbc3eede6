"""Hashing: numbers for strings, the same on every machine and in every release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core import dtypes
from agog_core.calls.call import call
from agog_core.calls.docstrings import documented_like
from agog_core.dispatch.op import define
from agog_core.errors import InvalidArgumentError
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["fingerprint", "string_to_hash_bucket", "string_to_hash_bucket_fast", "string_to_hash_bucket_strong"]

_STRING = frozenset({dtypes.string})
_LARGEST = 2**64 - 1


def fingerprint(data: TensorLike, method: str = "farmhash64", name: str | None = None) -> Tensor:
    """Compute 64 bits of each string that hardly another string has: Fingerprint64 of FarmHash.

    Args:
        data: a tensor of strings, of shape (n,).
        method: ``"farmhash64"``, the one that there is.

    Returns:
        A uint8 tensor of shape (n, 8): the bytes of each number, the lowest first.

    Raises:
        InvalidArgumentError: the tensor is not of strings, not of rank 1, or the method is another.

    >>> print(fingerprint(["a"]))
    tf.Tensor([[227 117 223 182 101  66  69 179]], shape=(1, 8), dtype=uint8)
    """
    if method != "farmhash64":
        raise InvalidArgumentError(f"fingerprint: method must be 'farmhash64'; got {method!r}.")
    return call(_fingerprint, convert_to_tensor(data))


def _fingerprint_shape(data: tuple[int, ...]) -> tuple[int, ...]:
    if len(data) != 1:
        raise InvalidArgumentError(f"fingerprint: data must have shape (n,); got shape {data}.")
    return (data[0], 8)


_fingerprint = define(fingerprint, shape=_fingerprint_shape, dtype=dtypes.uint8, dtypes=_STRING, host=True)


def string_to_hash_bucket(string_tensor: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Put strings into buckets by an old hash: MurmurHash64A, with TensorFlow's seed.

    Prefer `string_to_hash_bucket_fast`, as TensorFlow does.

    Args:
        string_tensor: a tensor of strings.
        num_buckets: the number of buckets, at least 1.

    Returns:
        An int64 tensor of the same shape, of numbers from 0 to ``num_buckets - 1``.

    Raises:
        InvalidArgumentError: there is no bucket, or the tensor is not of strings.

    >>> print(string_to_hash_bucket(["a", "b", "c"], 10))
    tf.Tensor([8 0 7], shape=(3,), dtype=int64)
    """
    return call(
        _string_to_hash_bucket,
        convert_to_tensor(string_tensor),
        num_buckets=_count("string_to_hash_bucket", num_buckets),
    )


_string_to_hash_bucket = define(
    string_to_hash_bucket,
    shape=lambda x, num_buckets: x,
    dtype=dtypes.int64,
    dtypes=_STRING,
    host=True,
    elementwise=True,
)


@documented_like(string_to_hash_bucket)
def string_to_hash_bucket_fast(input: TensorLike, num_buckets: int, name: str | None = None) -> Tensor:
    """Put strings into buckets by a fast hash: Fingerprint64 of FarmHash (https://github.com/google/farmhash).

    Args:
        input: a tensor of strings.

    >>> print(string_to_hash_bucket_fast(["a", "b", "c", "d"], 10))
    tf.Tensor([9 2 2 5], shape=(4,), dtype=int64)
    """
    return call(
        _string_to_hash_bucket_fast,
        convert_to_tensor(input),
        num_buckets=_count("string_to_hash_bucket_fast", num_buckets),
    )


_string_to_hash_bucket_fast = define(
    string_to_hash_bucket_fast,
    shape=lambda x, num_buckets: x,
    dtype=dtypes.int64,
    dtypes=_STRING,
    host=True,
    elementwise=True,
)


@documented_like(string_to_hash_bucket_fast)
def string_to_hash_bucket_strong(
    input: TensorLike, num_buckets: int, key: Sequence[int], name: str | None = None
) -> Tensor:
    """Put strings into buckets by a hash with a key: only someone who knows it can plan collisions.

    The hash is SipHash-2-4 (Aumasson and Bernstein, SipHash: a fast short-input PRF, 2012).

    Args:
        key: two integers from 0 to 2**64 - 1.

    Raises:
        InvalidArgumentError: there is no bucket, the key is not two such integers, or the tensor is not of strings.

    >>> print(string_to_hash_bucket_strong(["a", "b", "c"], 10, key=[98765, 132]))
    tf.Tensor([4 2 8], shape=(3,), dtype=int64)
    """
    words: tuple[Any, ...] = tuple(int(word) for word in key)
    if len(words) != 2 or not all(0 <= word <= _LARGEST for word in words):
        raise InvalidArgumentError(
            f"string_to_hash_bucket_strong: key must be two integers from 0 to 2**64 - 1; got {list(words)}."
        )
    return call(
        _string_to_hash_bucket_strong,
        convert_to_tensor(input),
        num_buckets=_count("string_to_hash_bucket_strong", num_buckets),
        key=words,
    )


_string_to_hash_bucket_strong = define(
    string_to_hash_bucket_strong,
    shape=lambda x, num_buckets, key: x,
    dtype=dtypes.int64,
    dtypes=_STRING,
    host=True,
    elementwise=True,
)


def _count(op: str, num_buckets: int) -> int:
    if num_buckets < 1:
        raise InvalidArgumentError(f"{op}: num_buckets must be at least 1; got {num_buckets}.")
    return int(num_buckets)
