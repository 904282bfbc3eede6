"""Backends: what the core asks of one, whose fault an error is, and what stays on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.devices.lookup import get_device
from agog_core.dispatch.op import registry
from agog_core.errors import (
    InternalError,
    InvalidArgumentError,
    ResourceExhaustedError,
    UnimplementedError,
)
from agog_core.ops.strings.strings import string_length
from agog_core.plugin import Backend, Kernel, MemoryStats, hookimpl
from agog_core.tensors.placement import copy_to_device
from agog_testing import says

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
BUG = " This is a bug of the plugin that brings the device."


class Box:
    """The arrays of the device of these tests; a view is another box with the same memory, which nothing says."""

    def __init__(self, memory: np.ndarray[Any, Any]) -> None:
        self.memory = memory

    @property
    def shape(self) -> tuple[int, ...]:
        return self.memory.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.memory.dtype


def owner(box: Box) -> Any:
    """What each array of the memory refers to once."""
    return box.memory if box.memory.base is None else box.memory.base


def boxed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel for boxes out of one for NumPy's arrays."""

    def run(*boxes: Box, **attributes: Any) -> Any:
        result = function(*(box.memory for box in boxes), **attributes)
        return None if result is None else Box(np.asarray(result))

    return run


def _add_in_place(variable: Any, delta: Any, scale: float) -> None:
    variable += delta * scale


KERNELS = {
    "reshape": lambda x, shape: x.reshape(shape),
    "apply_add": _add_in_place,
    "square": np.square,
    "equal": np.equal,
    "cast": lambda x, dtype: x.astype(dtype),
    "string_length": lambda x, unit: np.zeros(x.shape, "int32"),
}

Register = Callable[..., None]


@pytest.fixture
def box() -> Iterator[Register]:
    """Brings the device "box", with changes to its backend; two of them, and a few kernels."""

    def register(kernels: dict[str, Callable[..., Any]] | None = None, **changes: Any) -> None:
        usual: dict[str, Any] = {
            "device": "box",
            "array_type": Box,
            "device_count": lambda: 2,
            "from_host": lambda host, index: Box(host.copy()),
            "to_host": lambda array: array.memory,
            "copy": lambda array: Box(array.memory.copy()),
            "synchronize": lambda index: None,
        }
        backend = Backend(**{**usual, **changes})
        found = {op: boxed(function) for op, function in KERNELS.items()} | (kernels or {})

        @hookimpl
        def agog_backends() -> Iterator[Backend]:
            yield backend

        @hookimpl
        def agog_kernels() -> Iterator[Kernel]:
            for op, function in found.items():
                yield Kernel(op=op, device="box", fn=function)

        ag.register_plugin(SimpleNamespace(agog_backends=agog_backends, agog_kernels=agog_kernels), "boxes")

    with ag.device(None):
        yield register
        ag.unregister_plugin("boxes")


def on_box(value: Any, dtype: Any = None) -> ag.Tensor:
    with ag.device("box"):
        return ag.constant(value, dtype)


def variable_on_box(value: Any) -> ag.Variable:
    with ag.device("box"):
        return ag.Variable(value)


# --- bind ---------------------------------------------------------------------------------------------------------


def test_bind_is_asked_once_for_each_op_dtype_and_device(box: Register) -> None:
    asked: list[tuple[Any, ...]] = []

    def bind(kernel: Any, op: str, dtype: str, index: int) -> Any:
        asked.append((op, dtype, index))
        return lambda x: Box(np.asarray(kernel(x).memory + index))

    box(bind=bind)
    for _ in range(3):
        with ag.device("box:1"):
            assert float(ag.square(ag.constant(3.0))) == 10.0
        assert ag.square(on_box([2.0])).numpy().tolist() == [4.0]
    ag.square(on_box(2.0, "float64"))
    assert asked == [("square", "float32", 1), ("square", "float32", 0), ("square", "float64", 0)]


