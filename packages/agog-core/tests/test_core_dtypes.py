"""DType and as_dtype."""

from __future__ import annotations

import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import agog_core as ag
from agog_testing import says

NAMES = (
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "string"),
)
NUMPY = {name: np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name) for name in NAMES if name != "string"}
KNOWN = ", ".join(NAMES)

every_name = pytest.mark.parametrize("name", NAMES)


@every_name
def test_every_name_has_one_dtype(name: str) -> None:
    dtype = ag.as_dtype(name)
    assert dtype.name == name
    assert ag.as_dtype(dtype) is dtype
    assert getattr(ag, name) is dtype
    assert dtype in ag.dtypes.ALL
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert repr(dtype) == f"tf.{name}"
    assert str(dtype) == f"<dtype: '{name}'>"
    assert dtype.base_dtype is dtype


@pytest.mark.parametrize(("name", "numpy_dtype"), NUMPY.items())
def test_numpys_dtypes_and_back(name: str, numpy_dtype: np.dtype[Any]) -> None:
    dtype = ag.as_dtype(name)
    assert dtype.numpy_dtype == numpy_dtype
    assert dtype.as_numpy_dtype is numpy_dtype.type
    assert dtype.size == numpy_dtype.itemsize
    assert ag.as_dtype(numpy_dtype) is dtype
    assert ag.as_dtype(numpy_dtype.type) is dtype
    assert ag.as_dtype(numpy_dtype.newbyteorder(">")) is dtype


@pytest.mark.parametrize(
    ("given", "name"),
    [
        *[(float, "float32"), (int, "int32"), (bool, "bool"), (complex, "complex128"), (str, "string")],
        *[(bytes, "string"), ("half", "float16"), ("float", "float32"), ("double", "float64")],
        *[(np.longlong, "int64"), (np.ulonglong, "uint64"), (np.dtype("S3"), "string"), (np.dtype("U3"), "string")],
        *[(np.dtype(object), "string"), (object, "string"), (np.str_, "string"), (np.bool_, "bool")],
    ],
)
def test_what_else_stands_for_a_dtype(given: Any, name: str) -> None:
    assert ag.as_dtype(given).name == name


@pytest.mark.parametrize(
    "given",
    [
        *[None, "f4", "Float32", "", 3, 1.5, True, list, dict, Exception, {}, [], (), ag, ag.Tensor],
        *["datetime64", np.datetime64, np.void, np.longdouble, np.dtype("datetime64[s]"), np.dtype([("a", "f4")])],
    ],
    ids=repr,
)
def test_what_stands_for_no_dtype(given: Any) -> None:
    with says(TypeError, f"Cannot convert {given!r} to a dtype; the dtypes are {KNOWN}."):
        ag.as_dtype(given)
    for name in NAMES:
        assert ag.as_dtype(name) != given


@every_name
def test_equality_and_hash(name: str) -> None:
    dtype = ag.as_dtype(name)
    for other in NAMES:
        assert (dtype == other) == (name == other)
        assert (other == dtype) == (name == other)
        assert (dtype == ag.as_dtype(other)) == (name == other)
        assert dtype.is_compatible_with(other) == (name == other)
    assert hash(dtype) == hash(name)
    assert {dtype: 1}[name] == 1  # type: ignore[index]  # a name is as good as the dtype
    if name in NUMPY:
        assert dtype == NUMPY[name]
        assert NUMPY[name] == dtype


@every_name
def test_kinds(name: str) -> None:
    dtype = ag.as_dtype(name)
    kind = "O" if name == "string" else "f" if name == "bfloat16" else NUMPY[name].kind
    assert dtype.is_floating == (kind == "f")
    assert dtype.is_complex == (kind == "c")
    assert dtype.is_integer == (kind in "iu")
    assert dtype.is_unsigned == (kind == "u")
    assert dtype.is_bool == (kind == "b")
    assert dtype.is_differentiable == (kind in "fc")
    sets = ag.dtypes
    assert (dtype in sets.FLOATING, dtype in sets.INTEGERS) == (kind == "f", kind in "iu")
    assert (dtype in sets.DIFFERENTIABLE, dtype in sets.NUMERIC) == (kind in "fc", kind in "fciu")
    assert (dtype in sets.ORDERED, dtype in sets.NUMERIC_OR_BOOL) == (kind in "fiu", kind in "fciub")


def test_real_dtypes() -> None:
    assert ag.complex64.real_dtype is ag.float32
    assert ag.complex128.real_dtype is ag.float64
    assert ag.int32.real_dtype is ag.int32


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        *[("int8", -128, 127), ("uint8", 0, 255), ("int32", -(2**31), 2**31 - 1), ("uint64", 0, 2**64 - 1)],
        *[("bool", False, True), ("float16", -65504.0, 65504.0)],
        ("float32", -(2.0**128 - 2.0**104), 2.0**128 - 2.0**104),
        ("bfloat16", -(2.0**128 - 2.0**120), 2.0**128 - 2.0**120),
    ],
)
def test_limits(name: str, low: Any, high: Any) -> None:
    dtype = ag.as_dtype(name)
    assert dtype.min == low
    assert dtype.max == high


@pytest.mark.parametrize("name", ["string", "complex64"])
def test_what_has_no_limits(name: str) -> None:
    for which in ("min", "max"):
        with says(TypeError, f"dtype {name} has no {which}imum: its values are not ordered numbers."):
            getattr(ag.as_dtype(name), which)


def test_every_dtype_has_its_number() -> None:
    numbers = {dtype.as_datatype_enum for dtype in ag.dtypes.ALL | ag.dtypes.FLOAT8}
    assert len(numbers) == len(ag.dtypes.ALL | ag.dtypes.FLOAT8)
    assert (ag.float32.as_datatype_enum, ag.int64.as_datatype_enum, ag.string.as_datatype_enum) == (1, 9, 7)
