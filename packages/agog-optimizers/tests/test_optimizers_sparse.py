"""Steps with the gradients of lookups, against hand-written NumPy: TensorFlow 1.12 has two ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_optimizers import (
    AdadeltaOptimizer,
    AdagradDAOptimizer,
    AdagradOptimizer,
    AdaMaxOptimizer,
    AdamOptimizer,
    AdamWOptimizer,
    AMSGradOptimizer,
    FtrlOptimizer,
    GradientDescentOptimizer,
    LAMBOptimizer,
    LazyAdamOptimizer,
    LionOptimizer,
    MomentumOptimizer,
    NadamOptimizer,
    ProximalAdagradOptimizer,
    ProximalGradientDescentOptimizer,
    RMSPropOptimizer,
)
from agog_testing import says

SEED = 29
Make = Callable[[], Any]

# The gradient counts as 0 in the rows that were not looked up: they move as their slots have it.
ALL_ROWS: dict[str, Make] = {
    "gradient descent": lambda: GradientDescentOptimizer(0.5),
    "Adam": lambda: AdamOptimizer(0.5),
    "AMSGrad": lambda: AMSGradOptimizer(0.5),
    "LAMB": lambda: LAMBOptimizer(0.5, weight_decay=0.1),
    "Lion": lambda: LionOptimizer(0.5),
}
# The other rows, and their slots, stay as they are.
NAMED_ROWS: dict[str, Make] = {
    "momentum": lambda: MomentumOptimizer(0.5, 0.9),
    "Nesterov": lambda: MomentumOptimizer(0.5, 0.9, use_nesterov=True),
    "Adagrad": lambda: AdagradOptimizer(0.5),
    "Adadelta": lambda: AdadeltaOptimizer(0.5),
    "AdagradDA": lambda: AdagradDAOptimizer(0.5, ag.Variable(3), 0.1, 0.1, 0.1),
    "RMSProp": lambda: RMSPropOptimizer(0.5, momentum=0.5),
    "centered RMSProp": lambda: RMSPropOptimizer(0.5, momentum=0.5, epsilon=0.1, centered=True),
    "Ftrl": lambda: FtrlOptimizer(0.5, l1_regularization_strength=0.1, l2_shrinkage_regularization_strength=0.1),
    "proximal gradient descent": lambda: ProximalGradientDescentOptimizer(0.5, 0.1, 0.1),
    "proximal Adagrad": lambda: ProximalAdagradOptimizer(0.5, 0.1, 0.1, 0.1),
    "AdaMax": lambda: AdaMaxOptimizer(0.5),
    "lazy Adam": lambda: LazyAdamOptimizer(0.5),
}


def lookups(rng: np.random.Generator, table: np.ndarray) -> tuple[ag.IndexedSlices, np.ndarray, list[int]]:
    """The gradient of a lookup that names a row twice, the same one dense, and the rows."""
    rows = [1, 4, int(rng.integers(0, 5)), 1]
    values = rng.normal(size=(4, 2))
    dense = np.zeros_like(table)
    np.add.at(dense, rows, values)
    return ag.IndexedSlices(values, rows, table.shape), dense, sorted(set(rows))


@pytest.mark.parametrize("name", ALL_ROWS)
def test_all_rows_move(name: str) -> None:
    rng = np.random.default_rng(SEED)
    start = rng.uniform(-1, 1, (5, 2))
    sparse, dense = ag.Variable(start), ag.Variable(start)
    first, second = ALL_ROWS[name](), ALL_ROWS[name]()
    for _ in range(5):
        slices, by_hand, _ = lookups(rng, start)
        first.apply_gradients([(slices, sparse)])
        second.apply_gradients([(by_hand, dense)])
        np.testing.assert_allclose(sparse.numpy(), dense.numpy(), rtol=1e-12, err_msg=f"seed {SEED}")


@pytest.mark.parametrize("name", NAMED_ROWS)
def test_named_rows_move_alone(name: str) -> None:
    """Each row is a variable of its own, to which a dense step is applied only where the row is named."""
    rng = np.random.default_rng(SEED)
    start = rng.uniform(-1, 1, (5, 2))
    sparse, rows = ag.Variable(start), [ag.Variable(row) for row in start]
    first, second = NAMED_ROWS[name](), NAMED_ROWS[name]()
    for _ in range(5):
        slices, by_hand, named = lookups(rng, start)
        first.apply_gradients([(slices, sparse)])
        second.apply_gradients([(by_hand[row], rows[row]) for row in named])
        np.testing.assert_allclose(sparse.numpy(), np.stack([row.numpy() for row in rows]), rtol=1e-12, atol=1e-15)
    for slot in first.get_slot_names():
        for number, row in enumerate(rows):
            expected = second.get_slot(row, slot)
            if expected is not None:
                np.testing.assert_allclose(first.get_slot(sparse, slot).numpy()[number], expected.numpy(), rtol=1e-12)


def test_momentum_by_hand() -> None:
    v = ag.Variable([[1.0], [1.0], [1.0]])
    optimizer = MomentumOptimizer(0.5, 0.5)
    for _ in range(2):
        optimizer.apply_gradients([(ag.IndexedSlices([[1.0], [2.0], [1.0]], [2, 0, 2], (3, 1)), v)])
    # Row 2 gets 1 + 1 = 2 in each step: accumulations 2 and 3, so it moves by 0.5 * (2 + 3).
    assert v.numpy().tolist() == [[-1.5], [1.0], [-1.5]]
    assert optimizer.get_slot(v, "momentum").numpy().tolist() == [[3.0], [0.0], [3.0]]  # type: ignore[union-attr]


def test_nadam_by_hand() -> None:
    rng = np.random.default_rng(SEED)
    w = rng.uniform(-1, 1, (5, 2))
    variable, optimizer = ag.Variable(w), NadamOptimizer(0.5)
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t in range(1, 6):
        slices, gradient, named = lookups(rng, w)
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        step = 0.5 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * (0.9 * m + 0.1 * gradient) / (np.sqrt(v) + 1e-8)
        w[named] -= step[named]
        optimizer.apply_gradients([(slices, variable)])
        np.testing.assert_allclose(variable.numpy(), w, rtol=1e-12, err_msg=f"seed {SEED}")
    np.testing.assert_allclose(optimizer.get_slot(variable, "m").numpy(), m, rtol=1e-12)  # type: ignore[union-attr]


@pytest.mark.parametrize("decays", [True, False])
def test_adamw_by_hand(decays: bool) -> None:
    rng = np.random.default_rng(SEED)
    w = rng.uniform(-1, 1, (5, 2))
    variable, optimizer = ag.Variable(w), AdamWOptimizer(0.1, 0.5)
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t in range(1, 6):
        slices, gradient, named = lookups(rng, w)
        if decays:
            w[named] -= 0.1 * w[named]
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        w -= 0.5 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m / (np.sqrt(v) + 1e-8)
        optimizer.apply_gradients([(slices, variable)], decay_var_list=None if decays else [])
        np.testing.assert_allclose(variable.numpy(), w, rtol=1e-12, atol=1e-14, err_msg=f"seed {SEED}")


@pytest.mark.parametrize("name", [*ALL_ROWS, *NAMED_ROWS])
def test_no_rows(name: str) -> None:
    make = {**ALL_ROWS, **NAMED_ROWS}[name]
    v = ag.Variable([[1.0], [2.0]])
    make().apply_gradients([(ag.IndexedSlices(np.zeros((0, 1), np.float32), np.zeros(0, np.int64), (2, 1)), v)])
    if name != "LAMB":  # its weights decay
        assert v.numpy().tolist() == [[1.0], [2.0]]


def test_minimize_takes_lookups() -> None:
    table = ag.Variable([[1.0], [2.0], [3.0]])
    GradientDescentOptimizer(0.5).minimize(lambda: ag.reduce_sum(ag.square(ag.gather(table, [0, 0, 2]))))
    np.testing.assert_allclose(table.numpy(), [[-1.0], [2.0], [0.0]])


def test_wrong_rows_change_nothing() -> None:
    v = ag.Variable([[1.0], [2.0]], name="table")
    with says(
        ag.errors.InvalidArgumentError,
        "Momentum: variable 'table:0' has shape (2, 1) and dtype float32; its gradient has shape (3, 1) and dtype "
        "float32, and both must agree.",
    ):
        MomentumOptimizer(0.5, 0.5).apply_gradients([(ag.IndexedSlices([[1.0]], [0], (3, 1)), v)])


def test_rows_without_their_whole_shape_step_the_named_rows() -> None:
    v = ag.Variable([[1.0], [2.0], [3.0]])
    GradientDescentOptimizer(0.5).apply_gradients([(ag.IndexedSlices([[2.0], [2.0]], [2, 0]), v)])
    np.testing.assert_array_equal(v.numpy(), [[0.0], [2.0], [2.0]])
    with says(
        InvalidArgumentError,
        "GradientDescent: variable 'Variable:0' has shape (3, 1) and dtype float32; its gradient has shape (?, 2) and "
        "dtype float32, and both must agree.",
    ):
        GradientDescentOptimizer(0.5).apply_gradients([(ag.IndexedSlices([[2.0, 1.0]], [2]), v)])
