"""Averages of variables, against the recurrences in NumPy."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_optimizers import (
    AdamOptimizer,
    ExponentialMovingAverage,
    GradientDescentOptimizer,
    MomentumOptimizer,
    MovingAverageOptimizer,
    SWAOptimizer,
)
from agog_testing import says

SEED = 41


@pytest.mark.parametrize("updates", [None, "variable", "function"])
def test_moving_average(updates: str | None) -> None:
    rng = np.random.default_rng(SEED)
    step = ag.Variable(0)
    given: Any = {None: None, "variable": step, "function": lambda: step}[updates]
    averages = ExponentialMovingAverage(0.9, given)
    values = rng.normal(size=(12, 3))
    variable, expected = ag.Variable(values[0]), values[0]
    for n, value in enumerate(values):
        variable.assign(value)
        averages.apply([variable])
        decay = 0.9 if updates is None else min(0.9, (1 + n) / (10 + n))
        expected = value if n == 0 else decay * expected + (1 - decay) * value
        average = averages.average(variable)
        assert average is not None
        np.testing.assert_allclose(average.numpy(), expected, rtol=1e-12, err_msg=f"seed {SEED}")
        step.assign_add(1)


def test_names() -> None:
    v, averages = ag.Variable(1.0, name="layer/v"), ExponentialMovingAverage(0.5, name="Mine")
    assert (averages.name, averages.average(v), averages.average_name(v)) == ("Mine", None, "layer/v/Mine")
    assert averages.variables_to_restore() == {}
    with ag.name_scope("elsewhere"):
        averages.apply([v])
    average = averages.average(v)
    assert average is not None
    assert (average.name, average.trainable, average.dtype) == ("layer/v/Mine:0", False, ag.float32)
    assert averages.variables_to_restore() == {"layer/v/Mine": v}
    other = ag.Variable(1.0, name="other")
    assert averages.variables_to_restore([other]) == {"other/Mine": other}
    assert [name for name, _, _ in averages.checkpoint_slots()] == ["average"]


def test_average_is_no_alias() -> None:
    v, averages = ag.Variable([1.0]), ExponentialMovingAverage(0.5)
    averages.apply([v])
    v.assign_add([1.0])
    assert averages.average(v).numpy().tolist() == [1.0]  # type: ignore[union-attr]


def test_average_keeps_no_variable_alive() -> None:
    v, averages = ag.Variable(1.0), ExponentialMovingAverage(0.5)
    averages.apply([v])
    gone = weakref.ref(v)
    del v
    gc.collect()
    assert gone() is None


def test_wrong_variables() -> None:
    averages = ExponentialMovingAverage(0.5)
    with says(
        ValueError,
        "ExponentialMovingAverage: apply needs var_list in eager execution, where no collection holds all variables; "
        "pass model.trainable_variables or the like.",
    ):
        averages.apply()
    with says(
        TypeError,
        "ExponentialMovingAverage: apply takes variables of floating dtypes; got <tf.Variable 'count:0' shape=() "
        "dtype=int32, numpy=1> (dtype int32).",
    ):
        averages.apply([ag.Variable(1, name="count")])
    with pytest.raises(TypeError, match=r"\(float\)"):
        averages.apply([1.0])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="decay must be a number"):
        ExponentialMovingAverage("0.9")


def test_moving_average_optimizer() -> None:
    rng = np.random.default_rng(SEED)
    first, second = ag.Variable(rng.normal(size=3)), ag.Variable(rng.normal(size=2))
    optimizer = MovingAverageOptimizer(GradientDescentOptimizer(0.1), 0.75)
    step = ag.Variable(0)
    expected = None
    for _ in range(5):
        optimizer.minimize(lambda: ag.reduce_sum(first * first), step, [first])
        value = first.numpy()
        expected = value if expected is None else 0.75 * expected + 0.25 * value
    assert step.numpy() == 5
    assert optimizer.average(second) is None
    before = first.numpy()
    with optimizer.averaged():
        np.testing.assert_allclose(first.numpy(), expected, rtol=1e-12)
        assert np.array_equal(optimizer.average(first).numpy(), before)  # type: ignore[union-attr]
    assert np.array_equal(first.numpy(), before)
    with says(
        RuntimeError,
        "MovingAverageOptimizer.swapping_saver is not supported when eager execution is enabled. Save inside of `with "
        "optimizer.averaged():` instead.",
    ):
        optimizer.swapping_saver([first])


def test_averages_are_swapped_back_after_an_error() -> None:
    v = ag.Variable(1.0)
    optimizer = MovingAverageOptimizer(GradientDescentOptimizer(1.0), 0.5)
    for _ in range(2):
        optimizer.minimize(lambda: 1.0 * v)

    def fail() -> None:
        with optimizer.averaged():
            assert float(v) == -0.5
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert float(v) == -1.0


@pytest.mark.parametrize(("start", "period"), [(0, 1), (3, 2), (2, 3)])
def test_stochastic_weight_averaging(start: int, period: int) -> None:
    rng = np.random.default_rng(SEED)
    variable = ag.Variable(rng.normal(size=4))
    optimizer = SWAOptimizer(MomentumOptimizer(0.1, 0.5), start, period)
    counted = []
    for step in range(1, 11):
        optimizer.apply_gradients([(ag.constant(rng.normal(size=4)), variable)])
        if step >= start and (step - max(start, 1)) % period == 0:
            counted.append(variable.numpy())
        if counted:
            average = optimizer.average(variable)
            assert average is not None
            np.testing.assert_allclose(average.numpy(), np.mean(counted, 0), rtol=1e-12, err_msg=f"step {step}")
        else:
            assert optimizer.average(variable) is None
    assert optimizer.get_slot_names() == ["momentum"]
    assert [each.name for each in optimizer.variables()] == ["Variable/Momentum:0", "steps:0"]


def test_wrong_wrapped_optimizers() -> None:
    with says(ValueError, "SWA: opt must be an Optimizer; got 0.1 of type float."):
        SWAOptimizer(0.1)  # type: ignore[arg-type]
    with says(ValueError, "SWA: start_averaging must be at least 0 and average_period at least 1; got 0 and 0."):
        SWAOptimizer(AdamOptimizer(), 0, 0)
