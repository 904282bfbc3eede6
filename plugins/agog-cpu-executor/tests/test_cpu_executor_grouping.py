"""What becomes a group that compilers take, and what is computed where it is to lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.compiler import ArraySpec, Compiler, Primitive, Subgraph
from agog_cpu_executor.executor import compiled, prepare
from agog_testing.compilers import graph_of, interpreter

INTERPRETER = Compiler(name="interpreter", device="cpu", compile=interpreter.compile, takes=interpreter.takes)


def normal(*shape: int, seed: int = 0) -> ag.Tensor:
    return ag.constant(np.random.default_rng(seed).normal(size=shape).astype("float32"))


def check(python: Callable[..., Any], *args: ag.Tensor, compilers: list[Compiler]) -> str:
    """Compare a compiled call with an eager one; what runs it."""
    graph = graph_of(python, *args)
    (result,), _ = prepare(graph, compilers).run([x._array for x in args], [])
    np.testing.assert_array_equal(result, python(*args).numpy())
    return compiled(graph, compilers).summary


def test_a_group_of_many_arrays_becomes_several() -> None:
    seen: list[Subgraph] = []

    def build(subgraph: Subgraph) -> Any:
        seen.append(subgraph)
        return interpreter.compile(subgraph)

    compiler = Compiler(name="interpreter", device="cpu", compile=build, takes=interpreter.takes)
    inputs = [normal(5, seed=n) for n in range(70)]

    def step(*xs: ag.Tensor) -> ag.Tensor:
        total = xs[0] * 1.0
        for x in xs[1:]:
            total = total + x
        return total

    check(step, *inputs, compilers=[compiler])
    counts = [len(each.inputs) + len(each.outputs) for each in seen]
    assert len(counts) > 2
    assert max(counts) <= 24


def test_a_compiler_may_take_one_layout_only() -> None:
    taken: list[Subgraph] = []

    def takes(primitive: Primitive, values: list[ArraySpec]) -> bool:
        return all(each.strides == (12, 4) for each in values) and bool(interpreter.takes(primitive, values))

    def build(subgraph: Subgraph) -> Any:
        taken.append(subgraph)
        return interpreter.compile(subgraph)

    compiler = Compiler(name="rows", device="cpu", compile=build, takes=takes)

    def step(x: ag.Tensor) -> ag.Tensor:
        columns = ag.transpose(x)
        return ag.matmul(ag.tanh(ag.exp(x)), ag.tanh(ag.exp(columns)))

    check(step, normal(3, 3), compilers=[compiler])
    assert {each.strides for subgraph in taken for each in subgraph.values} == {(12, 4)}


@pytest.mark.parametrize("compilers", [[], [INTERPRETER]], ids=["alone", "compiled"])
def test_parts_are_computed_where_they_are_joined(compilers: list[Compiler]) -> None:
    def join(x: ag.Tensor, y: ag.Tensor) -> ag.Tensor:
        whole = ag.concat([x * 2.0 + 1.0, y * y, x - y], 1)
        return ag.reduce_sum(ag.tanh(whole) @ ag.transpose(whole))

    args = normal(4, 3), normal(4, 3, seed=1)
    check(join, *args, compilers=compilers)
    assert "concatenate" not in [getattr(each, "__name__", "") for each in _named(join, *args, compilers=compilers)]


@pytest.mark.parametrize(
    "join",
    [
        lambda x, y: ag.concat([x * 2.0, y], 0),  # which is the result
        lambda x, y: ag.reduce_sum(ag.concat([z := x * 2.0, z], 0)),
        lambda x, y: ag.reduce_sum(ag.concat([z := x * 2.0, y + 1.0], 0)) + ag.reduce_sum(z),
        lambda x, y: ag.reduce_sum(ag.tanh(ag.concat([ag.exp(x), y * 2.0], -1))),
        lambda x, y: ag.reduce_sum(ag.concat([ag.transpose(x + y), ag.transpose(x - y)], 0), 1),
    ],
)
@pytest.mark.parametrize("compilers", [[], [INTERPRETER]], ids=["alone", "compiled"])
def test_parts_that_others_see_stay_apart(join: Any, compilers: list[Compiler]) -> None:
    check(join, normal(4, 3), normal(4, 3, seed=1), compilers=compilers)


def _named(python: Callable[..., Any], *args: ag.Tensor, compilers: list[Compiler]) -> list[Any]:
    return list(compiled(graph_of(python, *args), compilers)._names.values())


def test_what_may_fail_behind_a_guard_stays_behind_it() -> None:
    """A guard says that a row is there; fused with what it asks for, the lookup would come before it."""

    def step(x: ag.Tensor, row: ag.Tensor, table: ag.Tensor) -> ag.Tensor:
        scaled = x * 2.0 + 1.0
        if ag.reduce_max(scaled) < 3.0:
            return scaled * ag.gather(table, row) + x
        return scaled

    args = ag.constant([0.5, 0.25]), ag.constant([1, 0]), ag.constant([1.0, 2.0])
    run = prepare(graph_of(step, *args), [INTERPRETER]).run
    assert run([np.float32([5, 5]), np.int32([7, 7]), np.float32([1, 2])], []) == 0


@pytest.mark.parametrize(("size", "groups"), [(64, 1), (16, 0)])
def test_a_large_copy_that_reorders_is_a_group_of_its_own(size: int, groups: int) -> None:
    def turned(x: ag.Tensor) -> ag.Tensor:
        return ag.reduce_sum(ag.reshape(ag.transpose(x, [1, 0, 2]), [-1, 32]) @ ag.transpose(x[0]))

    x = normal(size, 32, 32)
    assert (" in 1 group " in check(turned, x, compilers=[INTERPRETER])) is bool(groups)


@pytest.mark.parametrize(
    "step",
    [
        lambda x: ag.reduce_sum(ag.tanh(x * 2.0) + x, 0),
        lambda x: ag.reduce_sum((y := x * 2.0 + x) - ag.reduce_sum(y, 1, keepdims=True), 0),
        lambda x: (y := x * 2.0 + x) - ag.reduce_sum(y, 0),
        lambda x: (y := x * 2.0 + x) - ag.reduce_sum(y, 0, keepdims=True) * 2.0,
        lambda x: (y := x * 2.0 + x) - ag.reduce_sum(y, 0) + ag.reduce_sum(ag.abs(y), 1),
        lambda x: ag.reduce_sum((y := ag.exp(x) + 1.0) * ag.reduce_max(y - x, 0), 0),
    ],
)
def test_nothing_in_a_group_needs_its_reductions_of_rows(step: Callable[..., Any]) -> None:
    found: list[bool] = []

    def build(subgraph: Subgraph) -> Any:
        given = {p.output for p in subgraph.primitives if p.options.get("axis") == (0,)}
        assert given <= set(subgraph.outputs)
        assert not any(value in given for p in subgraph.primitives for value in p.inputs)
        found.append(bool(given) and len(subgraph.primitives) > 1)
        return interpreter.compile(subgraph)

    compiler = Compiler(name="interpreter", device="cpu", compile=build, takes=interpreter.takes)
    check(step, normal(6, 6), compilers=[compiler])
    assert any(found)
