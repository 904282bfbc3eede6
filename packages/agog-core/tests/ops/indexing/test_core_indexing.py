"""Indexing: positions, ranges, steps, new axes, and their gradients, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_testing import says

GRID = np.arange(24).reshape(2, 3, 4)
SLICES = [
    slice(None),
    slice(1, None),
    slice(None, None, -1),
    slice(5, 0, -2),
    slice(-3, -1),
    slice(3, 1),
    slice(-9, 9, 2),
    slice(-5, None, -1),
]
KEYS: list[Any] = [
    *[0, -1, (1, 2), (1, 2, 3), (-1, -1, -1), ..., (..., 0), (0, ...), (1, ..., -2), None, (None, 1), (1, None, 2)],
    *[(..., None), (None, ..., None), (0, ..., None, 1), (), np.int64(1), (np.int8(1), np.uint8(2))],
    *SLICES,
    *[(slice(None), s) for s in SLICES],
    *[(..., s) for s in SLICES],
    *[(s, 1, t) for s in SLICES[:3] for t in SLICES[1:4]],
]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_indexing_is_numpys(key: Any) -> None:
    got = ag.constant(GRID)[key]
    expected = GRID[key]
    assert got.shape == expected.shape
    assert np.array_equal(got.numpy(), expected)


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_the_gradient_of_indexing_goes_where_the_elements_came_from(key: Any) -> None:
    x = ag.constant(GRID, dtype=ag.float64)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = x[key] * x[key]
    expected = np.zeros(GRID.shape)
    expected[key] = 2 * GRID[key]
    assert np.array_equal(tape.gradient(y, x).numpy(), expected)


def test_indexing_with_tensors() -> None:
    x = ag.constant(GRID)
    assert np.array_equal(x[ag.constant(1), ag.constant(0) : ag.constant(2)].numpy(), GRID[1, 0:2])
    assert np.array_equal(x[ag.Variable(1)].numpy(), GRID[1])


@pytest.mark.parametrize(
    ("key", "kind", "text"),
    [
        (5, InvalidArgumentError, "slice index 5 of dimension 0 out of bounds: its size is 2, so use -2 to 1."),
        ((0, -4), InvalidArgumentError, "slice index -4 of dimension 1 out of bounds: its size is 3, so use -3 to 2."),
        (
            (0, 0, 0, 0),
            InvalidArgumentError,
            "strided_slice: 4 indices are too many for a tensor of shape (2, 3, 4).",
        ),
        ((..., ...), InvalidArgumentError, "strided_slice: an index can have only one ellipsis (...)."),
        (slice(None, None, 0), InvalidArgumentError, "strided_slice: the step of axis 0 is zero."),
        (
            "a",
            TypeError,
            "Tensor indices are ints, slices, ..., None, and tensors of integers or bools; got 'a' of type str.",
        ),
        (
            1.0,
            TypeError,
            "Tensor indices are ints, slices, ..., None, and tensors of integers or bools; got 1.0 of type float.",
        ),
    ],
)
def test_indexing_errors(key: Any, kind: type[Exception], text: str) -> None:
    with says(kind, text):
        ag.constant(GRID)[key]


def test_tensors_cannot_be_assigned_to() -> None:
    x: Any = ag.constant([1, 2])
    with pytest.raises(TypeError, match="does not support item assignment"):
        x[0] = 5


def test_masks_of_strided_slice_mean_what_the_brackets_do() -> None:
    rng = np.random.default_rng(8)
    for trial in range(300):
        key, axes = [], int(rng.integers(0, 4))
        begin, end, strides = [], [], []
        masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)
        while axes:
            bit = 1 << len(begin)
            first, last, step = (int(rng.integers(low, 6)) for low in (-5, -5, -3))
            kind = rng.choice(["range", "position", "new", "ellipsis"])
            if kind == "ellipsis" and not masks["ellipsis_mask"]:
                masks["ellipsis_mask"] |= bit
                key.append(...)
            elif kind == "new":
                masks["new_axis_mask"] |= bit
                key.append(None)
            elif kind == "position":
                first, step = first % 2, 1
                masks["shrink_axis_mask"] |= bit
                key.append(first)
                axes -= 1
            else:
                step = step or 1
                is_open = rng.integers(0, 2, 2).tolist()
                masks["begin_mask"] |= bit * is_open[0]
                masks["end_mask"] |= bit * is_open[1]
                key.append(slice(None if is_open[0] else first, None if is_open[1] else last, step))
                axes -= 1
            for parts, part in ((begin, first), (end, last), (strides, step)):
                parts.append(part)
        got = ag.strided_slice(GRID, begin, end, strides, **masks).numpy()
        assert np.array_equal(got, GRID[tuple(key)]), f"seed 8, trial {trial}: {key}"
