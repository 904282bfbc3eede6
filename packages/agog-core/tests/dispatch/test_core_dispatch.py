"""Which kernel runs: priorities, preferences, dtypes, availability, and the texts that say so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.devices.backends import device_types
from agog_core.dispatch.devices.lookup import clear_tables
from agog_core.dispatch.kernels.candidates import candidates_of_all_ops
from agog_core.dispatch.op import registry
from agog_core.dispatch.plugins.loader import loader
from agog_core.errors import (
    AmbiguousKernelError,
    InternalError,
    InvalidArgumentError,
    MissingKernelError,
    PluginError,
    PluginWarning,
)
from agog_core.plugin import Backend, Kernel, Op, hookimpl
from agog_testing import says

REPEAT = "`agog explain {} --device {} --dtype {}` prints this again."
FLOATS = "bfloat16, complex128, complex64, float16, float32, float64"


class ToyArray:
    """The array type of a device of these tests."""

    def __init__(self, memory: np.ndarray[Any, Any]) -> None:
        self.memory = np.asarray(memory)


def toy_backend(device: str = "toy", **changes: Any) -> Backend:
    return Backend(
        **{
            "device": device,
            "array_type": ToyArray,
            "device_count": lambda: 1,
            "from_host": lambda host, index: ToyArray(host),
            "to_host": lambda array: array.memory,
            "allocate": lambda shape, dtype, index: ToyArray(np.empty(shape, dtype)),
            "copy": lambda array: ToyArray(array.memory.copy()),
            "synchronize": lambda index: None,
            "memory_in_use": lambda index: None,
            **changes,
        }
    )


def adding(number: float) -> Callable[..., ToyArray]:
    """A kernel whose result tells who computed it."""

    def kernel(array: ToyArray) -> ToyArray:
        return ToyArray(array.memory + np.asarray(number, array.memory.dtype))

    return kernel


def toy_kernel(number: float = 1, **changes: Any) -> Kernel:
    return Kernel(**{"op": "square", "device": "toy", "fn": adding(number), **changes})


def plugin(kernels: list[Kernel] = (), backends: list[Backend] = (), **hooks: Any) -> Any:  # type: ignore[assignment]
    """A plugin object with hooks."""

    def agog_kernels() -> Iterator[Kernel]:
        yield from kernels

    def agog_backends() -> Iterator[Backend]:
        yield from backends

    return SimpleNamespace(agog_kernels=hookimpl(agog_kernels), agog_backends=hookimpl(agog_backends), **hooks)


Register = Callable[..., None]


@pytest.fixture
def register() -> Iterator[Register]:
    """Register plugins for one test; the device "toy" is there from the beginning."""
    names: list[str] = []

    def add(name: str, *kernels: Kernel, **more: Any) -> None:
        ag.register_plugin(plugin(list(kernels), **more), name)
        names.append(name)

    before = ag.prefer()
    add("toy", backends=[toy_backend()])
    yield add
    ag.prefer()
    for name in names:
        if any(p.name == name for p in loader().plugins):
            ag.unregister_plugin(name)
    ag.prefer(*before)


@pytest.fixture(autouse=True)
def _outside_of_all_scopes() -> Iterator[None]:
    """The suite may run inside of a device's scope; these tests choose their devices themselves."""
    with ag.device(None):
        yield


def toy(value: Any = 0.0, dtype: Any = None) -> ag.Tensor:
    with ag.device("toy"):
        return ag.constant(value, dtype)


def answer(dtype: str = "float32") -> float:
    """Which kernel of "square" answers."""
    return float(ag.square(toy(0, dtype)))


def listed_elsewhere(op: str, device: str) -> str:
    """The lines about kernels on other devices, which depend on what is installed."""
    elsewhere = [c for c in candidates_of_all_ops().get(op, []) if c.kernel.device != device]
    return "".join(f"\n  registered: on device {c.kernel.device!r} by {c}" for c in elsewhere)


def listed_plugins() -> str:
    """The lines about plugins that are not loaded, which depend on what is installed."""
    return "".join(
        f"\n  left out by AGOG_PLUGINS: plugin {p.name!r} ({p.distribution})" for p in loader().plugins if p.skipped
    )


# --- choice -------------------------------------------------------------------------------------------------------


