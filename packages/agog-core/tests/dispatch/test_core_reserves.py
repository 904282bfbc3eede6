"""Reserves: an op of a plugin keeps the places of its maxima for its gradient, which needs no input then."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.op import registry
from agog_core.gradients.forward import jvp
from agog_core.plugin import Backend, Kernel, Op, TensorShape, as_dtype, call, call_several, dtypes, hookimpl

Array = np.ndarray[Any, Any]
X = np.array([[3.0, 1.0, 2.0, 5.0], [4.0, 4.0, -1.0, -2.0]])
ROUTED = np.array([[1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0]])  # to the first maximum of two neighbours


def pool(x: Any) -> ag.Tensor:
    """Maxima of neighbours."""
    return call_several(registry["test_pool"], ag.convert_to_tensor(x))[0]


def ops() -> Iterator[Op]:
    def grad(g: list[ag.Tensor], reserve: ag.Tensor) -> ag.Tensor:
        return call(registry["test_pool_grad"], g[0], reserve)

    def grad_of_grad(g: ag.Tensor, reserve: ag.Tensor) -> ag.Tensor:
        return call(registry["test_pool_pick"], g, reserve)

    yield Op(
        "test_pool",
        pool,
        inputs=["x"],
        shape=lambda x: [(x[0], x[1] // 2), TensorShape(None)],
        dtype=lambda dtype: [dtype, dtypes.variant],
        dtypes=dtypes.FLOATING,
        vjp={"x": grad},
        reserve="test_pool_grad",
    )
    yield Op(
        "test_pool_grad",
        pool,
        inputs=["gradient", "reserve"],
        shape=lambda gradient, reserve: (gradient[0], 2 * gradient[1]),
        alike=["gradient"],
        vjp={"gradient": grad_of_grad},
        reserve_of="test_pool",
    )
    yield Op(
        "test_pool_pick",
        pool,
        inputs=["x", "reserve"],
        shape=lambda x, reserve: (x[0], x[1] // 2),
        alike=["x"],
        vjp={"x": lambda g, reserve: call(registry["test_pool_grad"], g, reserve)},
        reserve_of="test_pool",
    )


def run_pool(x: Array) -> tuple[Array, Array]:
    places = x.reshape(len(x), -1, 2).argmax(-1)
    return x.reshape(len(x), -1, 2).max(-1), places.astype(np.uint8)


def run_grad(gradient: Array, places: Array) -> Array:
    assert places.dtype == np.uint8
    out = np.zeros((*gradient.shape, 2), gradient.dtype)
    np.put_along_axis(out, places[..., None].astype(np.intp), gradient[..., None], -1)
    return out.reshape(len(gradient), -1)


def run_pick(x: Array, places: Array) -> Array:
    return np.take_along_axis(x.reshape(*places.shape, 2), places[..., None].astype(np.intp), -1)[..., 0]


@pytest.fixture(autouse=True)
def _plugin() -> Iterator[None]:
    made = {"test_pool": run_pool, "test_pool_grad": run_grad, "test_pool_pick": run_pick}
    found = [Kernel(op=op, device="cpu", fn=fn) for op, fn in made.items()]
    hooks = SimpleNamespace(agog_ops=hookimpl(ops), agog_kernels=hookimpl(lambda: found))
    ag.register_plugin(hooks, "pooling")
    with ag.device("cpu"):
        yield
    ag.unregister_plugin("pooling")


def gradient(x: ag.Tensor) -> ag.Tensor:
    with ag.GradientTape() as tape:
        tape.watch(x)
        out = pool(x)
    return tape.gradient(out, x)


def test_gradients_of_first_and_second_order_and_tangents() -> None:
    x = ag.constant(X)
    np.testing.assert_array_equal(pool(x).numpy(), [[3.0, 5.0], [4.0, -1.0]])
    np.testing.assert_array_equal(gradient(x).numpy(), ROUTED)
    _, tangent = jvp(pool, [x], [ag.constant(10 * X)])
    np.testing.assert_array_equal(tangent.numpy(), [[30.0, 50.0], [40.0, -10.0]])
    with ag.GradientTape() as outer:
        outer.watch(x)
        with ag.GradientTape() as inner:
            inner.watch(x)
            cubes = ag.reduce_sum(pool(x) ** 3)
        first = inner.gradient(cubes, x)
    np.testing.assert_array_equal(first.numpy(), 3 * X**2 * ROUTED)
    np.testing.assert_array_equal(outer.gradient(first, x).numpy(), 6 * X * ROUTED)


def test_a_tape_keeps_the_reserve_alone() -> None:
    x = ag.constant(X)
    with ag.GradientTape() as tape:
        tape.watch(x)
        pool(x)
    assert " 4 bytes in 1 array" in tape.summary()


def test_calls_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_CHECK", "1")
    ag.prefer(*ag.prefer())  # resolve again
    np.testing.assert_array_equal(gradient(ag.constant(X)).numpy(), ROUTED)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_traced_functions(dtype: str) -> None:
    traced = ag.function(gradient)
    for factor in (1.0, -1.0):
        x = ag.constant(factor * X, dtype)
        np.testing.assert_array_equal(traced(x).numpy(), gradient(x).numpy())
    pooled = ag.function(pool)
    for factor in (1.0, -1.0):
        x = ag.constant(factor * X, dtype)
        with ag.GradientTape() as tape:
            tape.watch(x)
            out = pooled(x)
        np.testing.assert_array_equal(tape.gradient(out, x).numpy(), gradient(x).numpy())


def test_a_traced_loop_with_a_reserve_in_each_turn() -> None:
    def repeated(x: ag.Tensor) -> ag.Tensor:
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(3):
                y = ag.concat([pool(y), y[:, :2]], 1)
            out = ag.reduce_sum(y)
        return tape.gradient(out, x)

    x = ag.constant(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(ag.function(repeated)(x).numpy(), repeated(x).numpy())


def test_another_device_leaves_the_reserve_where_it_is() -> None:
    x = ag.constant(X)
    with ag.GradientTape() as tape:
        tape.watch(x)
        out = pool(x)
    with ag.fallback("cpu"):
        np.testing.assert_array_equal(tape.gradient(out, x).numpy(), ROUTED)


class ToyArray:
    """The array type of a device that does not hold all dtypes."""

    def __init__(self, memory: Any) -> None:
        self.memory = np.asarray(memory)
        self.shape, self.dtype = self.memory.shape, self.memory.dtype


def test_a_reserve_of_the_host_where_the_device_does_not_hold_another_result() -> None:
    toy = Backend(
        device="toy",
        array_type=ToyArray,
        device_count=lambda: 1,
        from_host=lambda host, index: ToyArray(host),
        to_host=lambda array: array.memory,
        copy=lambda array: ToyArray(array.memory.copy()),
        synchronize=lambda index: None,
        dtypes=("float32",),
    )
    places = Op(
        "test_places",
        pool,
        inputs=["x"],
        shape=lambda x, of: [(x[0], x[1] // 2), TensorShape(None)],
        dtype=lambda dtype, of: [as_dtype(of), dtypes.variant],
        reserve="test_places_grad",
    )
    grad = Op(
        "test_places_grad",
        pool,
        inputs=["gradient", "reserve"],
        shape=lambda gradient, reserve: (gradient[0], 2 * gradient[1]),
        alike=["gradient"],
        reserve_of="test_places",
    )

    def run_places(x: Array, of: str) -> tuple[Array, Array]:
        return run_pool(x)[1].astype(of), run_pool(x)[1]

    def on_toy(*arrays: ToyArray, of: str) -> tuple[ToyArray, ...]:
        assert of == "float32"
        return tuple(map(ToyArray, run_places(*[array.memory for array in arrays], of)))

    found = [
        Kernel(op="test_places", device="cpu", fn=run_places),
        Kernel(op="test_places_grad", device="cpu", fn=run_grad),
        Kernel(op="test_places", device="toy", fn=on_toy),
        Kernel(op="test_places_grad", device="toy", fn=lambda g, kept: ToyArray(run_grad(g.memory, kept.memory))),
    ]
    hooks = {"agog_ops": lambda: [places, grad], "agog_kernels": lambda: found, "agog_backends": lambda: [toy]}
    ag.register_plugin(SimpleNamespace(**{name: hookimpl(hook) for name, hook in hooks.items()}), "toy")
    try:
        with ag.device("toy"):
            for of, home in (("float32", "TOY:0"), ("int64", "CPU:0")):
                where, reserve = call_several(places, ag.constant(X, "float32"), of=of)
                assert where.device.endswith(home)
                np.testing.assert_array_equal(where.numpy(), [[0, 1], [0, 0]])
                back = call(grad, ag.constant(np.ones((2, 2), np.float32)), reserve)
                assert back.device.endswith("TOY:0")
                np.testing.assert_array_equal(back.numpy(), ROUTED)
    finally:
        ag.unregister_plugin("toy")
