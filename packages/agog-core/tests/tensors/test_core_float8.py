"""The dtypes of eight bits: values are kept in them, cast from and to them, and nothing else."""

from __future__ import annotations

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_testing import says

NAMES = ["float8_e4m3fn", "float8_e5m2"]
each = pytest.mark.parametrize("name", NAMES)


@each
def test_the_dtype(name: str) -> None:
    dtype = getattr(ag, name)
    host = np.dtype(getattr(ml_dtypes, name))
    assert dtype == name == host == host.type
    assert ag.as_dtype(host) is ag.as_dtype(name) is dtype
    assert (dtype.size, dtype.is_floating, dtype.numpy_dtype) == (1, True, host)
    assert float(dtype.max) == -float(dtype.min) == {"float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}[name]
    assert pickle.loads(pickle.dumps(dtype)) is copy.deepcopy(dtype) is dtype


@each
@pytest.mark.parametrize("other", ["float16", "bfloat16", "float32", "float64", "int8", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(), (6,), (2, 3), (0, 3)])
def test_casts_to_and_fro(name: str, other: str, shape: tuple[int, ...]) -> None:
    host = np.dtype(getattr(ml_dtypes, other, other))
    value = np.resize(np.array([0.0, 1.0, 0.5, 3.0, 100.0, 7.0]), shape).astype(host)
    eight = ag.cast(value, name)
    expected = value.astype(np.float32).astype(getattr(ml_dtypes, name))
    assert (eight.dtype, eight.shape) == (name, shape)
    np.testing.assert_array_equal(np.asarray(eight.numpy()), expected)
    back = ag.cast(eight, other)
    assert (back.dtype, back.shape) == (other, shape)
    np.testing.assert_array_equal(np.asarray(back.numpy()), expected.astype(np.float32).astype(host))


@each
def test_casts_of_complex_numbers_take_the_real_part(name: str) -> None:
    eight = ag.cast(ag.constant(1.5 + 2j, ag.complex64), name)
    assert (float(eight.numpy()), eight.shape) == (1.5, ())
    assert ag.cast(eight, ag.complex128).numpy() == 1.5


@pytest.mark.parametrize(
    ("name", "expected"), [("float8_e4m3fn", [448.0, np.nan, np.nan]), ("float8_e5m2", [448.0, 57344.0, np.inf])]
)
def test_large_values(name: str, expected: list[float]) -> None:
    np.testing.assert_array_equal(ag.cast(ag.cast([448.0, 57344.0, np.inf], name), ag.float32).numpy(), expected)


@each
def test_a_cast_to_the_same_dtype_is_the_tensor(name: str) -> None:
    eight = ag.cast([1.0], name)
    assert ag.cast(eight, name) is eight


@each
def test_variables(name: str) -> None:
    v = ag.Variable([1.0, 2.0], dtype=name)
    seen = v.value()
    v.assign([3.0, 4.0])
    v.assign(ag.cast([5.0, 6.0], name))
    assert v.dtype == name
    assert ag.cast(v, ag.float32).numpy().tolist() == [5.0, 6.0]
    assert ag.cast(seen, ag.float32).numpy().tolist() == [1.0, 2.0]
    assert repr(v) == f"<tf.Variable 'Variable:0' shape=(2,) dtype={name}, numpy=array([5, 6], dtype='{name}')>"
    with says(
        InvalidArgumentError,
        f"assign: variable 'Variable:0' has dtype {name} and the value has dtype float32; cast it with "
        f"tf.cast(value, tf.{name}).",
    ):
        v.assign(ag.constant([1.0, 2.0]))


@each
def test_ops_refuse_it(name: str) -> None:
    eight = ag.cast([1.0], name)
    with says(
        InvalidArgumentError,
        f"sin: dtype {name} is not supported; use one of bfloat16, complex128, complex64, float16, float32, float64. "
        "Cast with tf.cast.",
    ):
        ag.sin(eight)
    for op in (ag.negative, ag.reduce_sum, ag.square):
        with pytest.raises(InvalidArgumentError, match=f"dtype {name} is not supported"):
            op(eight)


@each
def test_a_tape_ends_at_it(name: str) -> None:
    x = ag.constant(1.5)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = ag.cast(ag.cast(x, name), ag.float32) * 2.0
    assert tape.gradient(y, x) is None
