"""Backend: NumPy arrays as the arrays of the device "cpu"."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from agog_cpu_numpy import allocator
from agog_cpu_numpy.blas import register_threads

Array = np.ndarray[Any, Any]
Kernel = Callable[..., Any]
_TAKES_ELLIPSIS = np.lib.NumpyVersion(np.__version__) >= "2.3.0"

# Unbound, the method takes NumPy's scalars and raises TypeError for all else.
_scalar_as_array: Callable[[Any], Any] = np.generic.__array__

# An op that divides by zero or overflows gives an infinity or a NaN, as on every other device, and no warning. The
# filter holds for agog's own modules only: NumPy in the user's program warns as before.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"agog_(core|cpu_numpy|kernels_xp)\b")

allocator.keep_large_buffers()
register_threads()

# DLPack can mark memory as read-only since its version 1.0, which NumPy speaks since 2.1.
_EXPORTS_READ_ONLY = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def from_host(host: Array, index: int) -> Array:
    """Adopt a host array."""
    return host


def to_host(array: Array) -> Array:
    """The array is on the host already."""
    return array


def copy(array: Array) -> Array:
    """A C-contiguous copy that owns its memory."""
    if array.nbytes < allocator.LARGE:
        return np.array(array, order="C", copy=True)
    copied = allocator.empty(array.shape, array.dtype)
    copied[...] = array
    return copied


def empty(shape: tuple[int, ...], dtype: str, index: int) -> Array:
    """An array for a kernel to fill."""
    return allocator.empty(shape, numpy_dtype(dtype))


def synchronize(index: int) -> None:
    """Nothing to wait for: NumPy computes at once."""


def as_array(value: Any) -> Any:
    """NumPy gives a scalar where the result has rank 0, and of an array of bytes objects one of them."""
    return np.array(value, object) if type(value) is bytes else _scalar_as_array(value)


def bind(kernel: Kernel, op: str, dtype: str, index: int) -> tuple[Kernel, Kernel]:
    """The kernel, and where the result has rank 0, NumPy's own functions so that they give an array, not a scalar."""
    return kernel, partial(kernel, out=...) if _TAKES_ELLIPSIS and isinstance(kernel, np.ufunc) else kernel


def to_dlpack(array: Array, stream: None, max_version: tuple[int, int] | None, shared: bool) -> Any:
    """NumPy's own capsule, of a copy or of read-only memory."""
    if not _EXPORTS_READ_ONLY:
        if shared:
            raise BufferError("NumPy before 2.1 cannot mark memory as read-only; allow a copy")
        return copy(array).__dlpack__(stream=stream)
    if shared:
        array = array.view()
        array.flags.writeable = False
    return array.__dlpack__(stream=stream, max_version=max_version, copy=not shared)


def from_dlpack(external: Any) -> Array:
    """A copy of an array in host memory."""
    try:
        return copy(np.from_dlpack(external))
    except RuntimeError as error:  # what NumPy raises for dtypes that it does not have
        raise BufferError(f"NumPy cannot take the {type(external).__name__}: {error}") from error


@cache
def numpy_dtype(name: str) -> np.dtype[Any]:
    """The dtype of a name; bfloat16 and float8 are ml_dtypes', strings are objects."""
    if name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        import ml_dtypes

        small: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return small
    return np.dtype("object" if name == "string" else name)
