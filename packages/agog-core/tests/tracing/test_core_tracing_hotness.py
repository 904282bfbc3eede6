"""Traces run node by node first, and are compiled when they have run for long enough; the bits stay the same."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_core.plugin import Compiler, Subgraph
from agog_core.tracing.execution import hotness
from agog_core.tracing.functions.function import function
from agog_core.tracing.graphs.graph import Graph
from agog_testing.compilers import compilers_in_use


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Subgraph]]:
    """What a compiler was asked to compile, which it declines; nothing is compiled at once."""
    monkeypatch.setattr(hotness, "_at_once", [])
    monkeypatch.setattr(hotness, "_per_node", {False: 0.001, True: 0.001})
    monkeypatch.setattr(hotness, "_LEAST", {False: 0.001, True: 0.001})
    monkeypatch.setattr(hotness, "_loaded", {False, True})
    found: list[Subgraph] = []
    compiler = Compiler(name="asked", device="cpu", compile=found.append, takes=lambda primitive, values: True)
    with compilers_in_use(compiler):
        yield found


def clock(monkeypatch: pytest.MonkeyPatch, *, seconds: float) -> None:
    """Let each run take so long."""
    ticks = itertools.count()
    monkeypatch.setattr(hotness, "perf_counter", lambda: next(ticks) * seconds)


def chain(x: ag.Tensor) -> Any:
    return ag.tanh(x * 2.0 + 1.0) * ag.exp(x) - x


def test_a_trace_is_compiled_when_it_has_run_for_three_times_as_long(
    monkeypatch: pytest.MonkeyPatch, asked: list[Subgraph]
) -> None:
    f, x = function(chain), ag.ones([4])
    f(x)
    count = len(f.graph().nodes)
    clock(monkeypatch, seconds=0.001)
    for _ in range(3 * count):
        f(x)
        assert not asked
    f(x)
    f(x)
    assert asked


def test_a_function_is_written_for_a_trace_that_runs_often(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Graph] = []

    def portable(graph: Graph) -> Any:
        written.append(graph)
        return made(graph)

    made = hotness.portable
    monkeypatch.setattr(hotness, "portable", portable)
    f, x = function(lambda x: chain(x) if x[0] > 0.0 else ag.cumsum(x)), ag.constant([0.5, -1.0, 2.0])
    eager, other = chain(x).numpy(), ag.cumsum(-x).numpy()
    f(x)
    for run in range(1, 40):
        np.testing.assert_array_equal(f(x).numpy(), eager)
        assert len(written) == (run >= 16)
    np.testing.assert_array_equal(f(-x).numpy(), other)


def test_what_was_compiled_tells_how_long_it_takes(monkeypatch: pytest.MonkeyPatch, asked: list[Subgraph]) -> None:
    one, other, x = function(chain), function(chain), ag.ones([4])
    one(x)
    other(x)
    clock(monkeypatch, seconds=1.0)
    one(x)
    one(x)  # is compiled, which takes a second
    assert asked
    del asked[:]
    clock(monkeypatch, seconds=0.001)
    per_node = (0.001 + 0.02) / 2  # more is not believed
    calls = 0
    while not asked:
        other(x)
        calls += 1
    assert calls == pytest.approx(3 * per_node * len(other.graph().nodes) / 0.001, abs=2)


def test_compilers_are_loaded_when_all_traces_have_run_for_long_enough(
    monkeypatch: pytest.MonkeyPatch, asked: list[Subgraph]
) -> None:
    monkeypatch.setattr(hotness, "_loaded", set())
    monkeypatch.setattr(hotness, "_spent", [0.0])
    one, other, x = function(chain), function(chain), ag.ones([4])
    one(x)
    other(x)
    clock(monkeypatch, seconds=0.05)
    for _ in range(4):
        one(x)
        other(x)
        assert not asked
    for _ in range(3):
        other(x)
    assert asked
    del asked[:]
    third = function(chain)
    while not asked:
        third(x)


def test_at_once(asked: list[Subgraph]) -> None:
    f, x = function(chain), ag.ones([4])
    f(x)
    assert not asked
    hotness.compile_functions_at_once(True)
    try:
        assert hotness.functions_compile_at_once()
        f(x)
        assert asked
    finally:
        hotness.compile_functions_at_once(False)
    assert not hotness.functions_compile_at_once()


def test_a_cold_trace_can_be_explained(asked: list[Subgraph]) -> None:
    f = function(chain)
    f(ag.ones([4]))
    assert "steps of NumPy" in f.graph().summary()
    assert "compiler 'asked'" in f.graph().explain()
    assert asked


def training() -> Callable[..., Any]:
    """A step with variables, random numbers, several results of one op, a branch, and a function of Python."""
    v, count = ag.Variable(np.linspace(-1, 1, 6, dtype="float32").reshape(2, 3)), ag.Variable(0)

    def step(x: ag.Tensor) -> Any:
        with ag.GradientTape() as tape:
            left, right = ag.split(x @ v, [1, 2], axis=1)
            noise = ag.random_uniform([2, 1])
            loss = ag.reduce_sum(ag.tanh(left + noise) * ag.reduce_max(right, axis=1, keepdims=True))
            if loss > 0.0:
                loss = loss * 2.0
        gradient = tape.gradient(loss, v)
        asked = ag.py_func(lambda host: host + 1, [loss], ag.float32)
        v.assign_sub(gradient * 0.1)
        count.assign_add(1)
        return loss, gradient, asked, v.value(), count.value()

    return step


def results(step: Callable[..., Any]) -> list[np.ndarray[Any, Any]]:
    ag.set_random_seed(1)
    xs = np.random.default_rng(0).normal(size=(12, 2, 2)).astype("float32")
    return [tensor.numpy() for x in xs for tensor in step(ag.constant(x))]


@pytest.mark.parametrize("hot_after", [0.0, 0.01, 1e9])
def test_results_are_eager_ones_before_and_after(monkeypatch: pytest.MonkeyPatch, hot_after: float) -> None:
    monkeypatch.setattr(hotness, "_TIMES", hot_after)
    clock(monkeypatch, seconds=0.0001)
    for eager, traced in zip(results(training()), results(function(training())), strict=True):
        np.testing.assert_array_equal(eager, traced)


def test_an_error_names_the_op_and_the_line() -> None:
    v = ag.Variable(1.0)

    def step(x: ag.Tensor, at: ag.Tensor) -> Any:
        v.assign_add(1.0)
        return ag.gather(x, at) * v

    f, x = function(step), ag.ones([3])
    assert float(f(x, ag.constant(2))) == 2.0
    assert float(f(x, ag.constant(1))) == 3.0
    with pytest.raises(InvalidArgumentError) as caught:
        f(x, ag.constant(7))
    assert any("in a traced function" in note and __file__ in note for note in caught.value.__notes__)
    assert float(v) == 4.0  # as an eager call leaves it


def test_values_end_where_nobody_wants_them() -> None:
    """Of a chain of 40 arrays a cold run holds two or three at a time, as eager calls do."""
    import tracemalloc

    def long(x: ag.Tensor) -> Any:
        for _ in range(40):
            x = ag.tanh(x)
        return x

    f, x = function(long), ag.ones([100_000])
    f(x)
    f(x)
    tracemalloc.start()
    try:
        f(x)
        assert tracemalloc.get_traced_memory()[1] < 3.5 * 400_000
    finally:
        tracemalloc.stop()
