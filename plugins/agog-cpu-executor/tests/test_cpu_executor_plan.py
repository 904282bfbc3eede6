"""What programs do with memory: what they may not write, what they give back, and how much they take."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_core.ops.conv.pools import max_pool
from agog_core.tracing.functions.function import function
from agog_core.tracing.graphs.graph import Effect
from agog_core.tracing.traces.segments import Segments
from agog_cpu_executor.emission.code import Code
from agog_cpu_executor.executor import compiled, prepare
from agog_cpu_executor.lowering.graphs import lower
from agog_cpu_executor.planning.order import with_early_updates
from agog_testing.compilers import graph_of


def code_of(python: Callable[..., Any], *args: ag.Tensor) -> Code:
    return compiled(graph_of(python, *args))


def made_by(code: Code) -> list[Any]:
    """The arrays in the memory of an instance of a function."""
    memory, names = np.empty(code.size, np.uint8), dict(code._names)
    return [made for make in code._static.values() if isinstance(made := make(memory, names), np.ndarray)]


def normal(*shape: int, seed: int = 0) -> ag.Tensor:
    return ag.constant(np.random.default_rng(seed).normal(size=shape).astype("float32"))


def test_chains_take_two_places() -> None:
    """A value of 4,000 bytes ends where the next one begins, which takes its place; the last one is new."""
    code = code_of(lambda x: ag.tanh(ag.tanh(ag.tanh(x + 1.0) + 2.0)), normal(1000))
    assert code.size == 4032


def test_places_do_not_touch() -> None:
    """A value of 4,096 bytes lives on while the next one is made behind it, with a gap between them."""

    def chain(x: ag.Tensor) -> Any:
        y = x + 1.0
        return y * ag.exp(y)

    code = code_of(chain, normal(1024))
    y, exp = [array for array in made_by(code) if array.nbytes == 4096]
    assert abs(y.ctypes.data - exp.ctypes.data) > 4096


def test_the_peak_is_at_most_that_of_eager_calls() -> None:
    def step(x: ag.Tensor) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = 0.5 * x * (1.0 + ag.tanh(0.8 * (x + 0.04 * x * x * x)))
            loss = ag.reduce_sum(y * y)
        return tape.gradient(loss, x)

    x = normal(300, 300)
    code = compiled(graph_of(step, x))
    tracemalloc.start()
    step(x)
    eager = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert code.size + x.numpy().nbytes <= eager  # what stays, and the result


def test_results_lie_in_memory_of_their_own() -> None:
    """What a call gives stays as it is, whatever later calls do, and whoever writes what they were given."""
    v = ag.Variable([1.0, 2.0])

    def several(x: ag.Tensor) -> Any:
        y = x * 2.0
        return y, ag.reshape(y, [2, 1]), v.value(), ag.transpose(ag.reshape(x, [1, 2])), ag.reduce_sum(y), x

    graph = graph_of(several, ag.constant([1.0, 2.0]))
    run = prepare(graph, []).run
    given, held = np.float32([3, 4]), np.float32([5, 6])
    first, _ = run([given], [held])
    kept = [array.copy() for array in first]
    run([np.float32([30, 40])], [np.float32([50, 60])])
    given[...] = held[...] = -1
    for array, before in zip(first, kept, strict=True):
        np.testing.assert_array_equal(array, before)
        assert not np.shares_memory(array, given)
        assert not np.shares_memory(array, held)


def test_variables_are_written_in_place_but_not_under_who_holds_the_old_value() -> None:
    v = ag.Variable([1.0, 2.0])

    def advance(x: ag.Tensor) -> Any:
        old, view = v.value(), v.value()[::-1]
        v.assign_add(x)
        middle = v.value() * 1.0
        v.assign(ag.tanh(v.value()) + view)
        return old, view, middle

    eager, traced = v.numpy().copy(), function(advance)
    for _ in range(3):
        got = traced(ag.constant([0.5, 0.25]))
        middle = eager + np.float32([0.5, 0.25])
        expected = eager, eager[::-1], middle
        eager = np.tanh(middle) + eager[::-1]
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_array_equal(one.numpy(), other)
        np.testing.assert_array_equal(v.numpy(), eager)


def test_an_update_writes_the_memory_of_its_variable() -> None:
    v = ag.Variable(normal(50))
    graph = graph_of(lambda x: v.assign_sub(0.1 * ag.tanh(x)).value()[0], normal(50))
    memory = np.zeros(50, "float32")
    _, (final,) = prepare(graph, []).run([np.ones(50, "float32")], [memory])
    assert final is memory
    np.testing.assert_array_equal(final, np.full(50, -np.float32(0.1) * np.tanh(np.float32(1))))


def test_variables_that_change_places() -> None:
    v, w = ag.Variable([1.0, 2.0]), ag.Variable([3.0, 4.0])

    @function
    def exchange() -> None:
        held = v.value()
        v.assign(w)
        w.assign(held)

    for _ in range(3):
        exchange()
    np.testing.assert_array_equal([v.numpy(), w.numpy()], [[3, 4], [1, 2]])


def test_one_value_for_two_variables() -> None:
    v, w = ag.Variable([1.0, 2.0]), ag.Variable([3.0, 4.0])

    @function
    def both(x: ag.Tensor) -> ag.Tensor:
        y = x + 1.0
        v.assign(y)
        w.assign(y)
        return y

    for _ in range(3):
        y = both(ag.constant([1.0, 1.0]))
    v.assign_add([1.0, 1.0])
    np.testing.assert_array_equal([y.numpy(), v.numpy(), w.numpy()], [[2, 2], [3, 3], [2, 2]])


def test_nothing_is_written_before_a_guard() -> None:
    v = ag.Variable([1.0, 1.0])

    def step(x: ag.Tensor) -> ag.Tensor:
        y = v.value() + x
        if ag.reduce_sum(x) > 0.0:
            v.assign(y)
        return y

    run = prepare(graph_of(step, ag.constant([1.0, 2.0])), []).run
    memory = np.float32([1, 1])
    assert run([np.float32([-1, -2])], [memory]) == 0
    np.testing.assert_array_equal(memory, [1, 1])


@pytest.mark.parametrize("order", ["C", "F"])
def test_sums_are_rounded_as_the_strides_of_eager_values_say(order: str) -> None:
    def sums(x: ag.Tensor) -> Any:
        y = ag.transpose(x) * 1.1
        return ag.reduce_sum(y, 0), ag.reduce_sum(y, 1), ag.reduce_sum(y)

    x = normal(60, 700)
    if order == "F":
        x = ag.transpose(normal(700, 60))
    traced = function(sums)
    traced(x)
    for got, want in zip(traced(x), sums(x), strict=True):
        np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_many_threads_at_once() -> None:
    def step(x: ag.Tensor) -> ag.Tensor:
        for _ in range(20):
            x = ag.tanh(x * 1.5) + 0.1
        return x

    traced, inputs = function(step), [normal(40, 50, seed=seed) for seed in range(16)]
    expected = [step(x).numpy() for x in inputs]
    traced(inputs[0])
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(20):
            if not np.array_equal(traced(inputs[number]).numpy(), expected[number]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_call_within_a_call() -> None:
    """A signal's handler may call the function that it interrupts; here a host function does."""
    x = normal(300)
    results: list[Any] = []
    outer = prepare(graph_of(lambda x: ag.tanh(ag.exp(x) * 0.5) * 2.0, x), []).run
    memory = np.float32(np.linspace(-1, 1, 300))

    class Calling(list[Any]):
        def __iter__(self) -> Any:
            results.append(outer([memory], []))
            return super().__iter__()

    (direct,), _ = outer(Calling([x._array]), [])
    np.testing.assert_array_equal(direct, np.tanh(np.exp(x.numpy()) * np.float32(0.5)) * np.float32(2))


