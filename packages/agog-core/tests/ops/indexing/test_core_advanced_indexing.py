"""Indexing by masks and arrays of positions, and mixtures with slices, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_testing import says

GRID = np.arange(24.0).reshape(2, 3, 4)
KEYS: list[Any] = [
    *[[0, 1], [1, -1, 0], [], [[0, 1], [1, 0]], np.array([1, 0], np.int8), np.array([[1]], np.uint64), range(2)],
    *[[True, False], GRID > 5, GRID[..., 0] > 3, np.zeros((2, 3), bool), True, False, np.True_, np.bool_(False)],
    *[
        (0, [1, 2]),
        ([0, 1], 1),
        ([0, 1], [0, 2], [3, 3]),
        (slice(None), [0, 2]),
        (..., [3, 0]),
        (..., [True, False] * 2),
    ],
    *[
        ([0, 1], slice(None), [1, 2]),
        (0, slice(None), [1, 2]),
        (slice(None), 1, [1, 2]),
        ([0], ..., [1]),
        ([0], ..., 1),
    ],
    *[(None, [0, 1]), ([0, 1], None), ([0], None, [1]), (None, [1], None, 2), (slice(None), None, [[0], [1]], [1, 2])],
    *[(slice(None, None, -1), [2, 0], slice(1, 4, 2)), (GRID[..., 0] > 3, [0]), ([0, 1], GRID[0, :, 0] > 3, slice(2))],
    *[
        (True, 0),
        (0, True),
        (True, [0, 1]),
        (slice(None), True, 0),
        (True, True),
        ((0, 1), (1, 2)),
        ([[0], [1]], [0, 1, 2]),
    ],
]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_picking_is_numpys(key: Any) -> None:
    _compare(GRID, key)


def _compare(array: np.ndarray[Any, Any], key: Any) -> None:
    """Value and gradient of an index, or that both refuse it."""
    x = ag.constant(array)
    try:
        expected = array[key]
    except (IndexError, DeprecationWarning):  # NumPy 2.0 warns where an index is out of range and nothing is taken
        with pytest.raises((InvalidArgumentError, TypeError)):
            x[key]
        return
    with ag.GradientTape() as tape:
        tape.watch(x)
        part = x[key]
        y = part * part
    assert tuple(part.shape) == expected.shape
    assert np.array_equal(part.numpy(), expected)
    counts = np.zeros(array.size)
    np.add.at(counts, np.arange(array.size).reshape(array.shape)[key].reshape(-1), 1)
    assert np.array_equal(tape.gradient(y, x).numpy(), 2 * array * counts.reshape(array.shape))


_INT = st.integers(-4, 3)
_SLICE = st.builds(slice, st.none() | _INT, st.none() | _INT, st.sampled_from([None, 1, 2, -1, -2]))


@st.composite
def _cases(draw: st.DrawFn) -> tuple[np.ndarray[Any, Any], tuple[Any, ...]]:
    """An array, and a key that mostly fits it."""
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=4)))
    key: list[Any] = []
    axis = 0
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["int", "slice", "new", "ellipsis", "array", "array", "mask", "bool"]))
        length = shape[axis] if axis < len(shape) else 1
        inside = st.integers(-length, length - 1) if length else _INT
        if kind == "int":
            key.append(draw(inside | st.builds(np.int32, inside)))
        elif kind == "slice":
            key.append(draw(_SLICE))
        elif kind == "new":
            key.append(None)
        elif kind == "ellipsis":
            if Ellipsis not in [entry for entry in key if not hasattr(entry, "shape")]:
                key.append(...)
                axis = max(axis, len(shape) - draw(st.integers(0, 2)))
            continue
        elif kind == "bool":
            key.append(draw(st.booleans()))
        elif kind == "mask":
            rank = draw(st.integers(1, 2))
            sizes = shape[axis : axis + rank]
            bits = draw(st.lists(st.booleans(), min_size=int(np.prod(sizes)), max_size=int(np.prod(sizes))))
            key.append(np.array(bits, bool).reshape(sizes))
            axis += rank - 1
        else:
            sizes = draw(st.sampled_from([(2,), (1,), (0,), (2, 1), (2, 2), ()]))
            count = int(np.prod(sizes))
            numbers = np.array(draw(st.lists(inside, min_size=count, max_size=count)), np.int64).reshape(sizes)
            key.append(draw(st.sampled_from([numbers, numbers.tolist() if sizes else numbers])))
        axis += kind not in ("new", "bool")
    return np.arange(1.0, 1 + np.prod(shape)).reshape(shape), tuple(key)


@settings(max_examples=600, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(_cases())
def test_any_mixture_is_numpys(case: tuple[np.ndarray[Any, Any], tuple[Any, ...]]) -> None:
    array, key = case
    note(f"shape {array.shape}, key {key!r}")
    _compare(array, key)


def test_tensors_and_variables_pick_like_arrays() -> None:
    x = ag.constant(GRID)
    for key in (np.array([1, 0]), np.array([True, False]), GRID > 7):
        assert np.array_equal(x[ag.constant(key)].numpy(), GRID[key])
        assert np.array_equal(x[ag.Variable(key)].numpy(), GRID[key])
    assert np.array_equal(x[ag.constant([0, 1]), :, [ag.constant(1), 2]].numpy(), GRID[[0, 1], :, [1, 2]])
    assert np.array_equal(x[x > 7].numpy(), GRID[GRID > 7])


def test_picked_elements_can_be_differentiated_twice() -> None:
    x = ag.constant([1.0, 2.0, 3.0])
    with ag.GradientTape() as outer:
        outer.watch(x)
        with ag.GradientTape() as inner:
            inner.watch(x)
            y = x[[0, 2, 2]] ** 3 * x[x > 1][0]
        gradient = inner.gradient(y, x)
        total = gradient[[0, 2]] * 1.0
    assert gradient.numpy().tolist() == [6.0, 55.0, 108.0]
    assert outer.gradient(total, x).numpy().tolist() == [12.0, 57.0, 72.0]


@pytest.mark.parametrize(
    ("key", "kind", "text"),
    [
        (
            [0, 2],
            InvalidArgumentError,
            "slice index 2 of dimension 0 out of bounds: its size is 2, so use -2 to 1.",
        ),
        (
            (slice(None), [[-4]]),
            InvalidArgumentError,
            "slice index -4 of dimension 1 out of bounds: its size is 3, so use -3 to 2.",
        ),
        (
            [True, False, True],
            InvalidArgumentError,
            "strided_slice: a mask of shape (3,) does not fit axes 0 to 0 of a tensor of shape (2, 3, 4).",
        ),
        (
            ([0, 1], [0, 1, 2]),
            InvalidArgumentError,
            "strided_slice: masks and arrays of positions must broadcast; theirs are shapes (2,), (3,).",
        ),
        (
            (0, 0, 0, [0]),
            InvalidArgumentError,
            "strided_slice: 4 indices are too many for a tensor of shape (2, 3, 4).",
        ),
        ((..., ..., [0]), InvalidArgumentError, "strided_slice: an index can have only one ellipsis (...)."),
        (([0], ..., ...), InvalidArgumentError, "strided_slice: an index can have only one ellipsis (...)."),
        (
            [0.5],
            TypeError,
            "Tensor indices are ints, slices, ..., None, and tensors of integers or bools; got a value of dtype "
            "float32 and shape (1,).",
        ),
    ],
    ids=repr,
)
def test_errors(key: Any, kind: type[Exception], text: str) -> None:
    with says(kind, text):
        ag.constant(GRID)[key]


def test_boolean_mask() -> None:
    rows, box = [True, False, True], GRID[0] > 5
    assert np.array_equal(ag.boolean_mask(GRID, rows[:2]).numpy(), GRID[:1])
    assert np.array_equal(ag.boolean_mask(GRID, rows, axis=1).numpy(), GRID[:, [0, 2]])
    assert np.array_equal(ag.boolean_mask(GRID, box, axis=ag.constant(1)).numpy(), GRID[:, box])
    assert np.array_equal(ag.boolean_mask(GRID, ag.constant(GRID > 5)).numpy(), GRID[GRID > 5])


def test_errors_of_boolean_mask() -> None:
    with says(ValueError, "boolean_mask: mask must not be a scalar; give one element for each slice."):
        ag.boolean_mask(GRID, True)
    with says(
        ValueError, "boolean_mask: a mask of shape (2,) does not fit a tensor of shape (2, 3, 4) from axis 1 on."
    ):
        ag.boolean_mask(GRID, [True, False], axis=1)
