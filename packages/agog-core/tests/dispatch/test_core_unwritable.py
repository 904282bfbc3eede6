"""Unwritable: a device whose arrays nobody can write, and ops that a device leaves to the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.calls.multi_tensor import update_several
from agog_core.errors import InternalError, MissingKernelError
from agog_core.ops.updates.descent import apply_gradient_descent
from agog_core.plugin import Backend, Kernel, hookimpl, registry
from agog_testing import says


class Stone:
    """An array that nobody can write."""

    def __init__(self, values: Any) -> None:
        self.values = np.array(values)
        self.values.flags.writeable = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes along the axes."""
        return self.values.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self.values.dtype


copies: list[Stone] = []


def copy(array: Stone) -> Stone:
    copies.append(array)
    return array


def carved(function: Callable[..., Any]) -> Callable[..., Stone]:
    """A function of NumPy's arrays for these."""
    return lambda *arrays, **attributes: Stone(function(*[array.values for array in arrays], **attributes))


def descend(variable: Stone, gradient: Stone, *, learning_rate: float) -> tuple[Stone]:
    return (Stone(variable.values - np.float32(learning_rate) * gradient.values),)


def kernel(op: str, **facts: Any) -> Kernel:
    return Kernel(op=op, device="stone", **facts)


@pytest.fixture
def stone() -> Iterator[Callable[..., None]]:
    """Brings the device with kernels."""
    backend = Backend(
        device="stone",
        array_type=Stone,
        device_count=lambda: 1,
        from_host=lambda host, index: Stone(host),
        to_host=lambda array: array.values,
        copy=copy,
        synchronize=lambda index: None,
        dtypes=("float32", "int32"),
        writable=False,
    )
    usual = [kernel("add", fn=carved(np.add)), kernel("multiply", fn=carved(np.multiply))]

    def bring(*kernels: Kernel) -> None:
        module = SimpleNamespace(
            agog_backends=hookimpl(lambda: [backend]), agog_kernels=hookimpl(lambda: [*usual, *kernels])
        )
        ag.register_plugin(module, "stone")

    yield bring
    ag.unregister_plugin("stone")
    copies.clear()


def variable(*values: float) -> ag.Variable:
    with ag.device("stone"):
        return ag.Variable(list(values))


# Arrays that nobody can write.


def test_a_variable_takes_the_array_that_the_kernel_returns(stone: Callable[..., None]) -> None:
    stone(kernel("apply_gradient_descent", fn=descend))
    v = variable(1.0, 2.0)
    before = v.value()
    copies.clear()
    apply_gradient_descent(v, ag.constant([2.0, 4.0]), learning_rate=0.5)
    apply_gradient_descent(v, ag.constant([2.0, 4.0]), learning_rate=0.5)
    assert v.numpy().tolist() == [-1.0, -2.0]
    assert before.numpy().tolist() == [1.0, 2.0]
    assert v.value().device.endswith("STONE:0")
    assert copies == []


def test_a_kernel_that_returns_nothing_is_wrong(stone: Callable[..., None]) -> None:
    def idle(variable: Stone, gradient: Stone, *, learning_rate: float) -> None:
        """Nothing."""

    stone(kernel("apply_gradient_descent", fn=idle))
    v = variable(1.0, 2.0)
    text = (
        f"apply_gradient_descent: the kernel {__name__}.{idle.__qualname__} for device 'stone' returned None; arrays "
        "of the device are not written, so it returns a tuple of 1 new arrays."
    )
    with says(InternalError, text):
        apply_gradient_descent(v, ag.constant([2.0, 4.0]), learning_rate=0.5)
    assert v.numpy().tolist() == [1.0, 2.0]


def test_a_kernel_that_fails_leaves_the_value(stone: Callable[..., None]) -> None:
    def fails(*arrays: Stone, learning_rate: float) -> None:
        raise RuntimeError("out of stone")

    stone(kernel("apply_gradient_descent", fn=fails))
    v = variable(1.0, 2.0)
    before = v.value()
    with pytest.raises(RuntimeError, match="out of stone"):
        apply_gradient_descent(v, ag.constant([2.0, 4.0]), learning_rate=0.5)
    assert v.value().numpy().tolist() == before.numpy().tolist() == [1.0, 2.0]


def steps(*variables: ag.Variable) -> list[Any]:
    return [((v,), (copied,)) for v in variables for copied in [ag.constant([2.0, 4.0])]]


def test_several_variables_take_new_arrays(stone: Callable[..., None]) -> None:
    def several(groups: Any, *, learning_rate: float) -> list[tuple[Stone]]:
        return [descend(*group, learning_rate=learning_rate) for group in groups]

    stone(kernel("apply_gradient_descent", fn=descend, several=several))
    first, second = variable(1.0, 2.0), variable(3.0, 4.0)
    before = first.value()
    update_several(registry["apply_gradient_descent"], steps(first, second), learning_rate=0.5)
    assert (first.numpy().tolist(), second.numpy().tolist()) == ([0.0, 0.0], [2.0, 2.0])
    assert before.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("wrong", [None, [], [(), ()], [None, None], 5], ids=repr)
