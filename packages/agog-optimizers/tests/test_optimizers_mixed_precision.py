"""Scaled losses, steps that are not taken, master copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_optimizers import (
    AdamOptimizer,
    ExponentialUpdateLossScaleManager,
    FixedLossScaleManager,
    GradientDescentOptimizer,
    LossScaleManager,
    LossScaleOptimizer,
    MomentumOptimizer,
)
from agog_testing import says

SEED = 47


def managed(scale: float = 8.0, **arguments: Any) -> ExponentialUpdateLossScaleManager:
    return ExponentialUpdateLossScaleManager(scale, **{"incr_every_n_steps": 2, **arguments})


def test_scale_follows_the_steps() -> None:
    scale = managed(8.0, decr_every_n_nan_or_inf=2, incr_ratio=2.0, decr_ratio=0.5)
    seen = []
    for is_finite in [True, True, True, False, True, False, False, False, True, True]:
        scale.update_loss_scale(is_finite)
        seen.append((float(scale.get_loss_scale()), int(scale.num_good_steps), int(scale.num_bad_steps)))
    assert seen == [
        (8.0, 1, 0),
        (16.0, 0, 0),
        (16.0, 1, 0),
        (16.0, 0, 1),
        (16.0, 1, 1),  # as in TensorFlow, a good step does not forgive a bad one
        (8.0, 0, 0),
        (8.0, 0, 1),
        (4.0, 0, 0),
        (4.0, 1, 0),
        (8.0, 0, 0),
    ]


def test_scale_has_limits() -> None:
    scale = managed(2.0**127, incr_every_n_steps=1)
    scale.update_loss_scale(True)
    assert float(scale.get_loss_scale()) == 2.0**127
    scale = managed(1.5, decr_every_n_nan_or_inf=1, decr_ratio=0.5)
    scale.update_loss_scale(False)
    assert float(scale.get_loss_scale()) == 1.0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_scaled_steps_are_plain_ones(dtype: str) -> None:
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=5)
    scaled, plain = ag.Variable(np.ones(5, np.float32)), ag.Variable(np.ones(5, np.float32))
    first = LossScaleOptimizer(MomentumOptimizer(0.01, 0.5), FixedLossScaleManager(1024.0))
    second = MomentumOptimizer(0.01, 0.5)
    for _ in range(3):
        for optimizer, v in ((first, scaled), (second, plain)):
            optimizer.minimize(lambda v=v: ag.reduce_sum(ag.cast(v, dtype) * ag.constant(x, dtype)))
    # A scale that is a power of 2 changes no digits.
    np.testing.assert_array_equal(scaled.numpy(), plain.numpy(), err_msg=f"seed {SEED}")
    assert first.get_slot(scaled, "master") is None


def test_small_gradients_do_not_vanish() -> None:
    for scale, expected in ((1.0, 1.0), (2.0**12, 1.0 - 2.0**-18)):
        v = ag.Variable(np.float32(1.0))
        optimizer = LossScaleOptimizer(GradientDescentOptimizer(2.0**8), FixedLossScaleManager(scale))
        # The gradient 2 ** -26 is less than float16 holds.
        optimizer.minimize(lambda v=v: ag.cast(v, "float16") * ag.constant(2.0**-13, "float16") * 2.0**-13)
        assert float(v) == expected


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_small_steps_add_up_in_the_master(dtype: str) -> None:
    v = ag.Variable(ag.constant([1.0], dtype), name="v", constraint=lambda value: ag.minimum(value, 1.0))
    optimizer = LossScaleOptimizer(MomentumOptimizer(2.0**-12, 0.0), FixedLossScaleManager(4.0))
    for _ in range(1024):
        optimizer.apply_gradients([(ag.constant([1.0], dtype), v)])
    master = optimizer.get_slot(v, "master")
    assert master is not None
    assert (master.numpy().tolist(), master.dtype) == ([0.75], ag.float32)
    assert (float(v[0]), v.dtype) == (0.75, dtype)
    assert optimizer.get_slot(v, "momentum").dtype == ag.float32  # type: ignore[union-attr]
    assert {(name, variable.name, slot.name) for name, variable, slot in optimizer.checkpoint_slots()} == {
        ("master", "v:0", "v:0"),
        ("momentum", "v:0", "v/Momentum:0"),
    }
    optimizer.apply_gradients([(ag.constant([-(2.0**12)], dtype), v)])
    assert master.numpy().tolist() == [1.0]  # by the constraint
    assert float(v[0]) == 1.0


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_steps_that_are_not_finite_are_skipped(bad: float) -> None:
    first, second, step = ag.Variable([1.0, 1.0]), ag.Variable([[1.0], [1.0]]), ag.Variable(0)
    scale = managed(8.0, decr_every_n_nan_or_inf=1, decr_ratio=0.5)
    optimizer = LossScaleOptimizer(GradientDescentOptimizer(0.5), scale)
    rows = ag.IndexedSlices([[bad]], [1], (2, 1))
    for pairs in ([(ag.constant([1.0, bad]), first)], [(ag.constant([1.0, 1.0]), first), (rows, second)]):
        optimizer.apply_gradients(pairs, step)
    assert (first.numpy().tolist(), second.numpy().tolist(), step.numpy()) == ([1.0, 1.0], [[1.0], [1.0]], 0)
    assert (int(optimizer.skipped_steps), float(scale.get_loss_scale())) == (2, 2.0)
    optimizer.apply_gradients([(ag.constant([1.0, 1.0]), first), (None, second)], step)
    assert (first.numpy().tolist(), step.numpy()) == ([0.5, 0.5], 1)
    assert int(optimizer.skipped_steps) == 2
    assert [each.name for each in optimizer.variables()][-1] == "skipped_steps:0"


def test_lookups_are_scaled() -> None:
    table = ag.Variable(ag.constant([[1.0], [1.0]], "float16"))
    optimizer = LossScaleOptimizer(GradientDescentOptimizer(0.5), FixedLossScaleManager(64.0))
    pairs = optimizer.compute_gradients(lambda: ag.reduce_sum(ag.gather(table, [1, 1])))
    assert type(pairs[0][0]) is ag.IndexedSlices
    assert pairs[0][0].dtype == ag.float32
    optimizer.apply_gradients(pairs)
    assert table.numpy().tolist() == [[1.0], [0.0]]


def test_training_finds_its_scale() -> None:
    rng = np.random.default_rng(SEED)
    x = ag.constant(rng.normal(size=(64, 3)), "float16")
    y = ag.matmul(x, ag.constant([[1.0], [-2.0], [3.0]], "float16"))
    w = ag.Variable(ag.constant(np.zeros((3, 1)), "float16"))
    scale = ExponentialUpdateLossScaleManager(2.0**15, 20, 1, 2.0, 0.5)
    optimizer = LossScaleOptimizer(AdamOptimizer(0.1), scale)
    for _ in range(200):
        optimizer.minimize(lambda: ag.reduce_mean(ag.square(ag.matmul(x, w) - y)))
    assert int(optimizer.skipped_steps) > 0  # the first losses, times 2 ** 15, are infinite in float16
    np.testing.assert_allclose(w.numpy().astype(np.float32), [[1.0], [-2.0], [3.0]], atol=0.02)


def test_errors() -> None:
    for make, text in (
        (lambda: FixedLossScaleManager(0.5), "FixedLossScaleManager: loss_scale must be at least 1; got 0.5."),
        (lambda: managed(0.0), "ExponentialUpdateLossScaleManager: init_loss_scale must be at least 1; got 0.0."),
        (
            lambda: managed(incr_every_n_steps=0),
            "ExponentialUpdateLossScaleManager: incr_every_n_steps must be at least 1; got 0.",
        ),
        (lambda: managed(decr_ratio=1.5), "ExponentialUpdateLossScaleManager: decr_ratio must be in (0, 1]; got 1.5."),
        (
            lambda: LossScaleOptimizer(AdamOptimizer(), 8.0),  # type: ignore[arg-type]
            "LossScaleOptimizer: loss_scale_manager must be a LossScaleManager; got 8.0 of type float.",
        ),
    ):
        with says(ValueError, text):
            make()
    for call in (LossScaleManager().get_loss_scale, lambda: LossScaleManager().update_loss_scale(True)):
        with pytest.raises(NotImplementedError, match="LossScaleManager"):
            call()
    with pytest.raises(RuntimeError, match="should be a function"):
        LossScaleOptimizer(AdamOptimizer(), FixedLossScaleManager(1.0)).minimize(ag.constant(1.0))
