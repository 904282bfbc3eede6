"""Arrays: what `cupy.ndarray` is here. NumPy cannot look into them, and what makes CuPy wait is counted."""

from __future__ import annotations

import ctypes
import operator
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
from cupy_on_numpy import pools
from cupy_on_numpy.counting import launch, refuse, upload, wait
from cupy_on_numpy.cuda_devices import Device, Stream, current, get_current_stream
from cupy_on_numpy.surface import ARRAY_METHODS

Memory = np.ndarray[Any, Any]
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
WEAK = (bool, int, float, complex)
_DTYPES = frozenset("?bhilqBHILQefdFDE")

functions: dict[str, Callable[..., Any]] = {}
"""The functions of the module `cupy`, which methods call; filled by `assembling`."""


def checked(dtype: Any) -> np.dtype[Any]:
    """A dtype that CuPy has."""
    known: np.dtype[Any] = np.dtype(dtype)
    if known.char not in _DTYPES:
        raise ValueError(f"Unsupported dtype {known}")
    return known


def memory_of(value: Any) -> Any:
    """The memory of an array, a scalar as it is. Arrays of the host and of other devices are refused."""
    if isinstance(value, ndarray):
        if value._index != current():
            raise ValueError(
                f"Array device must be same as the current device: array device = {value._index} while current = "
                f"{current()}"
            )
        return value._memory
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, (tuple, list)):
        return type(value)(memory_of(part) for part in value)
    return value


def wrapped(result: Any, base: ndarray | None = None) -> Any:
    """What NumPy gave, as arrays of the current device: views where they share the memory of a base."""
    if isinstance(result, (np.ndarray, np.generic)):
        return ndarray._of(np.asarray(result), base)
    if isinstance(result, (tuple, list)):
        kind = tuple if isinstance(result, tuple) else list
        return kind(wrapped(part, base) for part in result)
    return result


def owner(*arrays: Any) -> ndarray | None:
    """The array whose memory a view is of, as CuPy keeps it: never a view itself."""
    for array in arrays:
        if isinstance(array, ndarray):
            return array if array.base is None else array.base
    return None


class _Flags:
    def __init__(self, memory: Memory) -> None:
        self.c_contiguous, self.f_contiguous = memory.flags.c_contiguous, memory.flags.f_contiguous
        self.forc = self.c_contiguous or self.f_contiguous


class _Pointer:
    """Where an array's memory is, as `cupy.cuda.MemoryPointer`."""

    def __init__(self, array: ndarray) -> None:
        self._array = array
        self.ptr = array._memory.ctypes.data
        self.device_id = array._index

    def memset_async(self, value: int, size: int, stream: Stream | None = None) -> None:
        """Fill bytes, on a stream."""
        target = self._array._memory
        if not target.flags.c_contiguous or size != target.nbytes:
            raise AssertionError("the stand-in fills contiguous memory only, whole")
        (stream or get_current_stream())._run()  # kernels launched later run at once here, and must find it filled
        ctypes.memset(target.ctypes.data, value, size)

    def copy_to_host_async(self, mem: int, size: int, stream: Stream | None = None) -> None:
        """Copy bytes to pinned host memory, on a stream."""
        source = self._array._memory
        if not source.flags.c_contiguous or size != source.nbytes or not pools.is_memory_pinned(mem):
            raise AssertionError("the stand-in copies contiguous memory only, whole, and to pinned memory")

        def copy() -> None:
            if not pools.is_memory_pinned(mem):
                raise AssertionError("a copy writes host memory that nobody holds any more")
            ctypes.memmove(mem, source.ctypes.data, size)

        (stream or get_current_stream())._add(copy)

    def copy_from_device_async(self, src: _Pointer, size: int, stream: Stream | None = None) -> None:
        """Copy bytes between devices, on a stream."""
        launch("copy between devices")
        target, source = self._array._memory, src._array._memory
        if not target.flags.c_contiguous or not source.flags.c_contiguous:
            raise AssertionError("the stand-in copies contiguous memory only")
        (stream or get_current_stream())._add(lambda: target.reshape(-1).__setitem__(slice(None), source.reshape(-1)))
        Stream.null._run()


