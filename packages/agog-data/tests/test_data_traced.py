"""Datasets in functions that are traced: iterators from outside are refused, those from inside are used up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import agog_core as ag
from agog_core.errors import TracingError
from agog_data import Dataset, Iterator
from agog_testing import says


@pytest.mark.parametrize("take", [next, Iterator.next, Iterator.get_next])
def test_iterators_from_outside(take: Callable[[Any], Any]) -> None:
    iterator = Iterator(Dataset.range(5))
    f = ag.function(lambda: take(iterator) * 2)
    line = f"{__file__}:{f.python_function.__code__.co_firstlineno}"
    with says(
        TracingError,
        f"{line}: an element of a dataset is taken while the function is traced, so that later calls would go on with "
        "this call's. Take it outside, and pass it to the function; or leave tf.function out, or call "
        "tf.config.run_functions_eagerly(True).",
    ):
        f()
    assert int(next(iterator)) == 0


def test_iterators_from_inside() -> None:
    dataset = Dataset.range(4)

    @ag.function
    def total(start: ag.Tensor) -> Any:
        for number in dataset:
            start = start * 2 + number
        return start

    assert [int(total(ag.constant(start, ag.int64))) for start in (0, 1, 0)] == [11, 27, 11]
