"""Optional reserves: a kernel keeps something for its gradient's where a tape records; others need not know of it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InternalError
from agog_core.gradients.forward import jvp
from agog_core.ops.conv.convolution_ops import general_convolution
from agog_core.ops.conv.pooling_ops import general_max_pool
from agog_core.ops.nn.standardization import standardize
from agog_core.plugin import Kernel, hookimpl
from agog_kernels_xp.conv import convolution_ops, pooling_ops
from agog_kernels_xp.nn import standardization
from agog_testing import says

Array = np.ndarray[Any, Any]
FORM = {"window": (2,), "strides": (2,), "paddings": ((0, 0),), "dilations": (1,)}
X = np.random.default_rng(7).permutation(48).reshape(2, 8, 3).astype(np.float64)


class Places:
    """Kernels of pools of two neighbours that keep where the maxima lie, and note their calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.kept: list[weakref.ref[Array]] = []
        self.declines = False

    def pool(self, x: Array, **form: Any) -> Array:
        self.calls.append("pool")
        return pooling_ops.max_pool(np, x, **form)

    def pool_and_places(self, x: Array, **form: Any) -> Any:
        if self.declines:
            return NotImplemented
        self.calls.append("pool and places")
        places = x.reshape(len(x), -1, 2, x.shape[2]).argmax(2).astype(np.uint8)
        self.kept.append(weakref.ref(places))
        return pooling_ops.max_pool(np, x, **form), places

    def route(self, gradient: Array, x: Array, maxima: Array, places: Array, **form: Any) -> Array:
        self.calls.append("route")
        assert places.dtype == np.uint8
        out = np.zeros((*gradient.shape[:2], 2, gradient.shape[2]), gradient.dtype)
        np.put_along_axis(out, places[:, :, None].astype(np.intp), gradient[:, :, None], 2)
        return out.reshape(x.shape)

    def pick(self, gradient: Array, x: Array, maxima: Array, places: Array, **form: Any) -> Array:
        self.calls.append("pick")
        windows = gradient.reshape(len(x), -1, 2, x.shape[2])
        return np.take_along_axis(windows, places[:, :, None].astype(np.intp), 2)[:, :, 0]

    def search(self, gradient: Array, x: Array, maxima: Array, **form: Any) -> Array:
        self.calls.append("search")
        return pooling_ops.max_pool_grad(np, gradient, x, maxima, **form)

    def search_again(self, gradient: Array, x: Array, maxima: Array, **form: Any) -> Array:
        self.calls.append("search again")
        return pooling_ops.max_pool_grad_grad(np, gradient, x, maxima, **form)

    def kernels(self, **changes: Any) -> list[Kernel]:
        functions = {
            "max_pool": (self.pool, self.pool_and_places),
            "max_pool_grad": (self.search, self.route),
            "max_pool_grad_grad": (self.search_again, self.pick),
        }
        return [
            Kernel(**{"op": op, "device": "cpu", "fn": fn, "reserve": reserve, "priority": 200, **changes})
            for op, (fn, reserve) in functions.items()
        ]


Register = Callable[..., None]


@pytest.fixture
def register() -> Iterator[Register]:
    names: list[str] = []

    def add(name: str, kernels: list[Kernel]) -> None:
        ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: kernels)), name)
        names.append(name)

    before = ag.prefer()
    with ag.device("cpu"):
        yield add
    ag.prefer(*before)
    for name in names:
        ag.unregister_plugin(name)


@pytest.fixture
def places(register: Register) -> Places:
    found = Places()
    register("places", found.kernels())
    return found


def pool(x: Any) -> ag.Tensor:
    return general_max_pool(x, **FORM)  # type: ignore[arg-type]  # the form is one dict for all


def cubes(x: ag.Tensor) -> ag.Tensor:
    return ag.reduce_sum(pool(x) ** 3)


def gradient(x: ag.Tensor) -> ag.Tensor:
    with ag.GradientTape() as tape:
        tape.watch(x)
        value = cubes(x)
    return tape.gradient(value, x)


