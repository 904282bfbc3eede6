"""Updates in place, values that never change under anyone, and nothing left behind."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest

import agog_core as ag
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
    LionOptimizer,
    MomentumOptimizer,
    NadamOptimizer,
    Optimizer,
    ProximalAdagradOptimizer,
    ProximalGradientDescentOptimizer,
    RMSPropOptimizer,
)

MAKERS: dict[str, Callable[[], Optimizer]] = {
    "adadelta": lambda: AdadeltaOptimizer(0.5),
    "adagrad": lambda: AdagradOptimizer(0.5),
    "adagrad_da": lambda: AdagradDAOptimizer(0.5, 0),
    "adam": lambda: AdamOptimizer(0.5),
    "adamax": lambda: AdaMaxOptimizer(0.5),
    "adamw": lambda: AdamWOptimizer(0.25, 0.5),
    "amsgrad": lambda: AMSGradOptimizer(0.5),
    "ftrl": lambda: FtrlOptimizer(0.5, l1_regularization_strength=0.125),
    "gradient_descent": lambda: GradientDescentOptimizer(0.25),
    "lamb": lambda: LAMBOptimizer(0.5),
    "lion": lambda: LionOptimizer(0.25),
    "momentum": lambda: MomentumOptimizer(0.25, 0.5),
    "nadam": lambda: NadamOptimizer(0.5),
    "proximal_adagrad": lambda: ProximalAdagradOptimizer(0.5, 0.1, 0.1, 0.1),
    "proximal_gradient_descent": lambda: ProximalGradientDescentOptimizer(0.25, 0.1, 0.1),
    "rmsprop": lambda: RMSPropOptimizer(0.5),
    "rmsprop_centered": lambda: RMSPropOptimizer(0.5, epsilon=0.1, centered=True),
}
each_optimizer = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def buffers(variable: ag.Variable, optimizer: Optimizer) -> list[int]:
    """Which arrays hold the variable and its slots; by number, since a reference would make the update copy."""
    slots = [slot for _, owner, slot in optimizer.checkpoint_slots() if owner is variable]
    return [id(each._tensor._array) for each in (variable, *slots)]


@each_optimizer
def test_steps_are_in_place(make: Callable[[], Optimizer]) -> None:
    v, optimizer = ag.Variable(np.ones(5)), make()
    optimizer.minimize(lambda: v * v)
    before = buffers(v, optimizer)
    for _ in range(3):
        optimizer.minimize(lambda: v * v)
    assert buffers(v, optimizer) == before


@each_optimizer
def test_steps_after_implicit_gradients_are_in_place(make: Callable[[], Optimizer]) -> None:
    v, optimizer = ag.Variable(np.ones(5)), make()
    gradients = ag.implicit_gradients(lambda x: v * v * x)
    optimizer.apply_gradients(gradients(2.0))
    before = buffers(v, optimizer)
    optimizer.apply_gradients(gradients(2.0))
    assert buffers(v, optimizer) == before


@each_optimizer
def test_values_that_are_held_do_not_change(make: Callable[[], Optimizer]) -> None:
    v, optimizer = ag.Variable(np.ones(5)), make()
    for _ in range(3):
        tensor, array, part = v.value(), v.numpy(), v.value()[1:3]
        held = [slot.value() for _, _, slot in optimizer.checkpoint_slots()]
        kept = [np.array(each) for each in (tensor, array, part, *held)]
        optimizer.apply_gradients([(ag.constant(np.full(5, 0.25)), v)])
        for each, expected in zip((tensor, array, part, *held), kept, strict=True):
            np.testing.assert_array_equal(np.asarray(each), expected)
        assert not np.array_equal(v.numpy(), kept[0])


@each_optimizer
def test_persistent_tape_keeps_its_values(make: Callable[[], Optimizer]) -> None:
    v, optimizer = ag.Variable(3.0), make()
    with ag.GradientTape(persistent=True) as tape:
        loss = v * v * v
    first = tape.gradient(loss, v).numpy()
    optimizer.apply_gradients([(ag.constant(1.0), v)])
    assert tape.gradient(loss, v).numpy() == first == 27.0


@each_optimizer
def test_gradient_that_is_the_variables_own_value(make: Callable[[], Optimizer]) -> None:
    v, same = ag.Variable(np.arange(4.0)), ag.Variable(np.arange(4.0))
    ours, theirs = make(), make()
    ours.apply_gradients([(v.value(), v)])
    theirs.apply_gradients([(ag.constant(np.arange(4.0)), same)])
    np.testing.assert_array_equal(v.numpy(), same.numpy())


@each_optimizer
def test_thousand_steps_leave_no_objects(make: Callable[[], Optimizer]) -> None:
    v, step, optimizer = ag.Variable(np.ones(5)), ag.Variable(0), make()

    def train(steps: int) -> None:
        for _ in range(steps):
            optimizer.minimize(lambda: ag.reduce_sum(v * v), step)
        step.numpy()  # waits for the device

    def grown() -> int:
        before = len(gc.get_objects())
        train(1000)
        return len(gc.get_objects()) - before

    train(10)
    gc.collect()
    gc.disable()
    try:  # without the collector: there are no cycles
        # Three times at most: threads of the test runner may make objects meanwhile, a leak does so each time.
        assert any(grown() < 20 for _ in range(3))
    finally:
        gc.enable()


@each_optimizer
def test_optimizer_keeps_no_variable_alive(make: Callable[[], Optimizer]) -> None:
    optimizer = make()
    v = ag.Variable(1.0)
    optimizer.apply_gradients([(ag.constant(1.0), v)])
    gone = weakref.ref(v)
    del v
    assert gone() is None
    assert list(optimizer.checkpoint_slots()) == []
    optimizer.apply_gradients([(ag.constant(1.0), ag.Variable(1.0))])


def test_steps_inside_a_tape_are_not_recorded() -> None:
    v, optimizer = ag.Variable(3.0), AdamOptimizer()
    with ag.GradientTape() as tape:
        loss = v * v
        optimizer.apply_gradients([(ag.constant(1.0), v)])
    assert float(tape.gradient(loss, v)) == 6.0
    assert tape.watched_variables() == (v,)
