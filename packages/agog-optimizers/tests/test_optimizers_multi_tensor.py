"""Steps of several variables at once: which go together, and that the values are those of one after another."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import agog_core as ag
from agog_core.plugin import Kernel, hookimpl
from agog_optimizers import AdamOptimizer, AdamWOptimizer, GradientDescentOptimizer, Optimizer

RAN: list[int] = []


def together(groups: list[tuple[Any, ...]], *, learning_rate: float, **numbers: Any) -> None:
    """Gradient descent for whatever optimizer, which says how many it took."""
    RAN.append(len(groups))
    for arrays in groups:
        arrays[0][...] -= learning_rate * arrays[-1]


def alone(*arrays: Any, learning_rate: float, **numbers: Any) -> None:
    """The same for one."""
    together([arrays], learning_rate=learning_rate)


@pytest.fixture(autouse=True)
def _takes_several() -> Iterator[None]:
    RAN.clear()
    ops = ("apply_adam", "apply_gradient_descent")
    found = [Kernel(op=op, device="cpu", fn=alone, several=together, priority=200) for op in ops]
    ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: found)), "together")
    with ag.device("/cpu:0"):  # where the kernel is, whatever device the tests are run on
        yield
    ag.unregister_plugin("together")


def pairs(count: int) -> list[tuple[Any, ag.Variable]]:
    return [(ag.ones([2]), ag.Variable([float(n), 0.0])) for n in range(count)]


def test_variables_go_together() -> None:
    given = pairs(3)
    GradientDescentOptimizer(0.5).apply_gradients(given)
    assert RAN == [3]
    assert [v.numpy().tolist() for _, v in given] == [[-0.5, -0.5], [0.5, -0.5], [1.5, -0.5]]


def test_slots_are_made_first() -> None:
    optimizer, given = AdamOptimizer(0.5), pairs(2)
    optimizer.apply_gradients(given)
    assert RAN == [2]
    assert optimizer.get_slot_names() == ["m", "v"]


def test_slots_are_made_in_the_order_of_the_variables() -> None:
    rows, optimizer = ag.Variable([[1.0], [2.0]]), AdamOptimizer(0.5)
    lookup = ag.IndexedSlices(ag.ones([1, 1]), ag.constant([1]), ag.constant([2, 1]))
    given = [(lookup, rows), *pairs(2)]
    optimizer.apply_gradients(given)
    assert RAN == [2, 1]
    assert [owner for _, owner, _ in optimizer.checkpoint_slots()][::2] == [variable for _, variable in given]


def test_a_lookup_and_a_constraint_stay_alone() -> None:
    rows = ag.Variable([[1.0], [2.0]])
    bounded = ag.Variable([3.0], constraint=lambda value: ag.minimum(value, 1.0))
    first, second, third = (pair for pair in pairs(3))
    given = [first, (ag.IndexedSlices([[1.0]], [1], (2, 1)), rows), second, third, (ag.ones([1]), bounded)]
    GradientDescentOptimizer(0.5).apply_gradients(given)
    assert RAN == [3, 1]
    assert rows.numpy().tolist() == [[1.0], [1.5]]
    assert bounded.numpy().tolist() == [1.0]


def test_a_variable_that_comes_twice_takes_both_steps() -> None:
    v = ag.Variable([4.0])
    GradientDescentOptimizer(0.5).apply_gradients([(ag.ones([1]), v), (ag.ones([1]), v)])
    assert RAN == [1, 1]
    assert v.numpy().tolist() == [3.0]


def test_an_overridden_update_is_called_for_each() -> None:
    class Own(GradientDescentOptimizer):
        def update(self, variable: ag.Variable, gradient: ag.Tensor, hyperparameters: Any, slots: Any) -> None:
            variable.assign_add(gradient)

    given = pairs(2)
    Own(0.5).apply_gradients(given)
    assert RAN == []
    assert [v.numpy().tolist() for _, v in given] == [[1.0, 1.0], [2.0, 1.0]]


def test_a_step_that_is_no_op_is_taken_for_each() -> None:
    class Own(Optimizer):
        @staticmethod
        def step_op(variable: ag.Variable, gradient: ag.Tensor, learning_rate: float) -> None:
            variable.assign_sub(gradient * learning_rate)

    given = pairs(2)
    Own(0.5, "Own").apply_gradients(given)
    assert RAN == []
    assert [v.numpy().tolist() for _, v in given] == [[-0.5, -0.5], [0.5, -0.5]]


def test_adamw_goes_together_where_all_decay() -> None:
    given = pairs(2)
    AdamWOptimizer(0.1, 0.5).apply_gradients(given)
    assert RAN == [2]


def test_adamw_goes_one_by_one_where_some_decay() -> None:
    given = pairs(2)
    AdamWOptimizer(0.1, 0.5).apply_gradients(given, decay_var_list=[given[0][1]])
    assert RAN == [1, 1]