def test_what_a_python_function_keeps_stays_as_it_was() -> None:
    v = ag.Variable([1.0, 2.0])
    kept: list[Any] = []

    def step(x: ag.Tensor) -> Any:
        zero = ag.py_func(lambda *arrays: np.float32(0), [x * 2.0, v.value()], ag.float32)
        v.assign_add(ag.exp(x * 3.0))
        return ag.tanh(x * 3.0) + zero

    def keep(*arrays: Any) -> Any:
        kept.append(arrays)
        return (np.float32(0),)

    graph = graph_of(step, ag.constant([0.0, 0.0]))
    (node,) = [node for node in graph.nodes if node.effect is Effect.PYTHON]
    node.attributes = {**node.attributes, "function": keep}
    run = Segments(graph)
    v.assign([1.0, 2.0])
    for n in range(3):
        run([np.float32([n, n + 0.5])], [])
    assert not np.array_equal(v, [1.0, 2.0])
    np.testing.assert_array_equal([pair[0] for pair in kept], [[0, 1], [2, 3], [4, 5]])
    np.testing.assert_array_equal(kept[0][1], [1, 2])


def test_gradients_end_with_the_updates_that_take_them() -> None:
    """Variables are written as soon as their changes are known, so that one place is enough for all changes."""
    variables = [ag.Variable(normal(1000, seed=n)) for n in range(4)]

    def step(x: ag.Tensor) -> None:
        changes = [ag.tanh(x + float(n)) for n in range(4)]
        for variable, change in zip(variables, changes, strict=True):
            variable.assign_sub(change)

    graph = graph_of(step, normal(1000))
    assert compiled(graph).size == 4032
    memory = [np.zeros(1000, "float32") for _ in range(4)]
    x = normal(1000).numpy()
    prepare(graph, []).run([x], memory)
    for n, each in enumerate(memory):
        np.testing.assert_array_equal(each, -np.tanh(x + np.float32(n)))


