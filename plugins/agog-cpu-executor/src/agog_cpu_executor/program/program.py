"""Program: a traced function in steps of NumPy. Each step makes new values; none changes one that is there.

A step that writes into a part of a value, ``"put"``, makes a new value too; `agog_cpu_executor.planning.places` decides
whether that takes the memory of the old one. Classes are plain ones here: to make a dataclass takes as long as to
record ten ops, and the first call of a traced function waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_core.compiler import Effect
from agog_cpu_executor.program import layouts
from agog_cpu_executor.program.kinds import Kind, Source

Array = np.ndarray[Any, Any]
View = tuple[str, Any]
"""A method of arrays that gives a view, and what it is called with: ``("reshape", (3, 1))``."""

_FOLDED = 4096  # constants of so many elements are computed at once


class Opaque(TypeError):
    """A kernel does what cannot be recorded, such as looking at a value."""


class Value:
    """An array in a program: what it is given, knows, or computes in a step.

    ``array`` is the array itself of a constant, and else an array of no values that has its dtype, shape and strides. A
    number, which the host computes, has none.
    """

    __slots__ = "array", "base", "source", "step", "whole"

    def __init__(self, source: Source, array: Any, step: Step | None = None) -> None:
        self.source = source
        self.array = array
        self.step = step
        self.base: Value | None = None  # whose memory a view shows
        # Of which it is computed as a part, where a later step joins parts.
        self.whole: tuple[Value, View] | None = None

    @property
    def root(self) -> Value:
        """The value that owns the memory."""
        return self if self.base is None else self.base


class Step:
    """One thing to do: a call of NumPy, a view, a number on the host, an op's kernel, a guard, or a compiled group."""

    __slots__ = "inputs", "kind", "name", "node", "options", "outputs"

    def __init__(
        self, kind: Kind, name: str, inputs: tuple[Value, ...], outputs: list[Value], options: dict[str, Any], node: Any
    ) -> None:
        self.kind, self.name, self.inputs, self.outputs, self.options = kind, name, inputs, outputs, options
        self.node = node  # of the graph, whose line errors name

    @property
    def draws(self) -> bool:
        """Whether it is a kernel that draws random numbers."""
        return self.kind is Kind.KERNEL and self.node is not None and self.node.effect is Effect.RANDOM


