"""Tensors changed by number, and what stays as it was."""

from __future__ import annotations

import numpy as np

import agog_core as ag
from agog_core.tensors.indexed_slices import convert_to_tensor_or_indexed_slices
from agog_testing import says

SEED = 11


def test_sums_and_their_gradients() -> None:
    rng = np.random.default_rng(SEED)
    x, at, updates = rng.normal(size=(4, 3)), np.array([[1], [3], [1]]), rng.normal(size=(3, 3))
    for function, sign in ((ag.tensor_scatter_add, 1), (ag.tensor_scatter_sub, -1)):
        expected = x.copy()
        np.add.at(expected, at[:, 0], sign * updates)
        tensor, rows = ag.constant(x), ag.constant(updates)
        with ag.GradientTape() as tape:
            tape.watch([tensor, rows])
            out = function(tensor, at, rows)
            loss = ag.reduce_sum(out * out)
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-14, err_msg=f"seed {SEED}")
        of_tensor, of_rows = tape.gradient(loss, [tensor, rows])
        np.testing.assert_allclose(of_tensor.numpy(), 2 * expected, rtol=1e-14)
        np.testing.assert_allclose(of_rows.numpy(), sign * 2 * expected[at[:, 0]], rtol=1e-14)
        assert (tensor.numpy() == x).all()


def test_updates_take_the_dtype_of_the_tensor() -> None:
    x = ag.constant([1.0, 2.0], ag.dtypes.float64)
    assert ag.tensor_scatter_update(x, [[1]], [5]).numpy().tolist() == [1.0, 5.0]
    assert ag.tensor_scatter_update(["a", "b"], [[1]], ["c"]).numpy().tolist() == [b"a", b"c"]
    assert x.numpy().tolist() == [1.0, 2.0]


def test_slices_are_tensors_or_stay() -> None:
    rows = ag.IndexedSlices([[1.0]], [0], (2, 1))
    assert convert_to_tensor_or_indexed_slices(rows) is rows
    assert convert_to_tensor_or_indexed_slices(rows, ag.dtypes.float32) is rows
    assert convert_to_tensor_or_indexed_slices([1, 2], "int64").dtype is ag.dtypes.int64
    with says(
        ValueError,
        "convert_to_tensor_or_indexed_slices: the IndexedSlices are of dtype float32; float64 is asked for. Cast "
        "their values.",
    ):
        convert_to_tensor_or_indexed_slices(rows, "float64")