def test_no_variable_is_written_before_what_may_fail() -> None:
    v, w = ag.Variable([1.0, 2.0]), ag.Variable([3.0, 4.0])

    def step(x: ag.Tensor, row: ag.Tensor) -> None:
        v.assign_sub(x)
        w.assign_add(ag.gather(w.value(), row))

    run = prepare(graph_of(step, ag.constant([1.0, 1.0]), ag.constant([1, 0])), []).run
    memory = [np.float32([1, 2]), np.float32([3, 4])]
    with pytest.raises(InvalidArgumentError, match="is not in"):
        run([np.float32([1, 1]), np.int32([7, 7])], memory)
    np.testing.assert_array_equal(memory, [[1, 2], [3, 4]])
    run([np.float32([1, 1]), np.int32([1, 0])], memory)
    np.testing.assert_array_equal(memory, [[0, 1], [7, 7]])


def test_an_old_value_is_read_before_the_new_one_is_written() -> None:
    v, w = ag.Variable([1.0, 2.0]), ag.Variable([3.0, 4.0])

    def step(x: ag.Tensor) -> ag.Tensor:
        before = v.value()
        v.assign_sub(x)
        w.assign_add(ag.tanh(before) * ag.exp(x))
        return ag.reduce_sum(before * w.value())

    run = prepare(graph_of(step, ag.constant([1.0, 1.0])), []).run
    memory, x = [np.float32([1, 2]), np.float32([3, 4])], np.float32([0.5, 0.25])
    (result,), finals = run([x], memory)
    new = np.float32([3, 4]) + np.tanh(np.float32([1, 2])) * np.exp(x)
    np.testing.assert_array_equal(finals, [np.float32([0.5, 1.75]), new])
    np.testing.assert_array_equal(result, np.sum(np.float32([1, 2]) * new))


def test_the_order_of_a_training_step() -> None:
    """Every step is there once and behind what it takes; a variable is written behind the last reader of its value."""
    weights, total = [ag.Variable(normal(6, 6, seed=n)) for n in range(3)], ag.Variable(ag.zeros([6, 4]))

    def train(x: ag.Tensor) -> Any:
        with ag.GradientTape() as tape:
            h = x
            for w in weights:
                h = ag.tanh(h @ w)
            loss = ag.reduce_mean(h * h)
        decay = [0.01 * w.value() for w in weights]
        for w, g, more in zip(weights, tape.gradient(loss, weights), decay, strict=True):
            w.assign_sub(0.1 * g + more)
        columns = ag.transpose(h)
        total.assign_add(columns)
        return loss, columns, ag.add_n([ag.reduce_sum(w * w) for w in weights])

    lowered = lower(graph_of(train, normal(4, 6)))
    order = with_early_updates(lowered, lowered.program.steps)
    assert sorted(map(id, order)) == sorted(map(id, lowered.program.steps))
    place = {value: n for n, step in enumerate(order) for value in step.outputs}
    assert all(place.get(value, -1) < n for n, step in enumerate(order) for value in step.inputs)
    for n, new in lowered.finals:
        old = lowered.variables[n]
        assert all(i <= place[new] for i, step in enumerate(order) if old in {x.root for x in step.inputs})


def test_what_is_written_part_by_part_is_given_back_once() -> None:
    """A pool of a large batch writes its result block by block, into one array that each block changes."""
    pooled, x = function(lambda x: max_pool(x, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")), normal(64, 32, 32, 16)
    expected = x.numpy().reshape(64, 16, 2, 16, 2, 16).max((2, 4))
    np.testing.assert_array_equal(pooled(x), expected)
    graph = pooled.graph()
    run = prepare(graph, []).run
    assert run is not None
    outputs, _ = run([x._array], [])
    np.testing.assert_array_equal(outputs[0], expected)
