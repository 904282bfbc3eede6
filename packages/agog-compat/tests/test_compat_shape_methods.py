"""What programs call on shapes besides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agog_compat import shape_methods  # noqa: F401  # attaches them
from agog_core.shapes import TensorShape
from agog_testing import says


def shape(dims: Any) -> Any:
    return TensorShape(dims)


def test_shapes_are_joined_and_merged() -> None:
    assert shape([1, 2]).concatenate([None]).as_list() == [1, 2, None]
    assert shape(None).concatenate([1]).ndims is None
    assert shape([None, 3]).merge_with([2, 3]).as_list() == [2, 3]
    assert shape(None).merge_with([2]).as_list() == [2]
    assert shape([2]).merge_with(None).as_list() == [2]


def test_ranks() -> None:
    assert shape(None).with_rank(2).as_list() == [None, None]
    assert shape([1]).with_rank(1).with_rank_at_least(1).with_rank_at_most(1) == (1,)
    shape([1]).assert_has_rank(1)
    shape([1]).assert_same_rank([5])
    shape([1]).assert_is_fully_defined()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: shape([1]).with_rank(2), "Shape (1,) must have rank 2"),
        (lambda: shape([1]).with_rank_at_least(2), "Shape (1,) must have rank at least 2"),
        (lambda: shape([1]).with_rank_at_most(0), "Shape (1,) must have rank at most 0"),
        (lambda: shape([1]).assert_same_rank([1, 2]), "Shapes (1,) and (1, 2) must have the same rank"),
        (lambda: shape([None]).assert_is_fully_defined(), "Shape (?,) is not fully defined"),
        (lambda: shape([1]).merge_with([2]), "Shapes (1,) and (2,) are incompatible"),
    ],
)
def test_what_does_not_fit(call: Callable[[], Any], text: str) -> None:
    with says(ValueError, text):
        call()
