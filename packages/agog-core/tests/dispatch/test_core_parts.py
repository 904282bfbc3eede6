"""Fused ops: whose kernels run, and that their parts give the same bits, eagerly, in traced functions and backwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.kernels.observation import KernelCall, observe, unobserve
from agog_core.ops.conv.convolution_ops import general_convolution
from agog_core.ops.nn import relu, relu6
from agog_core.ops.nn.fused import matmul_bias
from agog_core.ops.nn.fused_convolution import convolution_bias
from agog_core.plugin import Kernel, hookimpl, load_reference

ACTIVATIONS: dict[str, Callable[[ag.Tensor], ag.Tensor]] = {
    "linear": lambda x: x,
    "relu": relu,
    "relu6": relu6,
    "sigmoid": ag.sigmoid,
    "tanh": ag.tanh,
}
FORM = (1, 1), ((1, 1), (0, 1)), (1, 1), 1


def values(*shape: int, dtype: str) -> ag.Tensor:
    return ag.constant(np.random.default_rng(sum(shape)).normal(size=shape), dtype)


def product(dtype: str) -> tuple[list[ag.Tensor], Callable[..., ag.Tensor], Callable[..., ag.Tensor]]:
    given = [values(5, 7, dtype=dtype), values(7, 4, dtype=dtype), values(4, dtype=dtype)]
    return given, matmul_bias, lambda a, b, bias: ag.add(ag.matmul(a, b), bias)


def windows(dtype: str) -> tuple[list[ag.Tensor], Callable[..., ag.Tensor], Callable[..., ag.Tensor]]:
    given = [values(2, 6, 5, 3, dtype=dtype), values(3, 2, 3, 4, dtype=dtype), values(4, dtype=dtype)]
    return (
        given,
        lambda x, f, bias, activation: convolution_bias(x, f, bias, *FORM, activation),
        lambda x, f, bias: ag.add(general_convolution(x, f, *FORM), bias),
    )


def with_gradients(function: Callable[..., ag.Tensor], given: list[ag.Tensor]) -> list[ag.Tensor]:
    """The result, the gradients, and the gradients of the sum of their squares."""
    with ag.GradientTape() as outer:
        outer.watch(given)
        with ag.GradientTape() as tape:
            tape.watch(given)
            out = function(*given)
        first = tape.gradient(out, given)
        total = ag.add_n([ag.reduce_sum(ag.square(g)) for g in first])
    return [out, *first, *outer.gradient(total, given, unconnected_gradients="zero")]


@contextmanager
def kernels(*others: Kernel, **functions: Callable[..., Any]) -> Iterator[list[str]]:
    """Kernels of a plugin that go before the reference; the ops whose kernels run."""
    seen: list[str] = []
    found = [Kernel(op=op, device="cpu", fn=function, priority=200) for op, function in functions.items()]
    found += others
    ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: found)), "library")

    before = ag.prefer("library", "cpu-numpy")

    def note(call: KernelCall) -> None:
        seen.append(f"{call.op.name} of {call.candidate.plugin.name}")

    try:
        with ag.device("cpu"):
            observe(note)
            yield seen
    finally:
        unobserve(note)
        ag.prefer(*before)
        ag.unregister_plugin("library")


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("case", [product, windows], ids=["product", "windows"])
def test_bits_are_those_of_the_parts_and_of_traced_functions(case: Any, dtype: str, activation: str) -> None:
    """But second derivatives of the parts, which are sums in another order."""
    given, fused, composed = case(dtype)
    parts = with_gradients(lambda *x: ACTIVATIONS[activation](composed(*x)), given)
    eager = with_gradients(lambda *x: fused(*x, activation), given)
    traced = ag.function(lambda given: with_gradients(lambda *x: fused(*x, activation), given))
    for run in (traced(given), traced(given)):
        for got, expected in zip(run, eager, strict=True):
            np.testing.assert_array_equal(got.numpy(), expected.numpy())
    for got, expected in zip(eager[:4], parts[:4], strict=True):
        np.testing.assert_array_equal(got.numpy(), expected.numpy())
    rtol = {"float16": 2e-2, "bfloat16": 2e-1, "float32": 1e-4, "float64": 1e-12}[dtype]
    for got, expected in zip(eager[4:], parts[4:], strict=True):
        wanted = expected.numpy().astype(np.float64)
        np.testing.assert_allclose(got.numpy().astype(np.float64), wanted, rtol, rtol * np.abs(wanted).max())


def test_a_better_kernel_of_the_product_alone_is_used() -> None:
    def matmul(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
        return np.full((len(a), b.shape[1]), 2.0, a.dtype) if len(a) > 1 else NotImplemented

    a, b, bias = ag.ones([3, 2]), ag.ones([2, 2]), ag.constant([1.0, -5.0])
    with kernels(matmul=matmul) as seen:
        assert matmul_bias(a, b, bias, "relu").numpy().tolist() == [[3.0, 0.0]] * 3
        assert matmul_bias(a[:1], b, bias).numpy().tolist() == [[3.0, -3.0]]  # it declines
    assert seen[:3] == ["matmul of library", "add of cpu-numpy", "relu of cpu-numpy"]


def test_a_better_kernel_of_an_activation_is_used_for_that_alone() -> None:
    a, b, bias = ag.ones([3, 2]), ag.ones([2, 2]), ag.constant([1.0, -5.0])
    with kernels(relu=lambda x: np.maximum(x, 0) + 1) as seen:
        assert matmul_bias(a, b, bias, "relu").numpy().tolist() == [[4.0, 1.0]] * 3
        assert seen == ["matmul of cpu-numpy", "add of cpu-numpy", "relu of library"]
        seen.clear()
        assert matmul_bias(a, b, bias).numpy().tolist() == [[3.0, -3.0]] * 3
        assert seen == ["matmul_bias of cpu-numpy"]
        traced = ag.function(lambda a: matmul_bias(a, b, bias, "relu"))
        assert [traced(a).numpy().tolist() for _ in range(2)] == [[[4.0, 1.0]] * 3] * 2


def test_a_kernel_of_an_activation_for_some_calls_leaves_the_whole() -> None:
    a, b, bias = ag.ones([3, 2]), ag.ones([2, 2]), ag.constant([1.0, -5.0])
    some = Kernel(op="relu", device="cpu", fn=lambda x: NotImplemented, priority=200, when="x is large")
    with kernels(some) as seen:
        assert matmul_bias(a, b, bias, "relu").numpy().tolist() == [[3.0, 0.0]] * 3
    assert seen == ["matmul_bias of cpu-numpy"]


def test_a_plugins_own_kernel_for_the_whole_goes_before_its_activation() -> None:
    def whole(a: Any, b: Any, bias: Any, *, activation: str) -> Any:
        return a @ b + bias

    better = Kernel(op="relu", device="cpu", fn=lambda x: x, priority=300)
    a, b, bias = ag.ones([1, 2]), ag.ones([2, 2]), ag.constant([1.0, -5.0])
    with kernels(better, matmul_bias=whole) as seen:
        traced = ag.function(lambda a: matmul_bias(a, b, bias, "relu"))
        for run in (lambda a: matmul_bias(a, b, bias, "relu"), traced, traced):
            assert run(a).numpy().tolist() == [[3.0, -3.0]]
    assert set(seen) == {"matmul_bias of library"}


def test_another_plugins_activation_behind_a_kernel_for_the_whole() -> None:
    def whole(a: Any, b: Any, bias: Any, *, activation: str) -> Any:
        return a @ b + bias if activation == "linear" else NotImplemented

    a, b, bias = ag.ones([1, 2]), ag.ones([2, 2]), ag.constant([1.0, -5.0])
    relu = Kernel(op="relu", device="cpu", fn=lambda x: np.maximum(x, 0) + 1, priority=300)
    ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: [relu])), "activation")
    try:
        with kernels(matmul_bias=whole) as seen:
            ag.prefer("activation", "library", "cpu-numpy")
            traced = ag.function(lambda a, activation: matmul_bias(a, b, bias, activation))
            for run in (lambda a, activation: matmul_bias(a, b, bias, activation), traced, traced):
                assert run(a, "relu").numpy().tolist() == [[4.0, 1.0]]
                assert run(a, "linear").numpy().tolist() == [[3.0, -3.0]]
                np.testing.assert_allclose(run(a, "tanh").numpy(), np.tanh([[3.0, -3.0]]), rtol=1e-6)
    finally:
        ag.unregister_plugin("activation")
    assert {"relu of activation", "matmul_bias of library", "matmul_bias of cpu-numpy"} <= set(seen)


def test_a_tape_keeps_the_result_only_where_the_activation_needs_it() -> None:
    given, fused, _ = product("float32")
    sizes = {}
    for activation in ACTIVATIONS:
        with ag.GradientTape() as tape:
            tape.watch(given)
            fused(*given, activation)
        kept = [value for *_, values in tape.records for value in values if isinstance(value, ag.Tensor)]
        sizes[activation] = [value.shape.as_list() for value in kept]
    operands = [[5, 7], [7, 4]]
    assert sizes == {name: operands if name == "linear" else [*operands, [5, 4]] for name in ACTIVATIONS}


def test_a_kernel_for_the_whole_runs_in_traced_functions_too() -> None:
    def whole(a: Any, b: Any, bias: Any, *, activation: str) -> Any:
        return np.full((len(a), b.shape[1]), 7.0, a.dtype) if activation == "relu" else NotImplemented

    a, b, bias = ag.ones([3, 2]), ag.ones([2, 2]), ag.constant([1.0, -5.0])
    with kernels(matmul_bias=whole) as seen:
        traced = ag.function(lambda a, activation: matmul_bias(a, b, bias, activation))
        for run in (lambda a, activation: matmul_bias(a, b, bias, activation), traced, traced):
            assert run(a, "relu").numpy().tolist() == [[7.0, 7.0]] * 3
            assert run(a, "linear").numpy().tolist() == [[3.0, -3.0]] * 3
        names = [node.op.name for node in traced.graph(a, "relu").nodes if node.op is not None]
    assert names == ["matmul_bias"]
    assert set(seen) == {"matmul_bias of library", "matmul_bias of cpu-numpy"}


def test_traced_functions_see_the_parts_of_the_reference() -> None:
    given, fused, _ = product("float32")
    traced = ag.function(lambda *given: fused(*given, "tanh"))
    traced(*given)
    assert [node.op.name for node in traced.graph(*given).nodes if node.op is not None] == ["matmul", "add", "tanh"]


def test_a_vjp_computes_what_is_needed_alone() -> None:
    x, kernel, bias = (values(*shape, dtype="float32") for shape in ((5, 7), (7, 4), (4,)))
    with kernels() as seen:
        with ag.GradientTape() as tape:
            tape.watch(bias)
            out = matmul_bias(x, kernel, bias)
        seen.clear()
        assert tape.gradient(out, bias).numpy().tolist() == [5.0] * 4
    assert not any(each.startswith("matmul") for each in seen)


def test_a_library_computes_all_gradients_in_one_call_and_keeps_a_reserve_for_it() -> None:
    given, fused, composed = windows("float64")
    expected = with_gradients(lambda *x: ag.tanh(composed(*x)), given)
    kernels_of: dict[str, Any] = {
        name: load_reference(f"agog_cpu_numpy.kernels:{name}") for name in ("convolution_bias", "convolution_bias_grad")
    }
    calls: list[str] = []

    def forward(*arrays: Any, **form: Any) -> Any:
        out = kernels_of["convolution_bias"](*arrays, **form)
        return out, 1 - out * out

    def backward(gradients: Any, x: Any, f: Any, outputs: Any, slope: Any, **form: Any) -> Any:
        calls.append("backward")
        return kernels_of["convolution_bias_grad"](gradients * slope, x, f, outputs, **{**form, "activation": "linear"})

    reserves = {"convolution_bias": forward, "convolution_bias_grad": backward}
    found = [Kernel(op=op, device="cpu", fn=fn, reserve=reserves[op], priority=200) for op, fn in kernels_of.items()]
    for function in (fused, ag.function(fused)):
        with kernels(*found) as seen:
            got = with_gradients(lambda *x, f=function: f(*x, "tanh"), given)
        for each, wanted in zip(got, expected, strict=True):
            np.testing.assert_allclose(each.numpy(), wanted.numpy(), rtol=1e-10, atol=1e-12)
        assert "convolution_bias+reserve of library" in seen
        assert "backward" in calls
        calls.clear()


def test_a_better_kernel_of_one_gradient_is_used() -> None:
    given, fused, _ = product("float32")
    with kernels(relu_grad=lambda g, y: g * 2) as seen:
        with ag.GradientTape() as tape:
            tape.watch(given[2])
            out = fused(*given, "relu")
        assert tape.gradient(out, given[2]).numpy().tolist() == [10.0] * 4
    assert {"relu_grad of library", "sum_to of cpu-numpy"} <= set(seen)


def test_one_tensor_as_several_operands() -> None:
    x = ag.constant([[1.0, 2.0], [3.0, 4.0]], "float64")

    def cubes(x: ag.Tensor) -> ag.Tensor:
        return ag.reduce_sum(matmul_bias(x, x, x[0]) ** 3)

    def composed(x: ag.Tensor) -> ag.Tensor:
        return ag.reduce_sum((ag.matmul(x, x) + x[0]) ** 3)

    for got, expected in zip(with_gradients(cubes, [x]), with_gradients(composed, [x]), strict=True):
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-12)
