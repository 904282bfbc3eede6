"""Gathers, scatters and segments on the host, against the device "cpu": the same bits and the same errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_kernels_xp
from agog_core.plugin import InvalidArgumentError
from agog_cpu_numpy.backend import numpy_dtype
from agog_cuda_cupy.cuda import indexing

REFERENCE = agog_kernels_xp.bind(np, dtype=numpy_dtype)
NUMBERS = ["float16", "bfloat16", "float32", "float64", "int32", "int64"]
SEGMENTS = ["unsorted_segment_sum", "unsorted_segment_prod", "unsorted_segment_max", "unsorted_segment_min"]


def _numbers(shape: tuple[int, ...], dtype: str, seed: int = 7) -> Any:
    return (4 * np.random.default_rng(seed).standard_normal(shape)).astype(numpy_dtype(dtype))


def _same(found: Any, expected: Any) -> None:
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_gather(modules: Any, axis: int, index: str, dtype: str) -> None:
    params = _numbers((5, 6, 7), dtype)
    indices = np.random.default_rng(8).integers(0, params.shape[axis], (3, 4)).astype(index)
    _same(
        indexing.gather(modules, params, indices, axis=axis),
        REFERENCE("gather")(params, indices, axis=axis),
    )
    assert modules.errors() == []


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_gather_nd(modules: Any, order: str, depth: int) -> None:
    params = _numbers((5, 6, 7), "float32")
    indices = np.random.default_rng(8).integers(0, 5, (40, 2, depth)).astype("i4")
    _same(indexing.gather_nd(modules, params, indices), REFERENCE("gather_nd")(params, indices))
    assert modules.errors() == []


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("width", [1, 3])
def test_sums_of_many_updates_have_the_bits_of_the_cpu(modules: Any, order: str, width: int, dtype: str) -> None:
    indices = np.random.default_rng(8).integers(0, 9, (300, 1)).astype("i4")
    updates = _numbers((300, width), dtype)
    expected = REFERENCE("scatter_nd")(indices, updates, shape=(11, width))
    _same(indexing.scatter_nd(modules, indices, updates, shape=(11, width)), expected)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_sums_in_any_order_are_near(modules: Any, order: str, dtype: str) -> None:
    indices = np.random.default_rng(8).integers(0, 9, (300, 1)).astype("i4")
    updates = _numbers((300, 3), dtype)
    found = indexing.scatter_nd(modules, indices, updates, shape=(11, 3), is_deterministic=False)
    expected = np.zeros((11, 3))
    np.add.at(expected, indices[:, 0], updates.astype("f8"))
    assert found.dtype == updates.dtype
    tolerance = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 2e-5, "float64": 1e-13}.get(dtype, 0)
    np.testing.assert_allclose(found.astype("f8"), expected, rtol=tolerance, atol=10 * tolerance)


OPERATIONS = ("add", "subtract", "multiply", "maximum", "minimum", "update", "divide")


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_updates_of_a_variable_have_the_bits_of_the_cpu(modules: Any, dtype: str, operation: str) -> None:
    found = _numbers((9, 4, 3), dtype, 1)
    expected = found.copy()
    indices = np.random.default_rng(8).integers(0, 4, (30, 2)).astype("i8")
    updates = _numbers((30, 3), dtype, 2)
    if operation in ("multiply", "divide"):
        updates = np.sign(updates) * updates.dtype.type(
            1 if operation == "multiply" or dtype.startswith("int") else 1.5
        )
        updates[updates == 0] = 2
    assert indexing.scatter_variable(modules, found, indices, updates, operation=operation) is None
    REFERENCE("scatter_variable")(expected, indices, updates, operation=operation)
    _same(found, expected)


ANY_ORDER = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "float64": 1e-14}


def _near(found: Any, expected: Any) -> None:
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    tolerance = ANY_ORDER.get(found.dtype.name, 0)
    np.testing.assert_allclose(found.astype("f8"), expected.astype("f8"), rtol=tolerance, atol=10 * tolerance)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_updates_of_a_variable_in_any_order_are_near(modules: Any, order: str, dtype: str, operation: str) -> None:
    found = _numbers((9, 4, 3), dtype, 1)
    expected = found.copy()
    indices = np.random.default_rng(8).integers(0, 4, (30, 2)).astype("i8")
    updates = _numbers((30, 3), dtype, 2)
    if operation in ("multiply", "divide"):
        updates = np.sign(updates) * updates.dtype.type(
            1 if operation == "multiply" or dtype.startswith("int") else 1.5
        )
        updates[updates == 0] = 2
    given: dict[str, Any] = {"operation": operation, "is_deterministic": False}
    assert indexing.scatter_variable(modules, found, indices, updates, **given) is None
    REFERENCE("scatter_variable")(expected, indices, updates, operation=operation)
    _near(found, expected)


@pytest.mark.parametrize("op", SEGMENTS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_segments_in_any_order_are_near(modules: Any, order: str, dtype: str, op: str) -> None:
    ids = np.random.default_rng(8).integers(-1, 6, (20, 3)).astype("i4")
    data = (_numbers((20, 3, 2), "float32") / 4).astype(numpy_dtype(dtype))
    expected = REFERENCE(op)(data, ids, num_segments=8)
    _near(getattr(indexing, op)(modules, data, ids, num_segments=8, is_deterministic=False), expected)
    assert modules.errors() == []


def test_the_last_update_of_an_element_stays(modules: Any, order: str) -> None:
    tensor = _numbers((4, 2), "float32")
    indices = np.array([[1], [3], [1], [1], [3]], "i4")
    updates = np.arange(10, dtype="f4").reshape(5, 2)
    found = indexing.tensor_scatter_update(modules, tensor, indices, updates)
    np.testing.assert_array_equal(found[[1, 3]], updates[[3, 4]])
    np.testing.assert_array_equal(found[[0, 2]], tensor[[0, 2]])


@pytest.mark.parametrize("op", SEGMENTS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_segments_have_the_bits_of_the_cpu(modules: Any, dtype: str, op: str) -> None:
    ids = np.random.default_rng(8).integers(-1, 6, (20, 3)).astype("i4")
    data = _numbers((20, 3, 2), "int32" if dtype.startswith("int") else dtype).astype(numpy_dtype(dtype))
    expected = REFERENCE(op)(data, ids, num_segments=8)
    _same(getattr(indexing, op)(modules, data, ids, num_segments=8), expected)
    assert modules.errors() == []


@pytest.mark.parametrize("is_deterministic", [True, False])
@pytest.mark.parametrize("op", SEGMENTS)
def test_segments_that_meet_nan_are_those_of_the_cpu(modules: Any, order: str, op: str, is_deterministic: bool) -> None:
    ids, data = np.arange(60) % 7, np.sign(_numbers((60,), "float32"))
    data[[5, 20]] = np.nan
    expected = REFERENCE(op)(data, ids, num_segments=7)
    found = getattr(indexing, op)(modules, data, ids, num_segments=7, is_deterministic=is_deterministic)
    np.testing.assert_array_equal(found, expected)


PARAMS = np.arange(12, dtype="f4").reshape(3, 4)
WRONG: dict[str, Callable[[Any], Any]] = {
    "gather": lambda take: take("gather")(PARAMS, np.array([[0, 1], [-1, 9]]), axis=1),
    "gather_nd": lambda take: take("gather_nd")(PARAMS, np.array([[0, 1], [2, 4], [1, 0]])),
    "scatter_nd": lambda take: take("scatter_nd")(np.array([[2], [7]]), PARAMS[:2], shape=(5, 4)),
    "scatter_variable": lambda take: take("scatter_variable")(
        PARAMS.copy(), np.array([[[-2]]]), PARAMS[:1][None], operation="add"
    ),
    "tensor_scatter_update": lambda take: take("tensor_scatter_update")(PARAMS, np.array([[3]]), PARAMS[:1]),
    "segments": lambda take: take("unsorted_segment_sum")(PARAMS, np.array([0, -4, 2]), num_segments=2),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_position_is_told_in_the_words_of_the_cpu(modules: Any, order: str, name: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        WRONG[name](REFERENCE)
    WRONG[name](lambda op: lambda *arrays, **names: getattr(indexing, op)(modules, *arrays, **names))
    assert modules.errors() == [str(caught.value)]


def test_wrong_positions_give_zeros_and_change_nothing(modules: Any, order: str) -> None:
    found = indexing.gather(modules, PARAMS, np.array([2, 5, -1]), axis=0)
    np.testing.assert_array_equal(found, np.stack([PARAMS[2], np.zeros(4, "f4"), np.zeros(4, "f4")]))
    variable = PARAMS.copy()
    indexing.scatter_variable(modules, variable, np.array([[5], [-1]]), PARAMS[:2], operation="update")
    np.testing.assert_array_equal(variable, PARAMS)
    assert len(modules.errors()) == 2


def test_nothing_is_taken_where_nothing_is(modules: Any) -> None:
    assert indexing.gather(modules, PARAMS, np.zeros((0, 2), "i4"), axis=0).shape == (0, 2, 4)
    assert indexing.scatter_nd(modules, np.zeros((0, 1), "i4"), PARAMS[:0], shape=(2, 4)).tolist() == [[0] * 4] * 2
    assert modules.errors() == []


def test_what_the_kernels_do_not_serve_is_declined(modules: Any) -> None:
    assert indexing.gather(modules, PARAMS, np.zeros(1, "u8"), axis=0) is NotImplemented
    assert indexing.scatter_nd(modules, np.zeros((1, 1), "i4"), np.ones(1, "c8"), shape=(2,)) is NotImplemented
    with_gaps = np.zeros((4, 4), "f4")[:, ::2]
    given = np.zeros((1, 1), "i4"), np.ones((1, 2), "f4")
    assert indexing.scatter_variable(modules, with_gaps, *given, operation="add") is NotImplemented
    assert indexing.scatter_variable(modules, np.zeros((4, 2), "f4"), *given, operation="power") is NotImplemented
    assert modules.errors() == []
