"""Device: it has the name of another one and records calls of kernels; eager code never meets it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.op import Op
from agog_core.dtypes import DType
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracers import Tracer, present_tracer
from agog_core.tracing.execution.kernels import run_kernel
from agog_core.tracing.graphs.graph import Value


class TracedArray:
    """An array of a tracing device: what it is in this call, and which value of a graph it is.

    A constant is of no graph: what was made of constants alone, and what another trace has left behind.
    """

    __slots__ = ("__weakref__", "array", "line", "stands_for", "tracer", "value")

    def __init__(self, array: Any, tracer: Tracer | None = None, value: Value | None = None) -> None:
        self.array = array
        self.tracer = tracer
        self.value = value
        self.line: str | None = None
        self.stands_for: Any = None  # in a loop: an `agog_core.tracing.loops.tracks.StandsFor`

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes along the axes."""
        return tuple(self.array.shape)

    @property
    def dtype(self) -> Any:
        """The dtype, as the array has it."""
        return self.array.dtype


class TracingTable(KernelTable):
    """The kernels of a tracing device for one dtype: each records its calls, and runs the device's own."""

    __slots__ = ("real",)

    traces = True

    def __init__(self, device: TracingDevice, real: KernelTable) -> None:
        super().__init__(device, real.dtype)
        self.real = real

    def recorder(self, op: Op) -> Callable[..., Any]:
        real = self.real

        def record(*arrays: Any, **attributes: Any) -> Any:
            tracer = present_tracer()
            if tracer is None or not tracer.records:  # a tensor that has left its trace
                result = run_kernel(op, real, [array.array for array in arrays], attributes)
                return tuple(map(TracedArray, result)) if isinstance(result, tuple) else TracedArray(result)
            return tracer.call(op, real, arrays, attributes)  # type: ignore[attr-defined]

        if not op.updates:
            self.install(op.name, record)
        return record


class TracingDevice(Device):
    """A device on which calls are recorded. Its arrays are `TracedArray`, and its tables those of the real one."""

    __slots__ = ("real",)

    def __init__(self, real: Device) -> None:
        super().__init__(real.backend, real.index)
        self.real = real
        self.array_type = TracedArray

    @property
    def untraced(self) -> Device:
        return self.real

    def counterpart(self, device: Device) -> Device:
        return tracing_device(device.untraced)

    def _new_table(self, dtype: DType) -> KernelTable:
        real = self.real.table(dtype)
        home = tracing_device(real.device)
        return self.tables.setdefault(dtype.name, TracingTable(home, real) if home is self else home.table(dtype))

    def from_host(self, host: Any) -> Any:
        return TracedArray(self.real.from_host(host))

    def prefetched(self, host: Any) -> Any:
        return TracedArray(self.real.prefetched(host))

    def to_host(self, array: Any) -> Any:
        tracer: Tracer | None = array.tracer
        if tracer is not None and present_tracer() is tracer:
            tracer.look(array)
        return self.real.to_host(array.array)

    def copy(self, array: Any) -> Any:
        return array  # nobody writes it: what is recorded is what happens to its copies

    def copy_from(self, array: Any, source: Device) -> Any:
        if source is source.untraced:  # of eager code
            return TracedArray(array if source is self.real else self.real.copy_from(array, source))
        tracer = present_tracer()
        if array.tracer is not None and array.tracer is tracer:
            return tracer.copy(array, source.untraced, self.real)
        return TracedArray(self.real.copy_from(array.array, source.untraced))


# The tracing devices, by the real ones.
_devices: dict[Device, TracingDevice] = {}


def tracing_device(real: Device) -> TracingDevice:
    """The device that records in place of another one."""
    found = _devices.get(real)
    return _devices.setdefault(real, TracingDevice(real)) if found is None else found


def traced(tensor: Tensor, tracer: Tracer | None = None, value: Value | None = None) -> Tensor:
    """A tensor on the tracing device with the value of one on the device itself."""
    table = tracing_device(tensor._table.device).table(tensor._table.dtype)
    return wrap(TracedArray(tensor._array, tracer, value), table, tensor._shape)


def untraced(tensor: Tensor) -> Tensor:
    """A tensor with the value that a traced one has in this call."""
    if not tensor._table.traces:
        return tensor
    return wrap(tensor._array.array, real_table(tensor), tensor._shape)


def real_table(tensor: Tensor) -> KernelTable:
    """The table of the device itself."""
    table = tensor._table
    return table.real if isinstance(table, TracingTable) else table


def freed(arrays: Sequence[TracedArray]) -> list[str]:
    """Make ordinary tensors of those that hold traced arrays; the lines of the program that they come from."""
    lines = []
    for array in arrays:
        for holder in gc.get_referrers(array):
            if type(holder) is Tensor and holder._array is array:
                holder._array, holder._table = array.array, real_table(holder)
                node = None if array.value is None else array.value.node
                lines.append("an argument" if node is None else node.line)
    return lines
