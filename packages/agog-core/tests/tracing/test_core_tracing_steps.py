"""Traced functions and whole training steps give the bits that they give without."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import TracingWarning
from agog_core.tracing.functions.function import function

Make = Callable[[], tuple[Callable[..., Any], tuple[Any, ...], list[ag.Variable]]]


def results(make: Make, wrap: Callable[[Any], Any], calls: int = 4) -> list[np.ndarray[Any, Any]]:
    ag.set_random_seed(7)
    call, args, variables = make()
    wrapped = wrap(call)
    found = [np.array(leaf) for _ in range(calls) for leaf in ag.nest.flatten(wrapped(*args))]
    return [*found, *[variable.numpy() for variable in variables]]


def assert_equal(make: Make, calls: int = 4) -> None:
    eager, traced = results(make, lambda call: call, calls), results(make, function, calls)
    assert len(eager) == len(traced)
    for left, right in zip(eager, traced, strict=True):
        np.testing.assert_array_equal(left, right)
        assert left.dtype == right.dtype


def pure() -> Any:
    x = ag.constant([[0.5, -1.0, 2.0], [3.0, 0.25, -4.0]])
    return lambda x: ag.tanh(ag.transpose(x) * 2.0) + ag.reduce_sum(x), (x,), []


def gradient() -> Any:
    def step(x: ag.Tensor) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = ag.reduce_sum(ag.tanh(x) * x)
        return y, tape.gradient(y, x)

    return step, (ag.constant([0.5, -2.0]),), []


def second_derivative() -> Any:
    def step(x: ag.Tensor) -> Any:
        with ag.GradientTape() as outer:
            outer.watch(x)
            with ag.GradientTape() as inner:
                inner.watch(x)
                y = ag.reduce_sum(ag.sin(x) * x)
            first = inner.gradient(y, x)
        return outer.gradient(first, x)

    return step, (ag.constant([0.5, -2.0]),), []


def descent() -> Any:
    w = ag.Variable([[1.0, 2.0], [0.5, -1.0]])

    def step(x: ag.Tensor) -> Any:
        with ag.GradientTape() as tape:
            loss = ag.reduce_mean(ag.square(ag.matmul(x, w)))
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    return step, (ag.constant([[1.0, -1.0]]),), [w]


def old_values() -> Any:
    v = ag.Variable([1.0, 2.0])

    def step(x: ag.Tensor) -> Any:
        old = v.value()
        v.assign_add(x)
        middle = v * 2.0
        view = ag.reshape(v, [2, 1])
        v.assign(middle + old)
        v.assign_sub(x)
        return old, middle, view, v.value(), v

    return step, (ag.constant([0.5, -1.0]),), [v]


def itself() -> Any:
    v, w = ag.Variable([1.0, 2.0]), ag.Variable([3.0, 4.0])

    def step() -> Any:
        v.assign_add(v)
        w.assign(v)
        v.assign_add(w)
        return w.value(), ag.reshape(w, [2, 1])

    return step, (), [v, w]


def random_numbers() -> Any:
    def step(x: ag.Tensor) -> Any:
        return ag.nn.dropout(x, 0.5) + ag.random_normal([4], seed=3), ag.random_uniform([2], 0, 9, ag.int32)

    return step, (ag.ones([4]),), []


def slices_and_rows() -> Any:
    v = ag.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def step(x: ag.Tensor) -> Any:
        v[0].assign(x)
        ag.scatter_add(v, [2], ag.reshape(x, [1, 2]))
        v[1:, 0].assign_add(x)
        return v[1], ag.gather(v, [2, 0])

    return step, (ag.constant([0.5, -1.0]),), [v]


def persistent() -> Any:
    v = ag.Variable(3.0)

    def step() -> Any:
        with ag.GradientTape(persistent=True) as tape:
            y, z = v * v, v * v * v
        return tape.gradient(y, v), tape.gradient(z, v)

    return step, (), [v]


def lookup() -> Any:
    v = ag.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def step(ids: ag.Tensor) -> Any:
        with ag.GradientTape() as tape:
            loss = ag.reduce_sum(ag.square(ag.gather(v, ids)))
        rows = tape.gradient(loss, v)
        v.scatter_sub(rows)
        return rows.values, rows.indices, rows

    return step, (ag.constant([0, 2, 0]),), [v]


def dense(step: Callable[..., Any]) -> Callable[..., Any]:
    return lambda ids: step(ids)[:2]


MAKERS = [
    *(pure, gradient, second_derivative, descent, old_values, itself, random_numbers, slices_and_rows, persistent),
    lookup,
]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_steps_are_equal(make: Make) -> None:
    if make is lookup:
        call, args, _ = make()
        assert type(function(call)(*args)[2]) is ag.IndexedSlices
        assert_equal(lambda: (dense(make()[0]), args, []))
        return
    assert_equal(make)


def test_python_runs_once() -> None:
    calls: list[int] = []
    double = function(lambda x: calls.append(1) or x * 2.0)
    assert [float(double(ag.constant(value))) for value in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]
    assert calls == [1]


def test_outputs_keep_their_values() -> None:
    f = function(lambda x: (ag.exp(x) + 1.0) * 2.0)
    x = ag.constant([1.0, 2.0])
    f(x)
    first = f(x)
    before = first.numpy().copy()
    f(x * 3.0)
    np.testing.assert_array_equal(first.numpy(), before)


def test_values_read_before_stay_what_they_were() -> None:
    v = ag.Variable([1.0, 2.0])
    add = function(lambda: v.assign_add([1.0, 1.0]))
    for call in range(4):
        held, view = v.value(), v.numpy()
        add()
        assert held.numpy().tolist() == view.tolist() == [1.0 + call, 2.0 + call]


def test_random_streams_go_on() -> None:
    f = function(lambda: ag.random_normal([3]))
    ag.set_random_seed(1)
    eager = [ag.random_normal([3]).numpy() for _ in range(6)]
    ag.set_random_seed(1)
    mixed = [f().numpy(), f().numpy(), ag.random_normal([3]).numpy(), f().numpy(), f().numpy(), f().numpy()]
    np.testing.assert_array_equal(eager, mixed)
    ag.set_random_seed(1)
    np.testing.assert_array_equal(f().numpy(), eager[0])


def test_variables_are_created_once() -> None:
    box: list[ag.Variable] = []

    def step(x: ag.Tensor) -> ag.Tensor:
        if not box:
            box.append(ag.Variable([2.0]))
        box[0].assign_add([1.0])
        return x * box[0]

    f = function(step)
    assert [float(f(ag.constant([1.0]))[0]) for _ in range(4)] == [3.0, 4.0, 5.0, 6.0]


def test_branches_are_traced_as_they_come() -> None:
    calls: list[int] = []

    def halve(x: ag.Tensor) -> ag.Tensor:
        calls.append(1)
        n = 0
        while ag.reduce_sum(x) > 1.0:
            x, n = x / 2.0, n + 1
        return x + float(n)

    f = function(halve)
    assert float(f(ag.constant([1.0]))[0]) == 1.0
    with pytest.warns(TracingWarning, match="a loop has another length"):
        f(ag.constant([3.0]))
    for value in (1.0, 3.0, 9.0, 3.0, 100.0, 9.0):
        expected = value / 2 ** max(0, int(np.ceil(np.log2(value)))) + max(0, int(np.ceil(np.log2(value))))
        assert float(f(ag.constant([value]))[0]) == expected
    assert len(calls) == 4


def test_kinds_of_arguments_may_change_from_call_to_call() -> None:
    f = function(lambda *xs: sum(xs[1:], xs[0] * 1.0))
    one, row, column = ag.constant(1.0), ag.constant([1.0, 2.0]), ag.constant([[1.0], [2.0]])
    turned = ag.transpose(ag.constant([[1.0, 2.0], [3.0, 4.0]]))
    calls = [(one,), (one,), (row,), (one, one), (column,), (turned,), (ag.constant([[1.0, 3.0], [2.0, 4.0]]),), (one,)]
    for xs in [*calls, *calls, (one, 2.0), (one, 3.0), (one, one)]:
        expected = sum(np.asarray(x, "float32") for x in xs)
        np.testing.assert_array_equal(f(*xs).numpy(), expected)
    assert len(f.traces()) == 8


def test_threads_may_go_different_ways() -> None:
    def step(x: ag.Tensor) -> ag.Tensor:
        if ag.reduce_sum(x) > 6.0:
            return x * 2.0 if ag.reduce_max(x) > 4.0 else x * 3.0
        return x - 1.0 if x[0] > 1.0 else x + 1.0

    f, wrong = function(step), []
    inputs = [ag.constant([a, b]) for a in (0.5, 1.5, 3.5, 9.0) for b in (0.0, 3.5)]
    expected = [step(x).numpy() for x in inputs]

    def work(first: int) -> None:
        for n in range(first, first + 60):
            place = n * (first + 1) % len(inputs)
            if not np.array_equal(f(inputs[place]).numpy(), expected[place]):
                wrong.append(place)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(f.traces()) == 4
