"""NumPy's face on array-api-strict: the same indices, promotions and reductions as NumPy's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import array_api_strict
import numpy as np
import pytest

from agog_kernels_xp.parts.masks import masked
from agog_kernels_xp.standard.array import Array
from agog_kernels_xp.standard.namespace import NumPyNamespace
from agog_testing import says

face = NumPyNamespace(array_api_strict)

KEYS: dict[str, Callable[[Any], Any]] = {
    "an integer": lambda xp: 1,
    "a negative integer": lambda xp: -1,
    "all integers": lambda xp: (1, 2, 3),
    "a slice beyond the end": lambda xp: slice(1, 99),
    "a slice from behind": lambda xp: (slice(None), slice(None, None, -2)),
    "a slice from behind to the start": lambda xp: (..., slice(2, None, -1)),
    "an empty slice": lambda xp: slice(5, 2),
    "new axes": lambda xp: (None, ..., None, 0),
    "an ellipsis and an integer": lambda xp: (..., 1),
    "a mask of the first axis": lambda xp: xp.asarray([True, False]),
    "a mask of two axes": lambda xp: xp.asarray([[True, False, True], [False, True, False]]),
    "positions": lambda xp: xp.asarray([1, 0, 1, -1]),
    "positions of two axes": lambda xp: (xp.asarray([1, 0]), xp.asarray([2, -1])),
    "no positions": lambda xp: xp.asarray([], dtype="int64"),
}


def both(*shape: int) -> tuple[Any, Array]:
    values = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
    return values, face.asarray(array_of(values))


def array_of(values: Any) -> Array:
    return Array(face, array_api_strict.asarray(np.array(values)))


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_parts_are_those_of_numpy(key: Callable[[Any], Any]) -> None:
    values, x = both(2, 3, 4)
    np.testing.assert_array_equal(np.asarray(x[key(face)].native), values[key(np)])


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_parts_are_written_as_numpy_writes_them(key: Callable[[Any], Any]) -> None:
    values, x = both(2, 3, 4)
    new = -1 - np.arange(values[key(np)].size, dtype=np.float32).reshape(values[key(np)].shape)
    values[key(np)] = new
    x[key(face)] = array_of(new)
    np.testing.assert_array_equal(np.asarray(x.native), values)


def test_last_positions_of_a_list() -> None:
    values, x = both(2, 3)
    np.testing.assert_array_equal(np.asarray(x[..., [1, 2, 0]].native), values[..., [1, 2, 0]])


def test_slices_are_views() -> None:
    values, x = both(2, 3)
    part = x[1:, 1:].reshape(-1)
    part *= 10
    values[1:, 1:] *= 10
    element = x[0, 0]
    element += 5
    values[0, 0] += 5
    np.testing.assert_array_equal(np.asarray(x.native), values)


NAMES = ["bool", "int8", "int32", "uint8", "uint64", "float32", "float64", "complex64"]


@pytest.mark.parametrize("first", NAMES)
@pytest.mark.parametrize("second", [*NAMES, True, 2, 2.5, 2j])
def test_dtypes_of_products_are_those_of_numpy(first: str, second: Any) -> None:
    x = np.ones(2, first)
    y: Any = np.ones(2, second) if isinstance(second, str) else second
    out = array_of(x) * (array_of(y) if isinstance(second, str) else y)
    assert out.dtype == (x * y).dtype


def test_numpy_scalars_are_typed() -> None:
    x = array_of(np.ones(2, np.float32))
    assert [(np.float32(2) * x).dtype, (np.float64(2) * x).dtype] == [np.float32, np.float64]


def test_results_are_written_out() -> None:
    x, out = array_of(np.array([1.0, 4.0])), array_of(np.zeros(2))
    assert face.sqrt(x, out) is out
    assert face.multiply(out, out, out=out).tolist() == [1.0, 4.0]


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum", "logaddexp"])
@pytest.mark.parametrize("axis", [0, -1, (0, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_are_those_of_numpy(name: str, axis: Any, keepdims: bool) -> None:
    values, x = both(2, 3, 4)
    if name == "logaddexp":
        axis = 1
    wanted = getattr(np, name).reduce(values, axis=axis, keepdims=keepdims)
    result = np.asarray(getattr(face, name).reduce(x, axis=axis, keepdims=keepdims).native)
    assert (result.dtype, result.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(result, wanted, rtol=1e-6)


def test_copies_are_contiguous() -> None:
    _, x = both(2, 3)
    copied = x.T.copy()
    copied.reshape(-1)[...] = 7
    np.testing.assert_array_equal(np.asarray(copied.native), np.full((3, 2), 7))


def test_copies_to_all_or_to_some() -> None:
    _, x = both(3)
    face.copyto(x, array_of([5, 6, 7]))
    face.copyto(x, 0, where=array_of([True, False, False]))
    assert x.tolist() == [0, 6, 7]


def test_position_of_the_first_true() -> None:
    mask = array_of([False, True, True])
    assert (int(mask.argmax()), int(mask.argmin())) == (1, 0)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_masked_without_the_bits_of_numbers(dtype: str) -> None:
    x, mask = np.array([[1, 2, 3]], dtype), np.array([[True], [False]])
    result = np.asarray(masked(face, array_of(x), array_of(mask)).native)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, [[1, 2, 3], [0, 0, 0]])


def test_the_maximum_of_nothing_is_the_initial_value() -> None:
    assert (
        face.maximum.reduce(face.zeros((2, 0)), axis=1, keepdims=True, initial=-math.inf).tolist() == [[-math.inf]] * 2
    )


def test_complex_numbers_keep_infinite_parts() -> None:
    parts = [0.0, -0.0, 1.5, math.inf, -math.inf, math.nan]
    real, imag = (part.reshape(-1) for part in np.meshgrid(parts, parts))
    numbers = np.asarray(face.joined(array_of(real), array_of(imag)).native)
    np.testing.assert_array_equal(numbers.real, real)
    np.testing.assert_array_equal(numbers.imag, imag)


@pytest.mark.parametrize("equation", ["iii->i", "ij,jk->ik", "ii,ij->j", "ij->", "ij,kl->jlik"])
def test_einsum_is_that_of_numpy(equation: str) -> None:
    values = [
        np.arange(9.0).reshape((3,) * len(term)) if len(term) == 2 else np.arange(27.0).reshape(3, 3, 3)
        for term in equation.partition("->")[0].split(",")
    ]
    result = face.einsum(equation, *map(array_of, values))
    np.testing.assert_allclose(np.asarray(result.native), np.einsum(equation, *values))


def test_functions_of_the_host_get_no_array() -> None:
    with says(TypeError, "an array of array_api_strict cannot go to a function of the host"):
        np.asarray(face.ones(2))


def test_what_the_face_lacks_is_named() -> None:
    with says(AttributeError, "NumPy's face on array_api_strict has no 'levitate'."):
        face.levitate  # noqa: B018
    with says(TypeError, "array_api_strict has no dtype bfloat16"):
        face.zeros(2, "bfloat16")
