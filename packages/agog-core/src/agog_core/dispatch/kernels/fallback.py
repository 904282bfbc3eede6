"""Fallback: a scope in which ops that a device has no kernel for run on another one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.devices.lookup import clear_tables, get_device
from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.devices.variant import Variant
from agog_core.dispatch.kernels.failure import note_failure
from agog_core.dispatch.kernels.host_work import where_held
from agog_core.dispatch.kernels.resolution import fallbacks, resolve, run_next
from agog_core.dispatch.op import Op
from agog_core.dtypes import as_dtype
from agog_core.errors import FallbackWarning, MissingKernelError

__all__ = ["fallback"]


@contextmanager
def fallback(name: str) -> Iterator[None]:
    """Run ops that have no kernel on their device on another device, and copy their inputs and results.

    Each op is warned about once. The scope holds for all threads.

    Args:
        name: the other device, such as ``"cpu"``.

    Returns:
        A context manager.

    Raises:
        InvalidArgumentError: there is no such device.

    >>> import agog_core as ag
    >>> with fallback("cpu"):
    ...     print(ag.constant(2.0) * 3.0)
    tf.Tensor(6.0, shape=(), dtype=float32)
    """
    device = get_device(name)
    warned: set[str] = set()

    def find(op: Op, table: KernelTable, text: str) -> Callable[..., Any]:
        if device.type == table.device.type:
            raise MissingKernelError(text)
        there = device.table(table.dtype)
        try:
            resolve(op, there)
        except MissingKernelError:
            raise MissingKernelError(f"{text}\n  fallback: device {device.type!r} has none either") from None
        if op.name not in warned:
            warned.add(op.name)
            warnings.warn(
                f"{op.name}: no kernel on device {table.device.type!r} for dtype {table.dtype.name}; it runs on "
                f"{device.type!r}, and its inputs and results are copied.",
                FallbackWarning,
                stacklevel=4,
            )
        return where_held(op, table, elsewhere(op, there, table.device))

    fallbacks.append(find)
    clear_tables()
    try:
        yield
    finally:
        fallbacks.remove(find)
        clear_tables()


def elsewhere(op: Op, table: KernelTable, here: Device, kernel: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """A kernel for one device out of those in the table of another one, or out of one that never declines."""
    there, first = table.device, kernel or table.kernels[op.name]

    def run(*arrays: Any, **attributes: Any) -> Any:
        if "index" in attributes:  # an op without inputs
            attributes["index"] = there.index
        inputs = [_moved(array, here, there) for array in arrays]
        try:
            result = first(*inputs, **attributes)
        except Exception as error:
            note_failure(error, op, table, inputs)
            raise
        if result is NotImplemented:
            result = run_next(op, table, inputs, attributes)
        if result is None:  # it has updated its first inputs in place
            return tuple(_moved(array, there, here) for array in inputs[: len(op.updates)])
        if isinstance(result, tuple):
            return tuple(_moved(array, there, here) for array in result)
        return _moved(result, there, here)

    return run


def _moved(array: Any, source: Device, target: Device) -> Any:
    if type(array) is Variant:
        return array
    if type(array) is not source.array_type:
        array = source.backend.as_array(array)
    host = source.to_host(array)
    owned = np.array(host, as_dtype(host.dtype).numpy_dtype, order="C", copy=True)
    return target.from_host(owned)
