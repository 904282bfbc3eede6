"""Array: an array of a library with the standard's interface, with NumPy's methods and operators."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from agog_kernels_xp.standard import indexing


def _binary(name: str) -> Callable[[Array, Any], Any]:
    return lambda self, other: getattr(self.face, name)(self, other)


def _reflected(name: str) -> Callable[[Array, Any], Any]:
    return lambda self, other: getattr(self.face, name)(other, self)


def _in_place(name: str) -> Callable[[Array, Any], Array]:
    return lambda self, other: getattr(self.face, name)(self, other, out=self)


def _reduction(name: str) -> Callable[..., Any]:
    def reduce(self: Array, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        return getattr(self.face, name)(self, axis=axis, dtype=dtype, keepdims=keepdims)

    return reduce


class Array:
    """A library's array in the shape of one of NumPy's; ``native`` is the library's own, and ``face`` the library."""

    __slots__ = ("face", "native")
    __array_ufunc__ = None  # NumPy's scalars leave operators to this class
    __hash__ = None  # type: ignore[assignment]  # as NumPy's

    def __init__(self, face: Any, native: Any) -> None:
        self.face = face
        self.native = native

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(f"an array of {self.face.__name__} cannot go to a function of the host")

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.native.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def dtype(self) -> Any:
        return self.face.dtype(self.native.dtype)

    @property
    def itemsize(self) -> int:
        return int(self.dtype.itemsize)

    @property
    def device(self) -> Any:
        """Where the library keeps it."""
        return self.native.device

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis, as if it were contiguous; for `as_strided`."""
        return tuple(self.itemsize * math.prod(self.shape[axis + 1 :]) for axis in range(self.ndim))

    @property
    def T(self) -> Array:
        """The axes in reverse order."""
        return self.transpose(tuple(reversed(range(self.ndim))))

    @property
    def real(self) -> Array:
        return Array(self.face, self.face.xp.real(self.native)) if self.dtype.kind == "c" else self

    @real.setter
    def real(self, value: Array) -> None:
        self[...] = self.face.joined(value, self.imag)

    @property
    def imag(self) -> Array:
        return Array(self.face, self.face.xp.imag(self.native)) if self.dtype.kind == "c" else self * 0

    @imag.setter
    def imag(self, value: Array) -> None:
        self[...] = self.face.joined(self.real, value)

    def conj(self) -> Any:
        return self.face.conjugate(self)

    def astype(self, dtype: Any, order: str = "K", copy: bool = True) -> Any:
        """The values as another dtype."""
        if self.dtype.kind == "c" and self.face.dtype(dtype).kind == "b":
            return self.face.not_equal(self, 0)
        return Array(self.face, self.face.xp.astype(self.native, self.face.native_dtype(dtype), copy=copy))

    def part(self, read: Callable[[Any], Any], write: Callable[[Any, Any], Any]) -> Array:
        """A view: what ``read`` gives of the array. Where the library cannot write, ``write`` gives the whole array of
        the one before and of the part's new value.
        """
        return Array(self.face, read(self.native)) if self.face.is_writable else View(self, read, write)

    def reshape(self, *shape: Any) -> Array:
        """The same elements in another shape; a view where the library can."""
        sizes = indexing.known(self.size, shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)
        xp = self.face.xp
        return self.part(lambda whole: xp.reshape(whole, sizes), lambda whole, new: xp.reshape(new, whole.shape))

    def transpose(self, axes: tuple[int, ...]) -> Array:
        """The axes in another order."""
        xp, back = self.face.xp, tuple(sorted(range(len(axes)), key=lambda n: axes[n] % len(axes)))
        return self.part(lambda whole: xp.permute_dims(whole, axes), lambda whole, new: xp.permute_dims(new, back))

    def swapaxes(self, first: int, second: int) -> Array:
        axes = list(range(self.ndim))
        axes[first], axes[second] = axes[second], axes[first]
        return self.transpose(tuple(axes))

    def copy(self) -> Array:
        """A copy, one row after the other in memory, so that reshaping it makes views."""
        if not self.face.is_writable:
            return Array(self.face, self.native)
        copied: Array = self.face.empty(self.shape, self.dtype)
        copied.native[...] = self.native
        return copied

    def write(self, key: Any, value: Any) -> None:
        """Write an array of the library to integers and slices; one that cannot write takes a new array."""
        if self.face.is_writable:
            self.native[key] = value
        else:
            self.native = self.native.at[key].set(value)

    def view(self, dtype: Any) -> Any:
        """The bytes as another dtype: of 64 unsigned bits as the two halves, which arithmetic can tell."""
        if (self.dtype.name, self.face.dtype(dtype).name) != ("uint64", "uint32"):
            raise TypeError(f"{self.face.__name__} cannot show the bytes of {self.dtype} as {dtype}")
        halves = self.face.stack([self & self.dtype.type(0xFFFFFFFF), self >> self.dtype.type(32)], axis=-1)
        return halves.astype("uint32").reshape(-1)

    def fill(self, value: Any) -> None:
        self[...] = value

    def dot(self, other: Array) -> Array:
        """Product of matrices or vectors."""
        return Array(self.face, self.face.xp.matmul(self.native, other.native))

    def take(self, positions: Array, axis: int | None = None) -> Any:
        """Elements by their positions along an axis, or among all."""
        return self.face.take(self, positions, axis)

    def argmax(self, axis: int | None = None) -> Any:
        """Position of the first maximum."""
        return self.face.argmax(self, axis=axis)

    def argmin(self, axis: int | None = None) -> Any:
        """Position of the first minimum."""
        return self.face.argmin(self, axis=axis)

    def tolist(self) -> Any:
        """Nested lists of Python's numbers."""
        if self.shape:
            return [each.tolist() for each in self]
        return {"b": bool, "i": int, "u": int, "c": complex}.get(self.dtype.kind, float)(self.native)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        return (self[position] for position in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self.tolist()) if not self.shape else bool(self.reshape(()).tolist())

    def __int__(self) -> int:
        return int(self.tolist())

    __index__ = __int__

    def __float__(self) -> float:
        return float(self.tolist())

    def __getitem__(self, key: Any) -> Array:
        return indexing.get(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        indexing.put(self, key, value)

    sum, max, min, prod = _reduction("sum"), _reduction("max"), _reduction("min"), _reduction("prod")
    all, any = _reduction("all"), _reduction("any")

    __neg__ = lambda self: self.face.negative(self)  # noqa: E731
    __abs__ = lambda self: self.face.absolute(self)  # noqa: E731
    __invert__ = lambda self: self.face.invert(self)  # noqa: E731
    __add__, __radd__, __iadd__ = _binary("add"), _reflected("add"), _in_place("add")
    __sub__, __rsub__, __isub__ = _binary("subtract"), _reflected("subtract"), _in_place("subtract")
    __mul__, __rmul__, __imul__ = _binary("multiply"), _reflected("multiply"), _in_place("multiply")
    __truediv__, __rtruediv__, __itruediv__ = _binary("divide"), _reflected("divide"), _in_place("divide")
    __floordiv__, __rfloordiv__ = _binary("floor_divide"), _reflected("floor_divide")
    __mod__, __rmod__ = _binary("remainder"), _reflected("remainder")
    __pow__, __rpow__ = _binary("power"), _reflected("power")
    __and__, __rand__, __iand__ = _binary("bitwise_and"), _reflected("bitwise_and"), _in_place("bitwise_and")
    __or__, __ror__, __ior__ = _binary("bitwise_or"), _reflected("bitwise_or"), _in_place("bitwise_or")
    __xor__, __rxor__, __ixor__ = _binary("bitwise_xor"), _reflected("bitwise_xor"), _in_place("bitwise_xor")
    __lshift__, __rlshift__ = _binary("left_shift"), _reflected("left_shift")
    __rshift__, __rrshift__ = _binary("right_shift"), _reflected("right_shift")
    __matmul__ = lambda self, other: self.face.matmul(self, other)  # noqa: E731
    __eq__ = _binary("equal")
    __ne__ = _binary("not_equal")
    __lt__, __le__ = _binary("less"), _binary("less_equal")
    __gt__, __ge__ = _binary("greater"), _binary("greater_equal")


class View(Array):
    """Part of an array of a library that cannot write: it reads what its source has now, and writes into that."""

    __slots__ = ("_of", "_read", "_seen", "_write", "source")

    def __init__(self, source: Array, read: Callable[[Any], Any], write: Callable[[Any, Any], Any]) -> None:
        self.face = source.face
        self.source = source
        self._read = read
        self._write = write
        self._of: Any = None  # what the source had when it was read last

    @property
    def native(self) -> Any:
        """The library's array."""
        if (whole := self.source.native) is not self._of:
            self._seen, self._of = self._read(whole), whole
        return self._seen

    @native.setter
    def native(self, value: Any) -> None:
        self.source.native = self._write(self.source.native, value)
