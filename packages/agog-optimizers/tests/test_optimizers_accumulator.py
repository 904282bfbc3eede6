"""Steps from several batches are the steps from one large batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_optimizers import (
    AdamOptimizer,
    FixedLossScaleManager,
    GradientAccumulator,
    GradientDescentOptimizer,
    LossScaleOptimizer,
    MomentumOptimizer,
)
from agog_testing import says

SEED = 43
MAKERS: dict[str, Callable[[], Any]] = {
    "gradient descent": lambda: GradientDescentOptimizer(0.1),
    "momentum": lambda: MomentumOptimizer(0.1, 0.9),
    "Adam": lambda: AdamOptimizer(0.1),
}


def loss(w: ag.Variable, x: np.ndarray, y: np.ndarray) -> Any:
    return ag.reduce_mean(ag.square(ag.reduce_sum(w * ag.constant(x), 1) - ag.constant(y)))


@pytest.mark.parametrize("name", MAKERS)
def test_small_batches_are_a_large_one(name: str) -> None:
    rng = np.random.default_rng(SEED)
    x, y = rng.normal(size=(23, 3)), rng.normal(size=23)
    small, large = ag.Variable(np.ones(3)), ag.Variable(np.ones(3))
    accumulator, optimizer = GradientAccumulator(MAKERS[name](), 3), MAKERS[name]()
    small_steps, large_steps = ag.Variable(0), ag.Variable(0)
    for _ in range(2):  # epochs of batches of 4, 4, 4 | 4, 4, 3: the last window is ragged
        for start in range(0, 23, 4):
            part = slice(start, start + 4)
            count = len(x[part])
            accumulator.minimize(lambda part=part: loss(small, x[part], y[part]), small_steps, examples=count)
        accumulator.flush(small_steps)
        for part in (slice(0, 12), slice(12, 23)):
            optimizer.minimize(lambda part=part: loss(large, x[part], y[part]), large_steps)
        np.testing.assert_allclose(small.numpy(), large.numpy(), rtol=1e-11, err_msg=f"seed {SEED}")
    assert small_steps.numpy() == large_steps.numpy() == 4


def test_flush() -> None:
    v, step = ag.Variable(0.0, name="v"), ag.Variable(0)
    optimizer = GradientAccumulator(GradientDescentOptimizer(1.0), 3)
    optimizer.flush(step)
    assert step.numpy() == 0
    optimizer.apply_gradients([(ag.constant(2.0), v)], step)
    optimizer.apply_gradients([(ag.constant(5.0), v)], step, examples=2)
    assert (float(v), step.numpy()) == (0.0, 0)
    assert [(each.name, each.numpy()) for each in optimizer.variables()] == [
        ("seen_batches:0", 2),
        ("seen_examples:0", 3),
        ("v/GradientAccumulator:0", 12.0),
    ]
    optimizer.flush(step)
    assert (float(v), step.numpy()) == (-4.0, 1)
    optimizer.flush(step)
    assert (float(v), step.numpy()) == (-4.0, 1)


def test_half_precision_is_summed_in_float32() -> None:
    v = ag.Variable(ag.constant(0.0, "float16"))
    optimizer = GradientAccumulator(GradientDescentOptimizer(1.0), 2)
    for _ in range(2):
        optimizer.apply_gradients([(ag.constant(60000.0, "float16"), v)])
    assert v.dtype == ag.float16
    assert float(v) == -60000.0


def test_lookups_and_missing_gradients() -> None:
    table, other = ag.Variable([[1.0], [1.0]]), ag.Variable(1.0)
    optimizer = GradientAccumulator(GradientDescentOptimizer(1.0), 2)
    optimizer.apply_gradients([(ag.IndexedSlices([[1.0], [2.0]], [1, 1], (2, 1)), table), (None, other)])
    optimizer.apply_gradients([(None, table), (ag.constant(4.0), other)])
    assert table.numpy().tolist() == [[1.0], [-0.5]]
    assert float(other) == -1.0


def test_a_window_that_is_not_finite_is_skipped() -> None:
    v, step = ag.Variable(1.0), ag.Variable(0)
    scaled = LossScaleOptimizer(GradientDescentOptimizer(1.0), FixedLossScaleManager(8.0))
    optimizer = GradientAccumulator(scaled, 2)
    for gradient in (np.inf, 1.0, 2.0, 4.0):
        optimizer.minimize(lambda gradient=gradient: v * gradient, step)
    assert (float(v), int(scaled.skipped_steps), step.numpy()) == (-2.0, 1, 1)


def test_errors() -> None:
    with says(ValueError, "GradientAccumulator: batches must be at least 1; got 0."):
        GradientAccumulator(AdamOptimizer(), 0)
    optimizer, v = GradientAccumulator(AdamOptimizer(), 2), ag.Variable(1.0)
    with says(ValueError, "GradientAccumulator: examples must be at least 1; got 0."):
        optimizer.apply_gradients([(ag.constant(1.0), v)], examples=0)
    with pytest.raises(ValueError, match="No variables provided"):
        optimizer.apply_gradients([])
    assert int(optimizer.seen_batches) == 0
