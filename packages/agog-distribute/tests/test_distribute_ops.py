"""Collectives: values and gradients over two and four ranks, beside NumPy and finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
import agog_distribute as distribute
from agog_distribute import Group

SIZES = (2, 4)
Function = Callable[[ag.Tensor, Group], ag.Tensor]
# Each with the result of all ranks' inputs, stacked, for a rank.
CASES: dict[str, tuple[Function, Callable[[np.ndarray, int], np.ndarray]]] = {
    "sum": (lambda x, g: distribute.all_reduce(x, "sum", g), lambda xs, rank: xs.sum(0)),
    "mean": (lambda x, g: distribute.all_reduce(x, "mean", g), lambda xs, rank: xs.mean(0)),
    "max": (lambda x, g: distribute.all_reduce(x, "max", g), lambda xs, rank: xs.max(0)),
    "min": (lambda x, g: distribute.all_reduce(x, "min", g), lambda xs, rank: xs.min(0)),
    "all_gather": (lambda x, g: distribute.all_gather(x, g), lambda xs, rank: np.concatenate(xs)),
    "reduce_scatter": (
        lambda x, g: distribute.reduce_scatter(x, "sum", g),
        lambda xs, rank: np.split(xs.sum(0), len(xs))[rank],
    ),
    "reduce_scatter, mean": (
        lambda x, g: distribute.reduce_scatter(x, "mean", g),
        lambda xs, rank: np.split(xs.mean(0), len(xs))[rank],
    ),
    "broadcast": (lambda x, g: distribute.broadcast(x, 1, g), lambda xs, rank: xs[1]),
    "all_to_all": (
        lambda x, g: distribute.all_to_all(x, g),
        lambda xs, rank: np.concatenate([np.split(x, len(xs))[rank] for x in xs]),
    ),
}


def inputs(size: int) -> np.ndarray:
    return np.random.default_rng(size).normal(size=(size, 4, 3))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_each_rank_has_the_result_of_all(name: str, size: int, together: Any) -> None:
    function, wanted = CASES[name]
    xs = inputs(size)
    results = together(size, lambda group: function(ag.constant(xs[group.rank]), group).numpy())
    for rank, result in enumerate(results):
        np.testing.assert_allclose(result, wanted(xs, rank), rtol=1e-14)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_the_sum_over_all_ranks(name: str, size: int, together: Any) -> None:
    function, wanted = CASES[name]
    xs = inputs(size)
    weights = [np.random.default_rng(9 + rank).normal(size=wanted(xs, rank).shape) for rank in range(size)]

    def gradient(group: Group) -> np.ndarray:
        x = ag.constant(xs[group.rank])
        with ag.GradientTape() as tape:
            tape.watch(x)
            loss = ag.reduce_sum(function(x, group) * weights[group.rank])
        return tape.gradient(loss, x).numpy()

    def total(xs: np.ndarray) -> float:
        return sum(float((wanted(xs, rank) * weights[rank]).sum()) for rank in range(size))

    for rank, found in enumerate(together(size, gradient)):
        numerical = np.empty_like(found)
        for at in np.ndindex(found.shape):
            step = np.zeros_like(xs)
            step[rank][at] = 1e-6
            numerical[at] = (total(xs + step) - total(xs - step)) / 2e-6
        np.testing.assert_allclose(found, numerical, atol=1e-7)


@pytest.mark.parametrize("name", ["mean", "max", "all_gather", "reduce_scatter", "broadcast", "all_to_all"])
def test_second_gradients_go_through_them(name: str, together: Any) -> None:
    function, wanted = CASES[name]
    xs = inputs(2)

    def second(group: Group) -> np.ndarray:
        x = ag.constant(xs[group.rank])
        with ag.GradientTape() as outer:
            outer.watch(x)
            with ag.GradientTape() as inner:
                inner.watch(x)
                cubes = function(x, group) ** 3
            slope = inner.gradient(cubes, x)
        return outer.gradient(slope, x).numpy()

    def slopes(xs: np.ndarray) -> np.ndarray:
        step, found = 1e-4, np.empty_like(xs)
        for at in np.ndindex(xs.shape):
            move = np.zeros_like(xs)
            move[at] = step
            found[at] = sum(
                (wanted(xs + move, rank) ** 3).sum() - (wanted(xs - move, rank) ** 3).sum() for rank in range(2)
            ) / (2 * step)
        return found

    for rank, found in enumerate(together(2, second)):
        numerical = np.empty_like(found)
        for at in np.ndindex(found.shape):
            move = np.zeros_like(xs)
            move[rank][at] = 1e-3
            numerical[at] = (slopes(xs + move).sum() - slopes(xs - move).sum()) / 2e-3
        # The gradient of the sum of all ranks' slopes.
        np.testing.assert_allclose(found, numerical, rtol=1e-4, atol=1e-4)


def test_ranks_that_have_the_maximum_share_its_gradient(together: Any) -> None:
    def gradient(group: Group) -> np.ndarray:
        x = ag.constant([1.0, float(group.rank)])
        with ag.GradientTape() as tape:
            tape.watch(x)
            largest = distribute.all_reduce(x, "max", group)
        return tape.gradient(largest, x).numpy()

    first, second = together(2, gradient)
    np.testing.assert_array_equal(first, [1.0, 0.0])
    np.testing.assert_array_equal(second, [1.0, 2.0])


def test_results_are_no_views(together: Any) -> None:
    def changed(group: Group) -> float:
        x = ag.Variable([1.0, 2.0])
        before = distribute.broadcast(x, 0, group)
        x.assign([7.0, 7.0])
        return float(before[0])

    assert together(2, changed) == [1.0, 1.0]


@pytest.mark.parametrize("name", CASES)
def test_in_one_process_each_is_a_copy(name: str) -> None:
    if name == "broadcast":
        assert distribute.broadcast([1.0, 2.0]).numpy().tolist() == [1.0, 2.0]
        return
    function, _ = CASES[name]
    x = ag.constant([1.0, 2.0])
    assert function(x, distribute.new_group([0])).numpy().tolist() == [1.0, 2.0]


def test_scalars_stay_scalars() -> None:
    assert distribute.all_reduce(3.0).shape == ()
    assert distribute.broadcast(3.0).shape == ()


def test_traced_functions_keep_all_of_them_in_their_order() -> None:
    calls = []

    class Watched:
        """One process, which writes down what it is asked."""

        rank = local_rank = 0
        size = local_size = 1

        def all_reduce(self, array: Any, reduction: str) -> Any:
            calls.append((reduction, array.tolist()))
            return array.copy()

        def barrier(self) -> None:
            calls.append("barrier")

    group = Group([0], Watched())  # type: ignore[arg-type]

    @ag.function
    def step(x: ag.Tensor) -> ag.Tensor:
        distribute.all_reduce(x * 3.0, "sum", group)  # nobody uses it
        one, other = distribute.all_reduce(x, "sum", group), distribute.all_reduce(x, "sum", group)  # they are equal
        distribute.barrier(group)
        return one + other + distribute.all_reduce(ag.ones([1]), "max", group)  # of a constant

    for turn in range(4):
        calls.clear()
        assert step(ag.constant([float(turn)])).numpy().tolist() == [2.0 * turn + 1]
        x = [float(turn)]
        assert calls == [("sum", [3.0 * turn]), ("sum", x), ("sum", x), "barrier", ("max", [1.0])]
