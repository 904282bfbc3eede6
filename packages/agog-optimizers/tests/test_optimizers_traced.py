"""Every optimizer takes the same steps in a traced function: variables, slots and what it counts have the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
import agog_optimizers as optimizers
from agog_core.tracing.functions.function import function

RATE = 0.1
Make = Callable[[ag.Variable], Any]
MAKERS: dict[str, Make] = {
    "schedule": lambda step: optimizers.GradientDescentOptimizer(optimizers.exponential_decay(RATE, step, 2, 0.5)),
    "function": lambda step: optimizers.GradientDescentOptimizer(lambda: RATE / (1 + int(step))),
    "noise": lambda step: optimizers.GradientDescentOptimizer(optimizers.noisy_linear_cosine_decay(RATE, step, 10)),
    "variables": lambda step: optimizers.AdamOptimizer(RATE, beta1=ag.Variable(0.8)),
    "MomentumOptimizer": lambda step: optimizers.MomentumOptimizer(RATE, 0.9, use_nesterov=True),
    "MomentumWOptimizer": lambda step: optimizers.MomentumWOptimizer(0.01, RATE, 0.9),
    "DecoupledWeightDecayExtension": lambda step: optimizers.extend_with_decoupled_weight_decay(
        optimizers.RMSPropOptimizer
    )(0.01, RATE),
    "AdagradDAOptimizer": lambda step: optimizers.AdagradDAOptimizer(RATE, step),
    "MovingAverageOptimizer": lambda step: optimizers.MovingAverageOptimizer(
        optimizers.AdamOptimizer(RATE), num_updates=step
    ),
    "SWAOptimizer": lambda step: optimizers.SWAOptimizer(optimizers.GradientDescentOptimizer(RATE), 1, 2),
    "GradientAccumulator": lambda step: optimizers.GradientAccumulator(optimizers.GradientDescentOptimizer(RATE), 2),
    "GradientAccumulator of Adam": lambda step: optimizers.GradientAccumulator(optimizers.AdamOptimizer(RATE), 2),
    "GradientAccumulator of AdaMax": lambda step: optimizers.GradientAccumulator(optimizers.AdaMaxOptimizer(RATE), 2),
    "LossScaleOptimizer": lambda step: optimizers.LossScaleOptimizer(
        optimizers.AdamOptimizer(RATE), optimizers.ExponentialUpdateLossScaleManager(8.0, 2)
    ),
}
for name, kind in vars(optimizers).items():
    if isinstance(kind, type) and issubclass(kind, optimizers.Optimizer) and kind is not optimizers.Optimizer:
        MAKERS.setdefault(name, lambda step, kind=kind: kind(RATE))


def outcome(make: Make, wrap: Callable[[Any], Any], batches: list[Any], with_rows: bool) -> list[np.ndarray[Any, Any]]:
    ag.set_random_seed(3)
    count = ag.Variable(0, dtype=ag.int64)
    v, b = ag.Variable(np.random.default_rng(0).normal(size=(50, 3)).astype("f4")), ag.Variable([0.5, 1.0, -1.0])
    optimizer = make(count)

    def step(ids: ag.Tensor) -> ag.Tensor:
        def loss() -> ag.Tensor:
            x = ag.gather(v, ids) if with_rows else v * ag.cast(ids[0], ag.float32)
            return ag.reduce_sum(ag.square(x + b))

        optimizer.minimize(loss, global_step=count)
        return loss()

    call = wrap(step)
    losses = [call(ag.constant(batch)).numpy() for batch in batches]
    return [*losses, v.numpy(), b.numpy(), count.numpy(), *[each.numpy() for each in optimizer.variables()]]


@pytest.mark.parametrize("with_rows", [False, True], ids=["dense", "rows"])
@pytest.mark.parametrize("name", sorted(MAKERS))
def test_steps_are_equal(name: str, with_rows: bool) -> None:
    batches = [[2, 0, 2], [1, 1, 1], [2, 0, 2], [4, 5, 0], [3, 3, 2], [0, 1, 2]]
    eager = outcome(MAKERS[name], lambda step: step, batches, with_rows)
    traced = outcome(MAKERS[name], function, batches, with_rows)
    assert len(eager) == len(traced)
    for left, right in zip(eager, traced, strict=True):
        np.testing.assert_array_equal(left, right)


def test_any_number_of_rows_is_one_trace() -> None:
    """More than there may be ways through the branches of a function."""
    batches = [(np.arange(45) % distinct).tolist() for distinct in range(1, 41)]
    wrapped: list[Any] = []

    def wrap(step: Any) -> Any:
        wrapped.append(function(step))
        return wrapped[-1]

    make = MAKERS["AdagradOptimizer"]
    eager, traced = outcome(make, lambda step: step, batches, True), outcome(make, wrap, batches, True)
    for left, right in zip(eager, traced, strict=True):
        np.testing.assert_array_equal(left, right)
    assert sum(trace.is_kept for trace in wrapped[0].traces()) == 1


def test_a_changed_learning_rate_counts_at_the_next_call() -> None:
    v, optimizer = ag.Variable(1.0), optimizers.GradientDescentOptimizer(0.5)
    step = function(lambda: optimizer.minimize(lambda: v * 1.0))
    for rate, expected in ((0.5, 0.5), (0.25, 0.25), (0.125, 0.125)):
        optimizer.learning_rate = rate
        step()
        assert float(v) == expected


def test_a_call_begins_with_the_branch_of_the_call_before() -> None:
    """So the numbers of a step are asked for once, while calls go the same way."""
    asked: list[int] = []
    v = ag.Variable(8.0)
    optimizer = optimizers.GradientDescentOptimizer(lambda: asked.append(1) or 0.25)

    def step(x: ag.Tensor) -> None:
        optimizer.minimize(lambda: v * x if v.value() * x > 4.0 else v * x * 2.0)

    call = function(step)
    for _ in range(20):
        call(ag.constant(1.0))
    assert float(v) == 8.0 - 16 * 0.25 - 4 * 0.5
    before = len(asked)
    for _ in range(3):
        call(ag.constant(1.0))
    assert len(asked) == before + 3
    call(ag.constant(10.0))  # and goes the other way where that one's guard fails
    assert float(v) == 2.0 - 3 * 0.5 - 2.5


def test_numbers_are_computed_once() -> None:
    v, w = ag.Variable(1.0), ag.Variable(2.0)
    optimizer = optimizers.GradientDescentOptimizer(0.1)
    step = function(lambda x: optimizer.minimize(lambda: v * x + w * x))
    for _ in range(3):
        step(ag.constant(1.0))
    rate = np.float32(0.1)
    expected = [np.float32(1), np.float32(2)]
    for _ in range(3):
        expected = [value - rate for value in expected]
    assert [v.numpy(), w.numpy()] == expected
    assert v.numpy().dtype == w.numpy().dtype == np.float32
