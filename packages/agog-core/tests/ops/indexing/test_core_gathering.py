"""Gathering and the choice of rows, against NumPy; gradients of lookups are IndexedSlices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_testing import says
from agog_testing.gradcheck import gradcheck

SEED = 11
TABLE = np.random.default_rng(SEED).uniform(-1, 1, (4, 3))
ROWS = np.array([2, 0, 2, 3])


def test_batch_gather() -> None:
    rng = np.random.default_rng(SEED)
    params, indices = rng.uniform(size=(2, 3, 4, 5)), rng.integers(0, 4, (2, 3, 7))
    expected = np.array([[params[a, b][indices[a, b]] for b in range(3)] for a in range(2)])
    assert np.array_equal(ag.batch_gather(params, indices).numpy(), expected)
    small = rng.uniform(size=(2, 3))
    gradcheck(lambda x: ag.batch_gather(x, [[0, 0], [2, 1]]), [small])
    assert ag.batch_gather([10, 20, 30], [2, 2]).numpy().tolist() == [30, 30]


@pytest.mark.parametrize(
    ("indices", "text"),
    [
        ([[0], [3]], "gather_nd: indices[1, 0] = [1, 3] does not index into params of shape (2, 3)."),
        (
            [[0], [1], [2]],
            "batch_gather: indices of shape (3, 1) need params of shape (3, '...'), with one more axis at least; got "
            "shape (2, 3).",
        ),
    ],
)
def test_errors_of_batch_gather(indices: Any, text: str) -> None:
    with says(InvalidArgumentError, text):
        ag.batch_gather(np.ones((2, 3)), indices).numpy()  # a device may tell when it is waited for


def test_the_axis_may_be_a_tensor() -> None:
    assert np.array_equal(ag.gather(TABLE, [0, 2], axis=ag.constant(1)).numpy(), TABLE[:, [0, 2]])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_the_gradient_of_a_lookup_is_sparse(dtype: Any) -> None:
    v = ag.Variable(TABLE)
    with ag.GradientTape() as tape:
        y = ag.gather(v, ROWS.astype(dtype))
        loss = ag.reduce_sum(y * y)
    gradient = tape.gradient(loss, v)
    assert type(gradient) is ag.IndexedSlices
    assert gradient.indices.dtype == dtype
    assert np.array_equal(gradient.indices.numpy(), ROWS)
    np.testing.assert_allclose(gradient.values.numpy(), 2 * TABLE[ROWS], rtol=1e-15)
    assert gradient.dense_shape.numpy().tolist() == [4, 3]
    expected = np.zeros_like(TABLE)
    np.add.at(expected, ROWS, 2 * TABLE[ROWS])
    np.testing.assert_allclose(ag.convert_to_tensor(gradient).numpy(), expected, rtol=1e-15)


def test_sums_of_sparse_gradients_are_sparse() -> None:
    v = ag.Variable(TABLE)
    with ag.GradientTape() as tape:
        loss = ag.reduce_sum(ag.gather(v, [0, 1])) + 3.0 * ag.reduce_sum(ag.gather(v, [[1], [1]]))
    gradient = tape.gradient(loss, v)
    assert type(gradient) is ag.IndexedSlices
    assert gradient.indices.dtype == ag.int64
    assert sorted(gradient.indices.numpy().tolist()) == [0, 1, 1, 1]
    assert np.array_equal(gradient.numpy(), np.array([1.0, 7, 0, 0])[:, None] * np.ones(3))


def test_a_sparse_and_a_dense_gradient_give_a_dense_one() -> None:
    v = ag.Variable(TABLE)
    with ag.GradientTape() as tape:
        loss = ag.reduce_sum(ag.gather(v, [2, 2])) + ag.reduce_sum(ag.square(v))
    gradient = tape.gradient(loss, v)
    assert type(gradient) is ag.Tensor
    expected = 2 * TABLE
    expected[2] += 2
    np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-15)


def test_the_gradient_of_what_a_table_is_made_of_is_dense() -> None:
    x = ag.constant(TABLE)
    with ag.GradientTape() as tape:
        tape.watch(x)
        loss = ag.reduce_sum(ag.gather(x * x, [1, 1]))
    gradient = tape.gradient(loss, x)
    assert type(gradient) is ag.Tensor
    expected = np.zeros_like(TABLE)
    expected[1] = 4 * TABLE[1]
    np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-15)


def test_lookups_can_be_differentiated_three_times() -> None:
    v = ag.Variable(TABLE)
    with ag.GradientTape() as outer:
        with ag.GradientTape() as middle:
            with ag.GradientTape() as inner:
                y = ag.gather(v, ROWS)
                loss = ag.reduce_sum(y * y * y * y)
            first = ag.convert_to_tensor(inner.gradient(loss, v))
        second = ag.convert_to_tensor(middle.gradient(first, v))
    third = ag.convert_to_tensor(outer.gradient(second, v))
    counts = np.bincount(ROWS, minlength=4)[:, None]
    np.testing.assert_allclose(first.numpy(), counts * 4 * TABLE**3, rtol=1e-13)
    np.testing.assert_allclose(second.numpy(), counts * 12 * TABLE**2, rtol=1e-13)
    np.testing.assert_allclose(third.numpy(), counts * 24 * TABLE, rtol=1e-13)


def test_where_chooses_rows_by_a_condition_of_rank_1() -> None:
    x, y = TABLE, -TABLE
    condition = np.array([True, False, False, True])
    got = ag.where(condition, x, y)
    assert np.array_equal(got.numpy(), np.where(condition[:, None], x, y))
    square = np.arange(4).reshape(2, 2)
    assert ag.where([True, False], square, -square).numpy().tolist() == [[0, 1], [-2, -3]]
    gradcheck(lambda x, y: ag.where(condition, x, y), [x, y])


def test_where_broadcasts_what_has_other_shapes() -> None:
    condition = np.array([True, False, True])
    assert np.array_equal(ag.where(condition, TABLE, np.float64(0)).numpy(), np.where(condition, TABLE, 0))
    gradcheck(lambda x, y: ag.where(condition, x, y), [TABLE, np.array(0.5)])


def test_where_without_branches_gives_positions() -> None:
    assert ag.where(ag.constant([[1, 0], [0, 3]])).numpy().tolist() == [[0, 0], [1, 1]]
    assert ag.where([False]).shape == (0, 1)
    assert ag.where(True).shape == (1, 0)


def test_errors_of_where() -> None:
    with says(ValueError, "where: x and y must both be given, or neither; got only one of them."):
        ag.where([True], [1.0])
    with says(
        InvalidArgumentError,
        "where: a condition of rank 1 chooses rows, so it must have one element for each; got shape (3,) for x and y "
        "of shape (2, 3).",
    ):
        ag.where([True, False, True], np.ones((2, 3)), np.ones((2, 3)))


def test_sparse_mask_leaves_rows_out() -> None:
    rows = ag.IndexedSlices([[1.0], [2.0], [3.0], [4.0]], [5, 0, 5, 2], (6, 1))
    kept = ag.sparse_mask(rows, [5, 1])
    assert kept.indices.numpy().tolist() == [0, 2]
    assert kept.values.numpy().tolist() == [[2.0], [4.0]]
    assert ag.sparse_mask(rows, [0, 2, 5]).values.shape == (0, 1)


def _squares(x: ag.Tensor) -> ag.Tensor:
    return ag.square(ag.gather(x, [0, 2, 2]))


def test_forward_mode_goes_through_lookups() -> None:
    _, tangent = ag.jvp(_squares, [ag.constant([1.0, 2.0, 3.0])], [ag.constant([1.0, 5.0, 2.0])])
    assert tangent.numpy().tolist() == [2.0, 12.0, 12.0]


def test_hessians_and_jacobians_of_lookups() -> None:
    x = ag.constant([1.0, 2.0, 3.0])
    (hessian,) = ag.hessian_function(_squares)(x)
    assert hessian.numpy().tolist() == [[2, 0, 0], [0, 0, 0], [0, 0, 4]]
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = _squares(x)
    assert tape.jacobian(y, x).numpy().tolist() == [[2, 0, 0], [0, 0, 6], [0, 0, 6]]


def test_ones_own_gradients_may_be_sparse() -> None:
    @ag.custom_gradient
    def twice(x: ag.Tensor) -> Any:
        return ag.gather(x, [0, 0]), lambda dy: ag.IndexedSlices(dy * 10.0, [0, 1], (3,))

    x = ag.constant([1.0, 2.0, 3.0])
    (sparse,) = ag.gradients_function(twice)(x)
    assert type(sparse) is ag.IndexedSlices
    assert sparse.numpy().tolist() == [10.0, 10.0, 0.0]
    (dense,) = ag.gradients_function(lambda x: twice(x * 2.0))(x)
    assert dense.numpy().tolist() == [20.0, 20.0, 0.0]