def second(x: ag.Tensor) -> ag.Tensor:
    with ag.GradientTape() as tape:
        tape.watch(x)
        first = gradient(x)
    return tape.gradient(first, x)


IS_MAXIMUM = X.reshape(2, 4, 2, 3) == X.reshape(2, 4, 2, 3).max(2, keepdims=True)
FIRST = 3 * X**2 * IS_MAXIMUM.reshape(X.shape)
SECOND = 6 * X * IS_MAXIMUM.reshape(X.shape)


def test_a_kernel_keeps_only_what_a_tape_will_need(places: Places) -> None:
    x = ag.constant(X)
    pool(x)
    with ag.GradientTape():
        pool(x)
    with ag.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            pool(x)
    jvp(cubes, [x], [x])
    assert places.calls == ["pool"] * 4 + ["search", "search again"]
    places.calls.clear()
    np.testing.assert_array_equal(gradient(x).numpy(), FIRST)
    assert places.calls == ["pool and places", "route"]


def test_gradients_of_second_order(places: Places) -> None:
    np.testing.assert_array_equal(second(ag.constant(X)).numpy(), SECOND)
    assert places.calls == ["pool and places", "route", "pick", "route"]


def test_a_reserve_is_read_as_often_as_asked_and_freed_with_its_tape(places: Places) -> None:
    x = ag.constant(X)
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        value = cubes(x)
    for _ in range(2):
        np.testing.assert_array_equal(tape.gradient(value, x).numpy(), FIRST)
    assert places.kept[0]() is not None
    del tape
    gc.collect()
    assert places.kept[0]() is None
    gradient(x)
    gc.collect()
    assert places.kept[1]() is None


def test_a_tape_knows_its_size(places: Places) -> None:
    x = ag.constant(X)
    with ag.GradientTape() as tape:
        tape.watch(x)
        pool(x)
    assert f" {X.nbytes + X.nbytes // 2 + X.size // 2} bytes in 3 arrays" in tape.summary()


def test_jacobians(places: Places) -> None:
    x = ag.constant(X[:1, :4, :1])
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        out = pool(x)
    jacobian = tape.jacobian(out, x).numpy().reshape(2, 4)
    np.testing.assert_array_equal(jacobian.argmax(1), [X[0, :2, 0].argmax(), 2 + X[0, 2:4, 0].argmax()])
    assert jacobian.sum() == 2
    assert places.calls[0] == "pool and places"


def test_no_other_plugin_sees_the_reserve(places: Places, register: Register) -> None:
    x, others = ag.constant(X), Places()
    register("others", others.kernels(priority=190))
    for later, calls in (([], ["route"]), (["others"], ["route"]), (["places"], ["route"])):
        with ag.GradientTape() as tape:
            tape.watch(x)
            value = cubes(x)
        ag.prefer(*later)
        places.calls.clear()
        np.testing.assert_array_equal(tape.gradient(value, x).numpy(), FIRST)
        ag.prefer("places")
        assert places.calls == calls
    assert others.calls == []


def test_a_plugin_that_has_gone_still_takes_its_reserve() -> None:
    x, found = ag.constant(X), Places()
    with ag.device("cpu"), ag.GradientTape() as tape:
        ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: found.kernels())), "places")
        tape.watch(x)
        value = cubes(x)
        ag.unregister_plugin("places")
    np.testing.assert_array_equal(tape.gradient(value, x).numpy(), FIRST)
    assert found.calls == ["pool and places", "route"]


def test_kernels_that_decline_to_keep_or_to_take(places: Places) -> None:
    x = ag.constant(X)
    places.declines = True
    np.testing.assert_array_equal(second(x).numpy(), SECOND)
    assert places.calls == ["pool", "search", "search again", "search"]


