"""Namespace: NumPy's functions for kernels, by those of the standard."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any

from agog_core.plugin import as_dtype, registry
from agog_kernels_xp.parts.writing import is_writable
from agog_kernels_xp.standard.array import Array
from agog_kernels_xp.standard.elementwise import BINARY, UNARY, Elementwise
from agog_kernels_xp.standard.linalg import Linalg, einsum
from agog_kernels_xp.standard.reductions import Reductions

_NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16"),
    *("float32", "float64", "complex64", "complex128"),
)
# Python's numbers take the dtype of the array beside them, unless their kind is a higher one.
_KINDS = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}
_OWN = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


class NumPyNamespace(Reductions):
    """An array library with the standard's interface, as a kernel sees NumPy.

    Kernels call its functions with its own arrays; what each does is what NumPy documents.

    Args:
        xp: the library's namespace.
    """

    inf, nan = math.inf, math.nan

    def __init__(self, xp: Any) -> None:
        self.xp = xp
        self.__name__ = xp.__name__
        self.is_writable = is_writable(xp)
        self._native = {as_dtype(name).numpy_dtype: getattr(xp, name) for name in _NAMES if hasattr(xp, name)}
        self._numpy = {native: dtype for dtype, native in self._native.items()}
        self.linalg = Linalg(self)
        self.einsum = partial(einsum, self)
        self.fft = SimpleNamespace(
            **{name: partial(self._transformed, name) for name in ("fftn", "ifftn", "rfftn", "irfftn")}
        )
        self.ufunc = Elementwise
        self.lib = SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=self._as_strided))

    @cached_property
    def steps_back(self) -> bool:
        """Whether slices of the library may go backwards; PyTorch's may not."""
        try:
            self.xp.zeros(2)[::-1]
        except ValueError:
            return False
        return True

    def wrapped(self, native: Any) -> Array:
        """An array of the library's own."""
        return Array(self, native)

    def __getattr__(self, name: str) -> Any:
        """An elementwise function, or the type of a dtype's scalars, when it is first asked for."""
        found: Any
        if name in UNARY:
            found = Elementwise(self, UNARY[name], 1)
        elif name in BINARY:
            found = Elementwise(self, BINARY[name], 2)
        elif name in _NAMES:
            found = as_dtype(name).numpy_dtype.type
        else:
            raise AttributeError(f"NumPy's face on {self.xp.__name__} has no {name!r}.")
        setattr(self, name, found)
        return found

    def kernel(self, op: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A kernel that computes with this face, for the library's own arrays; one that updates its first arrays
        returns new ones where they cannot be written.
        """

        def run(*natives: Any, **attributes: Any) -> Any:
            arrays = [Array(self, native) for native in natives]
            result = function(*arrays, **attributes)
            if result is None and not self.is_writable:
                result = tuple(arrays[: len(registry[op].updates)])
            if isinstance(result, tuple):
                return tuple([each.native for each in result])
            return None if result is None else result.native

        run.__wrapped__ = function  # type: ignore[attr-defined]  # whose signature `agog ops` shows
        return run

    def source(self, bits: Callable[..., Any]) -> Callable[..., Array]:
        """A source of random bits in the library's arrays as one for kernels."""
        return lambda key, count: Array(self, bits(key, count))

    # Between the library's arrays and dtypes and NumPy's.

    def dtype(self, dtype: Any) -> Any:
        """NumPy's dtype of a name, of NumPy's own or of the library's."""
        is_native = not (isinstance(dtype, str | type) or hasattr(dtype, "kind"))
        return self._numpy[dtype] if is_native else as_dtype(dtype).numpy_dtype

    def native_dtype(self, dtype: Any) -> Any:
        """The library's dtype; TypeError where it has none."""
        kind = self.dtype(dtype)
        if kind not in self._native:
            raise TypeError(f"{self.__name__} has no dtype {kind}")
        return self._native[kind]

    def asarray(self, value: Any, dtype: Any = None) -> Array:
        """An array of an array, a number or nested lists of numbers."""
        if isinstance(value, Array):
            return value if dtype is None or value.dtype == self.dtype(dtype) else value.astype(dtype)
        if dtype is None and hasattr(value, "dtype"):  # a scalar of NumPy
            dtype = value.dtype
        value = value.item() if hasattr(value, "item") else value
        return Array(self, self.xp.asarray(value, dtype=None if dtype is None else self.native_dtype(dtype)))

    def promoted(self, values: Any, dtype: Any = None) -> list[Array]:
        """Arrays and numbers as arrays of one dtype, as NumPy chooses it."""
        if dtype is None:
            typed = [value.dtype for value in values if hasattr(value, "dtype")]
            dtype = self.result_type(*typed) if typed else self.dtype(_OWN[type(values[0])])
            for value in values:
                own = self.dtype(_OWN[type(value)]) if type(value) in _OWN else dtype
                if _KINDS[own.kind] > _KINDS[dtype.kind]:
                    dtype = self.result_type(dtype, "complex64") if _KINDS[dtype.kind] == 2 else own
        return [self.asarray(value, dtype) for value in values]

    def result_type(self, *dtypes: Any) -> Any:
        """The dtype that NumPy gives to what is computed of some."""
        result = self.dtype(dtypes[0])
        for each in dtypes[1:]:
            if self.dtype(each) != result:
                result = (result.type() + self.dtype(each).type()).dtype
        return result

    def iinfo(self, dtype: Any) -> Any:
        return self.xp.iinfo(self.native_dtype(dtype))

    def finfo(self, dtype: Any) -> Any:
        return self.xp.finfo(self.native_dtype(dtype))

    # New arrays.

    def array(self, value: Any, dtype: Any = None, order: str = "K") -> Array:
        return self.asarray(value, dtype).copy()

    def ascontiguousarray(self, x: Array) -> Array:
        """The array itself: the standard says nothing of strides."""
        return x

    def empty(self, shape: Any, dtype: Any = "float64") -> Array:
        return Array(self, self.xp.empty(_shape(shape), dtype=self.native_dtype(dtype)))

    def zeros(self, shape: Any, dtype: Any = "float64") -> Array:
        return Array(self, self.xp.zeros(_shape(shape), dtype=self.native_dtype(dtype)))

    def ones(self, shape: Any, dtype: Any = "float64") -> Array:
        return Array(self, self.xp.ones(_shape(shape), dtype=self.native_dtype(dtype)))

    def full(self, shape: Any, value: Any, dtype: Any = None) -> Array:
        first = self.asarray(value, dtype)
        return self.broadcast_to(first, _shape(shape)).copy()

    def empty_like(self, x: Array) -> Array:
        """Uninitialised elements in the shape of another array."""
        return self.empty(x.shape, x.dtype)

    def zeros_like(self, x: Array) -> Array:
        """Zeros in the shape of another array."""
        return self.zeros(x.shape, x.dtype)

    def ones_like(self, x: Array) -> Array:
        """Ones in the shape of another array."""
        return self.ones(x.shape, x.dtype)

    def full_like(self, x: Array, value: Any) -> Array:
        """One value in the shape of another array."""
        return self.full(x.shape, value, x.dtype)

    def arange(self, *limits: int, dtype: Any = None) -> Array:
        return Array(self, self.xp.arange(*limits, dtype=self.native_dtype(dtype or "int64")))

    def linspace(self, start: float, stop: float, num: int, dtype: Any) -> Array:
        return Array(self, self.xp.linspace(start, stop, num, dtype=self.native_dtype(dtype)))

    def eye(self, rows: int, columns: int | None = None, dtype: Any = "float64") -> Array:
        return Array(self, self.xp.eye(rows, columns, dtype=self.native_dtype(dtype)))

    def joined(self, real: Array, imag: Array) -> Any:
        """Complex numbers of their parts; of an infinite part and the imaginary unit the product would be a NaN."""
        kind = self.result_type(real.dtype, imag.dtype, "complex64")
        upright = self.where(self.isfinite(imag), imag, 0).astype(kind) * 1j
        for part in (math.inf, -math.inf):
            upright = self.where(imag == part, complex(0, part), upright)
        return real.astype(kind) + self.where(self.isnan(imag), complex(0, math.nan), upright)

    # Shapes.

    def broadcast_to(self, x: Array, shape: Any) -> Array:
        """Repetition along axes of size 1 and new axes."""
        return Array(self, self.xp.broadcast_to(x.native, tuple(shape)))

    def broadcast_arrays(self, *arrays: Array) -> list[Array]:
        """Arrays in their common shape."""
        return [Array(self, each) for each in self.xp.broadcast_arrays(*[x.native for x in arrays])]

    def broadcast(self, *arrays: Array) -> Array:
        """An array of the common shape."""
        return self.broadcast_arrays(*arrays)[0]

    def concatenate(self, arrays: Any, axis: int = 0) -> Array:
        return Array(self, self.xp.concat([x.native for x in self.promoted(arrays)], axis=axis))

    def stack(self, arrays: Any, axis: int = 0) -> Array:
        """Arrays along a new axis."""
        return Array(self, self.xp.stack([x.native for x in self.promoted(arrays)], axis=axis))

    def split(self, x: Array, count: int, axis: int) -> list[Array]:
        """Equal pieces along the last axis."""
        size = x.shape[axis] // count
        return [x[..., n * size : (n + 1) * size] for n in range(count)]

    def expand_dims(self, x: Array, axis: int) -> Array:
        return x.part(
            lambda whole: self.xp.expand_dims(whole, axis=axis), lambda whole, new: self.xp.squeeze(new, axis=axis)
        )

    def squeeze(self, x: Array, axis: int) -> Array:
        return x.part(
            lambda whole: self.xp.squeeze(whole, axis=axis), lambda whole, new: self.xp.expand_dims(new, axis=axis)
        )

    def moveaxis(self, x: Array, source: int, target: int) -> Array:
        """An axis in another place."""
        return x.part(
            lambda whole: self.xp.moveaxis(whole, source, target),
            lambda whole, new: self.xp.moveaxis(new, target, source),
        )

    def flip(self, x: Array, axis: int) -> Array:
        return x.part(lambda whole: self.xp.flip(whole, axis=axis), lambda whole, new: self.xp.flip(new, axis=axis))

    def tile(self, x: Array, count: int) -> Array:
        """The last axis several times."""
        return Array(self, self.xp.tile(x.native, (*[1] * (x.ndim - 1), count)))

    def repeat(self, x: Array, count: int, axis: int) -> Array:
        """Each element along an axis several times."""
        return Array(self, self.xp.repeat(x.native, count, axis=axis))

    def _as_strided(self, x: Array, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
        places = self.zeros((), "int64")
        for size, stride in zip(shape, strides, strict=True):
            places = places[..., None] + self.arange(size) * (stride // x.itemsize)
        return self.take(x, places)

    # Choice and order.

    def where(self, condition: Array, *values: Any) -> Array:
        """One value where a condition holds, another elsewhere."""
        a, b = self.promoted(values)
        return Array(self, self.xp.where(condition.astype("bool", copy=False).native, a.native, b.native))

    def take(self, x: Array, positions: Array, axis: int | None = None) -> Array:
        """Elements by their positions along an axis, or among all."""
        if axis is None:
            x, axis = x.reshape(-1), 0
        axis %= x.ndim
        taken = self.xp.take(x.native, positions.reshape(-1).native, axis=axis)
        return Array(self, taken).reshape(*x.shape[:axis], *positions.shape, *x.shape[axis + 1 :])

    def take_along_axis(self, x: Array, positions: Array, axis: int) -> Array:
        """Elements by their positions along an axis, other ones for each row."""
        axis %= x.ndim
        sizes = [max(a, b) for n, (a, b) in enumerate(zip(x.shape, positions.shape, strict=True)) if n != axis]
        spread, wanted = (
            self.broadcast_to(each, (*sizes[:axis], each.shape[axis], *sizes[axis:])) for each in (x, positions)
        )
        return Array(self, self.xp.take_along_axis(spread.native, wanted.astype("int64").native, axis=axis))

    def copyto(self, target: Array, source: Any, where: Array | None = None) -> None:
        """Write everywhere, or where a condition holds."""
        target[...] = source if where is None else self.where(where, source, target)

    def nonzero(self, x: Array) -> tuple[Array, ...]:
        """Positions along each axis of what is not zero."""
        return tuple([Array(self, each) for each in self.xp.nonzero(x.native)])

    def argwhere(self, x: Array) -> Array:
        """Positions of what is not zero, one after the other."""
        if not x.ndim:
            return self.zeros((int(bool(x)), 0), "int64")
        return self.stack(self.nonzero(x), axis=-1)

    def argsort(self, x: Array, axis: int = -1, kind: str = "stable") -> Array:
        return Array(self, self.xp.argsort(x.native, axis=axis, stable=True))

    def sort(self, x: Array, axis: int = -1) -> Array:
        return Array(self, self.xp.sort(x.native, axis=axis))

    def argpartition(self, x: Array, n: int, axis: int) -> Array:
        """Positions in order, which is more than is asked for."""
        return self.argsort(x, axis)

    def partition(self, x: Array, n: int, axis: int) -> Array:
        """Elements in order, which is more than is asked for."""
        return self.sort(x, axis)

    def searchsorted(self, x: Array, values: Array, side: str = "left") -> Array:
        """Positions of values in a sorted vector."""
        return Array(self, self.xp.searchsorted(x.native, values.native, side=side))

    def unique(self, x: Array, **_: bool) -> tuple[Array, ...]:
        """Different elements, where each is first, which of them each element is, and how often."""
        return tuple([Array(self, each) for each in self.xp.unique_all(x.native)])

    def isin(self, x: Array, values: Array) -> Any:
        """Whether elements are among others."""
        return (x.reshape(-1)[:, None] == values.reshape(-1)).any(1).reshape(x.shape)

    def matmul(self, x: Array, y: Array, out: Array | None = None) -> Array:
        x, y = self.promoted((x, y))
        product = Array(self, self.xp.matmul(x.native, y.native))
        if out is not None:
            out[...] = product
        return product if out is None else out

    def clip(self, x: Array, low: Any, high: Any, out: Array | None = None) -> Any:
        return self.minimum(self.maximum(x, low), high, out=out)

    def fmod(self, x: Array, y: Array) -> Any:
        """Remainder with the dividend's sign."""
        rest = abs(x) % abs(y)
        return self.where(x < 0, -rest, rest)

    def _transformed(self, name: str, x: Array, s: Any = None, axes: Any = None) -> Array:
        return Array(self, getattr(self.xp.fft, name)(x.native, s=s, axes=axes))


def _shape(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)
