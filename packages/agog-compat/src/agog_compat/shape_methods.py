"""Shape methods: further methods of TensorFlow 1's shapes, attached to `TensorShape`."""

from __future__ import annotations

from typing import Any

from agog_core.shapes import TensorShape

__all__ = ["METHODS"]


def concatenate(self: TensorShape, other: Any) -> TensorShape:
    """This shape and another one behind it; of unknown rank where one of them is.

    >>> TensorShape([1]).concatenate([2, None])  # type: ignore[attr-defined]
    TensorShape([1, 2, None])
    """
    behind = TensorShape(other)
    return TensorShape(None) if self.ndims is None or behind.ndims is None else self + behind


def merge_with(self: TensorShape, other: Any) -> TensorShape:
    """What two shapes say of one tensor. Raises ValueError where no tensor could have both.

    >>> TensorShape([None, 3]).merge_with([2, None])  # type: ignore[attr-defined]
    TensorShape([2, 3])
    """
    theirs = TensorShape(other)
    self.assert_is_compatible_with(theirs)
    if self.ndims is None or theirs.ndims is None:
        return theirs if self.ndims is None else self
    return TensorShape([b if a is None else a for a, b in zip(self.as_list(), theirs.as_list(), strict=True)])


def with_rank(self: TensorShape, rank: int) -> TensorShape:
    """This shape, which has to be of a rank. Raises ValueError where it is of another.

    >>> TensorShape(None).with_rank(2)  # type: ignore[attr-defined]
    TensorShape([None, None])
    """
    if self.ndims is None:
        return TensorShape([None] * rank)
    if self.ndims != rank:
        raise ValueError(f"Shape {self} must have rank {rank}")
    return self


def with_rank_at_least(self: TensorShape, rank: int) -> TensorShape:
    """This shape. Raises ValueError where its rank is lower than another."""
    if self.ndims is not None and self.ndims < rank:
        raise ValueError(f"Shape {self} must have rank at least {rank}")
    return self


def with_rank_at_most(self: TensorShape, rank: int) -> TensorShape:
    """This shape. Raises ValueError where its rank is higher than another."""
    if self.ndims is not None and self.ndims > rank:
        raise ValueError(f"Shape {self} must have rank at most {rank}")
    return self


def assert_has_rank(self: TensorShape, rank: int) -> None:
    """Raise ValueError where the rank is known and another."""
    with_rank(self, rank)


def assert_same_rank(self: TensorShape, other: Any) -> None:
    """Raise ValueError where both ranks are known and differ."""
    theirs = TensorShape(other)
    if None not in (self.ndims, theirs.ndims) and self.ndims != theirs.ndims:
        raise ValueError(f"Shapes {self} and {theirs} must have the same rank")


def assert_is_fully_defined(self: TensorShape) -> None:
    """Raise ValueError where a size is unknown."""
    if not self.is_fully_defined():
        raise ValueError(f"Shape {self} is not fully defined")


METHODS = (
    *(concatenate, merge_with, with_rank, with_rank_at_least, with_rank_at_most),
    *(assert_has_rank, assert_same_rank, assert_is_fully_defined),
)
for _method in METHODS:
    setattr(TensorShape, _method.__name__, _method)
