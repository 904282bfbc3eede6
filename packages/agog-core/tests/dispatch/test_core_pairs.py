"""Pairs: a kernel that keeps a reserve and its gradient's kernel come from one plugin, whatever happens in between."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.kernels.observation import KernelCall, observe, unobserve
from agog_core.dispatch.plugins.loader import loader
from agog_core.errors import AmbiguousKernelError, InternalError, MissingKernelError
from agog_core.gradients.forward import jvp
from agog_core.ops.nn.gru import gru, gru_grad
from agog_core.ops.nn.lstm import _forward, lstm, lstm_grad
from agog_core.plugin import Backend, Kernel, hookimpl
from agog_kernels_xp.nn import gru as gru_kernels
from agog_kernels_xp.nn import lstm as lstm_kernels
from agog_testing import says

Array = np.ndarray[Any, Any]
FORWARD = {"lstm": lstm_kernels.lstm, "gru": gru_kernels.gru}
BACKWARD = {"lstm_grad": lstm_kernels.lstm_grad, "gru_grad": gru_kernels.gru_grad}
PRESENT = "registered by the program"


class Format:
    """Kernels with a reserve of a format of their own: bytes behind a stamp, whatever the dtype of the op."""

    def __init__(self, stamp: int, scale: float = 1.0) -> None:
        self.stamp = stamp
        self.scale = scale  # so that results tell whose kernel it was
        self.calls: list[str] = []

    def forward(self, op: str) -> Callable[..., Any]:
        def kernel(*arrays: Array, **attributes: Any) -> tuple[Array, ...]:
            self.calls.append(op)
            *outputs, reserve = FORWARD[op](np, *arrays, **attributes)
            stamped = np.frombuffer(bytes([self.stamp]) + reserve.tobytes(), np.uint8)
            return *[self.scale * each for each in outputs], stamped

        return kernel

    def backward(self, op: str) -> Callable[..., Any]:
        def kernel(*arrays: Array, **attributes: Any) -> tuple[Array, ...]:
            self.calls.append(op)
            *inputs, reserve = arrays
            assert reserve.dtype == np.uint8
            assert reserve[0] == self.stamp
            x, recurrent = (inputs[2], inputs[4]) if op == "lstm_grad" else (inputs[1], inputs[3])
            width = (5 if op == "lstm_grad" else 4) * len(recurrent)
            plain = np.frombuffer(reserve[1:].tobytes(), x.dtype).reshape(*x.shape[:2], width)
            return tuple(self.scale * each for each in BACKWARD[op](np, *inputs, plain, **attributes))

        return kernel

    def kernels(self, *ops: str, **changes: Any) -> list[Kernel]:
        made = {op: self.forward(op) if op in FORWARD else self.backward(op) for op in ops}
        return [Kernel(**{"op": op, "device": "cpu", "fn": fn, **changes}) for op, fn in made.items()]


Register = Callable[..., None]


@pytest.fixture(autouse=True)
def _outside_of_all_scopes() -> Iterator[None]:
    """The suite may run inside of a device's scope; these kernels are the CPU's."""
    with ag.device(None):
        yield


@pytest.fixture
def register() -> Iterator[Register]:
    """Register plugins for one test."""
    names: list[str] = []

    def add(name: str, kernels: list[Kernel], **hooks: Any) -> None:
        ag.register_plugin(SimpleNamespace(agog_kernels=hookimpl(lambda: kernels), **hooks), name)
        names.append(name)

    before = ag.prefer()
    yield add
    ag.prefer()
    for name in names:
        if any(plugin.name == name for plugin in loader().plugins):
            ag.unregister_plugin(name)
    ag.prefer(*before)


def inputs(op: str = "lstm", dtype: str = "float64") -> list[ag.Tensor]:
    gates, states = (4, 2) if op == "lstm" else (3, 1)
    rng = np.random.default_rng(5)
    time, batch, features, units = 3, 2, 4, 5
    shapes = [(time, batch, features), (features, gates * units), (units, gates * units), (gates * units,)]
    return [ag.constant(rng.uniform(-1, 1, shape), dtype) for shape in [*shapes, *[(batch, units)] * states]]


def recur(op: str, tensors: list[ag.Tensor]) -> ag.Tensor:
    hidden = lstm(*tensors)[0] if op == "lstm" else gru(*tensors)[0]
    return ag.reduce_sum(hidden * hidden)


def gradients(op: str, tensors: list[ag.Tensor]) -> list[Array]:
    with ag.GradientTape() as tape:
        tape.watch(tensors)
        value = recur(op, tensors)
    return [gradient.numpy() for gradient in tape.gradient(value, tensors)]


@pytest.mark.parametrize("op", ["lstm", "gru"])
def test_a_kernel_keeps_what_only_its_gradients_kernel_can_read(register: Register, op: str) -> None:
    tensors = inputs(op)
    expected = gradients(op, tensors)
    ours = Format(7)
    register("ours", ours.kernels(op, f"{op}_grad"))
    for got, wanted in zip(gradients(op, tensors), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    assert ours.calls == [op, f"{op}_grad"]
    direct = (
        lstm_grad(np.ones((3, 2, 5)), np.ones((2, 5)), *tensors)
        if op == "lstm"
        else gru_grad(np.ones((3, 2, 5)), *tensors)
    )
    assert len(direct) == len(tensors)
    assert ours.calls == [op, f"{op}_grad"] * 2


def test_the_reserve_is_no_output(register: Register) -> None:
    register("ours", Format(7).kernels("lstm", "lstm_grad"))
    seen: list[KernelCall] = []
    observe(seen.append)
    try:
        with ag.GradientTape() as tape:
            tensors = inputs()
            tape.watch(tensors[1])
            results = lstm(*tensors)
        tape.gradient(results[0], tensors[1])
    finally:
        unobserve(seen.append)
    assert [tuple(each.shape.as_list()) for each in results] == [(3, 2, 5), (2, 5), (2, 5)]
    by_op = {each.op.name: each for each in seen}
    assert [each.shape for each in by_op["lstm"].results] == [(3, 2, 5), (2, 5)]
    assert by_op["lstm_grad"].arrays[-1].dtype == np.uint8  # what the kernel itself has kept


def test_what_a_tape_keeps_is_as_large_as_the_reserve(register: Register) -> None:
    register("ours", Format(7).kernels("lstm", "lstm_grad"))
    tensors = inputs()
    with ag.GradientTape() as tape:
        tape.watch(tensors[1])
        lstm(*tensors)
    given = sum(8 * each.shape.num_elements() for each in tensors)
    outputs, reserve = 8 * (3 * 2 * 5 + 2 * 5), 1 + 8 * 3 * 2 * 25
    assert f" {given + outputs + reserve:,} bytes in " in tape.summary()


def test_who_is_preferred_later_does_not_get_the_reserve(register: Register) -> None:
    tensors, ours, theirs = inputs(), Format(7, 2.0), Format(8, 3.0)
    register("ours", ours.kernels("lstm", "lstm_grad"))
    register("theirs", theirs.kernels("lstm", "lstm_grad", priority=50))
    expected = gradients("lstm", tensors)
    for later in ([], ["cpu-numpy"], ["theirs"], ["ours"]):
        ag.prefer()
        with ag.GradientTape(persistent=True) as tape:
            tape.watch(tensors)
            value = recur("lstm", tensors)
        ag.prefer(*later)
        for _ in range(2):
            for got, wanted in zip(tape.gradient(value, tensors), expected, strict=True):
                np.testing.assert_array_equal(got.numpy(), wanted)
    assert theirs.calls == []
    ag.prefer("theirs")
    assert not np.allclose(gradients("lstm", tensors)[1], expected[1])
    assert theirs.calls == ["lstm", "lstm_grad"]


def test_a_plugin_that_has_gone_still_takes_its_reserve(register: Register) -> None:
    tensors, ours = inputs(), Format(7)
    register("ours", ours.kernels("lstm", "lstm_grad"))
    with ag.GradientTape() as tape:
        tape.watch(tensors)
        value = recur("lstm", tensors)
    ag.unregister_plugin("ours")
    tape.gradient(value, tensors)
    assert ours.calls == ["lstm", "lstm_grad"]


def test_priorities_of_gradients_kernels_part_no_pair(register: Register) -> None:
    """The kernel of the forward op decides."""
    ours, theirs = Format(7), Format(8)
    register("ours", [*ours.kernels("lstm", priority=200), *ours.kernels("lstm_grad", priority=95)])
    register("theirs", [*theirs.kernels("lstm", priority=95), *theirs.kernels("lstm_grad", priority=200)])
    gradients("lstm", inputs())
    assert (ours.calls, theirs.calls) == (["lstm", "lstm_grad"], [])
    lines = ag.explain("lstm_grad", "cpu", "float64").splitlines()
    assert lines[1:3] == [
        f"  chosen: plugin 'ours' ({PRESENT}), priority 95, every dtype",
        f"  next: plugin 'theirs' ({PRESENT}), priority 200, every dtype",
    ]


def test_half_a_pair_is_passed_over(register: Register) -> None:
    ours, theirs = Format(7), Format(8)
    register("ours", ours.kernels("lstm"))
    register("theirs", theirs.kernels("lstm_grad"))
    gradients("lstm", inputs())
    assert ours.calls == theirs.calls == []
    half = "half of a pair: its plugin has no usable kernel with pair=None for op"
    assert ag.explain("lstm", "cpu", "float64").splitlines()[-1:] == [
        f"  rejected: plugin 'ours' ({PRESENT}), priority 100, every dtype: {half} 'lstm_grad', which takes its reserve"
    ]
    assert ag.explain("lstm_grad", "cpu", "float64").splitlines()[-1:] == [
        f"  rejected: plugin 'theirs' ({PRESENT}), priority 100, every dtype: {half} 'lstm', which keeps the reserve "
        "that it takes"
    ]


def test_halves_that_do_not_fit(register: Register) -> None:
    """By dtype, by name, and because one of them cannot be used here."""
    ours = Format(7)
    register("dtypes", [*ours.kernels("lstm"), *ours.kernels("lstm_grad", dtypes="float32")])
    register("names", [*ours.kernels("lstm", pair="a"), *ours.kernels("lstm_grad", pair="b")])
    register("broken", [*ours.kernels("lstm"), *ours.kernels("lstm_grad", unavailable=lambda: "no driver")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # being passed over is no reason to warn
        gradients("lstm", inputs())
    assert ours.calls == []
    lines = [line for line in ag.explain("lstm", "cpu", "float64").splitlines() if "rejected" in line]
    half = "half of a pair: its plugin has no usable kernel"
    assert lines == [
        f"  rejected: plugin 'dtypes' ({PRESENT}), priority 100, every dtype: {half} with pair=None for op "
        "'lstm_grad', which takes its reserve",
        f"  rejected: plugin 'names' ({PRESENT}), priority 100, every dtype, pair 'a': {half} with pair='a' for op "
        "'lstm_grad', which takes its reserve",
        f"  rejected: plugin 'broken' ({PRESENT}), priority 100, every dtype: {half} with pair=None for op "
        "'lstm_grad', which takes its reserve: not available: no driver",
    ]
    gradients("lstm", inputs(dtype="float32"))
    assert ours.calls == ["lstm", "lstm_grad"]


def test_several_pairs_of_one_plugin(register: Register) -> None:
    fast, exact = Format(7), Format(8)
    register(
        "ours",
        [
            *fast.kernels("lstm", "lstm_grad", pair="fast", dtypes="float32", priority=200),
            *exact.kernels("lstm", "lstm_grad", pair="exact"),
        ],
    )
    gradients("lstm", inputs(dtype="float32"))
    assert (fast.calls, exact.calls) == (["lstm", "lstm_grad"], [])
    gradients("lstm", inputs(dtype="float64"))
    assert (fast.calls, exact.calls) == (["lstm", "lstm_grad"], ["lstm", "lstm_grad"])


def test_two_kernels_of_equal_rank_for_one_reserve(register: Register) -> None:
    ours = Format(7)
    register("ours", [*ours.kernels("lstm"), *ours.kernels("lstm_grad"), *ours.kernels("lstm_grad")])
    with says(
        AmbiguousKernelError,
        "2 kernels of equal rank are registered for op 'lstm_grad' on device 'cpu' with dtype float64:\n"
        f"  plugin 'ours' ({PRESENT}), priority 100, every dtype\n"
        f"  plugin 'ours' ({PRESENT}), priority 100, every dtype\n"
        "They come from one plugin, which must give them different priorities or dtypes.",
    ):
        gradients("lstm", inputs())


def test_a_pair_of_an_op_without_reserve(register: Register) -> None:
    register("ours", [Kernel(op="square", device="cpu", fn=np.square, pair="squares")])
    assert ag.explain("square", "cpu", "float64").splitlines()[2:] == [
        f"  rejected: plugin 'ours' ({PRESENT}), priority 100, every dtype, pair 'squares': it names pair 'squares', "
        "but op 'square' has no reserve"
    ]
    for wrong in ("", 3):
        with says(TypeError, f"Kernel(op='lstm'): pair must be a name, or None; got {wrong!r}."):
            Kernel(op="lstm", device="cpu", fn=abs, pair=wrong)


@pytest.mark.parametrize("op", ["lstm", "gru"])
def test_derivatives_of_all_kinds_with_a_reserve(register: Register, op: str) -> None:
    """Checkpointing, forward mode, second order and Jacobians are those of the reference kernels."""
    tensors = inputs(op)

    def values() -> list[Array]:
        with ag.GradientTape() as tape:
            tape.watch(tensors[1])
            value = ag.recompute_grad(lambda *x: recur(op, list(x)))(*tensors)
        found = [tape.gradient(value, tensors[1]).numpy()]
        _, tangent = jvp(lambda x: recur(op, [tensors[0], x, *tensors[2:]]), [tensors[1]], [ag.ones_like(tensors[1])])
        found.append(tangent.numpy())
        with ag.GradientTape() as outer:
            outer.watch(tensors[:2])
            with ag.GradientTape() as inner:
                inner.watch(tensors[1])
                value = recur(op, tensors)
            first = inner.gradient(value, tensors[1])
        found += [each.numpy() for each in outer.gradient(first, tensors[:2])]
        with ag.GradientTape(persistent=True) as tape:
            tape.watch(tensors[1])
            last = (lstm(*tensors) if op == "lstm" else gru(*tensors))[1]
        return [*found, tape.jacobian(last, tensors[1]).numpy()]

    expected = values()
    ours = Format(9)
    register("ours", ours.kernels(op, f"{op}_grad"))
    for got, wanted in zip(values(), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)
    assert f"{op}_grad" in ours.calls


class ToyArray:
    """The array type of another device."""

    def __init__(self, memory: Any) -> None:
        self.memory = np.asarray(memory)
        self.shape, self.dtype = self.memory.shape, self.memory.dtype


def toy_backend() -> Backend:
    return Backend(
        device="toy",
        array_type=ToyArray,
        device_count=lambda: 1,
        from_host=lambda host, index: ToyArray(host),
        to_host=lambda array: array.memory,
        allocate=lambda shape, dtype, index: ToyArray(np.empty(shape, dtype)),
        copy=lambda array: ToyArray(array.memory.copy()),
        synchronize=lambda index: None,
        memory_in_use=lambda index: None,
    )


def on_toy(kernel: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arrays: ToyArray, **attributes: Any) -> Any:
        result = kernel(*[array.memory for array in arrays], **attributes)
        return tuple(map(ToyArray, result)) if isinstance(result, tuple) else ToyArray(result)

    return run


def test_a_reserve_stays_on_its_device(register: Register) -> None:
    """Its kernel runs there, also where a scope asks for the gradient on another device."""
    tensors, mask, ours = inputs(), ag.constant(np.ones((3, 2), bool)), Format(7)
    made = [
        Kernel(op="lstm", device="toy", fn=on_toy(ours.forward("lstm"))),
        Kernel(op="lstm_grad", device="toy", fn=on_toy(ours.backward("lstm_grad"))),
    ]
    register("toy", made, agog_backends=hookimpl(lambda: [toy_backend()]))
    found = []
    for name in ("cpu", "toy"):  # the op itself: its public function makes views, for which the toy has no kernels
        with ag.GradientTape() as tape, ag.device(name):
            tape.watch(tensors)
            hidden, cell, _ = _forward(tensors, mask, "tanh", "sigmoid")
        with ag.device("cpu"):
            seeds = [ag.ones((3, 2, 5), "float64"), ag.ones((2, 5), "float64")]
            found.append(tape.gradient([hidden, cell], tensors, seeds))
    assert cell.device.endswith("TOY:0")
    assert ours.calls == ["lstm", "lstm_grad"]
    for right, got in zip(*found, strict=True):
        assert got.device.endswith("CPU:0")
        np.testing.assert_allclose(got.numpy(), right.numpy(), rtol=1e-12)


def test_fallbacks_leave_a_reserve_where_it_is(register: Register) -> None:
    tensors, ours = inputs(), Format(7)
    register("toy", [], agog_backends=hookimpl(lambda: [toy_backend()]))
    register("ours", ours.kernels("lstm", "lstm_grad"))
    expected = gradients("lstm", tensors)
    with warnings.catch_warnings(), ag.fallback("cpu"):
        warnings.simplefilter("ignore")
        with ag.device("toy"):
            there = [ag.identity(tensor) for tensor in tensors]
        for got, wanted in zip(gradients("lstm", there), expected, strict=True):
            np.testing.assert_array_equal(got, wanted)
    assert ours.calls == ["lstm", "lstm_grad"] * 2


def test_results_that_are_no_outputs_and_a_reserve(register: Register) -> None:
    few = Kernel(op="lstm", device="cpu", fn=lambda *arrays, **names: (arrays[0], arrays[1]))
    none = Kernel(op="gru", device="cpu", fn=lambda *arrays, **names: (np.zeros((3, 2, 5)), "reserve"))
    register("ours", [few, none, *Format(7).kernels("lstm_grad", "gru_grad")])
    with says(
        InternalError,
        "lstm: the kernel on device 'cpu' returned 2 arrays; a tuple of 3 arrays is expected.",
    ):
        lstm(*inputs())
    with says(
        InternalError,
        f"gru: the kernel {__name__}.test_results_that_are_no_outputs_and_a_reserve.<locals>.<lambda> for device 'cpu' "
        "and dtype float64 returned str; a kernel returns ndarray. This is a bug of the plugin that brings it.",
    ):
        gru(*inputs("gru"))


def test_a_device_with_halves_only(register: Register) -> None:
    register(
        "toy",
        [Kernel(op="lstm", device="toy", fn=on_toy(Format(7).forward("lstm")))],
        agog_backends=hookimpl(lambda: [toy_backend()]),
    )
    with ag.device("toy"), pytest.raises(MissingKernelError) as caught:
        lstm(*inputs(), np.ones((3, 2), bool))
    assert str(caught.value).splitlines()[1] == (
        f"  rejected: plugin 'toy' ({PRESENT}), priority 100, every dtype: half of a pair: its plugin has no usable "
        "kernel with pair=None for op 'lstm_grad', which takes its reserve"
    )
