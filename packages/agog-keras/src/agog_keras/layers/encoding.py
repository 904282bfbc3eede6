"""Encoding: layers from numbers of categories to vectors, and from values to hashes."""

from __future__ import annotations

from typing import Any

from agog_core import (
    Tensor,
    TensorLike,
    TensorShape,
    as_string,
    cast,
    convert_to_tensor,
    equal,
    one_hot,
    reduce_all,
    reduce_sum,
    reshape,
    string_to_hash_bucket_fast,
    where,
    zeros_like,
)
from agog_core.errors import InvalidArgumentError
from agog_core.ops.strings.hashing import string_to_hash_bucket_strong
from agog_core.tensors.convert import failing
from agog_keras.layers.adaptation import Preprocessing
from agog_layers.arguments.checks import choice, integer
from agog_layers.serialization.memory_limit import allowance

__all__ = ["CategoryEncoding", "Hashing"]

MODES = ("int", "one_hot", "multi_hot", "count", "tf_idf")
# What TensorFlow 2.3 to 2.5 called them.
_OLDER_MODES = {"binary": "multi_hot", "tf-idf": "tf_idf"}


def chosen_mode(layer: str, mode: str, allowed: tuple[str, ...]) -> str:
    """A layer's output mode, also by its older name."""
    return choice(layer, "output_mode", _OLDER_MODES.get(mode, mode), allowed)


def encoded(numbers: Tensor, mode: str, size: int, weights: TensorLike = None) -> Tensor:
    """Make of numbers of categories what an output mode says.

    ``"one_hot"`` has a vector for each number; the other modes one for each row: of zeros and ones, of counts, or of
    counts times weights. A trailing axis of size 1 counts as none for ``"one_hot"``.
    """
    if mode == "int":
        return numbers
    allowance.get().check("vectors of categories", lambda: [TensorShape([*numbers._shape, size])])
    if mode == "one_hot":
        is_column = len(numbers._shape) > 1 and numbers._shape[-1] == 1
        return one_hot(reshape(numbers, numbers._shape[:-1]) if is_column else numbers, size)
    each = one_hot(reshape(numbers, [1]) if not numbers._shape else numbers, size)
    if weights is not None and mode == "count":
        each = each * reshape(cast(weights, "float32"), [*numbers._shape, 1])
    counts = reduce_sum(each, -2)
    if mode == "multi_hot":
        return cast(counts > 0.0, "float32")
    return counts * cast(weights, "float32") if mode == "tf_idf" else counts


class CategoryEncoding(Preprocessing):
    """Make vectors of numbers of categories.

    Args:
        num_tokens: how many categories there are; their numbers are from 0 to one less.
        output_mode: ``"multi_hot"`` for a vector of zeros and ones for each row; ``"one_hot"`` for one for each number;
            ``"count"`` for how often each category is in a row.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: the mode is unknown.

    >>> print(CategoryEncoding(3, "count")([[0, 2, 2]]))
    tf.Tensor([[1. 0. 2.]], shape=(1, 3), dtype=float32)
    """

    def __init__(self, num_tokens: int, output_mode: str = "multi_hot", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.num_tokens = integer("CategoryEncoding", "num_tokens", num_tokens)
        self.output_mode = chosen_mode("CategoryEncoding", output_mode, ("multi_hot", "one_hot", "count"))

    def call(self, inputs: Tensor, count_weights: TensorLike = None) -> Tensor:
        """Make the vectors; with ``count_weights`` each number counts that much."""
        numbers = cast(inputs, "int64")
        if not bool(reduce_all(equal(numbers, numbers % self.num_tokens))):
            host = failing(numbers)
            raise InvalidArgumentError(
                f"{self._title}: numbers must be from 0 to {self.num_tokens - 1}, one less than num_tokens; got "
                f"{host.min()} to {host.max()}."
            )
        return encoded(numbers, self.output_mode, self.num_tokens, count_weights)


class Hashing(Preprocessing):
    """Make numbers of categories by a hash, so that no vocabulary is needed; several may get one number.

    Args:
        num_bins: how many numbers there are.
        mask_value: what gets the number 0 alone; None for nothing.
        salt: an integer or two, which choose other hashes (SipHash); None for FarmHash64.
        output_mode: ``"int"``, ``"one_hot"``, ``"multi_hot"`` or ``"count"``; see `CategoryEncoding`.
        **kwargs: further arguments of `Layer`.

    Raises:
        ValueError: the mode is unknown.

    >>> Hashing(3)([["A"], ["B"]]).shape
    TensorShape([2, 1])
    """

    def __init__(
        self, num_bins: int, mask_value: Any = None, salt: Any = None, output_mode: str = "int", **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.num_bins = integer("Hashing", "num_bins", num_bins)
        self.mask_value, self.salt = mask_value, salt
        self.output_mode = chosen_mode("Hashing", output_mode, MODES[:4])

    def call(self, inputs: Tensor) -> Tensor:
        """Find the numbers."""
        x = convert_to_tensor(inputs)
        texts = x if x.dtype.name == "string" else as_string(x)
        bins = self.num_bins if self.mask_value is None else self.num_bins - 1
        if self.salt is None:
            numbers = string_to_hash_bucket_fast(texts, bins)
        else:
            key = [self.salt, self.salt] if isinstance(self.salt, int) else list(self.salt)
            numbers = string_to_hash_bucket_strong(texts, bins, key)
        if self.mask_value is not None:
            masked = equal(x, convert_to_tensor(self.mask_value, x.dtype))
            numbers = where(masked, zeros_like(numbers), numbers + 1)
        return encoded(numbers, self.output_mode, self.num_bins)
