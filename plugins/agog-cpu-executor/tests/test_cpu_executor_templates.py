"""What repeats in a program: kernels are taken apart once for operands of the same layouts, and only for these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

import agog_core as ag
from agog_core import nn
from agog_core.plugin import Kernel, hookimpl
from agog_cpu_executor.executor import compiled
from agog_cpu_executor.lowering.graphs import lower
from agog_testing.compilers import graph_of


def array(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def run(python: Callable[..., ag.Tensor], *arrays: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    graph = graph_of(python, *map(ag.constant, arrays))
    [[result], _] = compiled(graph).instance()(arrays, [])
    return np.asarray(result)


@contextmanager
def asked(op: str, lower: Callable[..., Any]) -> Iterator[list[Any]]:
    """A kernel of an op; the block gets a list that grows each time that it is taken apart."""
    seen: list[Any] = []

    def noting(*arrays: Any, **attributes: Any) -> Any:
        seen.append((*[x.shape for x in arrays], *attributes.values()))
        return lower(*arrays, **attributes)

    kernel = Kernel(op=op, device="cpu", fn=lower, lower=noting, priority=200)
    ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: [kernel])), "stranger")
    try:
        yield seen
    finally:
        ag.unregister_plugin("stranger")


def test_equal_parts_are_taken_apart_once() -> None:
    def repeated(x: ag.Tensor, y: ag.Tensor) -> ag.Tensor:
        for _ in range(3):
            x = ag.square(x)
        return x + ag.reduce_sum(ag.square(y))

    x, y = array(3), array(2, 2, seed=1)
    with asked("square", lambda x: x * x) as seen:
        result = run(repeated, x, y)
        steps = [step.name for step in lower(graph_of(repeated, ag.constant(x), ag.constant(y))).program.steps]
    assert seen[:2] == [((3,),), ((2, 2),)]
    assert steps[:4] == ["multiply"] * 4
    squared = x * x
    np.testing.assert_array_equal(result, (squared * squared) * (squared * squared) + np.sum(y * y))


def test_other_strides_are_another_kind() -> None:
    with asked("square", lambda x: x * x) as seen:
        run(lambda x: ag.square(x) + ag.transpose(ag.square(ag.transpose(x))), array(3, 3))
    assert seen == [((3, 3),), ((3, 3),)]


def test_attributes_differ_in_sign_and_type() -> None:
    def both(x: ag.Tensor) -> ag.Tensor:
        return nn.leaky_relu(x, alpha=0.0) + nn.leaky_relu(x, alpha=-0.0) + nn.leaky_relu(x, alpha=0.0)

    with asked("leaky_relu", lambda x, alpha: x * alpha) as seen:
        run(both, array(3))
    assert [repr(alpha) for _, alpha in seen] == ["0.0", "-0.0"]


def test_one_operand_twice_is_not_two() -> None:
    x, y = array(4), array(4, seed=1)
    np.testing.assert_array_equal(run(lambda x, y: (x * x) - (x * y) - (y * y), x, y), (x * x) - (x * y) - (y * y))
    np.testing.assert_array_equal(run(lambda x, y: (x * y) - (y * x) - (x * x), x, y), (x * y) - (y * x) - (x * x))


def test_constants_keep_their_values() -> None:
    first, second = np.float32([1, 2, 3]), np.float32([4, 5, 6])
    x = array(3)
    np.testing.assert_array_equal(run(lambda x: x * first + x * second, x), x * first + x * second)


def test_views_that_were_seen_before_are_taken_again() -> None:
    def twice(x: ag.Tensor, w: ag.Tensor) -> ag.Tensor:
        for _ in range(3):
            x = ag.matmul(x, w, transpose_b=True)
        return x

    x, w = array(2, 3), array(3, 3, seed=1)
    steps = lower(graph_of(twice, ag.constant(x), ag.constant(w))).program.steps
    assert sorted(step.kind.value for step in steps) == ["dot", "dot", "dot", "view"]
    np.testing.assert_array_equal(run(twice, x, w), x.dot(w.T).dot(w.T).dot(w.T))


def test_a_kernel_that_is_lowered_to_another_layout_is_called_whole() -> None:
    x = array(40, 30)
    kernel = Kernel(
        op="square", device="cpu", fn=lambda x: np.asfortranarray(x * x), lower=lambda x: x * x, priority=200
    )
    ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: [kernel])), "stranger")
    try:
        graph = graph_of(lambda x: ag.square(x), ag.constant(x))
        [[result], _] = compiled(graph).instance()([x], [])
        (why,) = lower(graph).opaque.values()
    finally:
        ag.unregister_plugin("stranger")
    assert why == "Opaque: it gives strides (120, 4) in place of (4, 160)"
    assert result.strides == (4, 160)
    np.testing.assert_array_equal(result, x * x)