def test_what_several_may_not_return(wrong: Any, stone: Callable[..., None]) -> None:
    stone(kernel("apply_gradient_descent", fn=descend, several=lambda groups, learning_rate: wrong))
    first, second = variable(1.0, 2.0), variable(3.0, 4.0)
    text = (
        f"apply_gradient_descent: `several` of the kernel on device 'stone' returned {type(wrong).__name__}; it "
        "updates the first arrays of each group and returns None, or a list of 2 tuples of 1 new arrays."
    )
    with says(InternalError, text):
        update_several(registry["apply_gradient_descent"], steps(first, second), learning_rate=0.5)
    assert (first.numpy().tolist(), second.numpy().tolist()) == ([1.0, 2.0], [3.0, 4.0])


def test_a_traced_function_updates_it(stone: Callable[..., None]) -> None:
    stone(kernel("apply_add", fn=lambda v, delta, *, scale: (Stone(v.values + np.float32(scale) * delta.values),)))
    v = variable(1.0, 2.0)

    @ag.function
    def step(x: ag.Tensor) -> ag.Tensor:
        before = v.value()
        v.assign_add(x)
        return before * v

    with ag.device("stone"):
        x = ag.constant([1.0, 1.0])
        assert [step(x).numpy().tolist() for _ in range(3)] == [[2.0, 6.0], [6.0, 12.0], [12.0, 20.0]]
    assert v.numpy().tolist() == [4.0, 5.0]


# Ops on the host.


def test_an_op_on_the_host(stone: Callable[..., None]) -> None:
    stone(kernel("exp", on="host"), kernel("split", on="host"))
    with ag.device("stone"):
        x = ag.constant([0.0, 1.0])
        result = ag.exp(x)
        parts = ag.split(x, 2)
    assert result.numpy().tolist() == [1.0, np.exp(np.float32(1.0))]
    assert [part.numpy().tolist() for part in parts] == [[0.0], [1.0]]
    assert {each.device[-7:] for each in (result, *parts)} == {"STONE:0"}
    assert ag.explain("exp", "stone").splitlines() == [
        "exp on device 'stone' with dtype float32:",
        "  chosen: plugin 'stone' (registered by the program), priority 100, every dtype, on the host",
    ]


def test_an_op_without_a_kernel_stays_an_error(stone: Callable[..., None]) -> None:
    stone(kernel("exp", on="host"))
    with ag.device("stone"), pytest.raises(MissingKernelError, match="No kernel is registered for op 'log' on device"):
        ag.log(ag.constant([1.0]))


def test_an_update_on_the_host(stone: Callable[..., None]) -> None:
    stone(kernel("apply_gradient_descent", on="host"))
    v = variable(1.0, 2.0)
    before = v.value()
    apply_gradient_descent(v, ag.constant([2.0, 4.0]), learning_rate=0.5)
    assert v.numpy().tolist() == [0.0, 0.0]
    assert before.numpy().tolist() == [1.0, 2.0]
    assert v.value().device.endswith("STONE:0")


def test_random_bits_of_the_host_are_those_of_the_cpu(stone: Callable[..., None]) -> None:
    stone(kernel("random_normal", on="host"))
    drawn = []
    for device in ("stone", "cpu"):
        ag.set_random_seed(7)
        with ag.device(device):
            x = ag.random_normal([5])
        assert x.device.endswith(f"{device.upper()}:0")
        drawn.append(x.numpy().tolist())
    assert drawn[0] == drawn[1]


def test_a_gradient_of_an_op_on_the_host(stone: Callable[..., None]) -> None:
    stone(kernel("exp", on="host"), kernel("ones_like", on="host"), kernel("reduce_sum", on="host"))
    with ag.device("stone"), ag.GradientTape() as tape:
        x = ag.constant([0.0, 1.0])
        tape.watch(x)
        y = ag.exp(x)
    with ag.device("stone"):
        assert tape.gradient(y, x, ag.constant([1.0, 1.0])).numpy().tolist() == y.numpy().tolist()


def test_what_cannot_be_on_the_host(stone: Callable[..., None]) -> None:
    stone(kernel("lstm", on="host"))
    assert ag.explain("lstm", "stone", "float32").splitlines()[1] == (
        "  rejected: plugin 'stone' (registered by the program), priority 100, every dtype, on the host: it runs on "
        "the host, but op 'lstm' has a reserve, which stays with the kernel that made it"
    )


def test_the_host_has_no_host() -> None:
    module = SimpleNamespace(agog_kernels=hookimpl(lambda: [Kernel(op="exp", device="cpu", on="host", priority=900)]))
    ag.register_plugin(module, "circle")
    try:
        text = "The kernel for op 'exp' on device 'cpu' of .* is left out: it could not be loaded: PluginError: it "
        with pytest.warns(ag.errors.PluginWarning, match=f"^{text}runs on the host, and cpu is the host$"):
            assert float(ag.exp(0.0)) == 1.0
    finally:
        ag.unregister_plugin("circle")


def test_a_kernel_has_one_function() -> None:
    for given, words in (
        ({}, "none"),
        ({"fn": abs, "on": "host"}, "fn and on"),
        ({"fn": abs, "make": abs}, "fn and make"),
    ):
        with says(TypeError, f"Kernel(op='exp'): it takes one of fn, make and on; got {words}."):
            Kernel(op="exp", device="cpu", **given)
