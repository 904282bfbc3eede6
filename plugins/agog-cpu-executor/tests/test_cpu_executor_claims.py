"""Claims: nodes of a traced function that a compiler runs as a whole, and claims that are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import nn
from agog_core.compiler import Claim, Compiler
from agog_core.plugin import PluginWarning
from agog_core.tracing.functions.function import function
from agog_core.tracing.graphs.graph import Graph, Node, Value
from agog_testing.compilers import compilers_in_use


def compiler(claims: Callable[[Graph], Any], name: str = "claimer", **more: Any) -> Compiler:
    refuses = {"takes": lambda primitive, values: False, "compile": lambda subgraph: None}
    return Compiler(name=name, device="cpu", claims=claims, **refuses, **more)


def named(graph: Graph, *names: str) -> list[Node]:
    return [node for node in graph.nodes if node.op is not None and node.op.name in names]


class Claimer:
    """Claims the nodes of some ops, and computes a matrix product, a sum and a hyperbolic tangent, counting calls."""

    def __init__(self, *names: str) -> None:
        self.names, self.calls = names, 0
        self.ends: list[tuple[Sequence[Value], Sequence[Value]]] = []

    def __call__(self, graph: Graph) -> Iterator[Claim]:
        yield Claim(named(graph, *self.names), self.compile)

    def compile(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> Callable[..., None]:
        self.ends.append((inputs, outputs))

        def run(x: Any, w: Any, b: Any, out: Any) -> None:
            self.calls += 1
            np.tanh(np.add(np.dot(x, w), b), out=out)

        return run


def dense(x: ag.Tensor, w: ag.Tensor, b: ag.Tensor) -> ag.Tensor:
    return ag.tanh(ag.matmul(x, w) + b) * 2.0


def operands() -> list[ag.Tensor]:
    random = np.random.default_rng(0)
    return [ag.constant(random.normal(size=shape).astype("float32")) for shape in ((4, 3), (3, 5), (5,))]


def traced_twice(python: Callable[..., Any], *args: ag.Tensor) -> Any:
    traced = function(python)
    traced(*args)
    return traced(*args)


def test_nodes_are_run_as_a_whole() -> None:
    claimer, args = Claimer("matmul", "add", "tanh"), operands()
    with compilers_in_use(compiler(claimer)):
        traced = function(dense)
        for _ in range(3):
            np.testing.assert_array_equal(traced(*args).numpy(), dense(*args).numpy())
        summary = traced.graph().summary()
    assert claimer.calls == 2
    ((inputs, outputs), *_) = claimer.ends
    assert [value.shape for value in (*inputs, *outputs)] == [(4, 3), (3, 5), (5,), (4, 5)]
    assert "3 more in 1 group fused by claimer" in summary


def test_claimed_nodes_are_explained_and_profiled() -> None:
    claimer, args = Claimer("matmul", "add", "tanh"), operands()
    with compilers_in_use(compiler(claimer)):
        traced = function(dense)
        traced(*args)
        explanation = traced.graph().explain()
        with ag.profile() as seen:
            traced(*args)
    line = f"{__file__}:{dense.__code__.co_firstlineno + 1}"
    assert explanation.count("group 1 of compiler 'claimer'") == 3
    (row,) = [row for row in seen.ops if row.plugin == "claimer"]
    assert (row.op, row.kernel, row.lines) == ("matmul+add+tanh", "3 ops in one function", (line,))


def test_an_error_of_claimed_nodes_names_them_and_their_line() -> None:
    def fails(*arrays: Any) -> None:
        raise ArithmeticError("out of range")

    args = operands()
    claims = compiler(lambda graph: [Claim(named(graph, "matmul", "add", "tanh"), lambda *ends: fails)])
    with compilers_in_use(claims):
        traced = function(dense)
        traced(*args)
        with pytest.raises(ArithmeticError, match="out of range") as caught:
            traced(*args)
    line = f"{__file__}:{dense.__code__.co_firstlineno + 1}"
    expected = ["in a group of matmul, add, tanh, compiled by 'claimer'", f"at {line}, in a traced function"]
    assert caught.value.__notes__ == expected


def test_what_stands_between_is_moved_in_front_or_behind() -> None:
    def python(x: ag.Tensor, w: ag.Tensor, b: ag.Tensor) -> tuple[ag.Tensor, ag.Tensor]:
        product = ag.matmul(x, w)
        behind = ag.exp(b)  # nobody there needs it
        front = ag.negative(b)
        y = ag.tanh(product + front)
        return y * behind, behind

    claimer, args = Claimer("matmul", "add", "tanh"), operands()
    with compilers_in_use(compiler(claimer)):
        results = traced_twice(python, *args)
    for got, want in zip(results, python(*args), strict=True):
        np.testing.assert_array_equal(got.numpy(), want.numpy())
    assert claimer.calls == 1


def test_gradients_go_through_claims() -> None:
    def step(x: ag.Tensor, w: ag.Tensor, b: ag.Tensor) -> list[ag.Tensor]:
        with ag.GradientTape() as tape:
            tape.watch(x)
            loss = ag.reduce_sum(dense(x, w, b))
        return [loss, tape.gradient(loss, x)]

    def claims(graph: Graph) -> list[Claim]:
        return [Claim(named(graph, "add", "tanh")[:2], build)]

    def build(inputs: Sequence[Value], outputs: Sequence[Value]) -> Callable[..., None]:
        assert [value.shape for value in outputs] == [(4, 5)]  # its gradient wants it too

        def run(x: Any, b: Any, out: Any) -> None:
            np.tanh(x + b, out=out)

        return run

    args = operands()
    with compilers_in_use(compiler(claims)):
        results = traced_twice(step, *args)
    for got, want in zip(results, step(*args), strict=True):
        np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_who_comes_first_gets_them() -> None:
    first, second, args = Claimer("matmul", "add", "tanh"), Claimer("add", "tanh"), operands()
    with compilers_in_use(compiler(first, "first", priority=2), compiler(second, "second", priority=1)):
        np.testing.assert_array_equal(traced_twice(dense, *args).numpy(), dense(*args).numpy())
    assert (first.calls, len(second.ends)) == (1, 0)


def test_one_that_declines_leaves_them_to_others() -> None:
    args = operands()
    with compilers_in_use(compiler(lambda graph: [Claim(named(graph, "tanh"), lambda inputs, outputs: None)])):
        np.testing.assert_array_equal(traced_twice(dense, *args).numpy(), dense(*args).numpy())


@contextmanager
def left_out(text: str) -> Iterator[None]:
    with pytest.warns(PluginWarning) as caught:
        yield
    (message,) = {str(each.message) for each in caught}
    assert message == text


def never(inputs: Sequence[Value], outputs: Sequence[Value]) -> Callable[..., None]:
    raise AssertionError("it is not compiled")


WITHOUT = "of a traced function, which run without it:"


def test_a_circle_is_no_claim() -> None:
    def python(x: ag.Tensor) -> ag.Tensor:
        y = ag.exp(x)
        z = ag.negative(y)
        return ag.tanh(z) + y

    x = ag.constant([0.5, 1.5])
    claims = compiler(lambda graph: [Claim(named(graph, "exp", "tanh"), never)])
    line = f"{__file__}:{python.__code__.co_firstlineno + 2}"
    text = f"negative ({line}) stands between them, which takes what one gives and gives what one takes"
    with compilers_in_use(claims), left_out(f"The compiler 'claimer' claims exp, tanh {WITHOUT} {text}"):
        result = traced_twice(python, x)
    np.testing.assert_array_equal(result.numpy(), python(x).numpy())


def test_nothing_is_moved_across_a_branch() -> None:
    def python(x: ag.Tensor) -> ag.Tensor:
        y = ag.exp(x)
        if ag.reduce_sum(y) > 0.0:
            return ag.tanh(y)
        return y

    x = ag.constant([0.5, 1.5])
    claims = compiler(lambda graph: [Claim(named(graph, "exp", "tanh"), never)])
    line = f"{__file__}:{python.__code__.co_firstlineno + 2}"
    text = f"a node of effect 'guard' ({line}) stands between them"
    with compilers_in_use(claims), left_out(f"The compiler 'claimer' claims exp, tanh {WITHOUT} {text}"):
        result = traced_twice(python, x)
    np.testing.assert_array_equal(result.numpy(), python(x).numpy())


def test_nodes_that_may_not_be_claimed() -> None:
    v = ag.Variable([1.0, 2.0])

    def random(x: ag.Tensor) -> ag.Tensor:
        return nn.dropout(x, 0.5)

    def assigned(x: ag.Tensor) -> ag.Tensor:
        v.assign(x)
        return x

    x = ag.constant([0.5, 1.5])
    for python, effect in ((random, "random"), (assigned, "assign")):
        line = f"{__file__}:{python.__code__.co_firstlineno + 1}"
        claims = compiler(lambda graph, effect=effect: [Claim(_of_effect(graph, effect), never)])
        with compilers_in_use(claims), pytest.warns(PluginWarning) as caught:
            traced_twice(python, x)
        text = str(caught[0].message)
        assert text.endswith(f"{WITHOUT} a node of effect '{effect}' ({line}) is not only computed"), text


def _of_effect(graph: Graph, effect: str) -> list[Node]:
    return [node for node in graph.nodes if node.effect.value == effect]


def test_compilers_that_fail() -> None:
    def fails(*args: Any) -> Any:
        raise ValueError("out of registers")

    args = operands()
    for claims, text in (
        (fails, "The compiler 'claimer' failed to claim parts of a traced function: ValueError: out of registers"),
        (
            lambda graph: [Claim(named(graph, "tanh"), fails)],
            f"The compiler 'claimer' claims tanh {WITHOUT} ValueError: out of registers",
        ),
        (
            lambda graph: [Claim([], fails)],
            f"The compiler 'claimer' claims Claim(nodes=[], compile={fails!r}) {WITHOUT} "
            "a claim has nodes of the graph that it was asked about",
        ),
    ):
        with compilers_in_use(compiler(claims)), left_out(text):
            np.testing.assert_array_equal(traced_twice(dense, *args).numpy(), dense(*args).numpy())