def test_bind_gives_a_pair_where_results_of_rank_0_have_a_kernel_of_their_own(box: Register) -> None:
    box(bind=lambda kernel, op, dtype, index: (kernel, lambda x: Box(np.array(-1, np.float32))))
    assert [float(ag.square(on_box(3.0))) for _ in range(2)] == [9.0, -1.0]  # the first call looks for the kernel
    assert ag.square(on_box([3.0])).numpy().tolist() == [9.0]


def test_what_version_1_passed_is_taken_still(box: Register) -> None:
    box(
        allocate=lambda shape, dtype, index: Box(np.empty(shape, dtype)),
        memory_in_use=lambda index: 7 + index,
        for_scalars=lambda kernel: lambda x: Box(np.array(-1, np.float32)),
    )
    assert [float(ag.square(on_box(3.0))) for _ in range(2)] == [9.0, -1.0]  # the first call looks for the kernel
    assert ag.square(on_box([3.0])).numpy().tolist() == [9.0]
    assert ag.memory_stats("box:1") == MemoryStats(in_use=8)


@pytest.mark.parametrize("bound", [None, (len,), (len, 3)])
def test_bind_that_returns_no_kernel(box: Register, bound: Any) -> None:
    box(bind=lambda *_: bound)
    shown = "None" if bound is None else "an object of type tuple"
    with says(
        InternalError,
        f"bind of the backend for device box:0 returned {shown}; it must return a kernel, or a pair of them.{BUG}",
    ):
        ag.square(on_box(3.0))


# --- whose fault an error is --------------------------------------------------------------------------------------


def fails(*arguments: Any, **attributes: Any) -> Any:
    raise OSError("no driver")


def bring_ahead(x: ag.Tensor) -> ag.Tensor:
    return copy_to_device(x, get_device("box"), ahead=True)


USES: dict[str, Callable[[], Any]] = {
    "from_host": lambda: on_box(1.0),
    "prefetch": lambda: bring_ahead(ag.constant(1.0)),
    "allocate_host": lambda: bring_ahead(ag.constant(1.0)),
    "to_host": lambda: on_box(1.0).numpy(),
    "copy": lambda: variable_on_box(1.0),
    "copy_from": lambda: on_box(1.0).to_device("box:1"),
    "bind": lambda: ag.square(on_box(1.0)),
    "synchronize": lambda: get_device("box").synchronize(),
    "pending_error": lambda: get_device("box").synchronize(),
    "memory_stats": lambda: ag.memory_stats("box"),
    "set_memory_limit": lambda: ag.set_memory_limit(1, "box"),
    "free_cached": lambda: ag.free_cached_memory("box"),
    "base": lambda: variable_on_box([1.0]).assign_add([1.0]),
    "timer": lambda: get_device("box").start_timer(),
}


@pytest.mark.parametrize("function", USES)
def test_an_error_says_which_function_of_the_backend_raised_it(box: Register, function: str) -> None:
    box(**{function: fails})
    with pytest.raises(OSError, match="no driver") as caught:
        USES[function]()
    index = 1 if function == "copy_from" else 0
    assert caught.value.__notes__ == [f"It comes from {function} of the backend for device box:{index}."]


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        ("from_host", "Box"),
        ("prefetch", "Box"),
        ("allocate_host", "a C-contiguous numpy.ndarray of shape () and dtype float32"),
        ("to_host", "numpy.ndarray"),
        ("copy", "Box"),
        ("copy_from", "Box"),
        ("pending_error", "a sentence or None"),
        ("memory_stats", "MemoryStats"),
        ("timer", "a function that returns seconds"),
    ],
)
def test_a_result_of_a_wrong_type_names_the_function(box: Register, function: str, wanted: str) -> None:
    box(**{function: lambda *_: 3})
    index = 1 if function == "copy_from" else 0
    with says(
        InternalError,
        f"{function} of the backend for device box:{index} returned an object of type int; it must return {wanted}."
        f"{BUG}",
    ):
        USES[function]()


