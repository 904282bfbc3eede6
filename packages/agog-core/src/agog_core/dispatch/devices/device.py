"""Device: one that a backend serves, with the backend's functions behind guards that say whose fault an error is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.devices.variant import Variant
from agog_core.dtypes import DType, variant
from agog_core.errors import InternalError, InvalidArgumentError

if TYPE_CHECKING:
    from agog_core.dispatch.plugins.backend import Backend


class Device:
    """One device that a backend serves."""

    __slots__ = ("array_type", "backend", "index", "name", "tables", "type")

    def __init__(self, backend: Backend, index: int) -> None:
        self.backend = backend = backend.loaded
        self.type = backend.device
        self.index = index
        self.name = f"/job:localhost/replica:0/task:0/device:{backend.device.upper()}:{index}"
        self.array_type: type = backend.array_type  # type: ignore[assignment]  # it is loaded
        self.tables: dict[str | None, KernelTable] = {}  # by the dtypes' names, which are hashed once

    @property
    def untraced(self) -> Device:
        """The device itself; of one on which calls are recorded, the one that it stands for."""
        return self

    def counterpart(self, device: Device) -> Device:
        """The device to go to from this one where a program asks for another one."""
        return device

    def holds(self, dtype: DType) -> bool:
        """Whether arrays of a dtype can be on the device."""
        held = self.backend.dtypes
        return held is None or dtype.name in held or dtype is variant

    def holds_all(self, dtypes: Iterable[DType]) -> bool:
        """Whether arrays of all of some dtypes can be on the device."""
        return all(map(self.holds, dtypes))

    def table(self, dtype: DType) -> KernelTable:
        """The kernel table of this device for a dtype; that of the host where the device does not hold the dtype."""
        return self.tables.get(dtype.name) or self._new_table(dtype)

    def _new_table(self, dtype: DType) -> KernelTable:
        if not self.holds(dtype):
            from agog_core.dispatch.devices.lookup import host_device  # here, because devices stand on this module

            return host_device(dtype).table(dtype)
        return self.tables.setdefault(dtype.name, KernelTable(self, dtype))

    def from_host(self, host: Any) -> Any:
        """An array on the device, of a host array that nobody writes afterwards."""
        try:
            array = self.backend.from_host(host, self.index)
        except Exception as error:
            self.fail("from_host", error)
        return array if isinstance(array, self.array_type) else self._refuse("from_host", array)

    def prefetched(self, host: np.ndarray[Any, Any]) -> Any:
        """An array on the device, of a host array, for what is wanted later: the copy may be under way still."""
        pinned = self.allocate_host(host.shape, host.dtype)
        pinned[...] = host
        if self.backend.prefetch is None:
            return self.from_host(pinned)
        try:
            array = self.backend.prefetch(pinned, self.index)
        except Exception as error:
            self.fail("prefetch", error)
        return array if isinstance(array, self.array_type) else self._refuse("prefetch", array)

    def allocate_host(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
        """Uninitialised host memory from which copies to the device are fastest."""
        if self.backend.allocate_host is None:
            return np.empty(shape, dtype)
        try:
            host: np.ndarray[Any, Any] = self.backend.allocate_host(shape, dtype)
        except Exception as error:
            self.fail("allocate_host", error)
        if isinstance(host, np.ndarray) and host.shape == shape and host.dtype == dtype and host.flags.c_contiguous:
            return host
        self._refuse("allocate_host", host, f"a C-contiguous numpy.ndarray of shape {shape} and dtype {dtype}")

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        """A NumPy array of an array's values, which may share its memory; errors that were waiting are raised."""
        try:
            host: np.ndarray[Any, Any] = self.backend.to_host(array)
        except Exception as error:
            self.fail("to_host", error)
        if self.backend.pending_error is not None:
            self.raise_pending()
        return host if isinstance(host, np.ndarray) else self._refuse("to_host", host, "numpy.ndarray")

    def owned_on_host(self, array: Any) -> np.ndarray[Any, Any]:
        """A C-contiguous NumPy array of an array's values, which nobody else holds."""
        host = self.to_host(array)
        return np.asarray(host, order="C") if self.backend.host_copy else np.array(host, order="C")

    def copy(self, array: Any) -> Any:
        """A copy on the same device, C-contiguous, that owns its memory."""
        try:
            copied = self.backend.copy(array)
        except Exception as error:
            self.fail("copy", error)
        return copied if isinstance(copied, self.array_type) else self._refuse("copy", copied)

    def empty(self, shape: tuple[int, ...], dtype: DType) -> Any:
        """An array of any numbers, for a kernel to fill; only of a backend that makes such."""
        try:
            array = self.backend.empty(shape, dtype.name, self.index)
        except Exception as error:
            self.fail("empty", error)
        if isinstance(array, self.array_type) and getattr(array, "shape", None) == shape:
            return array
        self._refuse("empty", array, f"{self.array_type.__name__} of shape {shape}")

    def owner(self, array: Any) -> Any:
        """The object that owns an array's memory, by the backend's ``base``."""
        try:  # asked only where there is one
            return self.backend.base(array)
        except Exception as error:
            self.fail("base", error)

    def copy_from(self, array: Any, source: Device) -> Any:
        """A copy of an array of another device: directly where the backend can, else through the host."""
        if type(array) is Variant:
            return array
        copy_from = self.backend.copy_from
        if copy_from is None or source.backend is not self.backend:
            return self.from_host(source.owned_on_host(array))
        try:
            copied = copy_from(array, source.index, self.index)
        except Exception as error:
            self.fail("copy_from", error)
        return copied if isinstance(copied, self.array_type) else self._refuse("copy_from", copied)

    def synchronize(self) -> None:
        """Wait until all work on the device is done; errors that were waiting are raised."""
        try:
            self.backend.synchronize(self.index)
        except Exception as error:
            self.fail("synchronize", error)
        if self.backend.pending_error is not None:
            self.raise_pending()

    def raise_pending(self) -> None:
        """Raise what the device has found wrong with values since it was asked last."""
        if self.backend.pending_error is None:
            return
        try:
            text = self.backend.pending_error(self.index)
        except Exception as error:
            self.fail("pending_error", error)
        if isinstance(text, str):
            raise InvalidArgumentError(text)
        if text is not None:
            self._refuse("pending_error", text, "a sentence or None")

    def ask(self, function: str, *arguments: Any) -> Any:
        """What one of the backend's functions says of the device."""
        try:
            return getattr(self.backend, function)(self.index, *arguments)
        except Exception as error:
            self.fail(function, error)

    def start_timer(self) -> Callable[[], float] | None:
        """Start the device's clock; None where it has none. What is returned stops it and gives the seconds."""
        if self.backend.timer is None:
            return None
        stop = self.ask("timer")
        if not callable(stop):
            self._refuse("timer", stop, "a function that returns seconds")
        return lambda: self._seconds(stop)

    def _seconds(self, stop: Callable[[], Any]) -> float:
        try:
            return float(stop())
        except Exception as error:
            self.fail("timer", error)

    def bind(self, op: str, dtype: DType, kernel: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """The functions that run a kernel: one, and one for results of rank 0."""
        try:
            bound = self.backend.bind(kernel, op, dtype.name, self.index)
        except Exception as error:
            self.fail("bind", error)
        pair = bound if isinstance(bound, tuple) else (bound, bound)
        if len(pair) != 2 or not all(callable(function) for function in pair):
            self._refuse("bind", bound, "a kernel, or a pair of them")
        if self.backend.translate is None:
            return pair
        first = self._translating(pair[0])
        return first, first if pair[1] is pair[0] else self._translating(pair[1])

    def _translating(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arrays: Any, **attributes: Any) -> Any:
            try:
                return kernel(*arrays, **attributes)
            except Exception as error:
                if (better := self._translated(error)) is None:
                    raise
                raise better from error

        run.__wrapped__ = kernel  # type: ignore[attr-defined]  # for those who name kernels in errors
        return run

    def fail(self, function: str, error: Exception) -> NoReturn:
        """Raise an error that one of the backend's functions raised, or what the backend says in its place."""
        better = self._translated(error) if function != "translate" else None
        if better is not None:
            raise better from error
        error.add_note(f"It comes from {function} of the backend for device {self.type}:{self.index}.")
        raise error

    def _translated(self, error: Exception) -> Exception | None:
        if self.backend.translate is None:
            return None
        try:
            better = self.backend.translate(error)
        except Exception as failure:
            self.fail("translate", failure)
        if better is not None and not isinstance(better, Exception):
            self._refuse("translate", better, "an exception or None")
        return better

    def _refuse(self, function: str, result: Any, wanted: str | None = None) -> NoReturn:
        raise InternalError(
            f"{function} of the backend for device {self.type}:{self.index} returned {_shown(result)}; it must return "
            f"{wanted or self.array_type.__name__}. This is a bug of the plugin that brings the device."
        )

    def __repr__(self) -> str:
        return f"<Device {self.type}:{self.index}>"


def _shown(result: Any) -> str:
    if isinstance(result, np.ndarray):
        return f"a numpy.ndarray of shape {result.shape} and dtype {result.dtype}"
    return "None" if result is None else f"an object of type {type(result).__name__}"
