"""Program: a traced function in steps of NumPy. Each step makes new values; none changes one that is there.

A step that writes into a part of a value, ``"put"``, makes a new value too; `agog_cpu_executor.planning.places` decides
whether that takes the memory of the old one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_core.compiler import Node
from agog_cpu_executor.program import layouts
from agog_cpu_executor.program.kinds import Kind, Source
from agog_cpu_executor.program.steps import (
    FullStep,
    FunctionStep,
    NumberStep,
    PutStep,
    ReduceStep,
    Step,
    UfuncStep,
    Value,
    View,
    ViewStep,
)

_FOLDED = 4096  # constants of so many elements are computed at once


class Opaque(TypeError):
    """A kernel does what cannot be recorded, such as reading a value."""


class Program:
    """The steps of a traced function, in an order in which they can run."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.node: Node | None = None  # the one of the graph that is being recorded
        self.limit = 0  # how many steps there may be before that node is left as it is
        self._lates: dict[int, Value] = {}
        self._numbers: dict[Any, Value] = {}
        self._views: dict[tuple[int, str], Value] = {}
        self._scalars: dict[tuple[int, str], Value] = {}
        self._kept: list[Value] = []  # so that no id comes twice

    def add(self, step: Step, *arrays: Any) -> list[Value]:
        """Add a step that gives arrays like these; its outputs."""
        step.node = self.node
        step.outputs = [Value(Source.STEP, array, step) for array in arrays]
        self.steps.append(step)
        return step.outputs

    def _add(self, step: Step, array: Any) -> Value:
        """Add a step that gives one array; its output."""
        return self.add(step, array)[0]

    def mark(self) -> Callable[[], None]:
        """A function that undoes all that is recorded from here on."""
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
        """The number that a `Late` stands for, such as a learning rate; one step for each `Late`."""
        if id(late) not in self._lates:
            self._lates[id(late)] = self._number(NumberStep(Kind.LATE, inputs, late.function))
        return self._lates[id(late)]

    def number(self, function: Callable[..., Any], *operands: Any) -> Value:
        """The result of host arithmetic on numbers of this program and Python's; one step for equal operands."""
        inputs = tuple(each for each in operands if isinstance(each, Value))
        key = function, *[id(each) if isinstance(each, Value) else (type(each), repr(each)) for each in operands]
        if key not in self._numbers:
            self._numbers[key] = self._number(NumberStep(Kind.NUMBER, inputs, function, operands))
            self._kept += inputs
        return self._numbers[key]

    def _number(self, step: NumberStep) -> Value:
        self.add(step)
        step.outputs = [Value(Source.NUMBER, None, step)]
        return step.outputs[0]

    def scalar(self, number: Value, dtype: np.dtype[Any]) -> Value:
        """A number as an array of rank 0, weakly typed like Python's numbers."""
        key = id(number), dtype.str
        if key not in self._scalars:
            self._scalars[key] = self._add(Step(Kind.SCALAR, (number,)), np.empty((), dtype))
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
                made = self._add(ViewStep(value, method, argument), array)
                made.base = value.root
            self._views[key] = made
            self._kept.append(value)
        return self._views[key]

    def ufunc(self, function: np.ufunc, operands: Sequence[Value], like: Any = None) -> Value:
        """A ufunc of values; ``like`` prescribes the strides of the result."""
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
        return self._fitted(UfuncStep(function, operands, is_imposed=like is not None), natural, like)

    def reduce(self, function: np.ufunc, x: Value, axis: Any, dtype: Any, keepdims: bool, initial: Any = None) -> Value:
        """A reduction along axes; an initial value of None is the one of the ufunc."""
        _refuse_objects([x.array])
        dtype = None if dtype is None else np.dtype(dtype)
        if x.source is Source.CONSTANT and x.array.size <= _FOLDED:
            given = {} if initial is None else {"initial": initial}
            return constant(function.reduce(x.array, axis=axis, dtype=dtype, keepdims=keepdims, **given))
        array = layouts.reduced(function, x.array, axis, dtype, keepdims)
        return self._add(ReduceStep(function, x, axis, dtype, keepdims, initial), array)

    def where(self, condition: Value, x: Value, y: Value) -> Value:
        """Elements of ``x`` or ``y``, by a condition."""
        arrays = [condition.array, x.array, y.array]
        _refuse_objects(arrays)
        return self._add(Step(Kind.WHERE, (condition, x, y)), layouts.result(np.result_type(*arrays[1:]), *arrays))

    def cast(self, x: Value, dtype: np.dtype[Any], order: Any = "K", like: Any = None) -> Value:
        """A copy with another dtype or order."""
        _refuse_objects([x.array])
        if x.source is Source.CONSTANT and x.array.size <= _FOLDED and like is None:
            return constant(x.array.astype(dtype, order=order))
        natural = layouts.copied(x.array, dtype, order)
        kind = Kind.COPY if dtype == x.array.dtype else Kind.CAST
        return self._fitted(Step(kind, (x,)), natural, like)

    def fit(self, x: Value, like: Any) -> Value:
        """A value with the dtype, shape and strides of an array: itself where it has them."""
        array = x.array
        if array.shape == like.shape and array.dtype == like.dtype and layouts.are_equal(array, like):
            return x
        if x.source is Source.CONSTANT and like.size <= _FOLDED:
            return constant(layouts.filled(like, array))
        return self._add(Step(Kind.COPY if array.dtype == like.dtype else Kind.CAST, (x,)), layouts.empty_like(like))

    def _fitted(self, step: Step, natural: Any, like: Any) -> Value:
        """The result of a step, with the strides of ``like`` or its natural ones."""
        if like is not None and (natural.shape, natural.dtype) == (like.shape, like.dtype):
            if isinstance(step, UfuncStep):
                step.is_imposed = not layouts.are_equal(natural, like)
            return self._add(step, layouts.empty_like(like))
        made = self._add(step, natural)
        return made if like is None else self.fit(made, like)

    def product(self, name: str, x: Value, y: Value) -> Value:
        """``"dot"`` or ``"matmul"``."""
        if "V" in (x.array.dtype.kind, y.array.dtype.kind) or x.array.dtype.hasobject:
            raise Opaque("products of dtypes that are not NumPy's own")
        array = layouts.product(name, x.array, y.array)
        return self._add(Step(Kind(name), (x, y)), array)

    def full(self, shape: Any, dtype: Any, value: Any) -> Value:
        """An array of one value; of none where it is None."""
        if value is not None and np.prod(shape) <= _FOLDED:
            return constant(np.full(shape, value, dtype))
        return self._add(FullStep(value), layouts.of(dtype, np.empty(shape, "V0").shape))

    def put(self, x: Value, path: Sequence[View], index: Any, source: Value) -> Value:
        """A value with a part of it replaced; ``index`` has positions of that part, or is None for all of it."""
        extra = () if index is None else (index,)
        return self._add(PutStep((x, source, *extra), tuple(path)), layouts.empty_like(x.array))

    def function(self, function: Callable[..., Any], arguments: Any, array: Any, **keywords: Any) -> Value:
        """A function of NumPy; values stand among its arguments, also in a tuple of them."""
        flat = [y for x in arguments for y in (x if isinstance(x, tuple) else (x,))]
        inputs = tuple(each for each in flat if isinstance(each, Value))
        _refuse_objects([each.array for each in inputs])
        return self._add(FunctionStep(function, inputs, tuple(arguments), keywords), array)


def constant(array: Any) -> Value:
    """A known array, which nobody writes."""
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