def test_fields_that_are_no_functions() -> None:
    none: Any = lambda *_: None  # noqa: E731
    usual = {"device": "box", "array_type": Box, "device_count": none, "from_host": none, "to_host": none}
    usual |= {"copy": none, "synchronize": none}
    for field in ("bind", "base", "timer", "copy"):
        with says(
            TypeError, f"Backend(device='box'): {field} must be a function or a 'module:attribute' string; got 3."
        ):
            Backend(**{**usual, field: 3})
    with pytest.raises(ValueError, match="unknown dtypes") as unknown:
        Backend(**usual, dtypes=["float32", "quaternion"])
    assert str(unknown.value).startswith(
        "Backend(device='box'): unknown dtypes 'quaternion'; the dtypes are bfloat16, "
    )
    assert Backend(**usual, dtypes="float32").dtypes == {"float32"}


# --- translate ----------------------------------------------------------------------------------------------------


def out_of_memory(*arguments: Any) -> Any:
    raise MemoryError("the card is full")


def translate(error: Exception) -> Exception | None:
    return ResourceExhaustedError(f"OOM: {error}") if isinstance(error, MemoryError) else None


def test_errors_of_kernels_and_functions_are_translated(box: Register) -> None:
    box({"square": out_of_memory, "reshape": fails}, translate=translate, copy=out_of_memory, synchronize=fails)
    for use in (lambda: ag.square(on_box(1.0)), lambda: ag.square(on_box([1.0])), USES["copy"]):
        with says(ResourceExhaustedError, "OOM: the card is full") as caught:
            use()
        assert isinstance(caught.value.__cause__, MemoryError)
    for use in (lambda: ag.reshape(on_box(1.0), [1]), USES["synchronize"]):
        with pytest.raises(OSError, match="no driver"):
            use()


def test_a_translation_that_fails_or_is_no_exception(box: Register) -> None:
    box(translate=lambda error: "full", copy=out_of_memory)
    with says(
        InternalError,
        "translate of the backend for device box:0 returned an object of type str; it must return an exception or "
        f"None.{BUG}",
    ):
        USES["copy"]()
    ag.unregister_plugin("boxes")
    box(translate=fails, copy=out_of_memory)
    with pytest.raises(OSError, match="no driver") as failure:
        USES["copy"]()
    assert failure.value.__notes__ == ["It comes from translate of the backend for device box:0."]


# --- errors that wait, and clocks ---------------------------------------------------------------------------------


def test_an_error_that_waits_is_raised_when_values_are_read_and_once(box: Register) -> None:
    waiting: list[str] = []
    box(pending_error=lambda index: waiting.pop() if waiting else None)
    x = on_box([1.0])
    for read in (x.numpy, lambda: np.asarray(x), lambda: float(x), x.cpu, get_device("box").synchronize):
        waiting.append("gather: indices[0] = 7 is not in [0, 3).")
        with pytest.raises(InvalidArgumentError, match=r"^gather: indices\[0\] = 7 is not in \[0, 3\)\.$"):
            read()
        read()


def test_profiles_have_the_times_of_the_device(box: Register) -> None:
    started: list[int] = []

    def timer(index: int) -> Callable[[], float]:
        started.append(index)
        return lambda: 12.5

    box(timer=timer)
    x = on_box([1.0])
    with ag.profile() as seen:
        ag.square(x)
        ag.square(ag.constant(1.0))
    assert started == [0]
    assert [row.seconds for row in seen.ops if row.device == "box"] == [12.5]
    assert all(row.seconds < 10 for row in seen.ops if row.device == "cpu")
    ag.square(x)
    assert started == [0]


# --- memory -------------------------------------------------------------------------------------------------------


