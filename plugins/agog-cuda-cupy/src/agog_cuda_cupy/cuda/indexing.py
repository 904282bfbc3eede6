"""Indexing: gathers, scatters and segments by the kernels of gather.cu and scatter.cu.

A position outside of an array is told in an error word, whose sentence is that of the device "cpu".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from agog_core.plugin import as_dtype
from agog_cuda_cupy.cuda.modules import ITEMS, Modules, index_type, number

Array = Any

_OPERATIONS = {"add": 0, "subtract": 1, "multiply": 2, "maximum": 3, "minimum": 4, "update": 5, "divide": 6}
_MOST_AXES = 8
_SHAPE = np.dtype([("size", "i8", _MOST_AXES)])


def gather(modules: Modules, params: Array, indices: Array, *, axis: int) -> Any:
    size = params.shape[axis]
    because = f"params has shape {params.shape}, and the axis is {axis}"
    word = modules.error_word()
    outer, inner = math.prod(params.shape[:axis]), math.prod(params.shape[axis + 1 :])
    shape = (*params.shape[:axis], *indices.shape, *params.shape[axis + 1 :])
    y = _gathered(modules, params, indices, shape, (outer, size, indices.size, inner), word)
    if y is not NotImplemented:
        modules.check(_outside("gather", "indices", indices.shape, size, because))
    return y


def gather_nd(modules: Modules, params: Array, indices: Array) -> Any:
    rows = _row_numbers(modules, "gather_nd", indices, params.shape, "params of shape")
    if rows is NotImplemented:
        return rows
    depth = indices.shape[-1]
    inner = params.shape[depth:]
    shape = (*indices.shape[:-1], *inner)
    # The rows have been looked at; this word is nobody's.
    word = modules.error_word()
    sizes = 1, math.prod(params.shape[:depth]), rows.size, math.prod(inner)
    return _gathered(modules, params, rows, shape, sizes, word)


def scatter_nd(
    modules: Modules, indices: Array, updates: Array, *, shape: tuple[int, ...], is_deterministic: bool = True
) -> Any:
    rows = _row_numbers(modules, "scatter_nd", indices, shape, "shape")
    whole = modules.xp.zeros(shape, updates.dtype)
    if rows is NotImplemented or number(whole.dtype) is None:
        return NotImplemented
    return _combined(modules, "add", whole, rows, updates, is_deterministic)


def scatter_variable(
    modules: Modules,
    variable: Array,
    indices: Array,
    updates: Array,
    *,
    operation: str,
    is_deterministic: bool = True,
) -> Any:
    """See `agog_kernels_xp.indexing.scattering`. Half precision, and what replaces elements, is always in order."""
    if operation not in _OPERATIONS or number(variable.dtype) is None or not variable.flags.c_contiguous:
        return NotImplemented
    rows = _row_numbers(modules, "scatter_variable", indices, variable.shape, "a variable of shape")
    if rows is NotImplemented:
        return rows
    given = _spread(modules, updates, indices, variable)
    if is_deterministic or operation == "update" or variable.dtype.itemsize == 2:
        _in_order(modules, operation, variable, rows, given, rounds_each=True)
    else:
        _in_any_order(modules, operation, variable, rows, given)
    return None


def tensor_scatter_update(modules: Modules, tensor: Array, indices: Array, updates: Array) -> Any:
    if number(tensor.dtype) is None:
        return NotImplemented
    rows = _row_numbers(modules, "tensor_scatter_update", indices, tensor.shape, "a tensor of shape")
    if rows is NotImplemented:
        return rows
    whole = modules.xp.array(tensor, order="C")
    _in_order(modules, "update", whole, rows, _spread(modules, updates, indices, whole), rounds_each=True)
    return whole


def unsorted_segment_sum(
    modules: Modules, data: Array, segment_ids: Array, *, num_segments: int, is_deterministic: bool = True
) -> Any:
    numbered = data, segment_ids, num_segments
    return _segments(modules, "unsorted_segment_sum", "add", 0, numbered, is_deterministic)


def unsorted_segment_prod(
    modules: Modules, data: Array, segment_ids: Array, *, num_segments: int, is_deterministic: bool = True
) -> Any:
    numbered = data, segment_ids, num_segments
    return _segments(modules, "unsorted_segment_prod", "multiply", 1, numbered, is_deterministic)


def unsorted_segment_max(
    modules: Modules, data: Array, segment_ids: Array, *, num_segments: int, is_deterministic: bool = True
) -> Any:
    lowest = as_dtype(data.dtype).min
    numbered = data, segment_ids, num_segments
    return _segments(modules, "unsorted_segment_max", "maximum", lowest, numbered, is_deterministic)


def unsorted_segment_min(
    modules: Modules, data: Array, segment_ids: Array, *, num_segments: int, is_deterministic: bool = True
) -> Any:
    highest = as_dtype(data.dtype).max
    numbered = data, segment_ids, num_segments
    return _segments(modules, "unsorted_segment_min", "minimum", highest, numbered, is_deterministic)


def combine(modules: Modules, operation: str, target: Array, rows: Array, updates: Array) -> Any:
    """Combine updates into numbered rows of an array in place, in their order; see `agog_kernels_xp.bind`."""
    if operation not in _OPERATIONS or number(target.dtype) is None or updates.dtype != target.dtype:
        return NotImplemented
    if not target.flags.c_contiguous:
        return NotImplemented
    xp = modules.xp
    is_inside = (rows >= 0) & (rows < len(target))  # a kernel leaves out negative rows, and writes all others
    _in_order(modules, operation, target, xp.where(is_inside, rows, -1).astype("int64"), updates, rounds_each=False)
    return None


def _segments(
    modules: Modules,
    op: str,
    operation: str,
    identity: Any,
    numbered: tuple[Array, Array, int],
    is_deterministic: bool,
) -> Any:
    data, ids, count = numbered
    index = index_type(ids.dtype)
    if index is None or number(data.dtype) is None:
        return NotImplemented
    xp = modules.xp
    rows = xp.empty(ids.size, "int64")
    word = modules.error_word()
    kernel = modules.kernel("gather", "segment_rows", AGOG_INDEX=index)
    modules.launch(kernel, ids.size, xp.ascontiguousarray(ids), rows, ids.size, count, word)
    modules.check(_outside(op, "segment_ids", ids.shape, count, f"num_segments is {count}"))
    result = xp.full((count, *data.shape[ids.ndim :]), identity, data.dtype)
    return _combined(modules, operation, result, rows, data, is_deterministic)


def _gathered(
    modules: Modules, params: Array, indices: Array, shape: tuple[int, ...], sizes: tuple[int, ...], word: Array
) -> Any:
    item, index = ITEMS.get(params.dtype.itemsize), index_type(indices.dtype)
    if item is None or index is None or params.dtype.kind == "O":
        return NotImplemented
    y = modules.xp.empty(shape, params.dtype)
    kernel = modules.kernel("gather", "gather", AGOG_ITEM=item, AGOG_INDEX=index)
    contiguous = [modules.xp.ascontiguousarray(array) for array in (params, indices)]
    modules.launch(kernel, y.size, *contiguous, y, *sizes, word)
    return y


def _row_numbers(modules: Modules, op: str, indices: Array, shape: tuple[int, ...], name: str) -> Any:
    """The rows that positions along leading axes name."""
    index, depth = index_type(indices.dtype), indices.shape[-1]
    if index is None or depth > _MOST_AXES:
        return NotImplemented
    place = indices.shape[:-1]
    listed = modules.xp.ascontiguousarray(indices).reshape(math.prod(place), depth)

    def describe(position: int, value: int) -> str:
        at = listed[position].tolist()
        return f"{op}: indices{_place(position, place)} = {at} does not index into {name} {tuple(shape)}."

    sizes = np.zeros((), _SHAPE)
    sizes["size"][:depth] = shape[:depth]
    rows = modules.xp.empty(len(listed), "int64")
    word = modules.error_word()
    kernel = modules.kernel("gather", "row_numbers", AGOG_INDEX=index)
    modules.launch(kernel, len(listed), listed, rows, len(listed), depth, sizes[()], word)
    modules.check(describe)
    return rows


def _combined(
    modules: Modules, operation: str, target: Array, rows: Array, updates: Array, is_deterministic: bool
) -> Array:
    """An array with the rows of another combined into it, rounded once: its own memory where that can be."""
    if is_deterministic:
        _in_order(modules, operation, target, rows, updates, rounds_each=False)
        return target
    exact = target.astype("float32") if target.dtype.itemsize == 2 else target
    _in_any_order(modules, operation, exact, rows, updates)
    return exact.astype(target.dtype, copy=False)


def _in_any_order(modules: Modules, operation: str, target: Array, rows: Array, updates: Array) -> None:
    """Combine rows into an array in place, in the order in which threads come."""
    if updates.size:
        kernel = modules.kernel("scatter", "scatter_in_any_order", AGOG_NUMBER=number(updates.dtype) or "")
        given, code = modules.xp.ascontiguousarray(updates), np.int32(_OPERATIONS[operation])
        modules.launch(kernel, given.size, target, given, rows, rows.size, given.size // rows.size, code)


def _in_order(
    modules: Modules, operation: str, target: Array, rows: Array, updates: Array, *, rounds_each: bool
) -> None:
    """Combine rows into an array in place, in the order in which they come."""
    xp = modules.xp
    if not updates.size:
        return
    kernel = modules.kernel("scatter", "scatter_in_order", AGOG_NUMBER=number(target.dtype) or "")
    order = xp.argsort(rows, kind="stable")
    code = np.int32(_OPERATIONS[operation])
    given = xp.ascontiguousarray(updates)
    width = given.size // rows.size
    modules.launch(kernel, given.size, target, given, rows, order, rows.size, width, code, rounds_each)


def _spread(modules: Modules, updates: Array, indices: Array, whole: Array) -> Array:
    return modules.xp.broadcast_to(updates, (*indices.shape[:-1], *whole.shape[indices.shape[-1] :]))


def _outside(op: str, name: str, shape: tuple[int, ...], size: int, because: str) -> Callable[[int, int], str]:
    def describe(position: int, value: int) -> str:
        return f"{op}: {name}{_place(position, shape)} = {value} is not in [0, {size}): {because}."

    return describe


def _place(position: int, shape: tuple[int, ...]) -> str:
    """The index of an element, as it is written behind an array's name; nothing for a scalar."""
    return str([int(n) for n in np.unravel_index(position, shape)]) if shape else ""
