"""Comparison of arrays: values, bytes, and shared memory."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.kernels.resolution import resolve
from agog_core.dispatch.op import registry
from agog_core.dtypes import as_dtype
from agog_core.errors import MissingKernelError
from agog_testing.opinfo.info import Array


def close(output: Array, wanted: Array, rtol: float, atol: float, signed_zeros: bool = False) -> Array:
    """Where values are as wanted: exactly, but floats and complex numbers within the tolerance; NaN equals NaN.

    Where zeros are signed, -0.0 is not 0.0.
    """
    if not as_dtype(wanted.dtype).is_differentiable:
        return np.asarray(output == wanted)
    if np.iscomplexobj(wanted):
        a, b = output.astype(np.complex128), wanted.astype(np.complex128)
    else:
        a, b = output.astype(np.float64), wanted.astype(np.float64)
    is_close = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= atol + rtol * np.abs(b))
    if signed_zeros and not np.iscomplexobj(wanted):
        is_close &= (a != 0) | (b != 0) | (np.signbit(a) == np.signbit(b))
    return np.asarray(is_close)


class Accuracy:
    """The worst error of results that were compared with a reference, in units in the last place of the reference."""

    def __init__(self) -> None:
        self.worst: float | None = None

    def see(self, output: Array, wanted: Array) -> None:
        """Take note of the error of a result; exact dtypes and values that are not finite have none."""
        if as_dtype(wanted.dtype).is_differentiable:
            self.worst = max(self.worst or 0.0, error_in_ulps(output, wanted))


def error_in_ulps(output: Array, wanted: Array) -> float:
    """The largest distance of finite values from the wanted ones, in units in the last place of these.

    A complex number is at a distance from another one in the plane, and its size counts.

    >>> import numpy as np
    >>> error_in_ulps(np.float32([1.0, 8.0]), np.float32([1.0 + 2**-22, 8.0]))
    2.0
    """
    limits = ml_dtypes.finfo(wanted.dtype)  # type: ignore[no-untyped-call]  # it has no annotations
    wide = np.complex128 if np.iscomplexobj(wanted) else np.float64
    a, b = output.astype(wide), wanted.astype(wide)
    are_finite = np.isfinite(a) & np.isfinite(b)
    a, b = a[are_finite], b[are_finite]
    with np.errstate(over="ignore"):
        _, exponents = np.frexp(np.maximum(np.abs(b), float(limits.smallest_normal)))
        errors = np.abs(a - b) / np.ldexp(float(limits.eps), exponents - 1)
    return float(np.minimum(np.max(errors, initial=0.0), np.finfo(np.float64).max))


def same(first: Array, second: Array) -> bool:
    """Whether two arrays hold the same bytes."""
    if first.dtype == object:
        return first.shape == second.shape and bool(np.all(first == second))
    return bool(first.tobytes() == second.tobytes())


def shown(array: Array) -> str:
    """An array as one line of text; a long one is shortened."""
    return np.array2string(array, threshold=20, separator=", ").replace("\n", "")


def share_memory(device: Device, first: Any, second: Any) -> bool:
    """Whether two arrays of a device lie in the same memory; False also where nobody can say.

    If addresses cannot be compared, it writes to the first one, which is no longer needed, and checks the other.
    """
    if first is second:
        return bool(math.prod(device.backend.to_host(first).shape))
    if device.backend.host_memory:
        return bool(np.shares_memory(device.backend.to_host(first), device.backend.to_host(second)))
    return _write_shows(device, first, second)


def _write_shows(device: Device, first: Any, second: Any) -> bool:
    host = np.array(device.backend.to_host(first))
    dtype = as_dtype(host.dtype)
    op = registry["apply_add"]
    if dtype not in op.dtypes or not host.size:
        return False
    table = device.table(dtype)
    try:
        add = table.kernels.get(op.name) or resolve(op, table)
    except MissingKernelError:
        return False
    one = device.backend.from_host(np.ones(host.shape, dtype.numpy_dtype), device.index)
    before = np.array(device.backend.to_host(second))
    add(first, one, scale=1)
    return not same(before, np.array(device.backend.to_host(second)))
