"""Backpropagation: the walk backwards over a tape's records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from agog_core.calls.broadcasting import static_shape
from agog_core.dtypes import int64
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, concat
from agog_core.ops.array.creation import fill_like
from agog_core.ops.math.arithmetic import add
from agog_core.recording import Id, Record, Section
from agog_core.shapes import Shape
from agog_core.tensors import IndexedSlices, convert_to_tensor
from agog_core.tensors.tensor import Tensor, TensorLike, shared, wrap
from agog_core.variables.variable import Variable

NO_TENSOR = "GradientTape.gradient: {what} are tensors and variables; got {got!r} of type {type}."


def backpropagate(records: list[Record], gradients: dict[Id, Tensor], keep: set[Id]) -> None:
    """Walk records backwards and accumulate gradients; this empties the list.

    A vjp multiplies by the transposed Jacobian and conjugates nothing. The gradient of a complex number, the direction
    of steepest ascent, is the conjugate of the result here.

    Records and intermediate gradients are freed as soon as they are used.
    """
    pop, get, take = records.pop, gradients.get, gradients.pop
    last: Id | tuple[Id, ...] | None = None
    g: Any = None
    while records:
        out, source, vjp, saved = pop()
        if out is None:
            outs, sources, *rest = saved
            if isinstance(vjp, Section):
                last = g = gradient = known = None  # who walks back knows whether others have its gradients
                vjp.walk_back(gradients, keep)
                continue
            if outs != last:
                last = outs
                g = _taken(outs, gradients, keep)
            if g is not None:
                _add_jointly(gradients, sources, vjp(g, *rest), keep)
            continue
        if out != last:  # the records of one op lie side by side
            last = out
            g = _dense(get(out)) if out in keep else take(out, None)
        if g is not None:
            gradient = vjp(g, *saved)
            if gradient is not None:
                known = get(source)  # type: ignore[arg-type]  # with an output's id comes an input's
                gradients[source] = gradient if known is None else add(known, gradient)  # type: ignore[index]


def _taken(outs: Id | tuple[Id, ...], gradients: dict[Id, Tensor], keep: set[Id]) -> Any:
    """The gradient of an op's output, or a list of those of its outputs; None if there is none at all."""
    if not isinstance(outs, tuple):
        return _dense(gradients.get(outs)) if outs in keep else gradients.pop(outs, None)
    found = [_dense(gradients.get(out)) if out in keep else gradients.pop(out, None) for out in outs]
    return None if all(g is None for g in found) else found


def _add_jointly(gradients: dict[Id, Any], sources: Sequence[Id | None], results: Any, keep: set[Id]) -> None:
    """Add what a vjp returned for several inputs, or for one. Only what is asked for stays sparse."""
    listed = results if len(sources) > 1 or isinstance(results, (tuple, list)) else [results]
    for source, result in zip(sources, listed, strict=True):
        if source is not None and result is not None:
            gradient = result if source in keep else _dense(result)
            known = gradients.get(source)
            gradients[source] = gradient if known is None else accumulate(known, gradient)


def _dense(gradient: Any) -> Any:
    return convert_to_tensor(gradient) if type(gradient) is IndexedSlices else gradient


def conjugate(gradient: Any) -> Any:
    """The complex conjugate of a gradient."""
    from agog_core.ops.array.complex import conj

    if type(gradient) is IndexedSlices:
        return IndexedSlices(conj(gradient.values), gradient.indices, gradient._shape)
    return conj(gradient)


def accumulate(x: Any, y: Any) -> Any:
    """Add two gradients, each a tensor or `IndexedSlices`: the sum is `IndexedSlices` where both are."""
    if type(x) is not IndexedSlices or type(y) is not IndexedSlices:
        return add(x, y)
    indices = [cast(each.indices, int64) for each in (x, y)]
    return IndexedSlices(concat([x.values, y.values], 0), concat(indices, 0), x._shape or y._shape)


def total(gradients: dict[Id, Any], ids: Sequence[Id]) -> Any:
    """The sum of the gradients of some ids, of which some may have none; None if no id has one."""
    found: Any = None
    for i in ids:
        g = gradients.get(i)
        if g is not None:
            found = g if found is None else accumulate(found, g)
    return found


# Small arrays of ones and zeros, shared between calls of `filled_like`.
_constants: dict[tuple[Any, Shape, int], Any] = {}


def filled_like(like: Tensor, value: int) -> Tensor:
    """A new tensor of ones or zeros. Small arrays are shared between calls; the tensor is not: anybody may watch it."""
    table, shape = like._table, like._shape
    key = table, shape, value
    array = _constants.get(key)
    if array is None:
        array = fill_like(like, value)._array
        if type(array) is np.ndarray and math.prod(shape) <= 10_000:  # of others nobody could tell when they go out
            if len(_constants) >= 256:
                _constants.clear()
            _constants[key] = shared(array)
    return wrap(array, table, shape)


def seed(target: Any, gradient: TensorLike) -> Tensor:
    """An output gradient in the tape's own convention, which conjugates nothing; for `IndexedSlices` its rows."""
    value = target.values if type(target) is IndexedSlices else target
    if type(value) is Tensor and type(gradient) is Tensor and value._shape is gradient._shape:  # nearly always
        table = value._table
        if table is gradient._table and not table.dtype.is_complex:
            return gradient
    if not isinstance(value, (Tensor, Variable)):
        raise TypeError(NO_TENSOR.format(what="targets", got=value, type=type(value).__name__))
    tensor = convert_to_tensor(gradient, preferred_dtype=value.dtype)
    shape = tuple(value.shape.as_list())
    if tensor._shape != shape or tensor.dtype is not value.dtype:
        raise InvalidArgumentError(
            f"GradientTape.gradient: an output gradient has shape {static_shape(tensor.shape)} and dtype "
            f"{tensor.dtype.name}; its target has "
            f"shape {shape} and dtype {value.dtype.name}, and both must agree."
        )
    return conjugate(tensor) if tensor.dtype.is_complex else tensor
