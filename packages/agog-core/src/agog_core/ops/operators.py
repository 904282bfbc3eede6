"""Python's operators on tensors and variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.ops.array.reshaping import identity
from agog_core.ops.indexing.indexing import getitem
from agog_core.ops.indexing.segments import unsorted_segment_sum
from agog_core.ops.linalg.matmul import matmul, matrix_transpose
from agog_core.ops.math.arithmetic import abs, add, floordiv, floormod, multiply, negative, subtract, truediv
from agog_core.ops.math.bitwise import bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift
from agog_core.ops.math.elementary import pow
from agog_core.ops.math.logic import (
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
)
from agog_core.ops.updates.slices import assign_item, slice_of_variable
from agog_core.tensors import IndexedSlices, Tensor
from agog_core.variables.variable import Variable


def _of_bits(of_bools: Callable[..., Any], of_integers: Callable[..., Any]) -> Callable[..., Any]:
    """Logic for bools, as in TensorFlow 1.12, and bits for integers."""

    def operator(x: Any, *y: Any) -> Any:
        first = x if isinstance(x, (Tensor, Variable)) else y[0]
        return (of_integers if first.dtype.is_integer else of_bools)(x, *y)

    return operator


_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "truediv": truediv,
    "floordiv": floordiv,
    "mod": floormod,
    "pow": pow,
    "matmul": matmul,
    "and": _of_bits(logical_and, bitwise_and),
    "or": _of_bits(logical_or, bitwise_or),
    "xor": _of_bits(logical_xor, bitwise_xor),
    "lshift": left_shift,
    "rshift": right_shift,
}
_COMPARISONS = {"lt": less, "le": less_equal, "gt": greater, "ge": greater_equal}
_UNARY = {"neg": negative, "pos": identity, "abs": abs, "invert": _of_bits(logical_not, invert), "getitem": getitem}


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    def reflected(self: Any, other: Any) -> Any:
        return function(other, self)

    return reflected


def _attach(kind: type) -> None:
    """Give a class all operators."""
    for name, function in (_OPERATORS | _COMPARISONS | _UNARY).items():
        setattr(kind, f"__{name}__", function)
    for name, function in _OPERATORS.items():
        setattr(kind, f"__r{name}__", _reflected(function))


_attach(Tensor)
_attach(Variable)


def _whole(rows: IndexedSlices) -> Tensor:
    """The tensor of which `IndexedSlices` are the rows."""
    if rows._shape is None:
        count, *row = rows.values._shape
        raise ValueError(
            f"IndexedSlices of {count} rows of shape {tuple(row)} have no dense_shape, so there is no tensor of them; "
            "give it, as in tf.IndexedSlices(values, indices, dense_shape)."
        )
    return unsorted_segment_sum(rows.values, rows.indices, rows._shape[0])


setattr(IndexedSlices, "__tensor__", _whole)  # noqa: B010  # attached like all operators
setattr(Tensor, "mT", property(matrix_transpose, doc="The transposes of the matrices in the last two axes."))  # noqa: B010
setattr(Variable, "__getitem__", slice_of_variable)  # noqa: B010  # attached like all operators
setattr(Variable, "__setitem__", assign_item)  # noqa: B010  # attached like all operators
