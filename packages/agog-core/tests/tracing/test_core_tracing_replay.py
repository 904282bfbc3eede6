"""Short functions under tapes: these get the records that they would get of the function's ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.recording import Section
from agog_core.tracing.functions.function import function

V = ag.Variable([0.5, -1.0, 2.0], name="v")
X = np.array([1.0, 2.0, 4.0], "f4")


def records(tape: ag.GradientTape) -> list[Any]:
    """What a tape has: functions and, in place of ids, the order in which these come up; arrays by their values."""
    order: dict[int, int] = {}

    def number(i: Any) -> int:
        return order.setdefault(i, len(order))

    def plain(each: Any) -> Any:
        if type(each) is tuple:
            return tuple(map(plain, each))
        return each.numpy().tolist() if isinstance(each, ag.Tensor) else each

    found: list[Any] = []
    for out, source, vjp, saved in tape.records:
        outs, sources = (out, source) if out is not None else saved[:2]
        ids = [
            number(i)
            for i in (*(outs if isinstance(outs, tuple) else (outs,)), *(sources if out is None else (source,)))
        ]
        found.append((out is None, type(sources), ids, vjp, [*map(plain, saved[2:] if out is None else saved)]))
    return found


def run(call: Callable[[Any], Any], watch: bool = True) -> tuple[ag.GradientTape, Any]:
    x = ag.constant(X)
    with ag.GradientTape(persistent=True) as tape:
        if watch:
            tape.watch(x)
        result = call(x)
    return tape, result


SHORT: list[Callable[[Any], Any]] = [
    lambda x: x * x,
    lambda x: x * 2.0 + 1.0,
    lambda x: ag.tanh(ag.exp(x)),
    lambda x: ag.reduce_sum(x * V, 0),
    lambda x: (x + V, x - V),
    lambda x: x * ag.stop_gradient(x),
    lambda x: ag.reshape(x, [3, 1]) * x,
    lambda x: (x, x / 2.0),
    lambda x: V * V,
    lambda x: ag.concat([x, V, x * 2.0, ag.stop_gradient(x)], 0),
    lambda x: ag.split(x * x, 3)[1],
    lambda x: ag.split(x, 3),
    lambda x: ag.gather(x, [0, 2, 2]),
    lambda x: ag.gather(V, ag.cast(x, ag.int32) // 2),
    lambda x: ag.einsum("i,j->ij", x, V),
]


@pytest.mark.parametrize("python", SHORT, ids=range(len(SHORT)))
def test_a_short_function_leaves_the_records_of_its_ops(python: Callable[[Any], Any]) -> None:
    traced = function(python)
    eager_tape, eager = run(python)
    for _ in range(3):
        tape, result = run(traced)
        assert records(tape) == records(eager_tape)
        assert [v.name for v in tape.watched_variables()] == [v.name for v in eager_tape.watched_variables()]
        for left, right in zip(ag.nest.flatten(result), ag.nest.flatten(eager), strict=True):
            np.testing.assert_array_equal(left.numpy(), right.numpy())
            assert tape.watches(left) == eager_tape.watches(right)


def cubed(x: Any) -> Any:
    @ag.custom_gradient
    def inner(y: Any) -> Any:
        return y * y * y, lambda g: g * 7.0

    return inner(x)


def noisy(x: Any) -> Any:
    return x * ag.random_uniform([3], seed=1)


OTHERS: list[Callable[[Any], Any]] = [
    cubed,
    noisy,
    lambda x: x * x * x * x * x * x * x * x,
]


@pytest.mark.parametrize("python", OTHERS, ids=["function", "random", "long"])
def test_any_other_function_leaves_one_record(python: Callable[[Any], Any]) -> None:
    traced = function(python)
    for _ in range(3):
        tape, _ = run(traced)
        assert [isinstance(vjp, Section) for _, _, vjp, _ in tape.records] == [True]


def test_a_function_of_large_arrays_leaves_one_record() -> None:
    traced = function(lambda x: x * x)
    for size, is_section in ((16384, False), (16385, True)):  # two records
        x = ag.ones([size])
        for _ in range(2):
            with ag.GradientTape() as tape:
                tape.watch(x)
                y = traced(x)
            assert [isinstance(vjp, Section) for _, _, vjp, _ in tape.records] == [is_section] * len(tape.records)
            assert tape.gradient(y, x).numpy().tolist() == [2.0] * size


def test_what_is_kept_is_watched_by_each_tape() -> None:
    """The third derivative of tanh(x) ** 3 at 0, which goes through what the records keep, is 6."""
    traced = function(lambda x: ag.pow(ag.tanh(x), 3.0))
    x = ag.constant(0.0, ag.float64)
    for _ in range(3):
        with ag.GradientTape() as one, ag.GradientTape() as two:
            one.watch(x)
            two.watch(x)
            y = traced(x)
            with ag.GradientTape() as three:
                three.watch(x)
                z = traced(x) + y * 0.0
            first = three.gradient(z, x)
            second = two.gradient(first, x)
        assert one.gradient(second, x).numpy() == pytest.approx(6.0)