class ndarray:  # CuPy's name
    """An array of a device."""

    __slots__ = ("__weakref__", "_block", "_index", "_memory", "base")
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]
    base: ndarray | None

    def __init__(
        self, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None, order: str = "C"
    ) -> None:
        self._set(np.empty(shape, checked(dtype), order), None)  # type: ignore[call-overload]
        self._memory.fill(np.nan if self._memory.dtype.kind in "fcV" else 1)  # who reads it sees noise

    @classmethod
    def _of(cls, memory: Memory, base: ndarray | None = None) -> ndarray:
        checked(memory.dtype)
        self: ndarray = object.__new__(cls)
        if base is not None and not np.may_share_memory(memory, base._memory):
            base = None
        if base is None and memory.base is not None and not memory.flags.owndata:
            memory = memory.copy(order="K")
        self._set(memory, base)
        return self

    def _set(self, memory: Memory, base: ndarray | None) -> None:
        self._index = current()
        self._block = pools.alloc(memory.nbytes) if base is None else pools.Block(self._index, 0)
        self._memory, self.base = memory, base

    def __del__(self, give_back: Any = pools.give_back) -> None:
        if hasattr(self, "_block"):
            give_back(self._block)

    dtype = property(lambda self: self._memory.dtype)
    shape = property(lambda self: self._memory.shape)
    ndim = property(lambda self: self._memory.ndim)
    size = property(lambda self: self._memory.size)
    nbytes = property(lambda self: self._memory.nbytes)
    itemsize = property(lambda self: self._memory.itemsize)
    strides = property(lambda self: self._memory.strides)
    flags = property(lambda self: _Flags(self._memory))
    data = property(_Pointer)
    device = property(lambda self: Device(self._index))
    T = property(lambda self: wrapped(self._memory.T, owner(self)))

    @property
    def real(self) -> Any:
        """The real part, a view."""
        return wrapped(self._memory.real, owner(self)) if self.dtype.kind == "c" else self

    @real.setter
    def real(self, value: Any) -> None:
        self._memory.real = memory_of(value)

    @property
    def imag(self) -> Any:
        """The imaginary part, a view where there is one."""
        if self.dtype.kind == "c":
            return wrapped(self._memory.imag, owner(self))
        return functions["zeros"](self.shape, self.dtype)

    @imag.setter
    def imag(self, value: Any) -> None:
        self._memory.imag = memory_of(value)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array "
            "explicitly."
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        mine = functions.get(ufunc.__name__)
        if mine is None:
            return NotImplemented
        return (mine if method == "__call__" else getattr(mine, method))(*inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        mine = functions.get(func.__name__)
        if mine is None or not all(issubclass(kind, (ndarray, np.ndarray)) for kind in types):
            return NotImplemented
        return mine(*args, **kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self._index

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        return Capsule(self)

    # What waits for the device.

    def get(
        self, stream: Stream | None = None, order: str = "C", out: Memory | None = None, blocking: bool = True
    ) -> Memory:
        """A copy on the host; into pinned memory it need not be waited for."""
        # CuPy's own takes it for a wait in any case; see `cupyx.allow_synchronize`.
        (wait if blocking else refuse)("ndarray.get")
        if blocking:
            (stream or get_current_stream())._run()
        if out is None:
            return np.array(memory_of(self), order="C" if order == "A" else order)  # type: ignore[call-overload,no-any-return]
        if out.dtype != self.dtype or out.shape != self.shape:
            raise ValueError(f"Shape or dtype mismatch. Expected {self.shape}, {self.dtype}")
        target, memory = out, memory_of(self)
        (stream or get_current_stream())._add(lambda: np.copyto(target, memory))
        if blocking:
            (stream or get_current_stream())._run()
        return out

    def set(self, arr: Memory, stream: Stream | None = None) -> None:
        """Copy a host array here, on a stream; what the host array has become by then is what is copied."""
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if arr.dtype != self.dtype or arr.shape != self.shape:
            raise ValueError(f"Shape or dtype mismatch. Expected {self.shape}, {self.dtype}")
        upload("ndarray.set")
        source, target = weakref.ref(arr), self._memory

        def copy() -> None:
            if (host := source()) is None:
                raise AssertionError("a copy reads host memory that nobody holds any more")
            np.copyto(target, host)

        (stream or Stream.null)._add(copy)
        Stream.null._run()

    def item(self) -> Any:
        """The one element."""
        wait("ndarray.item")
        return self._memory.item()

    def tolist(self) -> Any:
        """All elements."""
        wait("ndarray.tolist")
        return self._memory.tolist()

    def _scalar(self, kind: Callable[[Any], Any]) -> Any:
        wait(f"{kind.__name__}(array)")
        return kind(self._memory.item() if self.size == 1 else self._memory)

    def __bool__(self) -> bool:
        return self._scalar(bool)  # type: ignore[no-any-return]

    def __int__(self) -> int:
        return self._scalar(int)  # type: ignore[no-any-return]

    def __float__(self) -> float:
        return self._scalar(float)  # type: ignore[no-any-return]

    def __complex__(self) -> complex:
        return self._scalar(complex)  # type: ignore[no-any-return]

    def __index__(self) -> int:
        return self._scalar(operator.index)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"array({self._memory!r})"

    def __len__(self) -> int:
        return len(self._memory)

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[n] for n in range(len(self)))

    # Methods that differ from the functions of their names.

    def astype(
        self, dtype: Any, order: str = "K", casting: Any = None, subok: Any = None, copy: bool = True
    ) -> ndarray:
        """The elements in another dtype."""
        dtype = checked(dtype)
        if not copy and dtype == self.dtype:
            return self
        launch("astype")
        with np.errstate(all="ignore"):
            return ndarray._of(memory_of(self).astype(dtype, order=order, copy=True))

    def copy(self, order: str = "C") -> ndarray:
        """A copy."""
        launch("copy")
        return ndarray._of(memory_of(self).copy(order=order))

    def view(self, dtype: Any = None, array_class: Any = None) -> ndarray:
        """The same bytes, as another dtype."""
        return wrapped(  # type: ignore[no-any-return]
            self._memory.view() if dtype is None else self._memory.view(checked(dtype)), owner(self)
        )

    def reshape(self, *shape: Any, order: str = "C", copy: Any = None) -> ndarray:
        """The elements in another shape."""
        if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)):
            shape = tuple(shape[0])
        return wrapped(self._memory.reshape(shape, order=order), owner(self))  # type: ignore[call-overload,no-any-return]

    def transpose(self, *axes: Any) -> ndarray:
        """The axes in another order."""
        return wrapped(self._memory.transpose(*axes), owner(self))  # type: ignore[no-any-return]

    def swapaxes(self, axis1: int, axis2: int) -> ndarray:
        """Two axes exchanged."""
        return wrapped(self._memory.swapaxes(axis1, axis2), owner(self))  # type: ignore[no-any-return]

    def squeeze(self, axis: Any = None) -> ndarray:
        """Without axes of size 1."""
        return wrapped(self._memory.squeeze(axis), owner(self))  # type: ignore[no-any-return]

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
        """A diagonal, a view."""
        return wrapped(self._memory.diagonal(offset, axis1, axis2), owner(self))  # type: ignore[no-any-return]

    def ravel(self, order: str = "C") -> ndarray:
        """The elements in a row."""
        return wrapped(self._memory.ravel(order), owner(self))  # type: ignore[call-overload,no-any-return]

    def fill(self, value: Any) -> None:
        """One value everywhere."""
        launch("fill")
        self._memory.fill(memory_of(value))

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        """Sort in place."""
        self._memory[...] = functions["sort"](self, axis, kind)._memory

    def take(self, indices: Any, axis: Any = None, out: Any = None) -> ndarray:
        """Elements by their positions."""
        return functions["take"](self, indices, axis, out)  # type: ignore[no-any-return]

    def dot(self, b: Any, out: Any = None) -> ndarray:
        """The product."""
        return functions["dot"](self, b, out)  # type: ignore[no-any-return]

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> ndarray:
        """The elements between bounds."""
        return functions["clip"](self, min, max, out)  # type: ignore[no-any-return]

    def conj(self) -> ndarray:
        """The conjugates."""
        return functions["conjugate"](self)  # type: ignore[no-any-return]

    def repeat(self, repeats: Any, axis: Any = None) -> ndarray:
        """The elements repeated."""
        return functions["repeat"](self, repeats, axis)  # type: ignore[no-any-return]


class Capsule:
    """What `__dlpack__` gives: CuPy's capsule, as far as the stand-in itself needs it."""

    def __init__(self, array: ndarray) -> None:
        self.array = array


def _method(name: str) -> Callable[..., Any]:
    """A method that is the function of its name, with the parameters that CuPy's method has."""
    accepted = [parameter[0] for parameter in ARRAY_METHODS[name]]

    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        if len(args) > len(accepted):
            raise TypeError(f"{name}() takes at most {len(accepted)} positional arguments ({len(args)} given)")
        given = dict(zip(accepted, args, strict=False)) | kwargs
        if unknown := set(given) - set(accepted):
            raise TypeError(f"{name}() got an unexpected keyword argument {unknown.pop()!r}")
        return functions[name](self, **given)

    method.__name__ = name
    return method


for _name in (
    *("sum", "prod", "max", "min", "all", "any", "argmax", "argmin", "mean", "var", "std", "cumsum", "cumprod"),
    *("argsort", "nonzero"),
):
    setattr(ndarray, _name, _method(_name))
