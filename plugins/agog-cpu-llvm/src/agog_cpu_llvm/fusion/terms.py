"""Terms: a subgraph as expressions, each computed once per element or once per row, with casts written out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from agog_core.compiler import ArraySpec, Primitive, Subgraph
from agog_cpu_llvm import numpy_loops
from agog_cpu_llvm.fusion import operations
from agog_cpu_llvm.fusion.limits import NotTakenError, axes, beginning, keeps_last_axis

Strides = tuple[int, ...]

_LEAST = -104.0  # the exponentials of smaller numbers are nearer to zero than to any other number of 32 bits


class Kind(Enum):
    """What a term is."""

    LOAD = "load"
    NUMBER = "number"  # an input of rank 0
    CONSTANT = "constant"
    NATIVE = "native"  # written out in LLVM's instructions
    LOOP = "loop"  # an inner loop of NumPy
    REDUCE = "reduce"


SINGLE = frozenset({Kind.NUMBER, Kind.CONSTANT})
"""Terms of one number for all elements."""

COMPUTED = frozenset({Kind.NATIVE, Kind.LOOP})
"""Terms that are computed for each element or row."""

BLOCKING = frozenset({Kind.LOOP, Kind.REDUCE})
"""Terms that need all elements of a block or a row of their operands first."""


@dataclass(eq=False, slots=True)
class Term:
    """An expression: a number for each element, or for each row.

    Args:
        kind: what it is.
        name: NumPy's function; ``"cast"``, ``"copy"`` or ``"where"``.
        dtype: of the result.
        of: the dtype that its operands have.
        operands: what it is computed of.
        is_row: whether there is one number for each row.
        parameter: of a load or a number, which one it is of those that are passed.
        strides: of a load, in bytes, along the axes of the frame.
        value: of a constant, the number; of a reduction, what it begins with, or None.
        level: how many reductions have to be done before it.
        stage: how many loops of NumPy have to be done before it, on its level.
    """

    kind: Kind
    name: str
    dtype: str
    of: str
    operands: tuple[Term, ...]
    is_row: bool
    parameter: int = -1
    strides: Strides = ()
    value: Any = None
    level: int = 0
    stage: int = 0

    @property
    def is_single(self) -> bool:
        """Whether it is one number for all rows, which is there from the beginning."""
        return self.kind in SINGLE or (self.kind is Kind.LOAD and not any(self.strides))

    def place(self) -> None:
        """Set its level and its stage from those of its operands."""
        for operand in self.operands:
            level = operand.level + (operand.kind is Kind.REDUCE)
            waits = operand.kind is Kind.LOOP and not operand.is_row
            stage = operand.stage + waits if level == operand.level else 0
            self.level, self.stage = max((self.level, self.stage), (level, stage))


@dataclass(slots=True)
class Store:
    """An output: what is stored, and where; where a reduction is named, added or the like to what is there."""

    term: Term
    parameter: int
    strides: Strides
    overwrites: bool
    reduction: str = ""
    begin: Any = None


@dataclass(slots=True)
class Frame:
    """The terms of a subgraph, and the axes they run over: those before ``rows`` count rows, the others elements."""

    shape: tuple[int, ...]
    rows: int
    stores: list[Store] = field(default_factory=list)
    terms: list[Term] = field(default_factory=list)


def frame_of(subgraph: Subgraph, parameters: Sequence[int]) -> Frame:
    """A subgraph as terms; ``parameters`` are the values that are passed as arrays, in order."""
    return _Reader(subgraph, parameters).read()


class _Reader:
    def __init__(self, subgraph: Subgraph, parameters: Sequence[int]) -> None:
        self.subgraph = subgraph
        self.values = subgraph.values
        self.parameters = {value: number for number, value in enumerate(parameters)}
        self.overwritten = {self.parameters[given] for _, given in subgraph.overwrites}
        self.shape, self.rows = _axes(subgraph)
        self.frame = Frame(self.shape, self.rows)
        self.kept = tuple([1 if axis >= self.rows else size for axis, size in enumerate(self.shape)])
        self.known: dict[int, Term] = {}
        self.columns: set[int] = set()  # what reductions give that keep the last axis
        self.same: dict[Any, Term] = {}

    def read(self) -> Frame:
        overwritten = {output for output, _ in self.subgraph.overwrites}
        for primitive in self.subgraph.primitives:
            if keeps_last_axis(primitive, self.values):
                if primitive.output in overwritten:
                    raise NotTakenError("a sum of rows where an input is")
                self.columns.add(primitive.output)
                self.frame.stores.append(self.reduced_rows(primitive))
            else:
                self.known[primitive.output] = self.primitive(primitive)
        for output in self.subgraph.outputs:
            if output in self.columns:
                continue
            term, spec = self.known[output], self.values[output]
            if spec.shape not in ((self.kept, self.shape[: self.rows]) if term.is_row else (self.shape,)):
                raise NotTakenError("an output that is repeated")
            strides = self.aligned(spec, spec.shape)
            self.frame.stores.append(Store(term, self.parameters[output], strides, output in overwritten))
        return self.frame

    def primitive(self, primitive: Primitive) -> Term:
        target = self.values[primitive.output]
        is_row = self.is_row(target.shape)
        if primitive.kind == "reduce":
            operand = self.addressable(self.operand(primitive.inputs[0], self.shape, False), False)
            if operand.kind is Kind.LOAD and operand.parameter in self.overwritten:  # before the row is reduced
                operand = self.term(Kind.NATIVE, "copy", operand.dtype, operand.dtype, (operand,), False)
            initial = primitive.options.get("initial")
            value = 0 if initial is None and primitive.name == "add" else initial
            value = None if value is None else np.dtype(target.dtype).type(value)
            dtype = target.dtype
            if (primitive.name, dtype) == ("add", "float16"):  # which NumPy adds up in float32 and rounds once
                dtype, operand = "float32", self.cast(operand, "float32", False)
            term = self.term(Kind.REDUCE, primitive.name, dtype, dtype, (operand,), True, value=value)
            return self.cast(term, target.dtype, True)
        operands = [self.operand(value, target.shape, is_row) for value in primitive.inputs]
        if primitive.kind == "ufunc":
            resolved = operations.resolve(primitive.name, tuple([operand.dtype for operand in operands]))
            if resolved is None:
                raise NotTakenError(primitive.name)
            dtypes, result = resolved
            operands = [self.cast(x, dtype, is_row) for x, dtype in zip(operands, dtypes, strict=True)]
            if operations.is_known(primitive.name, dtypes[0]):
                term = self.term(Kind.NATIVE, primitive.name, result, dtypes[0], tuple(operands), is_row)
            elif primitive.name in numpy_loops.UNARY and dtypes[0] == result and result in ("float32", "float64"):
                operands = [self.addressable(self.without_underflow(primitive.name, operands[0], is_row), is_row)]
                term = self.term(Kind.LOOP, primitive.name, result, result, tuple(operands), is_row)
            elif primitive.name in numpy_loops.BINARY and operands[1].is_single:
                operands[0] = self.addressable(operands[0], is_row)
                term = self.term(Kind.LOOP, primitive.name, result, result, tuple(operands), is_row)
            else:
                raise NotTakenError(primitive.name)
        elif primitive.kind == "where":
            condition, x, y = operands
            x, y = self.cast(x, target.dtype, is_row), self.cast(y, target.dtype, is_row)
            condition = self.cast(condition, "bool", is_row)
            term = self.term(Kind.NATIVE, "where", target.dtype, target.dtype, (condition, x, y), is_row)
        elif primitive.kind == "bits":
            (x,) = operands
            term = self.term(Kind.NATIVE, "bits", target.dtype, x.dtype, (x,), is_row)
        else:
            term = operands[0]
            if term.is_row and not is_row:
                term = self.term(Kind.NATIVE, "copy", term.dtype, term.dtype, (term,), is_row)
        return self.cast(term, target.dtype, is_row)

    def reduced_rows(self, primitive: Primitive) -> Store:
        """A reduction that keeps the last axis: NumPy takes row after row, each with what came of those before it."""
        spec, target = [self.values[value] for value in (primitive.inputs[0], primitive.output)]
        if spec.shape != self.shape or primitive.output not in self.parameters:
            raise NotTakenError("a reduction of another shape")
        reduced, kept = axes(primitive, self.values), iter(target.strides)
        strides = [
            next(kept) if len(target.shape) == len(self.shape) or axis not in reduced else 0
            for axis in range(len(self.shape))
        ]
        strides = [0 if axis in reduced else step for axis, step in enumerate(strides)]
        begin = primitive.options.get("initial")
        begin = beginning(primitive.name, target.dtype) if begin is None else begin
        term = self.operand(primitive.inputs[0], self.shape, False)
        return Store(term, self.parameters[primitive.output], tuple(strides), False, primitive.name, begin)

    def operand(self, value: int, shape: tuple[int, ...], is_row: bool) -> Term:
        """What a value is to a primitive whose result has a shape."""
        spec = self.values[value]
        if value in self.columns:
            raise NotTakenError("a sum of rows before all rows are added")
        if (term := self.known.get(value)) is not None:
            if term.is_row and not is_row and spec.shape not in (self.kept, ()):
                raise NotTakenError("a row's number that is not where the rows are")
            if is_row and not term.is_row:
                raise NotTakenError("elements where one number per row is wanted")
            return term
        constant = self.subgraph.constants.get(value)
        if constant is not None and value not in self.parameters:
            number = np.asarray(constant).reshape(())[()]
            return self.term(Kind.CONSTANT, repr(number.tobytes()), spec.dtype, spec.dtype, (), is_row, value=number)
        if spec.dtype not in operations.TYPES:
            raise NotTakenError(spec.dtype)
        parameter = self.parameters[value]
        if not spec.shape:
            return self.term(Kind.NUMBER, "", spec.dtype, spec.dtype, (), is_row, parameter)
        return self.term(Kind.LOAD, "", spec.dtype, spec.dtype, (), is_row, parameter, self.aligned(spec, shape))

    def addressable(self, term: Term, is_row: bool) -> Term:
        """A term that has an element in memory for each of a row's, as inner loops of NumPy want; not from the last to
        the first, where some compute by other functions: what is so in eager calls is not taken."""
        is_backwards = min(term.strides, default=0) < 0
        if (is_row or (not term.is_row and term.kind not in SINGLE)) and not is_backwards:
            return term
        return self.term(Kind.NATIVE, "copy", term.dtype, term.dtype, (term,), is_row)

    def without_underflow(self, name: str, x: Term, is_row: bool) -> Term:
        """An operand whose function is zero by underflow as one whose function is zero, to the same bits.

        To raise the flag of underflow takes NumPy's exponentials as long as a hundred elements, for each masked row.
        """
        if name != "exp" or x.dtype != "float32":
            return x
        least, below = [
            self.term(Kind.CONSTANT, str(number), x.dtype, x.dtype, (), is_row, value=np.float32(number))
            for number in (_LEAST, -np.inf)
        ]
        is_small = self.term(Kind.NATIVE, "less", "bool", x.dtype, (x, least), is_row)
        return self.term(Kind.NATIVE, "where", x.dtype, x.dtype, (is_small, below, x), is_row)

    def cast(self, term: Term, dtype: str, is_row: bool) -> Term:
        if term.dtype == dtype:
            return term
        if not operations.can_cast(term.dtype, dtype):
            raise NotTakenError(f"{term.dtype} to {dtype}")
        return self.term(Kind.NATIVE, "cast", dtype, term.dtype, (term,), is_row)

    def term(
        self,
        kind: Kind,
        name: str,
        dtype: str,
        of: str,
        operands: tuple[Term, ...],
        is_row: bool,
        parameter: int = -1,
        strides: Strides = (),
        value: Any = None,
    ) -> Term:
        """A term, the same one for the same expression."""
        key = (kind, name, dtype, of, operands, is_row, parameter, strides, None if kind is Kind.CONSTANT else value)
        if (term := self.same.get(key)) is None:
            term = self.same[key] = Term(kind, name, dtype, of, operands, is_row, parameter, strides, value)
            term.place()
            self.frame.terms.append(term)
        return term

    def is_row(self, shape: tuple[int, ...]) -> bool:
        """Whether a primitive computes one number per row, by the shape of its result."""
        if self.rows == len(self.shape):
            return False
        padded = (1,) * (len(self.shape) - len(shape)) + shape
        if len(padded) > len(self.shape):
            raise NotTakenError(f"the shape {shape} among {self.shape}")
        if all(size in (1, whole) for size, whole in zip(padded, self.kept, strict=True)):
            return True
        if shape == self.shape[: self.rows]:
            return True
        if all(size in (1, whole) for size, whole in zip(padded, self.shape, strict=True)):
            return False
        raise NotTakenError(f"the shape {shape} among {self.shape}")

    def aligned(self, spec: ArraySpec, shape: tuple[int, ...]) -> Strides:
        """The strides of a value along the axes of the frame, as broadcast to the shape of a result."""
        rank, width = len(spec.shape), len(self.shape)
        strides = tuple([0 if size == 1 else step for size, step in zip(spec.shape, spec.strides, strict=True)])
        if any(step % operations.width(spec.dtype) for step in strides):
            raise NotTakenError("elements that lie askew")
        behind = 0
        if len(shape) < width and shape == self.shape[: self.rows] and shape != self.kept[width - len(shape) :]:
            behind = width - self.rows
        return (0,) * (width - rank - behind) + strides + (0,) * behind


def _axes(subgraph: Subgraph) -> tuple[tuple[int, ...], int]:
    """The shape that a subgraph runs over, and how many of its axes count rows."""
    values = subgraph.values
    of_rows = [keeps_last_axis(primitive, values) for primitive in subgraph.primitives]
    others = [primitive for primitive, is_of_rows in zip(subgraph.primitives, of_rows, strict=True) if not is_of_rows]
    reductions = [primitive for primitive in others if primitive.kind == "reduce"]
    if not reductions:
        inputs = [p.inputs[0] for p, is_of_rows in zip(subgraph.primitives, of_rows, strict=True) if is_of_rows]
        shape = np.broadcast_shapes(*[values[value].shape for value in [*inputs, *[p.output for p in others]]])
        return shape, len(shape)
    shape = values[reductions[0].inputs[0]].shape
    first = min(axes(reductions[0], values))
    for reduction in reductions:
        if values[reduction.inputs[0]].shape != shape or min(axes(reduction, values)) != first:
            raise NotTakenError("reductions of several shapes")
    if math.prod(shape[first:]) == 1:
        raise NotTakenError("reductions of nothing")
    return shape, first
