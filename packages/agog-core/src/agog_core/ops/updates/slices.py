"""Slices of variables, assigned to: ``v[0].assign(9.0)``, ``v[1:].assign_add(x)``, ``v[0] = 9.0``.

What ``v[0]`` gives is a tensor like any other. It remembers, weakly, which variable it was cut from, so that it has
TensorFlow's `assign`; other tensors have no such attribute.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

from agog_core.calls.broadcasting import broadcast_to
from agog_core.calls.call import update_part
from agog_core.dispatch.op import Op
from agog_core.dtypes import ALL, NUMERIC
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.slicing import Key, normalized, slice_shape
from agog_core.ops.indexing.indexing import getitem, is_advanced
from agog_core.shapes import Shape
from agog_core.tensors.tensor import Tensor, TensorLike
from agog_core.variables.variable import Variable


def assign_slice(variable: Variable, value: TensorLike, key: Any, operation: str = "update") -> Variable:
    """Replace a slice of a variable, or add to it or subtract from it. The operation is ``"update"``, ``"add"`` or
    ``"subtract"``; the key consists of ints, slices, ``...``, None and scalar tensors of integers.

    >>> v = Variable([1.0, 2.0, 3.0])
    >>> assign_slice(v, [8.0, 9.0], slice(1, None)).numpy().tolist()
    [1.0, 8.0, 9.0]
    """
    if operation != "update" and variable.dtype not in NUMERIC:
        raise InvalidArgumentError(
            f"assign_slice: {operation} is not defined for variable {variable.name!r} of dtype {variable.dtype.name}."
        )
    entries = normalized(variable._current()._shape, key if isinstance(key, tuple) else (key,))
    tensor = variable._converted("assign_slice", value)
    update_part(_assign_slice, variable, [tensor], key=entries, operation=operation)
    return variable


def _assign_slice_shape(variable: Shape, value: Shape, key: Key, operation: str) -> Shape:
    part = slice_shape(variable, key)
    if value != part:
        raise InvalidArgumentError(
            f"assign_slice: the slice of a variable of shape {variable} has shape {part}; the value has shape {value}, "
            "and both must agree."
        )
    return variable


_assign_slice = Op(
    "assign_slice",
    assign_slice,
    inputs=["variable", "value"],
    shape=_assign_slice_shape,
    dtypes=ALL,
    updates=["variable"],
)


def slice_of_variable(variable: Variable, key: Any) -> Tensor:
    """What ``variable[key]`` gives: a tensor that later assignments do not change. A slice by ints, slices, ``...`` and
    None has `assign`, `assign_add` and `assign_sub`, which change the variable and return it.

    >>> v = Variable([1.0, 2.0, 3.0])
    >>> slice_of_variable(v, 0).assign(9.0).numpy().tolist()
    [9.0, 2.0, 3.0]
    """
    part = getitem(variable, key)
    if not any(map(is_advanced, key if isinstance(key, tuple) else (key,))):
        part._origin = ref(variable), key
    return part


def assign_item(variable: Variable, key: Any, value: TensorLike) -> None:
    """What ``variable[key] = value`` does; the value broadcasts to the slice's shape. A TypeError says that the key is
    a mask or an array of positions.

    >>> v = Variable([1.0, 2.0, 3.0])
    >>> assign_item(v, slice(1, None), 0.0)
    >>> v.numpy().tolist()
    [1.0, 0.0, 0.0]
    """
    entries = key if isinstance(key, tuple) else (key,)
    if any(map(is_advanced, entries)):
        raise TypeError(
            f"Variable {variable.name!r} cannot be assigned to by masks and arrays of positions; use tf.scatter_update "
            "or tf.scatter_nd_update."
        )
    shape = variable._current()._shape
    whole = slice_shape(shape, normalized(shape, entries))
    assign_slice(variable, broadcast_to(variable._converted("assign_slice", value), whole), entries)


def _method(name: str, operation: str, what: str) -> property:
    """A method that only slices of variables have."""

    def method(part: Tensor) -> Callable[..., Variable]:
        try:
            origin, key = part._origin
        except AttributeError:
            raise AttributeError(
                f"A tensor has no {name!r}: its value never changes. A slice of a variable has it, such as "
                f"v[0].{name}(x), when it is cut out by ints and slices; for rows use tf.scatter_update."
            ) from None

        def change(value: TensorLike, use_locking: bool = False, name: str | None = None) -> Variable:
            if (variable := origin()) is None:
                raise ReferenceError("The variable that this slice was cut from is gone; keep a reference to it.")
            return assign_slice(variable, value, key, operation)

        change.__name__ = change.__qualname__ = name
        return change

    # The method does not hold the slice, so v[0].assign(x) finds the variable's memory held by nobody else.
    return property(
        method, doc=f"{what} the part of a variable that this tensor is a slice of; other tensors have no such method."
    )


Tensor.assign = _method("assign", "update", "Replace")
Tensor.assign_add = _method("assign_add", "add", "Add to")
Tensor.assign_sub = _method("assign_sub", "subtract", "Subtract from")
