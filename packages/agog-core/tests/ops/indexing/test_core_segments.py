"""Segment reductions that are composed of others, against loops in NumPy float64; and sums of IndexedSlices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_testing import says
from agog_testing.gradcheck import gradcheck

SEED = 5
REDUCTIONS: dict[str, tuple[Callable[..., Any], float]] = {
    "sum": (np.sum, 0),
    "mean": (np.mean, 0),
    "prod": (np.prod, 1),
    "max": (np.max, 0),
    "min": (np.min, 0),
}


def _by_hand(function: Callable[..., Any], empty: float, data: Any, ids: Any, count: int) -> Any:
    out = np.full((count, *data.shape[1:]), empty, np.float64)
    for segment in range(count):
        if (ids == segment).any():
            out[segment] = function(data[ids == segment], axis=0)
    return out


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("ids", [[0, 0, 1, 3, 3, 3], [0, 1, 2, 3, 4, 5], [2, 2, 2, 2, 2, 2]], ids=str)
def test_sorted_segments(name: str, ids: list[int]) -> None:
    data = np.random.default_rng(SEED).uniform(-2, 2, (6, 2))
    got = getattr(ag, f"segment_{name}")(data, ids)
    expected = _by_hand(*REDUCTIONS[name], data, np.array(ids), ids[-1] + 1)
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-14, err_msg=f"seed {SEED}")
    gradcheck(lambda x: getattr(ag, f"segment_{name}")(x, ids), [data])


@pytest.mark.parametrize("name", REDUCTIONS)
def test_no_rows_give_no_segments(name: str) -> None:
    got = getattr(ag, f"segment_{name}")(np.zeros((0, 2)), np.zeros(0, np.int32))
    assert got.shape == (0, 2)


def test_means_of_integers_are_cut_off_towards_zero() -> None:
    assert ag.segment_mean([-3, -4, 3, 4], [0, 0, 1, 1]).numpy().tolist() == [-3, 3]
    assert ag.unsorted_segment_mean([-3, -4, 3, 4], [1, 1, 0, 0], 3).numpy().tolist() == [3, -3, 0]


def test_unsorted_means_leave_negative_numbers_out() -> None:
    data = np.random.default_rng(SEED).uniform(-2, 2, (5, 3))
    ids = np.array([1, -1, 0, 1, 1])
    mean = ag.unsorted_segment_mean(data, ids, 3).numpy()
    np.testing.assert_allclose(mean, _by_hand(np.mean, 0, data, ids, 3), rtol=1e-14)
    root = ag.unsorted_segment_sqrt_n(data, ids, 3).numpy()
    by_hand = _by_hand(lambda rows, axis: rows.sum(axis) / np.sqrt(len(rows)), 0, data, ids, 3)
    np.testing.assert_allclose(root, by_hand, rtol=1e-14)
    gradcheck(lambda x: ag.unsorted_segment_mean(x, ids, 3), [data])
    gradcheck(lambda x: ag.unsorted_segment_sqrt_n(x, ids, 3), [data])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "int64", "uint16"])
def test_extremes_of_empty_segments_are_the_dtypes_limits(dtype: str) -> None:
    kind = ag.as_dtype(dtype)
    one = ag.cast([1], kind)
    assert ag.unsorted_segment_max(one, [0], 2).numpy()[1] == kind.min
    assert ag.unsorted_segment_min(one, [0], 2).numpy()[1] == kind.max


def test_rows_that_reach_the_extreme_share_its_gradient() -> None:
    x = ag.constant([3.0, 1.0, 3.0, 3.0, 2.0])
    (gradient,) = ag.gradients_function(lambda x: ag.unsorted_segment_max(x, [0, 0, 0, 0, 1], 2))(x)
    np.testing.assert_allclose(gradient.numpy(), [1 / 3, 0, 1 / 3, 1 / 3, 1], rtol=1e-6)


def test_gradients_of_empty_segments_are_finite_to_second_order() -> None:
    x = np.array([1.0, 2.0])
    for name in ("max", "min", "prod", "sum", "mean", "sqrt_n"):
        op = getattr(ag, f"unsorted_segment_{name}")
        gradcheck(lambda x, op=op: ag.gather(op(x, [0, 2], 4), [0, 2]), [x])


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("sum", np.sum),
        ("mean", np.mean),
        ("sqrt_n", lambda rows, axis: rows.sum(axis) / np.sqrt(len(rows))),
    ],
)
def test_sparse_segments(name: str, function: Callable[..., Any]) -> None:
    data = np.random.default_rng(SEED).uniform(-2, 2, (4, 2))
    indices, ids = [3, 0, 3, 1], [0, 0, 2, 2]
    op = getattr(ag, f"sparse_segment_{name}")
    expected = _by_hand(function, 0, data[indices], np.array(ids), 5)
    np.testing.assert_allclose(op(data, indices, ids).numpy(), expected[:3], rtol=1e-14)
    np.testing.assert_allclose(op(data, indices, ids, num_segments=5).numpy(), expected, rtol=1e-14)
    gradcheck(lambda x: op(x, indices, ids), [data])


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        (
            [0, 2, 1],
            "segment_sum: segment ids are not increasing: 1 follows 2 at position 2. Sort the rows, or use the "
            "unsorted_segment ops.",
        ),
        ([-1, 0, 1], "segment_sum: segment ids must be >= 0; got -1."),
        (
            [0, 1],
            "segment_sum: segment_ids must have one number for each row of data; got shape (2,) for data of shape "
            "(3,).",
        ),
        (
            [0.0, 1.0, 2.0],
            "segment_sum: segment_ids must be int32 or int64; got dtype float32 and shape (3,). Cast it with tf.cast.",
        ),
    ],
)
def test_errors(ids: Any, text: str) -> None:
    with says(InvalidArgumentError, text):
        ag.segment_sum([1.0, 2.0, 3.0], ids)


def test_a_sparse_segments_number_may_be_too_large_for_the_segments_asked_for() -> None:
    with says(InvalidArgumentError, "unsorted_segment_sum: segment_ids[1] = 3 is not in [0, 2): num_segments is 2."):
        ag.sparse_segment_sum([1.0, 2.0], [0, 1], [0, 3], num_segments=2).numpy()  # a device may tell late


@pytest.mark.parametrize("kind", ["sum", "prod", "max", "min", "mean", "sqrt_n"])
def test_rows_of_negative_number_need_no_segment(kind: str) -> None:
    data = ag.constant([[1.0, 2.0], [3.0, 4.0]])
    with ag.GradientTape() as tape:
        tape.watch(data)
        result = getattr(ag, f"unsorted_segment_{kind}")(data, [-1, -7], 0)
    assert result.shape == (0, 2)
    assert tape.gradient(result, data).numpy().tolist() == [[0.0, 0.0], [0.0, 0.0]]
