"""Casts that saturate, casts of complex numbers, and reading bytes as another dtype."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_testing import says

REAL = sorted(dtype.name for dtype in ag.dtypes.ORDERED)
INTEGERS = sorted(dtype.name for dtype in ag.dtypes.INTEGERS)


@pytest.mark.parametrize("wanted", INTEGERS)
@pytest.mark.parametrize("given", REAL)
def test_saturate_cast_keeps_within_the_dtype(given: str, wanted: str) -> None:
    source, target = ag.as_dtype(given), ag.as_dtype(wanted)
    values = np.array([source.min, 0, 1, 100, source.max], source.numpy_dtype)
    got = ag.saturate_cast(values, wanted).numpy()
    for value, result in zip(values, got.tolist(), strict=True):
        exact = min(max(int(float(value) if source.is_floating else value), int(target.min)), int(target.max))
        if source.is_floating and exact in (target.min, target.max):  # the nearest number that both dtypes have
            assert abs(result - exact) <= abs(exact) * float(np.finfo(np.float16).eps) * 8
            assert target.min <= result <= target.max
        else:
            assert result == exact


def test_saturate_cast_of_infinities() -> None:
    assert ag.saturate_cast([-math.inf, math.inf], "int16").numpy().tolist() == [-(2**15), 2**15 - 1]
    assert ag.saturate_cast(np.array([-1e300, 1e300]), "float32").numpy().tolist() == [
        *(-float(np.finfo(np.float32).max), float(np.finfo(np.float32).max))
    ]


def test_casts_of_complex_numbers_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = ag.constant([1.5 + 2j, 1j])
        assert ag.cast(x, "float32").numpy().tolist() == [1.5, 0.0]
        assert ag.cast(x, "int32").numpy().tolist() == [1, 0]
        assert ag.cast(x, "bool").numpy().tolist() == [True, True]


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        (ag.to_double, "float64"),
        (ag.to_bfloat16, "bfloat16"),
        (ag.to_complex64, "complex64"),
        (ag.to_complex128, "complex128"),
        (ag.to_float, "float32"),
        (ag.to_int32, "int32"),
        (ag.to_int64, "int64"),
    ],
)
def test_casts_to_a_dtype(function: object, dtype: str) -> None:
    assert callable(function)
    got = function([2, 3])
    assert (got.dtype.name, got.numpy().tolist()) == (dtype, [2, 3])


def test_bitcast_there_and_back() -> None:
    x = ag.constant([[1.0, -2.0], [0.5, math.inf]])
    as_bytes = ag.bitcast(x, ag.uint8)
    assert as_bytes.shape.as_list() == [2, 2, 4]
    assert as_bytes[0, 0].numpy().tolist() == list(np.float32(1.0).tobytes())
    assert ag.bitcast(as_bytes, ag.float32).numpy().tolist() == x.numpy().tolist()


def test_a_sparse_tensor_is_cast_by_its_values() -> None:
    given = ag.SparseTensor([[0, 1], [1, 0]], [1.9, -2.0], [2, 2])
    found = ag.cast(given, "int32")
    assert isinstance(found, ag.SparseTensor)
    assert (found.values.numpy().tolist(), found.values.dtype.name) == ([1, -2], "int32")
    assert found.indices.numpy().tolist() == given.indices.numpy().tolist()


def test_values_of_one_hot_have_the_dtype_of_the_result() -> None:
    assert ag.one_hot([1], 2, np.int64(7), np.int64(3)).numpy().tolist() == [[3, 7]]
    assert ag.one_hot([1], 2, 7, dtype="float64").numpy().tolist() == [[0.0, 7.0]]
    with says(TypeError, "one_hot: off_value has dtype float32, and the result dtype float64; cast it."):
        ag.one_hot([1], 2, np.float64(1.0), np.float32(0.0))
    with says(TypeError, "one_hot: on_value has dtype float32, and the result dtype int32; cast it."):
        ag.one_hot([1], 2, np.float32(1.0), dtype="int32")


def test_an_order_of_axes_that_is_none() -> None:
    with says(InvalidArgumentError, "transpose: perm must be a list of 2 integers; got [[0, 1], [1, 0]]."):
        ag.transpose([[1, 2]], [[0, 1], [1, 0]])


@pytest.mark.parametrize("dtype", ["int32", "bool", "float16"])
def test_arrays_without_elements_become_any_dtype(dtype: str) -> None:
    assert ag.constant(np.zeros((0, 2)), dtype).numpy().shape == (0, 2)