def test_the_highest_priority_wins_in_every_order(register: Register) -> None:
    register("low", toy_kernel(1, priority=0))
    assert answer() == 1
    register("high", toy_kernel(3, priority=200))
    assert answer() == 3
    register("middle", toy_kernel(2))
    assert answer() == 3
    ag.unregister_plugin("high")
    assert answer() == 2


def test_dtypes_decide(register: Register) -> None:
    register("all", toy_kernel(1))
    register("fast", toy_kernel(2, dtypes=("float32",), priority=200))
    assert answer("float32") == 2
    assert answer("float64") == 1
    assert answer("int32") == 1


def test_a_late_registration_counts_at_once(register: Register) -> None:
    register("first", toy_kernel(1))
    x = toy(0.0)
    assert float(ag.square(x)) == 1
    register("second", toy_kernel(2, priority=200))
    assert float(ag.square(x)) == 2
    ag.unregister_plugin("second")
    assert float(ag.square(x)) == 1


def test_a_preference_goes_before_priority(register: Register) -> None:
    register("first", toy_kernel(1))
    register("second", toy_kernel(2, priority=200))
    register("third", toy_kernel(3, priority=50))
    x = toy(0.0)
    assert float(ag.square(x)) == 2
    assert ag.prefer("first") == ()
    assert float(ag.square(x)) == 1
    assert ag.prefer("third", "first") == ("first",)
    assert float(ag.square(x)) == 3
    assert ag.prefer() == ("third", "first")
    assert float(ag.square(x)) == 2


def test_a_preferred_plugin_without_the_kernel_changes_nothing(register: Register) -> None:
    register("first", toy_kernel(1))
    register("other", toy_kernel(5, op="exp"), toy_kernel(6, dtypes=["float64"]))
    ag.prefer("other")
    assert answer("float32") == 1
    assert answer("float64") == 6


def test_unknown_preferences(register: Register) -> None:
    loaded = ", ".join(p.name for p in loader().plugins if p.failure is None and not p.skipped)
    with says(ValueError, f"prefer: no plugin 'nobody' is loaded; loaded are {loaded}."):
        ag.prefer("nobody")


def test_a_tie_is_an_error_when_it_is_met(register: Register) -> None:
    register("first", toy_kernel(1), toy_kernel(1, op="exp"))
    register("second", toy_kernel(2, dtypes=["float64", "float32"]), toy_kernel(2, op="exp", priority=99))
    assert float(ag.exp(toy(0.0))) == 1
    assert answer("int32") == 1
    text = (
        "2 kernels of equal rank are registered for op 'square' on device 'toy' with dtype float32:\n"
        "  plugin 'first' (registered by the program), priority 100, every dtype\n"
        "  plugin 'second' (registered by the program), priority 100, float32, float64\n"
        "Choose one: agog.prefer('first'), or AGOG_PREFER=first in the environment."
    )
    with says(AmbiguousKernelError, text):
        answer()
    assert ag.explain("square", "toy", "float32") == text
    ag.prefer("first")
    assert answer() == 1
    ag.prefer("second", "first")
    assert answer() == 2
    register("third", toy_kernel(3, priority=200))
    ag.prefer()
    assert answer() == 3


def test_a_plugin_that_ties_with_itself_is_told_so(register: Register) -> None:
    register("first", toy_kernel(1), toy_kernel(2))
    with says(
        AmbiguousKernelError,
        "2 kernels of equal rank are registered for op 'square' on device 'toy' with dtype float32:\n"
        "  plugin 'first' (registered by the program), priority 100, every dtype\n"
        "  plugin 'first' (registered by the program), priority 100, every dtype\n"
        "They come from one plugin, which must give them different priorities or dtypes.",
    ):
        answer()


# --- availability -------------------------------------------------------------------------------------------------


def test_an_unavailable_kernel_gives_way(register: Register) -> None:
    why: list[str | None] = ["the library is too old."]
    register("reference", toy_kernel(1, priority=0))
    register("fast", toy_kernel(2, priority=200, unavailable=lambda: why[0]))
    assert answer() == 1
    assert ag.explain("square", "toy") == (
        "square on device 'toy' with dtype float32:\n"
        "  chosen: plugin 'reference' (registered by the program), priority 0, every dtype\n"
        "  rejected: plugin 'fast' (registered by the program), priority 200, every dtype: not available: the library "
        "is too old."
    )
    why[0] = None
    clear_tables()
    assert answer() == 2


