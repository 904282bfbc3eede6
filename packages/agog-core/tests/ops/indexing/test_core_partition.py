"""Distributing rows over tensors and collecting them again, with several tensors at once."""

from __future__ import annotations

import numpy as np
import pytest

import agog_core as ag
from agog_testing import says


def test_stitching_undoes_partitioning() -> None:
    rng = np.random.default_rng(4)
    data, partitions = rng.normal(size=(2, 5, 3)), rng.integers(0, 3, (2, 5)).astype(np.int32)
    numbers = np.arange(10, dtype=np.int32).reshape(2, 5)
    parts = ag.dynamic_partition(data, partitions, 3)
    places = ag.dynamic_partition(numbers, partitions, 3)
    assert [part.shape.as_list() for part in parts] == [[(partitions == n).sum(), 3] for n in range(3)]
    assert np.array_equal(ag.dynamic_stitch(places, parts).numpy().reshape(2, 5, 3), data)


def test_stitching_tensors_of_several_ranks() -> None:
    rows = {at: [10.0 * at, 10.0 * at + 1] for at in range(7)}
    data = [rows[6], [rows[4], rows[1]], [[rows[5], rows[2]], [rows[0], rows[3]]]]
    stitched = ag.dynamic_stitch([6, [4, 1], [[5, 2], [0, 3]]], data)
    assert stitched.numpy().tolist() == list(rows.values())


def test_the_last_row_of_an_index_counts_and_all_get_its_gradient() -> None:
    first, second = ag.constant([1.0, 2.0]), ag.constant([3.0])
    with ag.GradientTape() as tape:
        tape.watch([first, second])
        out = ag.dynamic_stitch([[0, 2], [0]], [first, second])
        loss = ag.reduce_sum(out * [10.0, 20.0, 30.0])
    assert out.numpy().tolist() == [3, 0, 2]
    of_first, of_second = tape.gradient(loss, [first, second])
    assert of_first.numpy().tolist() == [10, 30]
    assert of_second.numpy().tolist() == [10]


def test_partitions_without_a_gradient_count_as_zeros() -> None:
    x = ag.constant([1.0, 2.0, 3.0])
    with ag.GradientTape() as tape:
        tape.watch(x)
        _, second = ag.dynamic_partition(x, [0, 1, 0], 2)
        loss = ag.reduce_sum(second * second)
    assert tape.gradient(loss, x).numpy().tolist() == [0, 4, 0]


def test_stitching_nothing() -> None:
    with says(
        ag.errors.InvalidArgumentError,
        "dynamic_stitch: each tensor of data must have the shape of its indices and then the same rest as all others; "
        "got shapes [] and [].",
    ):
        ag.dynamic_stitch([], [])


def test_stitching_lists_of_two_lengths() -> None:
    text = r"^dynamic_stitch: indices and data must be lists of one length; got 1 and 2 tensors\.$"
    with pytest.raises(ValueError, match=text):
        ag.dynamic_stitch([[0]], [[1.0], [2.0]])
