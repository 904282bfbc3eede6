"""Bugs planted in a stranger's kernels are found, and named by the check whose rule they break."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.calls.call import call
from agog_core.dispatch.op import Op, registry
from agog_core.plugin import Kernel, hookimpl
from agog_testing.conformance import collect
from agog_testing.opinfo import OpInfo, table

Array = np.ndarray[Any, Any]
BUFFERS: dict[Any, Array] = {}

NO_CHANGE = "rule: a kernel changes no input but those that its op updates"
NO_ALIAS = "rule: a result shares no memory with an input unless the op is a view"
NO_STATE = "rule: a kernel keeps no state: a later call leaves earlier results alone"
VALUE = "rule: a kernel's result is the reference's, within the tolerance"
STRIDES = "rule: a kernel reads inputs of any strides"
SHAPE = "rule: a result has the shape of the op's shape rule"
DTYPE = "rule: a result has the dtype of the op's dtype rule"
TYPE = "rule: a kernel returns arrays of its device's array type: one, or a tuple where the op has several outputs"
RAISES = "rule: a kernel computes every sample of its op"
ERRORS = "rule: a wrong call fails with the error that the op documents"

FORWARD = "rule: forward mode gives the derivative of numerical differentiation, and that of reverse mode"


@contextmanager
def stranger(op: str, kernel: Callable[..., Any], dtype: str, priority: int = 200) -> Iterator[None]:
    """A plugin of one kernel."""

    class Hooks:
        @hookimpl
        def agog_kernels(self) -> list[Kernel]:
            return [Kernel(op=op, device="cpu", fn=kernel, dtypes=(dtype,), priority=priority)]

    ag.register_plugin(Hooks(), "stranger")
    try:
        yield
    finally:
        ag.unregister_plugin("stranger")


def failures(op: str, kernel: Callable[..., Any], dtype: str = "float32", priority: int = 200) -> dict[str, str]:
    """The checks that fail for a kernel, and what they say."""
    BUFFERS.clear()
    with stranger(op, kernel, dtype, priority):
        outcomes = {case.check: case.run() for case in collect("stranger")}
    return {check: outcome.text for check, outcome in outcomes.items() if outcome.kind != "passed"}


def in_place(x: Array) -> Array:
    out = np.square(x)
    x += 1
    return out


def into_its_input(x: Array) -> Array:
    return np.asarray(np.exp(x, out=x if x.ndim else None))


def wrong_dtype(x: Array) -> Array:
    return np.square(x.astype(np.float64))


def hands_its_input_back(*inputs: Array) -> Array:
    return inputs[0] if len(inputs) == 1 else np.asarray(np.sum(inputs, axis=0, dtype=inputs[0].dtype))


def hands_a_neutral_input_back(x: Array, y: Array) -> Array:
    return x if x.shape == y.shape and y.size and not y.any() else np.asarray(np.add(x, y))


def view_that_is_none(x: Array, *, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(x, shape)


def buffered(x: Array) -> Array:
    out = BUFFERS.setdefault((x.shape, x.dtype), np.empty_like(x, order="C"))
    np.square(x, out=out)
    return out


def constant_buffered(*, shape: tuple[int, ...], value: Any, dtype: str, index: int) -> Array:
    return BUFFERS.setdefault((shape, dtype, str(value)), np.full(shape, value, dtype))


def ignores_strides(x: Array) -> Array:
    return np.square(x.ravel(order="K")).reshape(x.shape)


def forgets_the_tail(x: Array) -> Array:
    out = np.square(x)
    if x.ndim == 1 and x.size > 64:
        out[64:] = 0
    return out


def forgets_empty(x: Array) -> Array:
    return np.square(x) if x.size else np.zeros(1, x.dtype)


def forgets_scalars(x: Array) -> Array:
    return np.atleast_1d(np.square(x))


def forgets_broadcasting(x: Array, y: Array) -> Array:
    out = np.add(x, y)
    if x.ndim > y.ndim > 0 and out.size:
        out[...] = x + y.reshape(-1)[0]
    return out


def forgets_nan(x: Array) -> Array:
    return np.nan_to_num(np.square(x), nan=0.0, posinf=np.inf)


def flattens(x: Array) -> Array:
    return np.square(x).reshape(-1)


def raises(x: Array) -> Array:
    raise ZeroDivisionError("integer division or modulo by zero")


def returns_a_list(x: Array) -> Any:
    return np.square(x).tolist()


def returns_nothing(x: Array) -> Any:
    return None


def splits_into_a_list(x: Array, *, sizes: tuple[int, ...], axis: int) -> Any:
    return np.split(x, np.cumsum(sizes)[:-1], axis)


def divides_by_zero(x: Array, y: Array) -> Array:
    return np.floor_divide(x, y)


def updates_the_gradient(variable: Array, gradient: Array, *, learning_rate: float) -> None:
    gradient *= np.float32(learning_rate)
    variable -= gradient


def forgets_the_update(variable: Array, gradient: Array, *, learning_rate: float) -> None:
    variable = variable - gradient * np.float32(learning_rate)


def other_numbers(*, shape: tuple[int, ...], key: tuple[int, int, int], dtype: str, index: int) -> Array:
    return np.random.default_rng(key[:2]).random(shape).astype(dtype)


def nearly_normal(*, shape: tuple[int, ...], key: tuple[int, int, int], dtype: str, index: int) -> Array:
    count = int(np.prod(shape, dtype=int))
    source = np.random.Philox(key=np.array(key[:2], np.uint64), counter=[key[2], 0, 0, 0])
    halves = source.random_raw(-(-count // 2)).view(np.uint32)[:count]
    values = [NormalDist().inv_cdf(((half >> 9) + 0.5) * 2.0**-23) for half in halves.tolist()]
    return np.array(values, dtype).reshape(shape)


@pytest.mark.parametrize(
    ("op", "kernel", "expected"),
    [
        ("square", in_place, {"inputs": (NO_CHANGE, "sample: shape ()")}),
        ("exp", into_its_input, {"inputs": (NO_CHANGE,), "aliasing": (NO_ALIAS, "got: the memory of x")}),
        ("square", wrong_dtype, {"dtype": (DTYPE, "expected: dtype float32\ngot: dtype float64")}),
        (
            "add_n",
            hands_its_input_back,
            {"aliasing": (NO_ALIAS, "sample: 1 of shape (3,)", "got: the memory of inputs")},
        ),
        ("add", hands_a_neutral_input_back, {"aliasing": (NO_ALIAS, "sample: any and zeros", "got: the memory of x")}),
        ("broadcast_to", view_that_is_none, {"aliasing": (NO_ALIAS, "got: the memory of input")}),
        ("square", buffered, {"state": (NO_STATE, "expected: the first result stays ")}),
        ("fill", constant_buffered, {"state": (NO_STATE, "got: the memory of an earlier result")}),
        ("square", ignores_strides, {"strides": (STRIDES, "inputs transposed")}),
        ("square", forgets_the_tail, {"value": (VALUE, "sample: shape (67,)", " at (64,)")}),
        (
            "square",
            forgets_empty,
            {"shape": (SHAPE, "sample: shape (0,)"), "value": (VALUE, "expected: shape (0,)")},
        ),
        (
            "square",
            forgets_scalars,
            {"shape": (SHAPE, "sample: shape ()"), "value": (VALUE, "got: shape (1,)")},
        ),
        ("add", forgets_broadcasting, {"value": (VALUE, "sample: shapes (2, 3) and (3,)")}),
        (
            "square",
            forgets_nan,
            {"value": (VALUE, "sample: special values", "expected: np.float32(nan) at (0,)")},
        ),
        (
            "square",
            flattens,
            {"shape": (SHAPE, "expected: shape ()\ngot: shape (1,)"), "value": (VALUE,)},
        ),
        (
            "square",
            raises,
            dict.fromkeys(
                (
                    "value",
                    "inputs",
                    "type",
                    "shape",
                    "dtype",
                    "state",
                    "aliasing",
                    "strides",
                    "sizes",
                    "repeated",
                ),
                (RAISES, "ZeroDivisionError: integer"),
            ),
        ),
        (
            "square",
            returns_a_list,
            {
                **dict.fromkeys(
                    ("value", "inputs", "shape", "dtype", "state", "aliasing", "strides"), (RAISES, "InternalError")
                ),
                "type": (TYPE, "sample: shape ()\nexpected: ndarray\ngot: float"),
            },
        ),
        (
            "square",
            returns_nothing,
            {
                **dict.fromkeys(
                    ("value", "inputs", "shape", "dtype", "state", "aliasing", "strides"), (RAISES, "InternalError")
                ),
                "type": (TYPE, "got: NoneType"),
            },
        ),
        (
            "split",
            splits_into_a_list,
            {
                **dict.fromkeys(("value", "inputs", "shape", "dtype", "state", "strides"), (RAISES, "InternalError")),
                "type": (TYPE, "expected: a tuple of 2 arrays\ngot: list"),
            },
        ),
        ("apply_gradient_descent", updates_the_gradient, {"inputs": (NO_CHANGE, "expected: gradient stays ")}),
        ("apply_gradient_descent", forgets_the_update, {"value": (VALUE,)}),
        ("random_uniform", other_numbers, {"value": (VALUE, "rtol 0, atol 0")}),
        ("random_normal", nearly_normal, {"bits": ("rule: the result has the same bits on every backend", "(20001,)")}),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_planted_bug_is_found(op: str, kernel: Callable[..., Any], expected: dict[str, tuple[str, ...]]) -> None:
    found = failures(op, kernel)
    assert sorted(expected.keys() - found.keys()) == []
    for check, texts in expected.items():
        for text in texts:
            assert text in found[check]


def test_swallowed_error_is_found() -> None:
    found = failures("floordiv", divides_by_zero, "int32")
    assert found == {
        "errors": (
            f"{ERRORS}\nsample: an error\nexpected: InvalidArgumentError: floordiv: Integer division by zero: y of "
            "shape (2,) and dtype "
            "int32 holds a zero.\ngot: no error"
        )
    }


def test_kernel_of_a_gradient_is_tested_as_an_op_of_its_own() -> None:
    found = failures("relu_grad", lambda gradients, features: np.asarray(gradients * (features > -1)), "float64")
    assert "value" in found


def test_vjp_that_hides_its_argument_is_found() -> None:
    """The gradient has the right value, so only derivatives of it show the fault."""

    def halve(x: ag.TensorLike) -> ag.Tensor:
        result: ag.Tensor = call(op, ag.convert_to_tensor(x))
        return result

    op = Op("halve", halve, inputs=["x"], shape=lambda x: x, dtypes=ag.dtypes.FLOATING, vjp={"x": hides_its_argument})
    info = OpInfo(name="halve", samples=table["square"].samples, reference=lambda x: x / 2)
    table["halve"] = info
    try:
        found = failures("halve", lambda x: np.asarray(x / 2), "float64")
    finally:
        del table["halve"], registry["halve"]
    assert sorted(found) == ["forward", "gradient"]
    assert f"{FORWARD}\nsample: shape ()\n" in found["forward"]
    assert "jvpcheck of halve: the derivative of result 0 is wrong at 1 of 1 elements" in found["forward"]
    assert "forward mode gives 0, central differences give" in found["forward"]


def hides_its_argument(g: ag.Tensor) -> ag.Tensor:
    return ag.multiply(0.5, ag.stop_gradient(g))


def test_right_kernels_pass() -> None:
    assert failures("square", np.square) == {}
    assert failures("reshape", lambda x, shape: x.reshape(shape)) == {}


def test_kernel_of_low_priority_is_tested_too() -> None:
    assert "dtype" in failures("square", wrong_dtype, priority=-1)


def test_broken_kernel_is_blamed_for_its_own_op_only() -> None:
    """The gradient of square multiplies; the stranger's wrong product is not used for it."""

    class Hooks:
        @hookimpl
        def agog_kernels(self) -> Iterator[Kernel]:
            yield Kernel(op="multiply", device="cpu", fn=np.add, dtypes=("float64",), priority=200)
            yield Kernel(op="square", device="cpu", fn=np.square, dtypes=("float64",), priority=200)

    ag.register_plugin(Hooks(), "stranger")
    try:
        outcomes = {case.id: case.run().kind for case in collect("stranger")}
    finally:
        ag.unregister_plugin("stranger")
    assert "failed" in {kind for name, kind in outcomes.items() if name.startswith("multiply/")}
    assert {kind for name, kind in outcomes.items() if name.startswith("square/")} == {"passed"}


