"""Library: NumPy's functions on proxies, as far as the sizes of results depend on sizes only.

It has NumPy's name: kernels choose between algorithms by the name of the library, and eager calls choose NumPy's.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from agog_cpu_executor.lowering.proxies import ArrayProxy, NumberProxy, as_value, elementwise, recording
from agog_cpu_executor.program import layouts
from agog_cpu_executor.program.program import Opaque, constant
from agog_cpu_executor.program.steps import Value


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
        return ArrayProxy(recording.get().reduce(self._function, as_value(x), axis, dtype, keepdims, initial))


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
    """The functions; any other one raises `Opaque`, so that its kernel is called whole."""

    __name__ = "numpy"
    ufunc = np.ufunc
    is_recording = True
    inf, nan, pi, newaxis, ndarray = np.inf, np.nan, np.pi, None, ArrayProxy

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

    def empty(self, shape: Any, dtype: Any = float) -> ArrayProxy:
        """An array that will be written."""
        return ArrayProxy(recording.get().full(shape, dtype, None))

    def zeros(self, shape: Any, dtype: Any = float) -> ArrayProxy:
        """Zeros."""
        return self.full(shape, 0, dtype)

    def ones(self, shape: Any, dtype: Any = float) -> ArrayProxy:
        """Ones."""
        return self.full(shape, 1, dtype)

    def full(self, shape: Any, value: Any, dtype: Any = None) -> ArrayProxy:
        """One number everywhere."""
        if not isinstance(value, (bool, int, float, complex, np.generic)):
            raise Opaque("it fills with what is known late")
        return ArrayProxy(recording.get().full(shape, np.asarray(value).dtype if dtype is None else dtype, value))

    def empty_like(self, x: Any) -> ArrayProxy:
        """An array like another one that will be written."""
        made = recording.get().full(x.shape, x.dtype, None)
        made.array = layouts.copied(as_value(x).array, x.dtype, "K")
        return ArrayProxy(made)

    def zeros_like(self, x: Any) -> ArrayProxy:
        """Zeros in the place of another array."""
        return ArrayProxy(
            recording.get().fit(self.full(x.shape, 0, x.dtype).value, layouts.copied(as_value(x).array, x.dtype, "K"))
        )

    def full_like(self, x: Any, value: Any) -> ArrayProxy:
        """A number in the place of each element of another array."""
        made = self.full(x.shape, value, x.dtype)
        return ArrayProxy(recording.get().fit(made.value, layouts.copied(as_value(x).array, x.dtype, "K")))

    def arange(self, *args: Any, dtype: Any = None) -> ArrayProxy:
        """Evenly spaced numbers, which are a constant."""
        return ArrayProxy(constant(np.arange(*args, dtype=dtype)))

    def eye(self, *args: Any, dtype: Any = float) -> ArrayProxy:
        """The identity matrix, a constant."""
        return ArrayProxy(constant(np.eye(*args, dtype=dtype)))

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        """An array, of a dtype where one is named."""
        if isinstance(x, ArrayProxy):
            return x if dtype is None else x.astype(dtype, copy=False)
        if isinstance(x, NumberProxy):
            return ArrayProxy(as_value(x, np.dtype(dtype)))
        return ArrayProxy(constant(np.asarray(x, dtype)))

    def array(self, x: Any, dtype: Any = None, order: str = "K") -> ArrayProxy:
        """A copy."""
        return self.asarray(x, dtype).astype(dtype or x.dtype, order)  # type: ignore[no-any-return]

    def ascontiguousarray(self, x: ArrayProxy) -> ArrayProxy:
        """The array itself where it is in C order, else a copy that is."""
        return x if x.ndim and x.value.array.flags.c_contiguous else x.astype(x.dtype, "C")

    def where(self, condition: Any, x: Any, y: Any) -> ArrayProxy:
        """A choice of elements; Python's numbers are weak."""
        kinds = (bool, int, float, complex, NumberProxy)
        weak = [isinstance(each, kinds) and not isinstance(each, np.generic) for each in (x, y)]
        if all(weak):
            raise Opaque("a choice of two numbers")
        like = np.result_type(
            *[
                float(0) if isinstance(each, NumberProxy) else each if is_weak else as_value(each).array.dtype
                for each, is_weak in zip((x, y), weak, strict=True)
            ]
        )
        values = [as_value(each, like) for each in (x, y)]
        return ArrayProxy(recording.get().where(as_value(condition), *values))

    def matmul(self, x: Any, y: Any, out: Any = None) -> ArrayProxy:
        """Products of matrices."""
        made = ArrayProxy(recording.get().product("matmul", as_value(x), as_value(y)))
        if out is None:
            return made
        out.write(made.value)
        return out  # type: ignore[no-any-return]

    def vdot(self, x: Any, y: Any) -> ArrayProxy:
        """The sum of products of all elements, of real numbers."""
        values = as_value(x), as_value(y)
        array = np.empty((), np.result_type(*[each.array for each in values]))
        return ArrayProxy(recording.get().function(np.vdot, values, array))

    def copyto(self, target: ArrayProxy, source: Any) -> None:
        """Write an array."""
        target[...] = source

    def clip(self, x: Any, lowest: Any, highest: Any, out: Any = None) -> Any:
        """Numbers within limits."""
        if not isinstance(x, ArrayProxy) or x.dtype.hasobject:
            raise Opaque("it clips what is no array")
        kinds = (ArrayProxy, NumberProxy)
        limits = [as_value(each, x.dtype) if isinstance(each, kinds) else each for each in (lowest, highest)]
        array = layouts.result(x.dtype, x.value.array)
        made = recording.get().function(np.clip, (x.value, *limits), array)
        if out is None:
            return ArrayProxy(made)
        out.write(made)
        return out

    def concatenate(self, arrays: Any, axis: int = 0) -> ArrayProxy:
        """Arrays side by side."""
        values = tuple(as_value(each) for each in arrays)
        if any(each.array.dtype.hasobject for each in values):
            raise Opaque("strings")
        made = np.concatenate([each.array for each in values], axis)
        array = layouts.of(made.dtype, made.shape, made.strides)
        return ArrayProxy(recording.get().function(np.concatenate, (values,), array, axis=axis))

    def stack(self, arrays: Any, axis: int = 0) -> ArrayProxy:
        """Arrays along a new axis."""
        return self.concatenate([self.expand_dims(each, axis) for each in arrays], axis)

    def split(self, x: ArrayProxy, count: int, axis: int) -> list[ArrayProxy]:
        """Equal parts along an axis."""
        before, size = (slice(None),) * (axis % x.ndim), x.shape[axis] // count
        return [x[(*before, slice(n * size, (n + 1) * size))] for n in range(count)]

    def expand_dims(self, x: Any, axis: Any) -> ArrayProxy:
        """A new axis of size 1."""
        return x.reshape(np.expand_dims(x.value.array, axis).shape)  # type: ignore[no-any-return]

    def squeeze(self, x: Any, axis: Any = None) -> ArrayProxy:
        """Without an axis of size 1."""
        return x.reshape(np.squeeze(x.value.array, axis).shape)  # type: ignore[no-any-return]

    def reshape(self, x: Any, shape: Any) -> ArrayProxy:
        """Another shape."""
        return x.reshape(shape)  # type: ignore[no-any-return]

    def transpose(self, x: Any, axes: Any = None) -> ArrayProxy:
        """Another order of the axes."""
        return x.transpose(axes or tuple(range(x.ndim))[::-1])  # type: ignore[no-any-return]

    def moveaxis(self, x: Any, source: int, target: int) -> ArrayProxy:
        """An axis in another place."""
        axes = [axis for axis in range(x.ndim) if axis != source % x.ndim]
        axes.insert(target % x.ndim, source % x.ndim)
        return x.transpose(tuple(axes))  # type: ignore[no-any-return]

    def flip(self, x: Any, axis: int) -> ArrayProxy:
        """An axis from its end."""
        return x[(*(slice(None),) * (axis % x.ndim), slice(None, None, -1))]  # type: ignore[no-any-return]

    def broadcast_to(self, x: Any, shape: Any) -> ArrayProxy:
        """A view that repeats elements."""
        return x.see("broadcast", tuple(shape))  # type: ignore[no-any-return]

    def take(self, x: Any, positions: Any, axis: int | None = None) -> ArrayProxy:
        """Slices at positions."""
        values = as_value(x), as_value(positions)
        shape, at = values[0].array.shape, values[1].array.shape
        sizes = at if axis is None else (*shape[: axis % len(shape)], *at, *shape[axis % len(shape) + 1 :])
        array = layouts.of(values[0].array.dtype, sizes)
        return ArrayProxy(recording.get().function(np.take, values, array, axis=axis))

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

    def cumsum(self, x: Any, axis: int, dtype: Any = None) -> ArrayProxy:
        """Running sums."""
        return self._scan(np.cumsum, x, axis, dtype)

    def cumprod(self, x: Any, axis: int, dtype: Any = None) -> ArrayProxy:
        """Running products."""
        return self._scan(np.cumprod, x, axis, dtype)

    def _scan(self, function: Any, x: Any, axis: int, dtype: Any) -> ArrayProxy:
        value: Value = as_value(x)
        return ArrayProxy(
            recording.get().function(function, (value,), layouts.of(dtype, value.array.shape), axis=axis, dtype=dtype)
        )

    def argmax(self, x: Any, axis: int | None = None) -> ArrayProxy:
        """Positions of the first maxima."""
        return self._positions(np.argmax, x, axis)

    def argmin(self, x: Any, axis: int | None = None) -> ArrayProxy:
        """Positions of the first minima."""
        return self._positions(np.argmin, x, axis)

    def _positions(self, function: Any, x: Any, axis: int | None) -> ArrayProxy:
        value, axes = as_value(x), x.ndim
        shape = () if axis is None else tuple(size for n, size in enumerate(x.shape) if n != axis % axes)
        if not value.array.size:
            raise Opaque("no elements")
        return ArrayProxy(recording.get().function(function, (value,), layouts.of(np.intp, shape), axis=axis))


LIBRARY = Library()
"""The library that kernels are bound to while they are recorded."""