def test_a_gradient_that_declines_the_reserve(register: Register) -> None:
    found = Places()
    forward, backward, _ = found.kernels()
    declining = Kernel(
        op="max_pool_grad", device="cpu", fn=backward.fn, reserve=lambda *x, **form: NotImplemented, priority=200
    )
    register("places", [forward, declining])
    np.testing.assert_array_equal(gradient(ag.constant(X)).numpy(), FIRST)
    assert found.calls == ["pool and places", "search"]


def test_a_reserve_that_nobody_takes_is_not_kept(register: Register) -> None:
    found = Places()
    forward, backward, _ = found.kernels(dtypes="float64")
    register("forward", [forward])
    assert gradient(ag.constant(X)).shape == X.shape
    assert found.calls == ["pool"]
    register(
        "names",
        [Kernel(op="max_pool", device="cpu", fn=found.pool, reserve=forward.reserve, pair="a", priority=300), backward],
    )
    ag.prefer("names")
    found.calls.clear()
    gradient(ag.constant(X))
    assert found.calls == ["pool", "search"]


def test_a_better_kernel_without_a_reserve_goes_before(places: Places, register: Register) -> None:
    calls: list[str] = []

    def better(x: Array, **form: Any) -> Any:
        calls.append("better")
        return pooling_ops.max_pool(np, x, **form) if x.dtype == np.float64 else NotImplemented

    register("better", [Kernel(op="max_pool", device="cpu", fn=better, priority=300)])
    np.testing.assert_array_equal(gradient(ag.constant(X)).numpy(), FIRST)
    assert (calls, places.calls) == (["better"], ["search"])
    gradient(ag.constant(X, "float32"))  # which it declines
    assert (calls, places.calls) == (["better"] * 2, ["search", "pool and places", "route"])


def test_calls_are_checked(places: Places, register: Register, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_CHECK", "1")
    ag.prefer(*ag.prefer())  # resolve again
    np.testing.assert_array_equal(second(ag.constant(X)).numpy(), SECOND)
    assert places.calls == ["pool and places", "route", "pick", "route"]


def test_made_kernels(register: Register) -> None:
    found = Places()
    made = [
        Kernel(
            op=each.op, device="cpu", priority=200, make=lambda *of, f=each.fn: f, reserve=lambda *of, f=each.reserve: f
        )
        for each in found.kernels()
    ]
    register("made", made)
    np.testing.assert_array_equal(gradient(ag.constant(X)).numpy(), FIRST)
    assert found.calls == ["pool and places", "route"]


@pytest.mark.parametrize(("function", "expected"), [(gradient, FIRST), (second, SECOND)])
def test_traced_functions(places: Places, function: Any, expected: Array) -> None:
    traced = ag.function(function)
    for sign in (1.0, -1.0, 1.0):
        found = traced(ag.constant(sign * X)).numpy()
        if sign > 0:
            np.testing.assert_array_equal(found, expected)
        else:
            assert not np.array_equal(found, expected)
    assert {"pool and places", "route"} <= set(places.calls)
    assert not {"pool", "search"} & set(places.calls)


def test_a_traced_function_under_a_tape(places: Places) -> None:
    traced = ag.function(cubes)
    traced(ag.constant(X))
    assert set(places.calls) == {"pool"}
    places.calls.clear()
    for _ in range(3):
        x = ag.constant(X)
        with ag.GradientTape() as tape:
            tape.watch(x)
            value = traced(x)
        np.testing.assert_array_equal(tape.gradient(value, x).numpy(), FIRST)
    assert set(places.calls) == {"pool and places", "route"}


def test_a_traced_loop_that_keeps_in_each_turn(places: Places) -> None:
    def repeated(x: ag.Tensor) -> ag.Tensor:
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(3):
                y = ag.concat([pool(y), y[:, :4]], 1)
            value = ag.reduce_sum(y * y)
        return tape.gradient(value, x)

    x = ag.constant(X)
    np.testing.assert_array_equal(ag.function(repeated)(x).numpy(), repeated(x).numpy())


def test_a_trace_outlives_the_plugin(register: Register) -> None:
    found, traced = Places(), ag.function(gradient)
    ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: found.kernels())), "places")
    try:
        with ag.device("cpu"):
            traced(ag.constant(X))
    finally:
        ag.unregister_plugin("places")
    found.calls.clear()
    np.testing.assert_array_equal(traced(ag.constant(X)).numpy(), FIRST)
    assert found.calls == []


