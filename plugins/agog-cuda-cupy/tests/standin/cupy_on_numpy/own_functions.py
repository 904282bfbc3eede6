"""Own functions: those of CuPy that are not NumPy's with arguments taken out of their wrapping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from cupy_on_numpy import pools
from cupy_on_numpy.arrays import BFLOAT16, WEAK, Capsule, Memory, checked, functions, memory_of, ndarray, wrapped
from cupy_on_numpy.counting import launch, upload
from cupy_on_numpy.cublas import factor
from cupy_on_numpy.cuda_devices import get_current_stream
from cupy_on_numpy.flushing import flushed


def array(
    obj: Any,
    dtype: Any = None,
    copy: bool = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> Any:
    """A copy, of an array here or on the host."""
    if isinstance(obj, ndarray):
        launch("array")
        same = memory_of(obj).astype(checked(obj.dtype if dtype is None else dtype), order=order, copy=copy)
        return obj if same is obj._memory else wrapped(same)
    upload("array")
    host = memory_of(obj) if not isinstance(obj, np.ndarray) else obj
    made = wrapped(np.array(host, None if dtype is None else checked(dtype), ndmin=ndmin, order=order))  # type: ignore[call-overload]
    if isinstance(host, np.ndarray) and made.dtype == host.dtype and pools.is_memory_pinned(host.ctypes.data):
        # Copied from where it is, as late as can be.
        target = made._memory
        get_current_stream()._add(lambda: np.copyto(target, host.reshape(target.shape)))
    return made


def asarray(a: Any, dtype: Any = None, order: Any = None, *, blocking: bool = False) -> Any:
    """The array itself where it is one."""
    if isinstance(a, ndarray):
        return a if dtype is None or np.dtype(dtype) == a.dtype else a.astype(dtype)
    return array(a, dtype)


def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    """The array itself where its elements lie in C's order."""
    if isinstance(a, ndarray) and a._memory.flags.c_contiguous and a.ndim:
        return a
    launch("ascontiguousarray")
    return wrapped(np.ascontiguousarray(memory_of(a), dtype))


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> Any:
    """A copy on the host."""
    return a.get(stream, order, out, blocking) if isinstance(a, ndarray) else np.asarray(a)


def from_dlpack(array: Any, *, device: Any = None, copy: Any = None) -> Any:
    """The memory of another library's array; here that is always the stand-in's own."""
    capsule = array.__dlpack__(stream=1, max_version=(1, 0))
    assert isinstance(capsule, Capsule)
    return wrapped(capsule.array._memory, capsule.array)