def raises() -> str | None:
    raise OSError("no driver")


def test_every_reason_why_there_is_no_kernel(register: Register) -> None:
    register("missing-module", toy_kernel(fn="no_such_module_of_agog:square"))
    register("missing-name", toy_kernel(fn="math:no_such_function"))
    register("no-function", toy_kernel(fn="math:pi"))
    register("unavailable", toy_kernel(unavailable=lambda: "no such unit here."))
    register("broken", toy_kernel(unavailable=raises))
    register("other-dtype", toy_kernel(dtypes=("int32", "float64")))
    who = "(registered by the program), priority 100,"
    reasons = (
        f"\n  rejected: plugin 'missing-module' {who} every dtype: could not be loaded: ModuleNotFoundError: No module "
        "named 'no_such_module_of_agog'"
        f"\n  rejected: plugin 'missing-name' {who} every dtype: could not be loaded: AttributeError: module 'math' "
        "has no attribute 'no_such_function'"
        f"\n  rejected: plugin 'no-function' {who} every dtype: could not be loaded: TypeError: math:pi must be a "
        "function; it is 3.141592653589793"
        f"\n  rejected: plugin 'unavailable' {who} every dtype: not available: no such unit here."
        f"\n  rejected: plugin 'broken' {who} every dtype: could not be loaded: OSError: no driver"
        f"\n  rejected: plugin 'other-dtype' {who} float64, int32: not for dtype float32"
    )
    end = (
        f"{listed_elsewhere('square', 'toy')}{listed_plugins()}\nRun it elsewhere (with tf.device('cpu'):), or install "
        f"a plugin that brings the kernel. {REPEAT.format('square', 'toy', 'float32')}"
    )
    start = "No kernel is registered for op 'square' on device 'toy' with dtype float32"
    with says(MissingKernelError, f"{start}, called with shapes (1, 2).{reasons}{end}"):
        ag.square(toy([[1.0, 2.0]]))
    assert ag.explain("square", "toy", "float32") == f"{start}.{reasons}{end}"
    with pytest.warns(PluginWarning) as warned:
        assert answer("float64") == 1
    start = "The kernel for op 'square' on device 'toy' of plugin"
    assert [str(warning.message) for warning in warned] == [
        f"{start} 'missing-module' {who} every dtype is left out: it could not be loaded: ModuleNotFoundError: No "
        "module named 'no_such_module_of_agog'",
        f"{start} 'missing-name' {who} every dtype is left out: it could not be loaded: AttributeError: module 'math' "
        "has no attribute 'no_such_function'",
        f"{start} 'no-function' {who} every dtype is left out: it could not be loaded: TypeError: math:pi must be a "
        "function; it is 3.141592653589793",
        f"{start} 'broken' {who} every dtype is left out: it could not be loaded: OSError: no driver",
    ]


