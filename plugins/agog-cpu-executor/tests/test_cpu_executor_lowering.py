"""How kernels are taken apart: what becomes steps of NumPy, what stays a call, and what errors say."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import nn
from agog_core.errors import InvalidArgumentError
from agog_core.plugin import Kernel, hookimpl
from agog_core.tracers import late, operand
from agog_core.tracing.functions.function import function
from agog_core.tracing.graphs.graph import Graph
from agog_cpu_executor.executor import compiled
from agog_cpu_executor.lowering.graphs import lower
from agog_cpu_executor.program.program import Program, constant
from agog_testing.compilers import graph_of


def kinds(graph: Graph) -> list[str]:
    return [f"{step.kind.value} {step.name}".strip() for step in lower(graph).program.steps]


def vector(*values: float) -> ag.Tensor:
    return ag.constant(np.float32(values))


def test_a_composed_kernel_becomes_its_steps() -> None:
    assert kinds(graph_of(ag.sigmoid, vector(1, 2))) == ["ufunc negative", "ufunc exp", "ufunc add", "ufunc divide"]


def test_bits_are_seen_as_integers() -> None:
    def gradient(x: ag.Tensor) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = nn.relu(x)
        return tape.gradient(y, x)

    steps = kinds(graph_of(gradient, vector(1, 2)))
    assert "ufunc greater" in steps
    assert steps[-2:] == ["ufunc multiply", "view view"]


def test_a_kernel_that_looks_at_values_stays_a_call() -> None:
    graph = graph_of(lambda x: nn.softmax(x), ag.constant(np.ones((2, 3), "float32")))
    assert kinds(graph) == ["kernel softmax"]
    assert [(node.op.name, why) for node, why in lower(graph).opaque.items()] == [
        ("softmax", "Opaque: it looks at values")
    ]


def test_large_softmax_looks_at_none() -> None:
    graph = graph_of(lambda x: nn.softmax(x), ag.constant(np.ones((200, 300), "float32")))
    assert kinds(graph) == ["reduce maximum", "ufunc subtract", "ufunc exp", "dot", "view reshape", "ufunc divide"]


def test_scalars_are_computed_by_operators() -> None:
    source = compiled(graph_of(lambda x, y: ag.abs(x * y - 1.0), ag.constant(2.0), ag.constant(3.0))).source
    assert source.splitlines()[5:-4] == [
        "        s3 = s1 * s2",
        "        s5 = s3 - c4",
        "        s6 = abs(s5)",
    ]


def test_a_strangers_kernel_says_how_it_is_taken_apart() -> None:
    def cubed(x: Any) -> Any:
        return x * x * x if isinstance(x, np.ndarray) else x.__array_namespace__().power(x, 3)

    kernel = Kernel(op="square", device="cpu", fn=cubed, lower=lambda x: x * x * x, priority=200)
    ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: [kernel])), "stranger")
    try:
        graph = graph_of(ag.square, vector(2, 3))
        assert kinds(graph) == ["ufunc multiply", "ufunc multiply"]
        np.testing.assert_array_equal(compiled(graph).instance()([np.float32([2, 3])], [])[0][0], [8, 27])
    finally:
        ag.unregister_plugin("stranger")


def test_a_strangers_kernel_without_that_is_called_and_may_decline() -> None:
    seen: list[Any] = []

    def picky(x: Any) -> Any:
        seen.append(x.shape)
        return NotImplemented

    kernel = Kernel(op="square", device="cpu", fn=picky, priority=200)
    ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: [kernel])), "stranger")
    try:
        traced = function(ag.square)
        for _ in range(3):
            np.testing.assert_array_equal(traced(vector(2, 3)).numpy(), [4, 9])
        assert len(seen) == 3
    finally:
        ag.unregister_plugin("stranger")


def test_an_error_names_the_kernel_and_the_line() -> None:
    traced = function(lambda x, y: ag.floordiv(x, y) + 1)
    traced(ag.constant([4, 2]), ag.constant([2, 1]))
    with pytest.raises(InvalidArgumentError) as caught:
        traced(ag.constant([4, 2]), ag.constant([2, 0]))
    kernel, line = caught.value.__notes__
    assert kernel == (
        "in the kernel agog_kernels_xp.math.arithmetic.floordiv of plugin 'cpu-numpy' (agog-cpu-numpy 0.1.0) for op "
        "'floordiv' on device 'cpu:0' with dtype int32, called with int32 (2,), int32 (2,)"
    )
    assert "test_cpu_executor_lowering.py:" in line
    assert line.endswith(", in a traced function")


def test_no_array_is_computed_while_a_function_is_compiled() -> None:
    """A function on large arrays compiles without their memory."""
    graph = graph_of(lambda x: ag.tanh(ag.exp(x) + x) * 2.0, ag.constant(np.zeros(1 << 20, "float32")))
    import tracemalloc

    tracemalloc.start()
    lower(graph)
    assert tracemalloc.get_traced_memory()[1] < 3 << 22  # one array that nobody touches, and one while it is laid out
    tracemalloc.stop()


def test_most_of_the_ops_calls_are_taken_apart() -> None:
    from agog_core.dispatch.op import all_ops
    from agog_core.plugin import lowering

    table = ag.constant(1.0)._table
    names = [op.name for op in all_ops().values() if table.dtype in op.dtypes and not op.host and op.reserve is None]
    lowered = [name for name in names if lowering(all_ops()[name], table) is not None]
    assert len(lowered) >= len(names) - 4


def test_a_kernel_may_return_new_arrays_for_those_that_it_was_to_update() -> None:
    def fresh(variable: Any, delta: Any, *, scale: float) -> Any:
        return (variable + delta * np.float32(scale),)

    kernel = Kernel(op="apply_add", device="cpu", fn=fresh, priority=900)
    ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: [kernel])), "stranger")
    try:
        v = ag.Variable([1.0, 2.0])
        traced = function(lambda g: v.assign_sub(g).value())
        for _ in range(3):
            traced(vector(1, 2))
        np.testing.assert_array_equal(v.numpy(), [-2, -4])
    finally:
        ag.unregister_plugin("stranger")


def test_a_scalar_times_one_is_itself() -> None:
    code = compiled(graph_of(lambda x, y: 1.0 * (x * 1.0) + y * 3.0, ag.constant(2.0), ag.constant(3.0)))
    assert [line.strip() for line in code.source.splitlines() if "*" in line] == ["s5 = s3 * c4"]
    for number in (-0.0, 1e-45, float("inf"), float("nan")):
        [[result], _] = code.instance()([np.array(number, "float32"), np.array(-0.0, "float32")], [])
        wanted = np.array(np.float32(number) + np.float32(-0.0) * np.float32(3.0))
        assert (result.dtype, result.tobytes()) == (wanted.dtype, wanted.tobytes())


def test_a_number_that_is_known_late_times_one_is_an_array() -> None:
    @function
    def doubled() -> ag.Tensor:
        once = operand(late(lambda: 0.1), ag.float32) * 1.0
        return once + once

    doubled()
    result = doubled().numpy()
    assert result == np.float32(0.1) + np.float32(0.1)
    assert result.dtype == np.float32


def test_constants_keep_their_values_when_others_are_made() -> None:
    """The vector of ones by which rows are added was overwritten by zeros of another op."""
    x = np.float32([[0.5, 2.0], [-1.0, 3.0], [4.0, 0.25]])
    layer = graph_of(lambda y: nn.layer_normalization(y), ag.constant(x))
    code = compiled(layer)
    Program().fit(constant(np.float32(0.0)), np.empty((3, 2), "float32"))
    [[result], _] = code.instance()([x], [])
    np.testing.assert_array_equal(result, nn.layer_normalization(ag.constant(x)).numpy())


def test_a_constant_that_is_fitted_has_memory_of_its_own() -> None:
    ones = Program().fit(constant(np.float32(1.0)), np.empty((2, 3), "float32").T)
    Program().fit(constant(np.float32(0.0)), np.empty((3, 2), "float32"))
    np.testing.assert_array_equal(ones.array, np.ones((3, 2)))
    assert ones.array.strides == (4, 12)