def empty(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    """An array that nothing has been written to."""
    return ndarray(shape, dtype, order=order)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> Any:
    """An array of one value."""
    launch("full")
    return wrapped(np.full(shape, memory_of(fill_value), dtype, order))  # type: ignore[call-overload]


def sort(a: Any, axis: int = -1, kind: Any = None) -> Any:
    """Sorted elements, by Thrust."""
    _check_sort(a, kind)
    return wrapped(np.sort(memory_of(a), axis, kind="stable"))


def argsort(a: Any, axis: int = -1, kind: Any = None) -> Any:
    """Where the sorted elements are, by Thrust."""
    _check_sort(a, kind)
    return wrapped(np.argsort(memory_of(a), axis, kind="stable"))


def partition(a: Any, kth: Any, axis: int = -1) -> Any:
    """A partition that is not NumPy's: a whole sort."""
    return sort(a, axis)


def argpartition(a: Any, kth: Any, axis: int = -1) -> Any:
    """Where the elements of a partition are."""
    return argsort(a, axis)


def _check_sort(a: ndarray, kind: Any) -> None:
    launch("sort")
    if kind not in (None, "stable"):
        raise ValueError("kind can only be None or 'stable'")
    if a.dtype == BFLOAT16:
        raise NotImplementedError(f"Sorting arrays with dtype '{a.dtype}' is not supported")


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Where elements belong in a sorted array."""
    if not isinstance(a, ndarray):
        raise NotImplementedError("Only int or ndarray are supported for a")
    if a.ndim != 1:
        raise ValueError("object too deep for desired array")
    launch("searchsorted")
    return wrapped(np.asarray(np.searchsorted(memory_of(a), memory_of(v), side)).astype("int64"))  # type: ignore[call-overload]


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of one array or of the other."""
    if x is None:
        return functions["nonzero"](condition)
    launch("where")
    dtype = checked(np.result_type(*(memory_of(v) if type(v) in WEAK else v.dtype for v in (x, y))))
    dtype = np.dtype("float32") if dtype == BFLOAT16 else dtype  # CuPy's has no loop of bfloat16
    chosen = np.asarray(memory_of(condition)).astype(bool)
    return wrapped(np.where(chosen, *(np.asarray(memory_of(v)).astype(dtype) for v in (x, y))))


def take(a: Any, indices: Any, axis: Any = None, out: Any = None) -> Any:
    """Elements by their positions, which wrap around."""
    if not isinstance(indices, ndarray) and np.ndim(indices):
        upload("indices of the host")
        positions = np.asarray(indices)
    else:
        positions = memory_of(indices)
    launch("take")
    return wrapped(np.take(memory_of(a), positions, axis, mode="wrap"))


def take_along_axis(a: Any, indices: Any, axis: Any) -> Any:
    """Elements of each row by their positions, which wrap around."""
    launch("take_along_axis")
    memory = memory_of(a)
    return wrapped(np.take_along_axis(memory, memory_of(indices) % max(memory.shape[axis], 1), axis))


def matmul(a: Any, b: Any, /, out: Any = None, **kwargs: Any) -> Any:
    """The matrix product."""
    if BFLOAT16 in (a.dtype, b.dtype) and max(a.ndim, b.ndim) > 2:
        raise AssertionError("CuPy adds up batches of bfloat16 in bfloat16; agog promises more")
    return _product(np.matmul, a, b, out)


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """The product over the last axis and the last but one."""
    return _product(np.dot, a, b, out)


def vdot(a: Any, b: Any) -> Any:
    """The product of all elements."""
    return _product(np.vdot, a, b, None)


def _product(function: Callable[..., Any], a: Any, b: Any, out: Any) -> Any:
    launch("product")
    x, y = factor(memory_of(a)), factor(memory_of(b))
    for value in (x, y):
        if not isinstance(value, np.ndarray):
            raise TypeError(f"Unsupported type {type(value)}")
    dtype = np.result_type(x, y)
    wide = np.dtype("float32") if dtype.itemsize == 2 and dtype.kind in "fV" else dtype
    with np.errstate(all="ignore"):
        result = np.asarray(function(x.astype(wide), y.astype(wide))).astype(dtype)
        if result.size == 1:  # a sum of products by a kernel of CuPy's, not cuBLAS's
            result = flushed(np.asarray(function(flushed(x).astype(wide), flushed(y).astype(wide))).astype(dtype))
    if out is None:
        return wrapped(result)
    memory_of(out)[...] = result
    return out


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = None) -> None:
    """Write an array's elements."""
    launch("copyto")
    np.copyto(memory_of(dst), memory_of(src), casting, True if where is None else memory_of(where))  # type: ignore[arg-type]


def clip(a: Any, a_min: Any, a_max: Any, out: Any = None) -> Any:
    """Elements between bounds."""
    launch("clip")
    bounds = [None if bound is None else np.asarray(memory_of(bound), a.dtype) for bound in (a_min, a_max)]
    values: Memory = flushed(np.clip(memory_of(a), *bounds))
    if out is None:
        return wrapped(values)
    memory_of(out)[...] = values
    return out


class broadcast:
    """Arrays as they are together."""

    def __init__(self, *arrays: Any) -> None:
        together = np.broadcast(*map(memory_of, arrays))
        self.shape, self.size, self.nd = together.shape, together.size, together.nd


OWN = {
    function.__name__: function
    for function in (
        *(array, asarray, ascontiguousarray, asnumpy, from_dlpack, empty, full, sort, argsort, partition),
        *(argpartition, searchsorted, where, take, take_along_axis, matmul, dot, vdot, copyto, clip, broadcast),
    )
}
"""By their names."""
