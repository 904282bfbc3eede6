"""Proxies: arrays and numbers that record what a kernel does with them, as steps of a program.

A kernel may write into what it has made, and into parts of that. Here a write makes a new value, and whoever has the
array, or a view of it, finds the new one from then on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

from agog_cpu_executor.program.kinds import Source
from agog_cpu_executor.program.program import Opaque, Program, constant
from agog_cpu_executor.program.steps import Value, View

# The program that a kernel is recorded in, in this thread or task.
recording: ContextVar[Program] = ContextVar("agog_recording")


class NumberProxy:
    """A number that the host computes at each run, such as a learning rate."""

    __slots__ = ("is_never_zero", "value")
    __array_ufunc__ = None

    def __init__(self, value: Value, *, is_never_zero: bool = False) -> None:
        self.value = value
        self.is_never_zero = is_never_zero

    def __float__(self) -> Any:
        raise Opaque("it looks at a number that is known late")

    __int__ = __index__ = __float__

    def __bool__(self) -> bool:
        return self.is_never_zero or bool(self.__float__())

    __hash__ = None  # type: ignore[assignment]  # no cache of constants may keep it

    __add__, __radd__ = (lambda a, b: _calculated(operator.add, a, b)), (lambda a, b: _calculated(operator.add, b, a))
    __sub__, __rsub__ = (lambda a, b: _calculated(operator.sub, a, b)), (lambda a, b: _calculated(operator.sub, b, a))
    __mul__, __rmul__ = (lambda a, b: _calculated(operator.mul, a, b)), (lambda a, b: _calculated(operator.mul, b, a))
    __pow__, __rpow__ = (lambda a, b: _calculated(operator.pow, a, b)), (lambda a, b: _calculated(operator.pow, b, a))

    def __truediv__(self, other: Any) -> Any:
        return _calculated(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _calculated(operator.truediv, other, self)

    def __neg__(self) -> Any:
        return _calculated(operator.neg, self)


def _calculated(function: Callable[..., Any], *operands: Any) -> Any:
    if not all(isinstance(each, (NumberProxy, int, float)) for each in operands):
        return NotImplemented
    values = [each.value if isinstance(each, NumberProxy) else each for each in operands]
    return NumberProxy(recording.get().number(function, *values))


class ArrayProxy:
    """A proxy of an array; a view knows its parent."""

    __slots__ = ("_parent", "_path", "_seen", "_value")
    __array_ufunc__ = None  # NumPy's scalars leave arithmetic to it

    def __init__(self, value: Value, parent: ArrayProxy | None = None, path: tuple[View, ...] = ()) -> None:
        self._value, self._parent, self._path = value, parent, path
        self._seen = None if parent is None else parent._value

    @property
    def value(self) -> Value:
        """The value that it has now."""
        if self._parent is not None and self._seen is not self._parent._value:
            self._seen = self._parent._value
            self._value = recording.get().view(self._seen, self._path)
        return self._value

    def write(self, value: Value) -> None:
        """Replace its elements."""
        if self._parent is None:
            self._value = recording.get().fit(value, self._value.array)
        else:
            parent = self._parent
            source = value if value.array.dtype == self.dtype else recording.get().cast(value, self.dtype)
            parent._value = recording.get().put(parent._value, self._path, None, source)

    def see(self, method: str, argument: Any) -> ArrayProxy:
        """A view of it."""
        program, step = recording.get(), (method, argument)
        parent, path = (self, (step,)) if self._parent is None else (self._parent, (*self._path, step))
        made = ArrayProxy(program.view(self.value, [step]), parent, path)
        made._seen = parent._value
        return made

    dtype = property(lambda self: self._value.array.dtype)
    shape = property(lambda self: self._value.array.shape)
    ndim = property(lambda self: self._value.array.ndim)
    size = property(lambda self: self._value.array.size)
    itemsize = property(lambda self: self._value.array.itemsize)
    device = "recorded"

    def __len__(self) -> int:
        return len(self._value.array)

    def _known(self, convert: Callable[[Any], Any]) -> Any:
        if self.value.source is not Source.CONSTANT:
            raise Opaque("it looks at values")
        return convert(self.value.array)

    def __bool__(self) -> bool:
        return self._known(bool)  # type: ignore[no-any-return]

    def __int__(self) -> int:
        return self._known(int)  # type: ignore[no-any-return]

    def __float__(self) -> float:
        return self._known(float)  # type: ignore[no-any-return]

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise Opaque("it hands an array to a function that is not recorded")

    def __iter__(self) -> Any:
        return (self[n] for n in range(len(self)))

    T = property(lambda self: self.transpose())
    real = property(lambda self: self.see("real", None) if self.dtype.kind == "c" else self)

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        from agog_cpu_executor.lowering.library import LIBRARY

        return LIBRARY

    def reshape(self, *shape: Any) -> ArrayProxy:
        """A view in another shape, or of a copy where NumPy copies."""
        wanted = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
        sizes = self._value.array.reshape(wanted).shape if self.size else np.empty(self.shape).reshape(wanted).shape
        try:
            return self.see("reshape", sizes)
        except Opaque:
            return self.astype(self.dtype, order="C").see("reshape", sizes)

    def transpose(self, *axes: Any) -> ArrayProxy:
        """A view with the axes in another order."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return self.see("transpose", tuple(order) if order else tuple(range(self.ndim))[::-1])

    def swapaxes(self, one: int, other: int) -> ArrayProxy:
        """A view with two axes exchanged."""
        axes = list(range(self.ndim))
        axes[one], axes[other] = axes[other], axes[one]
        return self.transpose(tuple(axes))

    def view(self, dtype: Any) -> ArrayProxy:
        """The same bytes as elements of another dtype of the same size."""
        if np.dtype(dtype).itemsize != self.itemsize:
            raise Opaque("elements of another size")
        return self.see("view", np.dtype(dtype))

    def astype(self, dtype: Any, order: str = "K", copy: bool = True) -> ArrayProxy:
        """A copy with another dtype; itself where neither is needed."""
        wanted = np.dtype(dtype)
        if wanted == self.dtype and not copy:
            return self
        return ArrayProxy(recording.get().cast(self.value, wanted, order))

    def copy(self, order: str = "C") -> ArrayProxy:
        """A copy."""
        return self.astype(self.dtype, order)

    def fill(self, value: Any) -> None:
        """The same number everywhere."""
        self[...] = value

    def dot(self, other: Any, out: Any = None) -> ArrayProxy:
        """A product of matrices or vectors."""
        values = as_value(self), as_value(other)
        if out is not None or not 0 < self.ndim < 3 or not 0 < values[1].array.ndim < 3:
            raise Opaque("dot of other ranks")
        return ArrayProxy(recording.get().product("dot", *values))

    def __getitem__(self, key: Any) -> ArrayProxy:
        keys = key if isinstance(key, tuple) else (key,)
        if all(k is None or k is Ellipsis or type(k) in (int, slice) for k in keys):
            return self.see("getitem", keys if any(k is Ellipsis for k in keys) else (*keys, Ellipsis))
        raise Opaque("elements at positions")

    def __setitem__(self, key: Any, given: Any) -> None:
        target = self if key is Ellipsis else self[key]
        if isinstance(given, ArrayProxy) and given.value is target.value:
            return  # what `array[key] += ...` ends with
        value = as_value(given, target.dtype)
        if value.array.ndim > target.ndim:
            raise Opaque("leading axes of size 1")
        target.write(value)

    def _reduced(self, function: np.ufunc, axis: Any, keepdims: bool, dtype: Any = None) -> ArrayProxy:
        return ArrayProxy(recording.get().reduce(function, self.value, axis, dtype, keepdims))

    def sum(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> ArrayProxy:
        """The sum."""
        return self._reduced(np.add, axis, keepdims, dtype)

    def min(self, axis: Any = None, keepdims: bool = False) -> ArrayProxy:
        """The minimum."""
        return self._reduced(np.minimum, axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> ArrayProxy:
        """The maximum."""
        return self._reduced(np.maximum, axis, keepdims)

    def all(self, axis: Any = None, keepdims: bool = False) -> ArrayProxy:
        """Whether all are true."""
        return self._reduced(np.logical_and, axis, keepdims, np.dtype(bool))

    def any(self, axis: Any = None, keepdims: bool = False) -> ArrayProxy:
        """Whether any is true."""
        return self._reduced(np.logical_or, axis, keepdims, np.dtype(bool))


# What NumPy's rules for dtypes take for numbers of Python's, which adapt to the other operands.
_WEAK: dict[type, Any] = {NumberProxy: float, bool: np.dtype(bool), int: int, float: float, complex: complex}


def as_value(given: Any, like: np.dtype[Any] | None = None) -> Value:
    """The value of an operand. A number of Python's takes a dtype, as NumPy does it."""
    if isinstance(given, ArrayProxy):
        return given.value
    if isinstance(given, NumberProxy):
        return recording.get().scalar(given.value, np.dtype(like))
    if isinstance(given, (np.ndarray, np.generic)):
        return constant(given)
    if isinstance(given, (bool, int, float, complex)) and like is not None:
        return constant(np.asarray(given, like))
    raise Opaque(f"an operand of type {type(given).__name__}")


def elementwise(function: np.ufunc, *operands: Any, out: Any = None) -> ArrayProxy:
    """A ufunc of what is recorded and what is not; ``out`` gets the result, where it is given."""
    program = recording.get()
    if len(program.steps) > program.limit:
        raise Opaque("it takes too many steps")
    if all(type(x) in _WEAK for x in operands):
        raise Opaque("no operand is an array")
    kinds: Any = [_WEAK[type(x)] if type(x) in _WEAK else as_value(x).array.dtype for x in operands]
    dtypes = function.resolve_dtypes((*kinds, None))
    values = [as_value(x, dtype) for x, dtype in zip(operands, dtypes[:-1], strict=True)]
    out = out[0] if isinstance(out, tuple) else None if out is Ellipsis else out
    if out is None:
        return ArrayProxy(program.ufunc(function, values))
    if not isinstance(out, ArrayProxy) or not np.can_cast(dtypes[-1], out.dtype, "same_kind"):
        raise Opaque("out is no array of a kernel's own")
    whole = out._parent is None
    out.write(program.ufunc(function, values, out._value.array if whole else None))
    return out


_ARITHMETIC: dict[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
}
_OTHERS: dict[str, np.ufunc] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "neg": np.negative,
    "invert": np.invert,
    "abs": np.absolute,
}


def _give_operators() -> None:
    def give(name: str, method: Callable[..., Any]) -> None:
        setattr(ArrayProxy, f"__{name}__", method)

    for name, function in _ARITHMETIC.items():
        give(name, lambda self, other, f=function: elementwise(f, self, other))
        give(f"r{name}", lambda self, other, f=function: elementwise(f, other, self))
        give(f"i{name}", lambda self, other, f=function: elementwise(f, self, other, out=self))
    for name, function in _OTHERS.items():
        give(name, lambda *operands, f=function: elementwise(f, *operands))
    ArrayProxy.__hash__ = object.__hash__  # type: ignore[method-assign]


_give_operators()
