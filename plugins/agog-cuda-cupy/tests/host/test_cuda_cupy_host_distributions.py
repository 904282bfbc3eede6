"""Random numbers of distributions on the host, against those of the device "cpu": no bit may differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_kernels_xp
from agog_cpu_numpy.backend import numpy_dtype
from agog_cuda_cupy.cuda import distributions

FLOATS = ["float16", "bfloat16", "float32", "float64"]
# Keys, and how often a number is drawn at most.
DRAWS = [((3, 9, 0), 24), ((2**64 - 1, 5, 7), 1)]


def _reference_bits(key: tuple[int, int, int], count: int) -> Any:
    generator = np.random.Philox(key=np.array(key[:2], "u8"), counter=np.array([key[2], 0, 0, 0], "u8"))
    return generator.random_raw(count)


REFERENCE = agog_kernels_xp.bind(np, bits=_reference_bits, dtype=numpy_dtype)
SHAPES = np.array([0.01, 0.3, 1.0, 2.5, 17.0, 1e4, np.inf, 0.0, -1.0, np.nan])
MEANS = np.array([0.0, 0.3, 4.0, 9.99, 10.0, 33.3, 1e4, np.inf, -1.0, np.nan])


def _same(found: Any, expected: Any) -> None:
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    is_nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(found), is_nan)
    assert found[~is_nan].tobytes() == expected[~is_nan].tobytes()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("key", "rounds"), DRAWS)
def test_gamma_numbers_have_the_bits_of_the_cpu(either_modules: Any, dtype: str, key: Any, rounds: int) -> None:
    alpha = SHAPES.astype(numpy_dtype(dtype))
    with np.errstate(all="ignore"):
        expected = REFERENCE("random_gamma")(alpha, shape=(101,), key=key, rounds=rounds)
        found = distributions.random_gamma(either_modules, alpha, shape=(101,), key=key, rounds=rounds)
    _same(found, expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
@pytest.mark.parametrize(("key", "rounds"), DRAWS)
def test_poisson_numbers_have_the_bits_of_the_cpu(either_modules: Any, dtype: str, key: Any, rounds: int) -> None:
    given: dict[str, Any] = {"shape": (101,), "key": key, "rounds": rounds, "dtype": dtype}
    with np.errstate(all="ignore"):
        expected = REFERENCE("random_poisson")(MEANS, **given)
        found = distributions.random_poisson(either_modules, MEANS, **given)
    _same(found, expected)


def test_numbers_do_not_depend_on_the_order_of_threads(modules: Any, order: str) -> None:
    alpha = np.array([[0.5, 3.0]], "f4").T
    expected = REFERENCE("random_gamma")(alpha, shape=(7, 11), key=(1, 2, 3), rounds=8)
    _same(distributions.random_gamma(modules, alpha, shape=(7, 11), key=(1, 2, 3), rounds=8), expected)


def test_nothing_is_drawn_without_elements(modules: Any) -> None:
    alpha = np.ones((0, 2), "f4")
    assert distributions.random_gamma(modules, alpha, shape=(3,), key=(1, 2, 3), rounds=8).shape == (3, 0, 2)