def test_an_op_of_several_results(register: Register) -> None:
    calls: list[str] = []

    def forward(x: Array, **names: Any) -> Any:
        out, mean, variance = standardization.standardize(np, x, **names)
        return out, mean, variance, 1 / np.sqrt(variance + names["epsilon"])

    def backward(g: Array, s: Array, variance: Array, scale: Array, *, axes: Any, epsilon: float) -> Array:
        calls.append("backward")
        return (g - g.mean(axes, keepdims=True) - s * (g * s).mean(axes, keepdims=True)) * scale

    def values() -> list[Array]:
        x = ag.constant(X[0])
        with ag.GradientTape() as tape:
            tape.watch(x)
            results = standardize(x, 1)
            value = ag.add_n([ag.reduce_sum(each**3) for each in results])
        return [*(each.numpy() for each in results), tape.gradient(value, x).numpy()]

    expected = values()
    plain = {"standardize": standardization.standardize, "standardize_grad": standardization.standardize_grad}
    keeping = {"standardize": forward, "standardize_grad": backward}
    register(
        "scales",
        [
            Kernel(
                op=op,
                device="cpu",
                fn=lambda *x, f=plain[op], **names: f(np, *x, **names),
                reserve=keeping[op],
                priority=200,
            )
            for op in plain
        ],
    )
    for found, wanted in zip(values(), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert calls == ["backward"]


def test_one_of_two_gradients_takes_it(register: Register) -> None:
    x, f = ag.constant(X), ag.constant(X[0, :6, :].reshape(3, 3, 2) / 10)
    calls: list[str] = []

    def values() -> list[Array]:
        with ag.GradientTape() as tape:
            tape.watch([x, f])
            out = general_convolution(x, f, (1,), ((1, 1),), (1,))
        return [each.numpy() for each in tape.gradient(out, [x, f], ag.cos(out))]

    expected = values()

    def forward(x: Array, f: Array, **form: Any) -> Any:
        return convolution_ops.convolution(np, x, f, **form), np.ascontiguousarray(x)

    def of_filter(x: Array, g: Array, kept: Array, **form: Any) -> Array:
        calls.append("filter")
        return convolution_ops.convolution_filter_grad(np, kept, g, **form)

    register(
        "library",
        [
            Kernel(op="convolution", device="cpu", fn=lambda *x, **form: NotImplemented, reserve=forward, priority=200),
            Kernel(op="convolution_filter_grad", device="cpu", fn=lambda *x, **form: NotImplemented, reserve=of_filter),
        ],
    )
    for found, wanted in zip(values(), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert calls == ["filter"]


def test_explanations(places: Places, register: Register) -> None:
    assert ag.explain("max_pool", "cpu", "float64").splitlines()[1] == (
        "  chosen: plugin 'places' (registered by the program), priority 200, every dtype, with a reserve"
    )
    register("wrong", [Kernel(op="square", device="cpu", fn=np.square, reserve=np.square)])
    assert ag.explain("square", "cpu", "float64").splitlines()[2] == (
        "  rejected: plugin 'wrong' (registered by the program), priority 100, every dtype, with a reserve: it has "
        "`reserve`, but op 'square' keeps and takes none by that"
    )


def test_results_of_a_wrong_number(register: Register) -> None:
    forward, backward, _ = Places().kernels()
    few = Kernel(op="max_pool", device="cpu", fn=forward.fn, reserve=forward.fn, priority=200)
    register("few", [few, backward])
    text = "max_pool+reserve: the kernel on device 'cpu' returned ndarray; a tuple of 2 arrays is expected."
    with says(InternalError, text):
        gradient(ag.constant(X))
