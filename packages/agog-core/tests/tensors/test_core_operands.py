"""Operands of different types: tensors beside numbers, arrays and other tensors."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_core.tracing.functions.function import function
from agog_testing import says


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("number", [0.0, -0.0, 1.5, math.inf, -math.inf, math.nan, 3, -7, 10**9])
def test_python_numbers_take_the_tensors_dtype(dtype: str, number: float) -> None:
    x = ag.cast([1.0, -2.0], dtype)
    with np.errstate(all="ignore"):
        expected = np.asarray(number).astype(x.dtype.numpy_dtype)
    for got in (x + number, number + x, ag.maximum(number, x)):
        assert got.dtype is x.dtype
    got_zero = (ag.cast([-0.0], dtype) + number).numpy()
    assert np.array_equal(got_zero, np.array([expected], x.dtype.numpy_dtype), equal_nan=True)


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_the_sign_of_zero_is_kept() -> None:
    x = ag.constant([-0.0])
    assert math.copysign(1, float((x + 0.0)[0])) == 1
    assert math.copysign(1, float((x + -0.0)[0])) == -1
    assert math.copysign(1, float((x + 0)[0])) == 1
    one = ag.constant([1.0])
    assert (one / 0.0).numpy().tolist() == [math.inf]
    assert (one / -0.0).numpy().tolist() == [-math.inf]


def test_large_python_ints() -> None:
    assert float(ag.constant(1.0) * 10**20) == np.float32(1e20)
    assert float(2**70 * ag.constant(1.0, dtype=ag.float64)) == 2.0**70
    assert int(ag.constant(0, dtype=ag.int64) + 2**62) == 2**62
    assert int(ag.constant(0, dtype=ag.uint64) + (2**64 - 1)) == 2**64 - 1
    for dtype, number in (("int32", 2**31), ("int64", 2**63), ("int64", 2**64), ("uint8", -1), ("int8", 128)):
        with says(
            TypeError,
            f"add: y is {number}, which does not fit x of dtype {dtype}; its integers go from "
            f"{ag.as_dtype(dtype).min} to {ag.as_dtype(dtype).max}.",
        ):
            ag.constant(0, dtype=dtype) + number


def test_a_float_beside_a_tensor_of_integers_is_an_error() -> None:
    x = ag.constant([1, 2])
    with says(TypeError, "add: y is 1.5, which does not fit x of dtype int32; cast x, such as tf.cast(x, tf.float32)."):
        x + 1.5
    with says(
        TypeError, "subtract: x is 1.5, which does not fit y of dtype int32; cast y, such as tf.cast(y, tf.float32)."
    ):
        1.5 - x
    with says(
        TypeError,
        "multiply: y is a value of dtype float64 and shape (2,), which does not fit x of dtype int32; "
        "cast x, such as tf.cast(x, tf.float32).",
    ):
        x * np.array([1.0, 2.0])
    with says(
        TypeError, "add: y is 1j, which does not fit x of dtype float32; cast x, such as tf.cast(x, tf.complex128)."
    ):
        ag.constant([1.0]) + 1j


@pytest.mark.parametrize("write", [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv])
def test_each_operator_of_integers_and_a_float_names_the_cast(write: Any) -> None:
    """Also of variables, of the float in front, and in a function that is traced; TensorFlow refuses it too."""
    for x in (ag.constant([1, 2]), ag.Variable([1, 2])):
        for compute in (lambda x: write(x, 0.5), function(lambda x: write(x, 0.5))):
            with pytest.raises(TypeError, match=r"; cast x, such as tf\.cast\(x, tf\.float32\)\.$"):
                compute(x)
        with pytest.raises(TypeError, match=r"; cast y, such as tf\.cast\(y, tf\.float32\)\.$"):
            write(0.5, x)
        assert np.array(write(ag.cast(x, ag.float32), 0.5)).tolist() == write(np.array([1.0, 2.0]), 0.5).tolist()


def test_bools_and_strings_are_no_numbers() -> None:
    with says(TypeError, "add: y is True, which does not fit x of dtype float32; convert it first."):
        ag.constant([1.0]) + True
    with says(
        TypeError,
        "add: y is a value of dtype string and shape (), which does not fit x of dtype float32; convert it first.",
    ):
        ag.constant([1.0]) + "a"
    with says(
        ValueError, "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor."
    ):
        ag.constant([1.0]) + None


def test_strings_are_joined() -> None:
    assert (ag.constant("a") + "b").numpy() == b"ab"
    assert ("x" + ag.constant(["a", "b"])).numpy().tolist() == [b"xa", b"xb"]
    assert (ag.constant([["a"], [""]]) + ag.constant(["\0", "b"])).numpy().tolist() == [[b"a\0", b"ab"], [b"\0", b"b"]]


def test_two_tensors_of_different_dtypes_are_an_error() -> None:
    with says(
        InvalidArgumentError,
        "add: x has dtype float32 and y has dtype int32 (shapes (2,) and ()), but they must be of one dtype; "
        "cast one of them, such as tf.cast(y, tf.float32).",
    ):
        ag.constant([1.0, 2.0]) + ag.constant(1)
    with says(
        InvalidArgumentError,
        "matmul: a has dtype float32 and b has dtype float64 (shapes (1, 1) and (1, 1)), but they must be of one "
        "dtype; cast one of them, such as tf.cast(b, tf.float32).",
    ):
        ag.matmul(ag.constant([[1.0]]), ag.constant([[1.0]], dtype=ag.float64))


def test_shapes_that_do_not_broadcast_are_an_error() -> None:
    with says(
        InvalidArgumentError,
        "add: Incompatible shapes: [2] vs. [3]: sizes 2 and 3 differ and neither is 1. "
        "Reshape, tile or slice one of them.",
    ):
        ag.constant([1.0, 2.0]) + ag.constant([1.0, 2.0, 3.0])


def test_operands_without_a_tensor() -> None:
    for got, dtype, value in [
        (ag.add(1, 2), "int32", 3),
        (ag.add(1, 2.5), "float32", 3.5),
        (ag.add(2.5, 1), "float32", 3.5),
        (ag.add(np.float64(2.5), 1), "float64", 3.5),
        (ag.add(np.array(2.5), 1.0), "float64", 3.5),
        (ag.add(1.0, np.array(2.5)), "float64", 3.5),
        (ag.add(np.int64(2), 1), "int64", 3),
        (ag.add(1, np.int64(2)), "int64", 3),
    ]:
        assert (got.dtype.name, got.numpy()) == (dtype, value)


def test_division() -> None:
    sevens, twos = ag.constant([7, -7]), ag.constant([2, 2])
    assert (sevens / twos).dtype is ag.float64
    assert (sevens / twos).numpy().tolist() == [3.5, -3.5]
    assert (sevens // twos).numpy().tolist() == [3, -4]
    assert (sevens % twos).numpy().tolist() == [1, 1]
    assert (7 // twos).numpy().tolist() == [3, 3]
    assert (-7 % twos).numpy().tolist() == [1, 1]


def test_logic_operators() -> None:
    a, b = ag.constant([True, True, False]), ag.constant([True, False, False])
    assert (a & b).numpy().tolist() == [True, False, False]
    assert (a | b).numpy().tolist() == [True, True, False]
    assert (a ^ b).numpy().tolist() == [False, True, False]
    assert (~a).numpy().tolist() == [False, False, True]
    assert (True & b).numpy().tolist() == [True, False, False]


def test_nan_is_kept_once() -> None:
    x = ag.constant([1.0], ag.float64)
    before = len(x._table.scalars)
    for _ in range(3):
        assert np.isnan((x + float("nan")).numpy()).all()
    assert len(x._table.scalars) <= before + 1