def test_a_broken_kernel_is_an_error_where_plugins_are_strict(
    register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    register("missing-name", toy_kernel(fn="math:no_such_function"))
    register("whole", toy_kernel(1))
    monkeypatch.setattr(loader(), "strict", True)
    with says(
        PluginError,
        "The kernel for op 'square' on device 'toy' of plugin 'missing-name' (registered by the program), priority "
        "100, every dtype is left out: it could not be loaded: AttributeError: module 'math' has no attribute "
        "'no_such_function'",
    ):
        answer()


def test_a_kernel_that_is_nowhere(register: Register) -> None:
    Op("test_core_nowhere", lambda x: None, inputs=["x"], shape=lambda x: x)
    try:
        assert ag.explain("test_core_nowhere", "toy", "int32") == (
            "No kernel is registered for op 'test_core_nowhere' on device 'toy' with dtype int32."
            f"\n  registered: nowhere, by no plugin{listed_plugins()}"
            f"\nInstall a plugin that brings the kernel. {REPEAT.format('test_core_nowhere', 'toy', 'int32')}"
        )
    finally:
        del registry["test_core_nowhere"]


def test_there_is_no_silent_fallback_to_another_device(register: Register) -> None:
    with says(
        MissingKernelError,
        "No kernel is registered for op 'matmul' on device 'toy' with dtype float32, called with shapes (1, 1), (1, 1)."
        f"{listed_elsewhere('matmul', 'toy')}{listed_plugins()}\nRun it elsewhere (with tf.device('cpu'):), or install "
        f"a plugin that brings the kernel. {REPEAT.format('matmul', 'toy', 'float32')}",
    ):
        ag.matmul(toy([[1.0]]), toy([[1.0]]))


def test_a_dtype_that_the_op_does_not_have(register: Register) -> None:
    register("first", toy_kernel(1, op="tanh"))
    text = f"tanh: dtype int32 is not supported; use one of {FLOATS}. Cast with tf.cast."
    with says(InvalidArgumentError, text):
        ag.tanh(toy(1))
    assert ag.explain("tanh", "toy", "int32") == text


# --- broken kernels -----------------------------------------------------------------------------------------------


def returns_a_list(array: Any) -> Any:
    return [1.0]


def test_a_kernel_that_returns_a_wrong_type(register: Register) -> None:
    register("wrong", toy_kernel(fn=returns_a_list), toy_kernel(op="reduce_sum", fn=lambda x, axes, keepdims: None))
    with says(
        InternalError,
        f"square: the kernel {__name__}.returns_a_list for device 'toy' and dtype float32 returned list; a kernel "
        "returns ToyArray. This is a bug of the plugin that brings it.",
    ):
        answer()
    with pytest.raises(InternalError, match="returned NoneType; a kernel returns ToyArray"):
        ag.reduce_sum(toy([1.0]))


def test_a_kernel_that_returns_too_few_arrays(register: Register) -> None:
    register("wrong", toy_kernel(op="split", fn=lambda x, sizes, axis: (x,)))
    with says(InternalError, "split: the kernel on device 'toy' returned 1 arrays; a tuple of 2 arrays is expected."):
        ag.split(toy([1.0, 2.0]), 2)


def test_as_array_adopts_what_a_kernel_returned(register: Register) -> None:
    ag.unregister_plugin("toy")
    adopt = lambda value: ToyArray(np.asarray(value))  # noqa: E731
    register("toy2", toy_kernel(fn=lambda x: 7.5), backends=[toy_backend(as_array=adopt)])
    assert answer() == 7.5


def test_an_error_of_a_kernel_passes_through(register: Register) -> None:
    def fails(array: Any) -> Any:
        raise MemoryError("toy")

    register("failing", toy_kernel(fn=fails))
    with pytest.raises(MemoryError, match="toy"):
        answer()


# --- explain ------------------------------------------------------------------------------------------------------


def test_explain(register: Register) -> None:
    register("reference", toy_kernel(1, priority=0))
    register("fast", toy_kernel(2, priority=200, dtypes=["float32"]))
    register("preferred", toy_kernel(3, priority=50))
    assert ag.explain("square", device="toy", dtype="float64") == (
        "square on device 'toy' with dtype float64:\n"
        "  chosen: plugin 'preferred' (registered by the program), priority 50, every dtype\n"
        "  next: plugin 'reference' (registered by the program), priority 0, every dtype\n"
        "  rejected: plugin 'fast' (registered by the program), priority 200, float32: not for dtype float64"
    )
    ag.prefer("preferred")
    text = (
        "square on device 'toy' with dtype float32:\n"
        "  chosen: plugin 'preferred' (registered by the program), priority 50, every dtype (preferred)\n"
        "  next: plugin 'fast' (registered by the program), priority 200, float32\n"
        "  next: plugin 'reference' (registered by the program), priority 0, every dtype"
    )
    assert ag.explain("square", device="toy", dtype=np.float32) == text
    assert text in ag.explain("square")
    assert ag.explain("square").count("square on device") == sum(ag.count_devices(kind) > 0 for kind in device_types())


def test_explain_chooses_a_dtype(register: Register) -> None:
    register("logic", toy_kernel(op="logical_not"), toy_kernel(op="random_integers"))
    assert ag.explain("logical_not", "toy").startswith("logical_not on device 'toy' with dtype bool:\n")
    assert ag.explain("random_integers", "toy").startswith("random_integers on device 'toy' with dtype int32:\n")


def test_explain_of_an_unknown_op() -> None:
    with says(ValueError, "explain: there is no op 'matmull'; did you mean matmul, matmul_bias?"):
        ag.explain("matmull")
    with says(ValueError, "explain: there is no op 'zzzzzzzz'."):
        ag.explain("zzzzzzzz")