def test_bug_on_a_device_without_host_memory_is_found() -> None:
    """Sharing shows by writing where memory addresses cannot be compared."""
    from agog_core.plugin import Backend

    class Remote:
        def __init__(self, memory: Array) -> None:
            self.memory = memory

    def remote(kernel: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arrays, **attributes: Remote(
            np.asarray(kernel(*(array.memory for array in arrays), **attributes))
        )

    def add_in_place(variable: Remote, delta: Remote, *, scale: float) -> None:
        variable.memory[...] += delta.memory

    class Hooks:
        @hookimpl
        def agog_backends(self) -> Iterator[Backend]:
            yield Backend(
                device="remote",
                array_type=Remote,
                device_count=lambda: 1,
                from_host=lambda host, index: Remote(host.copy()),
                to_host=lambda array: array.memory.copy(),
                allocate=lambda shape, dtype, index: Remote(np.empty(shape, dtype)),
                copy=lambda array: Remote(array.memory.copy()),
                synchronize=lambda index: None,
                memory_in_use=lambda index: None,
            )

        @hookimpl
        def agog_kernels(self) -> Iterator[Kernel]:
            yield Kernel(op="add_n", device="remote", fn=remote(hands_its_input_back), dtypes=("float32",))
            yield Kernel(op="square", device="remote", fn=remote(buffered), dtypes=("float32",))
            yield Kernel(op="apply_add", device="remote", fn=add_in_place, dtypes=("float32",))

    BUFFERS.clear()
    ag.register_plugin(Hooks(), "remote")
    try:
        outcomes = {case.id: case.run() for case in collect("remote", ops=["add_n", "square"])}
    finally:
        ag.unregister_plugin("remote")
    assert {name for name, outcome in outcomes.items() if outcome.is_bad} == {
        "add_n/float32/aliasing",
        "add_n/float32/shortcuts",
        "square/float32/shortcuts",
        "square/float32/state",
        "square/float32/threads",
    }