def test_memory_is_told_limited_and_given_back(box: Register) -> None:
    done: list[tuple[Any, ...]] = []
    box(
        memory_stats=lambda index: MemoryStats(1, 2, 3, 4 + index, 9),
        set_memory_limit=lambda index, limit: done.append(("limit", index, limit)),
        free_cached=lambda index: done.append(("free", index)),
    )
    assert ag.memory_stats("box:1") == (1, 2, 3, 5, 9)
    with ag.device("box:1"):
        assert ag.memory_stats().limit == 5
        ag.set_memory_limit(100)
        ag.free_cached_memory()
    ag.set_memory_limit(None, "box:0")
    assert done == [("limit", 1, 100), ("free", 1), ("limit", 0, None)]
    with says(InvalidArgumentError, "set_memory_limit: limit must not be negative; got -1."):
        ag.set_memory_limit(-1, "box")


def test_memory_of_a_backend_that_knows_nothing(box: Register) -> None:
    box()
    assert ag.memory_stats("box") == MemoryStats(None, None, None, None, None)
    ag.free_cached_memory("box")
    with says(UnimplementedError, "set_memory_limit: the backend for device box:1 cannot limit its memory."):
        ag.set_memory_limit(1, "box:1")


# --- copies -------------------------------------------------------------------------------------------------------


def test_copies_between_devices_of_one_type_need_not_go_through_the_host(box: Register) -> None:
    seen: list[tuple[int, int]] = []

    def copy_from(array: Box, source: int, index: int) -> Box:
        seen.append((source, index))
        return Box(array.memory.copy())

    box(copy_from=copy_from, to_host=fails)
    x = on_box([1.0]).to_device("box:1")
    assert (seen, x.device[-5:], x._array.memory.tolist()) == ([(0, 1)], "BOX:1", [1.0])


@pytest.mark.parametrize("host_copy", [True, False])
def test_what_to_host_returns_is_copied_unless_it_is_a_copy(box: Register, host_copy: bool) -> None:
    handed: list[Any] = []

    def to_host(array: Box) -> Any:
        handed.append(array.memory.copy() if host_copy else array.memory)
        return handed[-1]

    box(to_host=to_host, host_copy=host_copy)
    x = on_box([[1.0, 2.0]]).cpu()
    assert x.numpy().tolist() == [[1.0, 2.0]]
    assert np.shares_memory(x._array, handed[0]) == host_copy


def test_what_is_wanted_later_is_brought_from_pinned_memory(box: Register) -> None:
    pinned: list[Any] = []
    brought: list[Any] = []

    def allocate_host(shape: tuple[int, ...], dtype: Any) -> Any:
        pinned.append(np.empty(shape, dtype))
        return pinned[-1]

    def prefetch(host: Any, index: int) -> Box:
        brought.append((host, index))
        return Box(host.copy())

    box(allocate_host=allocate_host, prefetch=prefetch, from_host=fails)
    x = bring_ahead(ag.constant([[1.0, 2.0]]))
    assert (x.numpy().tolist(), x.device[-5:]) == ([[1.0, 2.0]], "BOX:0")
    assert brought[0][0] is pinned[0]
    assert brought[0][1] == 0


# --- dtypes that a device does not hold, and ops for the host -----------------------------------------------------

SOME = ("float32", "int32", "bool")


def test_what_a_device_does_not_hold_stays_on_the_host(box: Register) -> None:
    box(dtypes=SOME)
    with ag.device("box:1"):
        text, number, whole = ag.constant("a"), ag.constant(1.0), ag.constant(1.0, "float64")
        variable = ag.Variable(["a"])
        zeros = ag.zeros([2], "float64")
        text2 = ag.reshape(text, [1])
    assert [x.device for x in (text, whole, variable, zeros, text2)] == [CPU] * 5
    assert number.device.endswith("BOX:1")
    assert text2.numpy().tolist() == [b"a"]
    with says(
        InvalidArgumentError,
        "A tensor of dtype string cannot be copied to /job:localhost/replica:0/task:0/device:BOX:0, which holds "
        "bool, float32, int32; leave it on the host, or cast it with tf.cast.",
    ):
        copy_to_device(text, get_device("box"))