class Program:
    """The steps of a traced function, in an order in which they can run."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.node: Any = None  # the node of the graph that is being recorded
        self.limit = 0  # how many steps there may be before that node is left as it is
        self._lates: dict[int, Value] = {}
        self._numbers: dict[Any, Value] = {}
        self._views: dict[tuple[int, str], Value] = {}
        self._scalars: dict[tuple[int, str], Value] = {}
        self._kept: list[Value] = []  # so that no id comes twice

    def add(self, kind: Kind, name: str, inputs: Sequence[Value], *arrays: Any, **options: Any) -> Value:
        """Add a step that gives arrays like these; its first output."""
        step = Step(kind, name, tuple(inputs), [], options, self.node)
        step.outputs = [Value(Source.STEP, array, step) for array in arrays]
        self.steps.append(step)
        return step.outputs[0] if arrays else Value(Source.NUMBER, None)

    def mark(self) -> Callable[[], None]:
        """A function that takes back all that is recorded from here on."""
        count = len(self.steps)
        known: list[dict[Any, Any]] = [self._views, self._scalars, self._lates, self._numbers]
        sizes = [len(each) for each in known]

        def back() -> None:
            del self.steps[count:]
            for each, size in zip(known, sizes, strict=True):
                while len(each) > size:
                    each.popitem()  # the one that came last

        return back

    def late(self, late: Any, *inputs: Value) -> Value:
        """What the host computes at each run, such as a learning rate or a key of random bits: once."""
        if id(late) not in self._lates:
            self._lates[id(late)] = self._number(Kind.LATE, inputs, late.function)
        return self._lates[id(late)]

    def number(self, function: Callable[..., Any], *operands: Any) -> Value:
        """Arithmetic of the host, once: operands are numbers of this program and Python's own."""
        inputs = tuple(each for each in operands if isinstance(each, Value))
        key = function, *[id(each) if isinstance(each, Value) else (type(each), repr(each)) for each in operands]
        if key not in self._numbers:
            self._numbers[key] = self._number(Kind.NUMBER, inputs, function, operands)
            self._kept += inputs
        return self._numbers[key]

    def _number(self, kind: Kind, inputs: tuple[Value, ...], function: Any, operands: Any = ()) -> Value:
        step = Step(kind, "", inputs, [], {"function": function, "operands": operands}, self.node)
        step.outputs = [Value(Source.NUMBER, None, step)]
        self.steps.append(step)
        return step.outputs[0]

    def scalar(self, number: Value, dtype: np.dtype[Any]) -> Value:
        """A number as an array of rank 0, as weak as Python's numbers are."""
        key = id(number), dtype.str
        if key not in self._scalars:
            self._scalars[key] = self.add(Kind.SCALAR, "", (number,), np.empty((), dtype))
            self._kept.append(number)
        return self._scalars[key]

    def view(self, value: Value, path: Sequence[View]) -> Value:
        """A view of a value; Opaque where NumPy would copy."""
        for method, argument in path:
            value = self._view(value, method, argument)
        return value

    def _view(self, value: Value, method: str, argument: Any) -> Value:
        key = id(value), f"{method} {argument!r}"
        if key not in self._views:
            array = see(value.array, method, argument)
            if array.size and not np.may_share_memory(array, value.array):
                raise Opaque(f"{method} copies")
            if value.source is Source.CONSTANT:
                made = constant(array)
            elif array.shape == value.array.shape and array.strides == value.array.strides and method != "view":
                made = value
            else:
                made = self.add(Kind.VIEW, method, (value,), array, argument=argument)
                made.base = value.root
            self._views[key] = made
            self._kept.append(value)
        return self._views[key]

    def ufunc(self, function: np.ufunc, operands: Sequence[Value], like: Any = None) -> Value:
        """A ufunc of values; ``like`` is an array whose strides the result has to have."""
        if function.nout != 1:
            raise Opaque(f"{function.__name__} has several results")
        arrays = [each.array for each in operands]
        _refuse_objects(arrays)
        if all(each.source is Source.CONSTANT for each in operands) and max(a.size for a in arrays) <= _FOLDED:
            return constant(function(*arrays))
        if not any(array.ndim for array in arrays) and any(array.dtype.kind == "c" for array in arrays):
            raise Opaque("complex numbers of rank 0, whose products NumPy's scalars round in another way than arrays")
        dtype = function.resolve_dtypes((*[a.dtype for a in arrays], None))[-1]
        natural = layouts.result(dtype, *arrays)
        return self._add(Kind.UFUNC, function.__name__, operands, natural, like, function=function)

    def reduce(self, function: np.ufunc, x: Value, **options: Any) -> Value:
        """A reduction: ``axis`` (a tuple), ``dtype``, ``keepdims`` and, where there is one, ``initial``."""
        _refuse_objects([x.array])
        options["dtype"] = None if options["dtype"] is None else np.dtype(options["dtype"])
        if x.source is Source.CONSTANT and x.array.size <= _FOLDED:
            return constant(function.reduce(x.array, **options))
        array = layouts.reduced(function, x.array, options)
        return self.add(Kind.REDUCE, function.__name__, (x,), array, function=function, **options)

    def where(self, condition: Value, x: Value, y: Value) -> Value:
        """A choice of elements."""
        arrays = [condition.array, x.array, y.array]
        _refuse_objects(arrays)
        return self.add(Kind.WHERE, "", (condition, x, y), layouts.result(np.result_type(*arrays[1:]), *arrays))

    def cast(self, x: Value, dtype: np.dtype[Any], order: Any = "K", like: Any = None) -> Value:
        """A copy with another dtype or order."""
        _refuse_objects([x.array])
        if x.source is Source.CONSTANT and x.array.size <= _FOLDED and like is None:
            return constant(x.array.astype(dtype, order=order))
        natural = layouts.copied(x.array, dtype, order)
        kind = Kind.COPY if dtype == x.array.dtype else Kind.CAST
        return self._add(kind, "", (x,), natural, like)

    def fit(self, x: Value, like: Any) -> Value:
        """A value with the dtype, shape and strides of an array: itself where it has them."""
        array = x.array
        if array.shape == like.shape and array.dtype == like.dtype and layouts.are_equal(array, like):
            return x
        if x.source is Source.CONSTANT and like.size <= _FOLDED:
            return constant(layouts.filled(like, array))
        return self._add(
            Kind.COPY if array.dtype == like.dtype else Kind.CAST, "", (x,), layouts.empty_like(like), like
        )

    def _add(self, kind: Kind, name: str, inputs: Sequence[Value], natural: Any, like: Any, **options: Any) -> Value:
        """A step whose result has the strides of an array, or its natural ones."""
        if like is not None and (natural.shape, natural.dtype) == (like.shape, like.dtype):
            is_imposed = not layouts.are_equal(natural, like)
            return self.add(kind, name, inputs, layouts.empty_like(like), imposed=is_imposed, **options)
        made = self.add(kind, name, inputs, natural, imposed=like is not None, **options)
        return made if like is None else self.fit(made, like)

    def product(self, name: str, x: Value, y: Value) -> Value:
        """``"dot"`` or ``"matmul"``."""
        if "V" in (x.array.dtype.kind, y.array.dtype.kind) or x.array.dtype.hasobject:
            raise Opaque("products of dtypes that are not NumPy's own")
        array = layouts.product(name, x.array, y.array)
        return self.add(Kind(name), "", (x, y), array)

    def full(self, shape: Any, dtype: Any, value: Any) -> Value:
        """An array of one value; of none where it is None."""
        if value is not None and np.prod(shape) <= _FOLDED:
            return constant(np.full(shape, value, dtype))
        return self.add(Kind.FULL, "", (), layouts.of(dtype, np.empty(shape, "V0").shape), value=value)

    def put(self, x: Value, path: Sequence[View], index: Any, source: Value) -> Value:
        """A value with a part of it replaced; ``index`` has positions of that part, or is None for all of it."""
        extra = () if index is None else (index,)
        return self.add(Kind.PUT, "", (x, source, *extra), layouts.empty_like(x.array), path=tuple(path))

    def function(self, function: Callable[..., Any], arguments: Any, array: Any, **keywords: Any) -> Value:
        """A function of NumPy; values stand among its arguments, also in a tuple of them."""
        flat = [y for x in arguments for y in (x if isinstance(x, tuple) else (x,))]
        inputs = tuple(each for each in flat if isinstance(each, Value))
        _refuse_objects([each.array for each in inputs])
        return self.add(
            Kind.FUNCTION, "", inputs, array, function=function, arguments=tuple(arguments), keywords=keywords
        )


def constant(array: Any) -> Value:
    """An array that is known, and that nobody writes."""
    return Value(Source.CONSTANT, np.asarray(array))


def see(array: Any, method: str, argument: Any) -> Any:
    """A view of an array, or of a NumPy scalar where that has one."""
    if method == "getitem":
        return array[argument]
    if method == "broadcast":
        return np.broadcast_to(array, argument)
    if method in ("real", "imag"):
        return getattr(array, method)
    return getattr(array, method)(argument)


def _refuse_objects(arrays: Sequence[Any]) -> None:
    if any(array.dtype.hasobject for array in arrays):
        raise Opaque("strings")
