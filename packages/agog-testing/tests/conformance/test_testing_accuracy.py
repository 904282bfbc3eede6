"""The worst error in units in the last place: how it is counted, and that the kit tells it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from agog_core.plugin import Kernel
from agog_testing.comparison import Accuracy, error_in_ulps
from agog_testing.conformance import main

Array = np.ndarray[Any, Any]
FLOATS = [np.dtype(name) for name in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("start", [0.0, 1.0, 1.5, 96.0])
def test_steps_to_the_next_number_are_counted(dtype: np.dtype[Any], sign: int, start: float) -> None:
    wanted = np.array([sign * start], dtype)
    output = wanted
    for step in range(1, 4):
        output = np.nextafter(output, np.array([sign * np.inf], dtype))
        assert error_in_ulps(output, wanted) == step


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_largest_number_has_a_last_place_too(dtype: np.dtype[Any]) -> None:
    wanted = np.array([ml_dtypes.finfo(dtype).max], dtype)
    assert error_in_ulps(np.nextafter(wanted, np.array([0], dtype)), wanted) == 1


def test_what_is_not_finite_has_no_error() -> None:
    wanted = np.array([np.inf, np.nan, 1.0, -np.inf])
    assert error_in_ulps(np.array([np.inf, np.nan, 1.0, 3.0]), wanted) == 0
    assert error_in_ulps(np.zeros(0), np.zeros(0)) == 0


def test_a_huge_error_is_a_number() -> None:
    assert error_in_ulps(np.array([1e300]), np.array([0.0])) == np.finfo(np.float64).max


def test_complex_numbers_are_compared_in_the_plane() -> None:
    wanted = np.array([3 + 4j], np.complex64)  # of size 5, where the last place is worth 2**-21
    assert error_in_ulps(np.array([3 + (4 + 2**-20) * 1j], np.complex64), wanted) == 2


def test_the_worst_one_is_kept() -> None:
    accuracy = Accuracy()
    accuracy.see(np.array([1, 2]), np.array([1, 3]))
    assert accuracy.worst is None  # integers are exact
    for error in (0.0, 3.0, 2.0):
        accuracy.see(1 + np.spacing(1.0) * np.array([error]), np.array([1.0]))
    assert accuracy.worst == 3


def two_steps_up(x: Array) -> Array:
    if x.dtype.kind == "i":
        return np.asarray(np.square(x))
    up = np.array(np.inf, x.dtype)
    return np.asarray(np.nextafter(np.nextafter(np.square(x), up), up))


def test_the_kit_tells_it(register: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    register(Kernel(op="square", device="cpu", fn=two_steps_up, dtypes=("float32", "int32")))
    assert main(["stranger", "-v", "--json", str(tmp_path / "results.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "square/float32/value: passed (worst error 2 ULP)" in lines
    assert "square/float32/dtype: passed" in lines
    tests = {test["id"]: test["ulp"] for test in json.loads((tmp_path / "results.json").read_text())["tests"]}
    assert (tests["square/float32/value"], tests["square/float32/dtype"], tests["square/int32/value"]) == (
        2,
        None,
        None,
    )
