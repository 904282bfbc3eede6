"""The kernels of random numbers on the host, against those of the device "cpu": no bit may differ."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import agog_kernels_xp
from agog_cpu_numpy.backend import numpy_dtype
from agog_cuda_cupy.cuda import random

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
KEYS = [(3, 9, 0), (2**64 - 1, 5, 7), (1, 2, 2**64 - 1), (1, 2, 2**64 - 3)]


def _reference_bits(key: tuple[int, int, int], count: int) -> Any:
    generator = np.random.Philox(key=np.array(key[:2], "u8"), counter=np.array([key[2], 0, 0, 0], "u8"))
    return generator.random_raw(count)


REFERENCE = agog_kernels_xp.bind(np, bits=_reference_bits, dtype=numpy_dtype)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("count", [1, 5, 1003])
def test_bits_are_those_of_numpy(modules: Any, order: str, key: tuple[int, int, int], count: int) -> None:
    np.testing.assert_array_equal(random.bits(modules, key, count), _reference_bits(key, count))


@pytest.mark.parametrize("op", ["random_uniform", "random_normal", "truncated_normal"])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("key", KEYS[::3])
def test_numbers_have_the_bits_of_the_cpu(either_modules: Any, op: str, dtype: str, key: tuple[int, int, int]) -> None:
    shape = (10, 1001)
    found = getattr(random, op)(either_modules, shape=shape, key=key, dtype=numpy_dtype(dtype), index=0)
    expected = REFERENCE(op)(shape=shape, key=key, dtype=dtype, index=0)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("op", ["random_uniform", "random_normal", "truncated_normal"])
def test_numbers_do_not_depend_on_the_order_of_threads(modules: Any, order: str, op: str) -> None:
    found = getattr(random, op)(modules, shape=(1003,), key=(3, 9, 4), dtype="float32", index=0)
    assert found.tobytes() == REFERENCE(op)(shape=(1003,), key=(3, 9, 4), dtype="float32", index=0).tobytes()


def test_the_tails_of_normals_are_met(modules: Any) -> None:
    given: dict[str, Any] = {"shape": (1 << 17,), "key": (5, 6, 7), "dtype": "float32", "index": 0}
    found = random.random_normal(modules, **given)
    assert float(np.abs(found).max()) > 4
    assert found.tobytes() == REFERENCE("random_normal")(**given).tobytes()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_have_the_bits_of_the_cpu(modules: Any, dtype: str) -> None:
    low, high = (0, 200) if dtype == "uint8" else (3, 100) if dtype.startswith("uint") else (-100, 27)
    given = {"shape": (7, 11), "key": (3, 9, 1), "low": low, "high": high, "index": 0}
    found = random.random_integers(modules, dtype=np.dtype(dtype), **given)
    np.testing.assert_array_equal(found, REFERENCE("random_integers")(dtype=dtype, **given), strict=True)


def test_integers_of_the_widest_range(modules: Any, order: str) -> None:
    given = {"shape": (1003,), "key": (3, 9, 1), "low": -(2**63), "high": 2**63 - 1, "index": 0}
    found = random.random_integers(modules, dtype=np.dtype("int64"), **given)
    np.testing.assert_array_equal(found, REFERENCE("random_integers")(dtype="int64", **given), strict=True)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("keep", [0.9, 0.5, 0.1])
def test_dropout_has_the_bits_of_its_ops(either_modules: Any, dtype: str, keep: float) -> None:
    kind = numpy_dtype(dtype)
    x = np.random.default_rng(7).standard_normal((13, 77)).astype(kind)
    noise = REFERENCE("random_uniform")(shape=x.shape, key=(3, 9, 4), dtype=dtype, index=0)
    kept = np.floor(np.add(noise, kind.type(keep)))
    expected = np.divide(x, kind.type(keep)) * kept
    found, mask = random.dropout(either_modules, x, key=(3, 9, 4), keep=keep)
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()
    np.testing.assert_array_equal(mask, kept.astype("bool"), strict=True)
    assert random.dropout_grad(either_modules, x, mask, keep=keep).tobytes() == expected.tobytes()


def test_dropout_keeps_what_is_not_finite_as_its_ops_do(modules: Any, order: str) -> None:
    x = np.tile(np.array([np.nan, np.inf, -np.inf, -0.0, 0.0], "f4"), 50)
    noise = REFERENCE("random_uniform")(shape=x.shape, key=(1, 2, 3), dtype="float32", index=0)
    with np.errstate(invalid="ignore"):
        expected = (x / np.float32(0.5)) * np.floor(noise + np.float32(0.5))
    found, mask = random.dropout(modules, x, key=(1, 2, 3), keep=0.5)
    np.testing.assert_array_equal(found, expected, strict=True)
    np.testing.assert_array_equal(random.dropout_grad(modules, x, mask, keep=0.5), expected, strict=True)


@pytest.mark.parametrize("op", ["random_uniform", "random_normal", "truncated_normal"])
def test_nothing_is_drawn_without_elements(modules: Any, op: str) -> None:
    found = getattr(random, op)(modules, shape=(3, 0), key=(1, 2, 3), dtype="float32", index=0)
    assert (found.shape, found.dtype) == ((3, 0), np.float32)


def test_what_the_kernels_do_not_serve_is_declined(modules: Any) -> None:
    small = ml_dtypes.float8_e5m2
    assert random.random_normal(modules, shape=(3,), key=(1, 2, 3), dtype=small, index=0) is NotImplemented
    assert random.dropout(modules, np.ones(3, small), key=(1, 2, 3), keep=0.5) is NotImplemented
    assert random.dropout_grad(modules, np.ones(3, small), np.ones(3, "bool"), keep=0.5) is NotImplemented
