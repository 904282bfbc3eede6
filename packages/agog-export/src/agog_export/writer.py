"""Writer: writes the nodes and constants of an ONNX graph; rules call it ``op``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from typing import Any

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from agog_core.dtypes import DType, as_dtype, string, variant
from agog_export.refusal import Refusal
from agog_export.sizes import Number, Size, Symbol

Array = np.ndarray[Any, Any]

_BOOL, _INT64, _INT32 = np.dtype(bool), np.dtype(np.int64), np.dtype(np.int32)
# The dtypes of results that are not those of the first input.
_OF_RESULTS = {
    **dict.fromkeys(("Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual"), _BOOL),
    **dict.fromkeys(("ArgMax", "ArgMin", "NonZero", "Shape", "Size"), _INT64),
}


class Operand:
    """A value in the ONNX graph.

    Args:
        name: its name there.
        dtype: the dtype.
        shape: its shape, where a rule may ask for it.
        array: what it is, if it is a constant or a variable.
    """

    __slots__ = ("array", "dtype", "name", "shape")

    def __init__(
        self, name: str, dtype: np.dtype[Any], shape: tuple[Number, ...] = (), array: Array | None = None
    ) -> None:
        self.name, self.dtype, self.shape, self.array = name, dtype, shape, array

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def is_floating(self) -> bool:
        """Whether its elements are floating-point numbers."""
        return as_dtype(self.dtype).is_floating

    @property
    def is_integer(self) -> bool:
        """Whether its elements are integers."""
        return as_dtype(self.dtype).is_integer


class Writer:
    """An ONNX graph that is written. ``op.Add(x, y)`` writes a node of the type ``Add`` and gives its result.

    Inputs are operands; arrays, and numbers of the first operand's dtype; lists of sizes, which become vectors of
    int64; None for one that is left out. With ``outputs=2`` a node has two results.

    Args:
        parent: for a graph inside of a node, that which holds the node.
    """

    def __init__(self, parent: Writer | None = None) -> None:
        self.nodes: list[NodeProto] = []
        self.outputs: list[Operand] = []  # of the agog node that is translated
        self.arrays: dict[str, Array] = {} if parent is None else parent.arrays
        self._constants: dict[Any, Operand] = {} if parent is None else parent._constants
        self._names: set[str] = set() if parent is None else parent._names
        self._symbols: dict[Symbol, Operand] = {}
        self._inputs: list[Operand] = [] if parent is None else parent._inputs

    def __getattr__(self, kind: str) -> Callable[..., Any]:
        if not kind[:1].isupper():
            raise AttributeError(kind)
        return partial(self._emit, kind)

    @property
    def out(self) -> Operand:
        """What the first output of the agog node must be."""
        return self.outputs[0]

    def _emit(self, kind: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        first = next((x for x in inputs if isinstance(x, (Operand, np.ndarray))), None)
        given = [self.operand(x, None if first is None else first.dtype) for x in inputs]
        names = [self.name(kind.lower()) for _ in range(outputs)]
        kept = {name: _attribute(value) for name, value in attributes.items() if value is not None}
        self.nodes.append(helper.make_node(kind, ["" if x is None else x.name for x in given], names, **kept))
        of_values = given[1] if kind == "Where" else given[0] if given else None
        dtype = _OF_RESULTS.get(kind) or (np.dtype(np.float32) if of_values is None else of_values.dtype)
        if kind == "Cast":
            dtype = helper.tensor_dtype_to_np_dtype(attributes["to"])
        found = [Operand(name, dtype) for name in names]
        if kind == "TopK":
            found[1].dtype = _INT64
        return found[0] if outputs == 1 else found

    def operand(self, x: Any, dtype: np.dtype[Any] | None) -> Operand | None:
        """What is given to a node, as an operand."""
        if x is None or isinstance(x, Operand):
            return x
        if isinstance(x, (list, tuple)):
            return self.sizes(x)
        if isinstance(x, Size):
            return self.cast(self.Squeeze(self.sizes([x]), [0]), dtype or _INT64)
        return self.constant(np.asarray(x) if isinstance(x, (np.ndarray, np.generic)) else np.asarray(x, dtype))

    def constant(self, array: Array, name: str | None = None) -> Operand:
        """A constant; equal small ones are one."""
        array = np.array(array, order="C")  # `np.ascontiguousarray` gives 0-d arrays an axis
        key = (array.dtype, array.shape, array.tobytes()) if name is None and array.size <= 64 else None
        found = self._constants.get(key) if key is not None else None
        if found is None:
            found = Operand(self.name(name or "constant"), array.dtype, array.shape, array)
            self.arrays[found.name] = array
            if key is not None:
                self._constants[key] = found
        return found

    def zeros(self, shape: Sequence[Number], dtype: np.dtype[Any], value: Any = 0) -> Operand:
        """A tensor of one value, also of a shape that is not known."""
        one = np.array(value, dtype)
        if not any(isinstance(size, Size) for size in shape):
            return self.constant(np.full([int(size) for size in shape], one))
        found: Operand = self.Expand(one, list(shape))
        return found

    def sizes(self, numbers: Sequence[Number]) -> Operand:
        """A vector of numbers, of which some depend on unknown sizes."""
        if not any(isinstance(number, Size) for number in numbers):
            return self.constant(np.array(numbers, np.int64))
        parts = [self._size(n) if isinstance(n, Size) else self.constant(np.array([n], np.int64)) for n in numbers]
        found: Operand = self.Concat(*parts, axis=0) if len(parts) > 1 else parts[0]
        return found

    def _size(self, size: Size) -> Operand:
        if size.terms is None:
            raise Refusal(
                f"a size is {', '.join(map(str, size.numbers))} in the traces, which is no line of the sizes of the "
                "arguments"
            )
        parts = []
        for product, factor in size.terms.items():
            factors = [self._symbol(symbol) for symbol in product]
            if factor != 1 or not product:
                factors.append(self.constant(np.array([factor], np.int64)))
            parts.append(reduce(self.Mul, factors))
        return reduce(self.Add, parts)

    def _symbol(self, symbol: Symbol) -> Operand:
        """The unknown size itself, a vector of one element."""
        if symbol not in self._symbols:
            shape = self.Shape(self._inputs[symbol.place])
            self._symbols[symbol] = self.Gather(shape, np.array([symbol.axis], np.int64), axis=0)
        return self._symbols[symbol]

    def cast(self, x: Any, dtype: Any) -> Operand:
        """A tensor of another dtype; itself where that changes nothing."""
        kind = np.dtype(dtype.numpy_dtype if isinstance(dtype, DType) else dtype)
        given = self.operand(x, None)
        assert given is not None
        if given.dtype == kind:
            return given
        found: Operand = self.Cast(given, to=type_of(kind))
        return found

    def transpose(self, x: Operand, perm: Sequence[int]) -> Operand:
        """A transposed tensor; weights are transposed here and now."""
        if list(perm) == list(range(len(perm))):
            return x
        if x.array is not None:
            return self.constant(x.array.transpose(perm), f"{x.name}_{''.join(map(str, perm))}")
        found: Operand = self.Transpose(x, perm=list(perm))
        return found

    def name(self, base: str) -> str:
        """A name that nobody has yet."""
        name, number = base, 0
        while name in self._names:
            number += 1
            name = f"{base}_{number}"
        self._names.add(name)
        return name

    def input(self, name: str, dtype: np.dtype[Any], shape: tuple[Number, ...]) -> Operand:
        """An input of the graph."""
        found = Operand(self.name(name), dtype, shape)
        self._inputs.append(found)
        return found

    def output(self, x: Operand, name: str) -> str:
        """Name a result."""
        own = self.name(name)
        self.nodes.append(helper.make_node("Identity", [x.name], [own]))
        return own

    @contextmanager
    def inside(self) -> Iterator[Writer]:
        """A graph for an attribute of a node, such as the body of a loop; see `Writer.graph`."""
        yield Writer(self)

    def graph(
        self, name: str, inputs: Sequence[ValueInfoProto], outputs: Sequence[ValueInfoProto], *, holds_arrays: bool
    ) -> GraphProto:
        """What was written."""
        used = {name for node in self.nodes for name in _used(node)}
        arrays = self.arrays.items() if holds_arrays else ()
        tensors = [numpy_helper.from_array(array, name) for name, array in arrays if name in used]
        return helper.make_graph(self.nodes, name, list(inputs), list(outputs), tensors)


def type_of(dtype: Any) -> int:
    """ONNX's number of a dtype."""
    kind = as_dtype(dtype) if not isinstance(dtype, DType) else dtype
    if kind in (string, variant) or kind.is_complex:
        raise Refusal(f"operators of ONNX take no tensors of {kind.name}")
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(kind.numpy_dtype)))


def value_info(name: str, dtype: Any, shape: Sequence[int | str | None] | None) -> ValueInfoProto:
    """What a model says of an input or output."""
    return helper.make_tensor_value_info(name, type_of(dtype), shape)


def _attribute(value: Any) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, (list, tuple)):
        return [each if isinstance(each, (str, float)) else each.__index__() for each in value]
    return value.__index__() if isinstance(value, Size) else value


def _used(node: NodeProto) -> Iterator[str]:
    yield from node.input
    for attribute in node.attribute:
        for inner in attribute.g.node:
            yield from _used(inner)
        yield from (output.name for output in attribute.g.output)


__all__ = ["Array", "Operand", "TensorProto", "Writer", "type_of", "value_info"]
