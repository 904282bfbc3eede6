"""Table: the kernels of one device for one dtype, resolved once and then read by every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from agog_core.dispatch.op import Op
from agog_core.dtypes import DType
from agog_core.errors import InternalError

if TYPE_CHECKING:
    from agog_core.dispatch.device import Device


class KernelTable:
    """The kernels of one device for one dtype; every tensor points to the table of its own.

    Two tensors of one table are of one device and one dtype, so a call checks both by one comparison.
    """

    __slots__ = ("array_type", "as_array", "base", "device", "dtype", "kernels", "results", "scalar_kernels", "scalars")

    def __init__(self, device: Device, dtype: DType) -> None:
        self.device = device
        self.dtype = dtype
        self.array_type = device.array_type
        self.as_array = device.backend.as_array
        self.base = device.backend.base
        self.kernels: dict[str, Callable[..., Any]] = {}
        self.scalar_kernels: dict[str, Callable[..., Any]] = {}  # of elementwise ops, for results of rank 0
        self.results: dict[str, KernelTable] = {}
        self.scalars: dict[Any, Any] = {}

    def install(self, op: str, kernel: Callable[..., Any], for_scalars: Callable[..., Any] | None = None) -> None:
        """Let a kernel run an op, and perhaps another one where an elementwise op's result has rank 0."""
        self.kernels[op] = kernel
        self.scalar_kernels[op] = for_scalars or kernel

    def remove(self, op: str) -> None:
        """Forget which kernel runs an op, so that it is resolved again."""
        self.kernels.pop(op, None)
        self.scalar_kernels.pop(op, None)

    def result(self, op: Op) -> KernelTable:
        """The table of what an elementwise op without attributes returns; from then on it is in ``results``."""
        table = self.results[op.name] = self.device.table(op.result_dtype(self.dtype, {}))
        return table

    def adopt(self, op: str, result: Any) -> Any:
        """Turn a kernel's result that is not of the device's array type into one."""
        try:
            return self.as_array(result)
        except TypeError:
            self.refuse(op, result)

    def refuse(self, op: str, result: Any) -> NoReturn:
        """Raise because a kernel returned what is no array."""
        raise InternalError(
            f"{op}: the kernel {describe(self.kernels.get(op))} for device {self.device.type!r} and dtype "
            f"{self.dtype.name} returned "
            f"{type(result).__name__}; a kernel returns {self.array_type.__name__}. This is a bug of the plugin "
            "that brings it."
        ) from None


def describe(function: Any) -> str:
    """Name a kernel function for an error."""
    while (inner := getattr(function, "__wrapped__", getattr(function, "func", None))) is not None:
        function = inner
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or repr(function)
    module = getattr(function, "__module__", None)
    return f"{module}.{name}" if module else str(name)
