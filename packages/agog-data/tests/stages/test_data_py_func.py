"""Python functions on arrays within the functions of datasets, which keep to ``Tout`` as in TensorFlow's graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_data import Dataset
from agog_testing import says

Calls = pytest.mark.parametrize("calls", [None, 2])


@Calls
def test_a_list_of_dtypes_gives_a_list(calls: int | None) -> None:
    dataset = Dataset.range(2).map(lambda x: tuple(ag.py_func(lambda n: n + 1, [x], [ag.int64])), calls)
    assert [[part.numpy() for part in element] for element in dataset] == [[1], [2]]
    assert dataset.output_types == (ag.int64,)
    listed = Dataset.range(1).map(lambda x: ag.py_func(lambda n: n, [x], [ag.int64]))
    assert listed.output_types == (ag.int64,)
    single = Dataset.range(1).map(lambda x: ag.py_func(lambda n: [n], [x], ag.int64))
    assert single.output_types == ag.int64


@Calls
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.int64, ag.uint8])
def test_numbers_of_python_take_the_dtype(calls: int | None, dtype: Any) -> None:
    dataset = Dataset.range(2).map(lambda x: ag.py_func(lambda n: 7, [x], dtype), calls)
    assert [(x.dtype, x.numpy()) for x in dataset] == 2 * [(dtype, 7)]


def test_several_results() -> None:
    def function(n: Any) -> Any:
        return np.float32(n), [1, 2], "é"

    dataset = Dataset.range(1).map(lambda x: ag.py_func(function, [x], [ag.float32, ag.int64, ag.string]))
    ((number, pair, text),) = dataset
    assert (number.dtype, pair.dtype, text.dtype) == (ag.float32, ag.int64, ag.string)
    assert (number.numpy(), pair.numpy().tolist(), text.numpy()) == (0.0, [1, 2], "é".encode())


@pytest.mark.parametrize(
    ("function", "types", "text"),
    [
        (
            np.float64,
            ag.float32,
            "py_func: result 0 of the function has dtype float64; Tout says float32. Return it as float32, or change "
            "Tout.",
        ),
        (
            lambda n: (n, b"text"),
            [ag.int64, ag.int32],
            "py_func: result 1 of the function has dtype string; Tout says int32. Return it as int32, or change Tout.",
        ),
        (lambda n: (n, n), ag.int64, "py_func: Tout has 1 dtypes; the function returned 2 results."),
        (lambda n: None, [ag.int64], "py_func: Tout has 1 dtypes; the function returned 0 results."),
    ],
)
def test_what_does_not_fit(function: Callable[[Any], Any], types: Any, text: str) -> None:
    with says(InvalidArgumentError, text):
        list(Dataset.range(1).map(lambda x: ag.py_func(function, [x], types)))


def test_loops_and_generators_are_no_graphs() -> None:
    def found() -> Any:
        return ag.py_func(lambda: np.float64(1.0), [], [ag.float32]).dtype

    def generate() -> Any:
        dtypes.append(found())
        yield 1

    dtypes: list[Any] = []
    for _ in Dataset.from_generator(generate, ag.int32).map(lambda x: ag.py_func(lambda n: n, [x], ag.int32)):
        dtypes.append(found())
    assert dtypes == [ag.float64, ag.float64]

    def listed() -> Any:
        dtypes.append(found())
        return [1]

    list(Dataset.from_generator(listed, ag.int32))
    assert dtypes[2:] == [ag.float64]
