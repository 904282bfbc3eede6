"""Table: the kernels of one device for one dtype, resolved once and then read by every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from agog_core.dispatch.devices.variant import Variant
from agog_core.dispatch.op import Op
from agog_core.dtypes import DType, variant
from agog_core.errors import InternalError

if TYPE_CHECKING:
    from agog_core.dispatch.devices.device import Device
    from agog_core.dispatch.kernels.resolution import Chain


class KernelTable:
    """The kernels of one device for one dtype; every tensor points to the table of its own.

    Two tensors of one table are of one device and one dtype, so a call checks both by one comparison.
    """

    __slots__ = (
        *("array_type", "as_array", "base", "chains", "device", "dtype", "keeps", "kernels", "results"),
        *("scalar_kernels", "scalars", "several"),
    )

    traces = False  # whether its kernels record: those of a `agog_core.tracing` device do

    def recorder(self, op: Op) -> Callable[..., Any]:
        """What records the calls of an op, where the table's kernels record."""
        raise NotImplementedError

    def __init__(self, device: Device, dtype: DType) -> None:
        self.device = device
        self.dtype = dtype
        self.array_type = Variant if dtype is variant else device.array_type
        self.as_array = device.backend.as_array
        self.base = device.backend.base
        self.kernels: dict[str, Callable[..., Any]] = {}
        self.scalar_kernels: dict[str, Callable[..., Any]] = {}  # of elementwise ops, for results of rank 0
        self.chains: dict[str, Chain] = {}  # where the kernels come from, and what runs where one declines a call
        self.keeps: dict[str, bool] = {}  # of ops whose kernels may keep a reserve: whether the chosen one does
        self.several: dict[str, Any] = {}  # of ops that update variables: what takes many at once, or None
        self.results: dict[str, KernelTable] = {}
        self.scalars: dict[Any, Any] = {}

    def install(
        self, op: str, kernel: Any, for_scalars: Callable[..., Any] | None = None, chain: Chain | None = None
    ) -> None:
        """Let a kernel run an op, the first of a chain or one from elsewhere.

        Another one may run an elementwise op where its result has rank 0.
        """
        if chain is None:
            self.chains.pop(op, None)
        else:
            self.chains[op] = chain
        self._forget_reserve(op)
        self.scalar_kernels[op] = for_scalars or kernel
        self.kernels[op] = kernel

    def _forget_reserve(self, op: str) -> None:
        self.keeps.pop(op, None)
        self.kernels.pop(f"{op}+reserve", None)

    def remove(self, op: str) -> None:
        """Forget which kernel runs an op, so that it is resolved again."""
        self._forget_reserve(op)
        self.kernels.pop(op, None)
        self.scalar_kernels.pop(op, None)
        self.several.pop(op, None)
        self.chains.pop(op, None)

    def result(self, op: Op) -> KernelTable:
        """The table of what an elementwise op without attributes returns; from then on it is in ``results``."""
        table = self.results[op.name] = self.device.table(op.result_dtype(self.dtype, {}))
        return table

    def adopt(self, op: str, result: Any, kernel: Callable[..., Any] | None = None) -> Any:
        """Turn a kernel's result into an array of the device's type; the kernel is the table's if none is named."""
        if type(result) is self.array_type or type(result) is Variant:
            return result
        try:
            if result is not NotImplemented:
                return self.as_array(result)
        except TypeError:
            pass
        self.refuse(op, result, kernel)

    def refuse(self, op: str, result: Any, kernel: Callable[..., Any] | None = None) -> NoReturn:
        """Raise because a kernel returned what is no array."""
        raise InternalError(
            f"{op}: the kernel {describe(kernel or self.kernels.get(op))} for device {self.device.type!r} and dtype "
            f"{self.dtype.name} returned "
            f"{type(result).__name__}; a kernel returns {self.array_type.__name__}. This is a bug of the plugin "
            "that brings it."
        ) from None


def describe(function: Any) -> str:
    """Name a kernel function for an error."""
    while (inner := getattr(function, "__wrapped__", getattr(function, "func", None))) is not None:
        function = inner
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or type(function).__qualname__
    module = getattr(function, "__module__", None)
    return f"{module}.{name}" if module else str(name)