def test_a_result_that_a_device_does_not_hold_is_computed_on_the_host(box: Register) -> None:
    box(dtypes=SOME)
    x = on_box([1.5])
    for _ in range(2):  # the second call finds what the first has put into the table
        assert ag.cast(x, "int32").device.endswith("BOX:0")
        wide = ag.cast(x, "float64")
        assert (wide.device, wide.dtype, wide.numpy().tolist()) == (CPU, ag.float64, [1.5])
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = ag.reduce_sum(ag.square(ag.cast(x, "float64")))
    gradient = tape.gradient(y, x)
    assert (gradient.dtype, gradient.numpy().tolist()) == (ag.float32, [3.0])


def test_an_op_whose_result_a_device_never_holds_runs_on_the_host(box: Register) -> None:
    box(dtypes=("float32",))
    x = on_box([1.5, 2.5])
    for _ in range(2):
        same = ag.equal(x, x)
        assert (same.device, same.numpy().tolist()) == (CPU, [True, True])
    with ag.device("box"):
        assert ag.equal(x, x).device == CPU


def test_ops_for_the_host_run_there_in_any_scope(box: Register) -> None:
    box()
    with ag.device("box"):
        text = ag.constant(["abc", "d"])
        assert text.device.endswith("BOX:0")
        length = string_length(text)  # the device has a kernel, which gives zeros
        squares = ag.square(ag.cast(length, "float32"))
    assert (length.device, length.numpy().tolist()) == (CPU, [3, 1])
    assert (squares.device[-5:], squares.numpy().tolist()) == ("BOX:0", [9.0, 1.0])
    assert string_length(text).device == CPU
    assert registry["string_length"].host


def test_shapes_stay_on_the_host_in_any_scope(box: Register) -> None:
    box()
    x = on_box([[1.0, 2.0]])
    with ag.device("box"):
        found = [ag.shape(x), ag.size(x), ag.rank(x), *ag.shape_n([x])]
    assert [each.device for each in found] == [CPU] * 4
    assert [each.numpy().tolist() for each in found] == [[1, 2], 2, 2, [1, 2]]


def test_no_device_in_host_memory_holds_a_dtype(box: Register, monkeypatch: pytest.MonkeyPatch) -> None:
    from agog_core.dispatch.devices import lookup as devices

    box(dtypes=SOME)
    boxes = [backend for backend in devices.backends() if backend.device == "box"]
    monkeypatch.setattr(devices, "backends", lambda: boxes)
    listed = ", ".join(f"/job:localhost/replica:0/task:0/device:BOX:{index}" for index in (0, 1))
    with says(
        InvalidArgumentError,
        f"No device in host memory holds string; the devices are {listed}. Install one: pip install agog-cpu-numpy.",
    ):
        get_device("box").table(ag.string)


# --- views and updates in place -----------------------------------------------------------------------------------


def test_a_view_keeps_its_value_when_its_variable_is_updated(box: Register) -> None:
    box(base=owner)
    v = variable_on_box([1.0, 2.0])
    y = ag.reshape(v, [2, 1])
    assert y._array.memory.base is not None  # a real view, of which the variable's array knows nothing
    v.assign_add(on_box([10.0, 10.0]))
    assert (v.numpy().tolist(), y.numpy().tolist()) == ([11.0, 12.0], [[1.0], [2.0]])


def test_without_views_a_variable_is_updated_in_its_own_memory(box: Register) -> None:
    box(base=owner)
    v, one = variable_on_box([1.0, 2.0]), on_box([1.0, 1.0])
    v.assign_add(one)
    memory = id(v._current()._array.memory)
    for _ in range(3):
        v.assign_add(one)
        assert id(v._current()._array.memory) == memory
    y = ag.reshape(v, [2, 1])
    del y
    v.assign_add(one)
    assert id(v._current()._array.memory) == memory
    assert v.numpy().tolist() == [6.0, 7.0]
