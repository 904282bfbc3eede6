"""Reductions on the host, against NumPy's in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from host_module import HostKernel

import agog_kernels_xp
from agog_cpu_numpy.backend import numpy_dtype
from agog_cuda_cupy.cuda import reduction
from agog_cuda_cupy.cuda.axes import sizes_around

REFERENCE = agog_kernels_xp.bind(np, dtype=numpy_dtype)
TOLERANCES = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-6, "float64": 1e-14}
DTYPES = [*TOLERANCES, "int32", "int64"]
# Shapes with axes: rows, long rows in pieces, columns, long columns in pieces, several axes, all of them, and axes with
# others between them.
CASES = [
    ((3, 7), (1,)),
    ((2, 2500), (1,)),
    ((5, 40), (0,)),
    ((700, 3), (0,)),
    ((2, 300, 5), (1,)),
    ((3, 4, 5), (1, 2)),
    ((2, 3, 1, 4), (1, 3)),
    ((1,), (0,)),
    ((3, 4, 5), (0, 2)),
    ((270, 3, 5), (0, 2)),
    ((2, 3, 2, 1100), (1, 3)),
    ((3, 2, 4, 2, 3), (0, 2, 4)),
]
CALCULATED: dict[str, Callable[..., Any]] = {
    "reduce_sum": np.sum,
    "reduce_mean": np.mean,
    "reduce_max": np.max,
    "reduce_min": np.min,
    "reduce_logsumexp": lambda x, axis, keepdims: np.log(np.exp(x - 9).sum(axis, keepdims=keepdims)) + 9,
}
OF_FLOATS = ("reduce_mean", "reduce_logsumexp")


def _numbers(shape: tuple[int, ...], dtype: str, seed: int = 7) -> Any:
    return (4 * np.random.default_rng(seed).standard_normal(shape) + 1).astype(numpy_dtype(dtype))


def _agree(found: Any, expected: Any, dtype: str, scale: float = 1) -> None:
    assert (found.shape, found.dtype) == (np.shape(expected), numpy_dtype(dtype))
    tolerance = TOLERANCES.get(dtype, 0)
    np.testing.assert_allclose(found.astype("f8"), expected, rtol=tolerance, atol=scale * tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "axes"), CASES)
def test_reductions(modules: Any, order: str, shape: tuple[int, ...], axes: tuple[int, ...], dtype: str) -> None:
    x = _numbers(shape, dtype)
    for op, calculate in CALCULATED.items():
        if dtype.startswith("int") and op in OF_FLOATS:
            continue
        scale = float(np.abs(x.astype("f8")).sum(axes).max()) if op == "reduce_sum" else 10
        for keepdims in (True, False):
            expected = calculate(x.astype("f8"), axis=axes, keepdims=keepdims)
            _agree(getattr(reduction, op)(modules, x, axes=axes, keepdims=keepdims), expected, dtype, scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "axes"), CASES)
def test_products(modules: Any, order: str, shape: tuple[int, ...], axes: tuple[int, ...], dtype: str) -> None:
    x = np.sign(_numbers(shape, dtype)) * numpy_dtype(dtype).type(1)
    x.reshape(-1)[:5] *= numpy_dtype(dtype).type(2)
    expected = np.prod(x.astype("f8"), axis=axes)
    _agree(reduction.reduce_prod(modules, x, axes=axes, keepdims=False), expected, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize(("shape", "axis"), [((3, 7), 1), ((2, 2500), 1), ((700, 3), 0), ((2, 300, 5), 1)])
def test_the_first_extremum_is_found(
    modules: Any, order: str, shape: tuple[int, ...], axis: int, index: str, dtype: str
) -> None:
    x = np.random.default_rng(7).integers(-3, 3, shape).astype(numpy_dtype(dtype))
    for op, calculate in (("argmax", np.argmax), ("argmin", np.argmin)):
        found = getattr(reduction, op)(modules, x, axis=axis, dtype=index)
        np.testing.assert_array_equal(found, calculate(x.astype("f8"), axis).astype(index), strict=True)


def test_what_is_not_finite_is_as_on_the_cpu(either_modules: Any, order: str) -> None:
    inf, nan = np.inf, np.nan
    rows = np.zeros((7, 50), "f4")
    rows[0, 20], rows[1, 3], rows[2, 40:] = inf, -inf, nan
    rows[3], rows[4, [5, 30]], rows[5, [9, 8]], rows[6] = -inf, nan, (inf, -inf), inf
    for x, axis in ((rows, 1), (np.ascontiguousarray(rows.T), 0)):
        for op in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_logsumexp"):
            with np.errstate(all="ignore"):
                expected = REFERENCE(op)(x, axes=(axis,), keepdims=False)
            found = getattr(reduction, op)(either_modules, x, axes=(axis,), keepdims=False)
            np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=op)
        for op in ("argmax", "argmin"):
            expected = REFERENCE(op)(x, axis=axis, dtype="int64")
            np.testing.assert_array_equal(getattr(reduction, op)(either_modules, x, axis=axis, dtype="int64"), expected)


@pytest.mark.parametrize("shape", [(200_000, 1), (100_000, 2)])
def test_long_sums_lose_few_digits(modules: Any, shape: tuple[int, int]) -> None:
    x = np.random.default_rng(7).random(shape).astype("f4") + np.float32(1000)
    expected = x.astype("f8").sum(0)
    found = reduction.reduce_sum(modules, x, axes=(0,), keepdims=False)
    np.testing.assert_allclose(found, expected, rtol=2e-7)


def test_sums_have_the_same_bits_in_each_order_of_threads(modules: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = _numbers((3000, 3), "float32")
    for rows, axis in ((x, 0), (x.reshape(3, 3000), 1)):
        found = set()
        for order in range(4):
            monkeypatch.setattr(HostKernel, "order", order)
            found.add(reduction.reduce_sum(modules, rows, axes=(axis,), keepdims=False).tobytes())
        assert len(found) == 1


@pytest.mark.parametrize(
    ("shape", "to"),
    [((6, 3, 4), (4,)), ((6, 3, 4), (1, 4)), ((5, 4), (5, 1)), ((2, 300), (1, 1)), ((6, 3, 4), (1, 3, 1))],
)
def test_sum_to(either_modules: Any, shape: tuple[int, ...], to: tuple[int, ...]) -> None:
    x = _numbers(shape, "float32")
    _agree(reduction.sum_to(either_modules, x, shape=to), REFERENCE("sum_to")(x.astype("f8"), shape=to), "float32", 100)


def test_axes_that_are_neighbours() -> None:
    assert sizes_around((2, 3, 4), (1,)) == (2, 3, 4)
    assert sizes_around((2, 3, 1, 4), (3, 1)) == (2, 12, 1)
    assert sizes_around((2, 3, 4), (0, 2)) is None
    assert sizes_around((2, 3, 4), ()) is None


def test_what_the_kernels_do_not_serve_is_declined(modules: Any) -> None:
    x = np.ones((2, 3, 4), "f4")
    integers = x.astype("i4")
    assert reduction.reduce_sum(modules, x, axes=(), keepdims=False) is NotImplemented
    assert reduction.reduce_sum(modules, x[:0], axes=(0,), keepdims=False) is NotImplemented
    assert reduction.reduce_sum(modules, x.astype("u1"), axes=(0,), keepdims=False) is NotImplemented
    assert reduction.reduce_mean(modules, integers, axes=(0,), keepdims=False) is NotImplemented
    assert reduction.reduce_logsumexp(modules, integers, axes=(0,), keepdims=False) is NotImplemented
    assert reduction.argmax(modules, x, axis=1, dtype="uint8") is NotImplemented
    assert reduction.sum_to(modules, x, shape=x.shape) is NotImplemented
