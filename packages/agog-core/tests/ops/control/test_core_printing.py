"""Tensors as text, and Python functions among ops."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.control.printing import format, formatted
from agog_core.ops.control.py_func import eager_py_func
from agog_testing import says


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (ag.constant(1.5), "1.5"),
        (ag.constant(0.1), "0.1"),
        (ag.constant(1.0), "1"),
        (ag.constant([1, 2, 3]), "[1 2 3]"),
        (ag.constant(np.arange(10)), "[0 1 2 ... 7 8 9]"),
        (ag.constant(np.arange(6)), "[0 1 2 3 4 5]"),
        (ag.constant([[1, 2], [3, 4]]), "[[1 2]\n [3 4]]"),
        (ag.constant([[[1], [2]], [[3], [4]]]), "[[[1]\n  [2]]\n\n [[3]\n  [4]]]"),
        (ag.constant("text"), "text"),
        (ag.constant(["a", "b"]), '["a" "b"]'),
        (ag.constant([True, False]), "[True False]"),
        (ag.constant([np.nan, np.inf]), "[nan inf]"),
        (ag.Variable([1.0]), "[1]"),
        ({"a": ag.constant([1]), "b": (2, "c")}, "{'a': [1], 'b': (2, 'c')}"),
        ("plain", "plain"),
        (None, "None"),
    ],
)
def test_values_as_text(value: Any, text: str) -> None:
    assert formatted(value, 3) == text


def test_floats_round_trip() -> None:
    assert formatted(ag.constant(1.0000001), 3) == "1.0000001"
    assert formatted(ag.constant(np.pi, "float64"), 3) == "3.141592653589793"


def test_all_elements_on_request() -> None:
    assert formatted(ag.constant(np.arange(9)), -1) == "[0 1 2 3 4 5 6 7 8]"
    assert formatted(ag.constant(np.arange(4).reshape(4, 1)), 1) == "[[0]\n ...\n [3]]"


def test_print_goes_to_the_error_stream(capsys: pytest.CaptureFixture[str]) -> None:
    assert ag.print("x:", ag.constant([1, 2]), [3]) is None
    ag.print("no newline", end="")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "x: [1 2] [3]\nno newline")


def test_print_to_other_streams(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ag.print(1, output_stream=sys.stdout)
    assert capsys.readouterr().out == "1\n"
    file, lines, path = io.StringIO(), [], tmp_path / "log"
    ag.print(ag.constant(np.arange(9)), output_stream=file, summarize=1)
    ag.print(2, output_stream=lines.append)
    ag.print(3, output_stream=f"file://{path}")
    ag.print(4, output_stream=f"file://{path}")
    assert (file.getvalue(), lines, path.read_text()) == ("[0 ... 8]\n", ["2"], "3\n4\n")
    with says(ValueError, "print: output_stream must be an open file, a function, or 'file://' and a path; got 5."):
        ag.print(1, output_stream=5)


def test_older_print_returns_its_input(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: ag.Tensor) -> ag.Tensor:
        return ag.Print(x * x, [x, np.arange(5)], "x = ", first_n=1)

    assert float(ag.gradients_function(f)(3.0)[0]) == 6.0
    assert capsys.readouterr().err == "x = [3][0 1 2...]\n"
    ag.Print(1, [np.arange(5)], summarize=-1)
    assert capsys.readouterr().err == "[0 1 2 3 4]\n"


def test_format() -> None:
    text = format("{} and {}", [ag.constant([1, 2]), 3])
    assert (text.numpy(), text.dtype) == (b"[1 2] and 3", ag.string)
    assert format("x%", ag.constant(1.5), placeholder="%").numpy() == b"x1.5"
    with says(
        ValueError,
        "format: 1 placeholder(s) in template does not match 2 tensor(s) provided as input; give one for each '{}'.",
    ):
        format("{}", [1, 2])


def test_py_func_gets_arrays_that_it_may_write() -> None:
    x = ag.constant([1.0, 2.0])

    def double(array: np.ndarray) -> np.ndarray:
        array *= 2
        return array

    assert ag.py_func(double, [x], ag.float32).numpy().tolist() == [2.0, 4.0]
    assert x.numpy().tolist() == [1.0, 2.0]


def test_py_func_keeps_the_dtypes_of_its_results() -> None:
    assert ag.py_func(lambda x: np.float64(x), [1.0], ag.float32).dtype == ag.float64
    assert ag.py_func(lambda: None, [], []) is None
    first, second = ag.py_func(lambda x, y: (x + y, b"text"), [1, 2], [ag.int32, ag.string])
    assert (int(first), second.numpy()) == (3, b"text")
    assert ag.gradients_function(lambda x: ag.py_func(np.square, [x], ag.float32))(2.0) == [None]


def test_eager_py_func_gets_tensors_and_is_differentiable_to_any_order() -> None:
    def cube(x: ag.Tensor) -> ag.Tensor:
        return eager_py_func(lambda y: y * y * y if y > 0 else y, [x], ag.float32)

    first = ag.gradients_function(cube)
    second = ag.gradients_function(lambda x: first(x)[0])
    third = ag.gradients_function(lambda x: second(x)[0])
    assert [float(f(2.0)[0]) for f in (first, second, third)] == [12.0, 12.0, 6.0]


def test_eager_py_func_gives_the_dtypes_that_are_asked_for() -> None:
    assert eager_py_func(lambda x: x, [1], ag.float64).dtype == ag.float64
    both = eager_py_func(lambda x: [x, 2], [1.5], [ag.float32, "int64"])
    assert [each.dtype.name for each in both] == ["float32", "int64"]
    assert eager_py_func(lambda x: None, [1.5], []) == []
    with says(
        ag.errors.UnknownError,
        "py_func: Attempting to return a variable, 'v:0', from the function; return its value, such as "
        "variable.value().",
    ):
        eager_py_func(lambda: ag.Variable(1.0, name="v"), [], ag.float32)
    with says(ValueError, "py_func: Tout has 1 dtypes; the function returned 2 results."):
        eager_py_func(lambda: [1, 2], [], [ag.int32])


def test_sparse_tensors_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    sparse = ag.SparseTensor([[0, 0], [1, 2]], [1, 2], [3, 4])
    ag.print(sparse, {"b": ag.constant([1]), "a": [sparse]}, output_stream=sys.stdout)
    text = "'SparseTensor(indices=[[0 0]\n [1 2]], values=[1 2], shape=[3 4])'"
    assert capsys.readouterr().out == f"{text} {{'a': [{text}], 'b': [1]}}\n"
