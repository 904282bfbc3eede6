"""Library: NumPy's functions for what is recorded, as far as their results' sizes come from sizes alone.

It calls itself NumPy: kernels choose between ways of computing by the library's name, and eager calls take NumPy's.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from agog_cpu_executor.lowering.recorded import Number, Recorded, as_value, elementwise, recording
from agog_cpu_executor.program import layouts
from agog_cpu_executor.program.program import Opaque, Value, constant


class Ufunc:
    """A ufunc, and its reduction."""

    def __init__(self, function: np.ufunc) -> None:
        self._function = function

    def __call__(self, *operands: Any, out: Any = None) -> Any:
        """Call it; the result goes to an operand more than it takes, or to ``out``."""
        count = self._function.nin
        return elementwise(self._function, *operands[:count], out=operands[count] if len(operands) > count else out)

    def reduce(
        self, x: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None
    ) -> Any:
        """Reduce along axes."""
        if out is not None:
            raise Opaque("a reduction into an array")
        options: dict[str, Any] = {"axis": axis, "dtype": dtype, "keepdims": keepdims}
        if initial is not None:
            options["initial"] = initial
        return Recorded(recording.get().reduce(self._function, as_value(x), **options))


class Companion:
    """The ufuncs of a module of SciPy."""

    def __init__(self, module: str) -> None:
        self._module = import_module(f"scipy.{module}")

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if isinstance(found, np.ufunc) and found.nout == 1:
            return Ufunc(found)
        raise Opaque(f"it calls {name}")


class Library:
    """The functions; one that is not here raises `Opaque`, and the kernel that asks for it stays as it is."""

    __name__ = "numpy"
    ufunc = np.ufunc
    is_recording = True
    inf, nan, pi, newaxis, ndarray = np.inf, np.nan, np.pi, None, Recorded

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python asks for such, as for `__wrapped__`
            raise AttributeError(name)
        found = getattr(np, name, None)
        if isinstance(found, np.ufunc) and found.nout == 1 and found.signature is None:
            function = Ufunc(found)
            setattr(self, name, function)
            return function
        if (isinstance(found, type) and issubclass(found, np.generic)) or name in ("dtype", "iinfo", "finfo"):
            return found
        raise Opaque(f"it calls {name}")

    def companion(self, module: str) -> Companion:
        """A module of SciPy for what is recorded."""
        return Companion(module)

    def empty(self, shape: Any, dtype: Any = float) -> Recorded:
        """An array that will be written."""
        return Recorded(recording.get().full(shape, dtype, None))

    def zeros(self, shape: Any, dtype: Any = float) -> Recorded:
        """Zeros."""
        return self.full(shape, 0, dtype)

    def ones(self, shape: Any, dtype: Any = float) -> Recorded:
        """Ones."""
        return self.full(shape, 1, dtype)

    def full(self, shape: Any, value: Any, dtype: Any = None) -> Recorded:
        """One number everywhere."""
        if not isinstance(value, (bool, int, float, complex, np.generic)):
            raise Opaque("it fills with what is known late")
        return Recorded(recording.get().full(shape, np.asarray(value).dtype if dtype is None else dtype, value))

    def empty_like(self, x: Any) -> Recorded:
        """An array like another one that will be written."""
        made = recording.get().full(x.shape, x.dtype, None)
        made.array = layouts.copied(as_value(x).array, x.dtype, "K")
        return Recorded(made)

    def zeros_like(self, x: Any) -> Recorded:
        """Zeros in the place of another array."""
        return Recorded(
            recording.get().fit(self.full(x.shape, 0, x.dtype).value, layouts.copied(as_value(x).array, x.dtype, "K"))
        )

    def full_like(self, x: Any, value: Any) -> Recorded:
        """A number in the place of each element of another array."""
        made = self.full(x.shape, value, x.dtype)
        return Recorded(recording.get().fit(made.value, layouts.copied(as_value(x).array, x.dtype, "K")))

    def arange(self, *args: Any, dtype: Any = None) -> Recorded:
        """Evenly spaced numbers, which are a constant."""
        return Recorded(constant(np.arange(*args, dtype=dtype)))

    def eye(self, *args: Any, dtype: Any = float) -> Recorded:
        """The identity matrix, a constant."""
        return Recorded(constant(np.eye(*args, dtype=dtype)))

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        """An array, of a dtype where one is named."""
        if isinstance(x, Recorded):
            return x if dtype is None else x.astype(dtype, copy=False)
        if isinstance(x, Number):
            return Recorded(as_value(x, np.dtype(dtype)))
        return Recorded(constant(np.asarray(x, dtype)))

    def array(self, x: Any, dtype: Any = None, order: str = "K") -> Recorded:
        """A copy."""
        return self.asarray(x, dtype).astype(dtype or x.dtype, order)  # type: ignore[no-any-return]

    def ascontiguousarray(self, x: Recorded) -> Recorded:
        """The array itself where it is in C order, else a copy that is."""
        return x if x.ndim and x.value.array.flags.c_contiguous else x.astype(x.dtype, "C")

    def where(self, condition: Any, x: Any, y: Any) -> Recorded:
        """A choice of elements; Python's numbers are weak."""
        kinds = (bool, int, float, complex, Number)
        weak = [isinstance(each, kinds) and not isinstance(each, np.generic) for each in (x, y)]
        if all(weak):
            raise Opaque("a choice of two numbers")
        like = np.result_type(
            *[
                float(0) if isinstance(each, Number) else each if is_weak else as_value(each).array.dtype
                for each, is_weak in zip((x, y), weak, strict=True)
            ]
        )
        values = [as_value(each, like) for each in (x, y)]
        return Recorded(recording.get().where(as_value(condition), *values))

    def matmul(self, x: Any, y: Any, out: Any = None) -> Recorded:
        """Products of matrices."""
        made = Recorded(recording.get().product("matmul", as_value(x), as_value(y)))
        if out is None:
            return made
        out.write(made.value)
        return out  # type: ignore[no-any-return]

    def vdot(self, x: Any, y: Any) -> Recorded:
        """The sum of products of all elements, of real numbers."""
        values = as_value(x), as_value(y)
        array = np.empty((), np.result_type(*[each.array for each in values]))
        return Recorded(recording.get().function(np.vdot, values, array))

    def copyto(self, target: Recorded, source: Any) -> None:
        """Write an array."""
        target[...] = source

    def clip(self, x: Any, lowest: Any, highest: Any, out: Any = None) -> Any:
        """Numbers within limits."""
        if not isinstance(x, Recorded) or x.dtype.hasobject:
            raise Opaque("it clips what is no array")
        kinds = (Recorded, Number)
        limits = [as_value(each, x.dtype) if isinstance(each, kinds) else each for each in (lowest, highest)]
        array = layouts.result(x.dtype, x.value.array)
        made = recording.get().function(np.clip, (x.value, *limits), array)
        if out is None:
            return Recorded(made)
        out.write(made)
        return out

    def concatenate(self, arrays: Any, axis: int = 0) -> Recorded:
        """Arrays side by side."""
        values = tuple(as_value(each) for each in arrays)
        if any(each.array.dtype.hasobject for each in values):
            raise Opaque("strings")
        made = np.concatenate([each.array for each in values], axis)
        array = layouts.of(made.dtype, made.shape, made.strides)
        return Recorded(recording.get().function(np.concatenate, (values,), array, axis=axis))

    def stack(self, arrays: Any, axis: int = 0) -> Recorded:
        """Arrays along a new axis."""
        return self.concatenate([self.expand_dims(each, axis) for each in arrays], axis)

    def split(self, x: Recorded, count: int, axis: int) -> list[Recorded]:
        """Equal parts along an axis."""
        before, size = (slice(None),) * (axis % x.ndim), x.shape[axis] // count
        return [x[(*before, slice(n * size, (n + 1) * size))] for n in range(count)]

    def expand_dims(self, x: Any, axis: Any) -> Recorded:
        """A new axis of size 1."""
        return x.reshape(np.expand_dims(x.value.array, axis).shape)  # type: ignore[no-any-return]

    def squeeze(self, x: Any, axis: Any = None) -> Recorded:
        """Without an axis of size 1."""
        return x.reshape(np.squeeze(x.value.array, axis).shape)  # type: ignore[no-any-return]

    def reshape(self, x: Any, shape: Any) -> Recorded:
        """Another shape."""
        return x.reshape(shape)  # type: ignore[no-any-return]

    def transpose(self, x: Any, axes: Any = None) -> Recorded:
        """Another order of the axes."""
        return x.transpose(axes or tuple(range(x.ndim))[::-1])  # type: ignore[no-any-return]

    def moveaxis(self, x: Any, source: int, target: int) -> Recorded:
        """An axis in another place."""
        axes = [axis for axis in range(x.ndim) if axis != source % x.ndim]
        axes.insert(target % x.ndim, source % x.ndim)
        return x.transpose(tuple(axes))  # type: ignore[no-any-return]

    def flip(self, x: Any, axis: int) -> Recorded:
        """An axis from its end."""
        return x[(*(slice(None),) * (axis % x.ndim), slice(None, None, -1))]  # type: ignore[no-any-return]

    def broadcast_to(self, x: Any, shape: Any) -> Recorded:
        """A view that repeats elements."""
        return x.see("broadcast", tuple(shape))  # type: ignore[no-any-return]

    def take(self, x: Any, positions: Any, axis: int | None = None) -> Recorded:
        """Slices at positions."""
        values = as_value(x), as_value(positions)
        shape, at = values[0].array.shape, values[1].array.shape
        sizes = at if axis is None else (*shape[: axis % len(shape)], *at, *shape[axis % len(shape) + 1 :])
        array = layouts.of(values[0].array.dtype, sizes)
        return Recorded(recording.get().function(np.take, values, array, axis=axis))

    def sum(self, x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
        """The sum."""
        return x.sum(axis, dtype, keepdims)

    def max(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """The maximum."""
        return x.max(axis, keepdims)

    def min(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """The minimum."""
        return x.min(axis, keepdims)

    def all(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Whether all are true."""
        return x.all(axis, keepdims)

    def any(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Whether any is true."""
        return x.any(axis, keepdims)

    def cumsum(self, x: Any, axis: int, dtype: Any = None) -> Recorded:
        """Running sums."""
        return self._scan(np.cumsum, x, axis, dtype)

    def cumprod(self, x: Any, axis: int, dtype: Any = None) -> Recorded:
        """Running products."""
        return self._scan(np.cumprod, x, axis, dtype)

    def _scan(self, function: Any, x: Any, axis: int, dtype: Any) -> Recorded:
        value: Value = as_value(x)
        return Recorded(
            recording.get().function(function, (value,), layouts.of(dtype, value.array.shape), axis=axis, dtype=dtype)
        )

    def argmax(self, x: Any, axis: int | None = None) -> Recorded:
        """Positions of the first maxima."""
        return self._positions(np.argmax, x, axis)

    def argmin(self, x: Any, axis: int | None = None) -> Recorded:
        """Positions of the first minima."""
        return self._positions(np.argmin, x, axis)

    def _positions(self, function: Any, x: Any, axis: int | None) -> Recorded:
        value, axes = as_value(x), x.ndim
        shape = () if axis is None else tuple(size for n, size in enumerate(x.shape) if n != axis % axes)
        if not value.array.size:
            raise Opaque("no elements")
        return Recorded(recording.get().function(function, (value,), layouts.of(np.intp, shape), axis=axis))


LIBRARY = Library()
"""The library with which kernels are bound to be recorded."""
