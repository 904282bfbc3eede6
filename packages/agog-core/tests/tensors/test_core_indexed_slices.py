"""IndexedSlices whose whole shape is not known: rows and their positions alone."""

from __future__ import annotations

import numpy as np

import agog_core as ag
from agog_core.gradients.backpropagation import accumulate
from agog_testing import says


def test_the_whole_shape_may_be_left_out() -> None:
    rows = ag.IndexedSlices(np.ones((2, 3), np.float32), [4, 0])
    assert rows.dense_shape is None
    assert rows.shape.as_list() == [None, 3]
    assert (-rows).dense_shape is None
    assert repr(rows).endswith("dense_shape=None)")


def test_without_it_there_is_no_tensor() -> None:
    rows = ag.IndexedSlices([[1.0], [2.0]], [4, 0])
    for make in (ag.convert_to_tensor, lambda x: x.numpy(), lambda x: ag.add(x, 1.0)):
        with says(
            ValueError,
            "IndexedSlices of 2 rows of shape (1,) have no dense_shape, so there is no tensor of them; give it, as in "
            "tf.IndexedSlices(values, indices, dense_shape).",
        ):
            make(rows)


def test_rows_and_positions_must_fit_all_the_same() -> None:
    with says(
        ValueError,
        "IndexedSlices: values of shape (2, 1) and indices of shape (3,) do not fit; values must be of shape (n, ...) "
        "and indices of shape (n,).",
    ):
        ag.IndexedSlices([[1.0], [2.0]], [1, 2, 3])


def test_sums_know_the_shape_that_one_of_them_has() -> None:
    without = ag.IndexedSlices([[1.0]], [1])
    known = ag.IndexedSlices([[2.0]], [0], (3, 1))
    for x, y in ((without, known), (known, without)):
        np.testing.assert_array_equal(accumulate(x, y).numpy(), [[2.0], [1.0], [0.0]])
    assert accumulate(without, without).dense_shape is None
