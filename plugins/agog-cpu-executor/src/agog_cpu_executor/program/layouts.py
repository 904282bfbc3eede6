"""Layouts: the strides that NumPy gives to its results, found without computing any."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

ALIGNMENT = 64
"""Where memory begins: at a multiple of the bytes of a cache line."""

_MOST = 1024  # layouts that are remembered


def of(dtype: Any, shape: Sequence[int], strides: Sequence[int] | None = None) -> Array:
    """A placeholder array with these strides, C-contiguous where they are None. All share one memory."""
    return _of(np.dtype(dtype), tuple(shape), None if strides is None else tuple(strides))


@lru_cache(_MOST)  # traced functions have the same few layouts again and again
def _of(kind: np.dtype[Any], sizes: tuple[int, ...], strides: tuple[int, ...] | None) -> Array:
    if 0 in sizes or not sizes or kind.hasobject:
        return np.empty(sizes, kind)
    if strides is None:
        return np.ndarray(sizes, kind, _memory(math.prod(sizes) * kind.itemsize))
    before, after = _reach(sizes, strides)
    return np.ndarray(sizes, kind, _memory(before + after + kind.itemsize), before, strides)


def _reach(sizes: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """The bytes that an array spans before its first element, and from there on."""
    reach = [(size - 1) * stride for size, stride in zip(sizes, strides, strict=True)]
    return -sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)


_shared = [np.empty(0, np.uint8)]  # what arrays of no values lie in; nobody reads or writes it


def _memory(size: int) -> Array:
    memory = _shared[0]
    if memory.size < size:
        _of.cache_clear()  # or else those that lie in smaller memory keep that
        memory = _shared[0] = np.empty(size, np.uint8)
        memory.flags.writeable = False  # a constant in it would change with the next one
    return memory


def order(array: Array) -> list[int]:
    """The axes, largest stride first."""
    return sorted(range(array.ndim), key=lambda axis: -array.strides[axis])


def is_dense(array: Array) -> bool:
    """Whether the elements fill their memory without gaps, in any order of axes."""
    return bool(array.transpose(order(array)).flags.c_contiguous)


def are_equal(one: Array, other: Array) -> bool:
    """Whether arrays of one shape have the same strides along axes longer than 1."""
    return one.strides == other.strides or all(
        size < 2 or a == b for size, a, b in zip(one.shape, one.strides, other.strides, strict=True)
    )


def empty_like(array: Array) -> Array:
    """A placeholder array with the order of axes of another one."""
    return in_order(_memory(array.nbytes), array.dtype, array.shape, order(array))


def filled(array: Array, values: Any) -> Array:
    """An array like another one, with values, in memory of its own."""
    made = in_order(np.empty(array.nbytes, np.uint8), array.dtype, array.shape, order(array))
    made[...] = values
    return made


def in_order(memory: Array, dtype: np.dtype[Any], shape: Sequence[int], axes: Sequence[int]) -> Array:
    """A dense array at the beginning of a memory of bytes, with its axes in an order."""
    whole: Array = np.ndarray([shape[axis] for axis in axes], dtype, memory)
    return whole.transpose([axes.index(axis) for axis in range(len(axes))])


def copy(array: Array) -> Array:
    """A copy in memory of its own with an array's strides: negative, with gaps, or 0."""
    before, after = _reach(array.shape, array.strides)
    made = np.ndarray(
        array.shape, array.dtype, np.empty(before + after + array.itemsize, np.uint8), before, array.strides
    )
    made[...] = array
    return made


def result(dtype: np.dtype[Any], *operands: Array) -> Array:
    """The layout of an elementwise function's result."""
    return of(dtype, *_result(dtype, tuple([(x.dtype, x.shape, x.strides) for x in operands])))


@lru_cache(_MOST)
def _result(dtype: np.dtype[Any], operands: tuple[Any, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    flags: Any = [["readonly"]] * len(operands) + [["writeonly", "allocate"]]
    kinds: Any = [None] * len(operands) + [dtype]
    given = [of(*each) for each in operands]
    made = np.nditer((*given, None), ["zerosize_ok"], flags, kinds, order="K").operands[len(operands)]
    return made.shape, made.strides


def copied(x: Array, dtype: np.dtype[Any], order: str) -> Array:
    """The layout of `astype`'s result."""
    if order == "K":
        return result(dtype, x) if x.ndim else of(dtype, ())
    is_fortran = order == "F" or (order == "A" and x.flags.f_contiguous and not x.flags.c_contiguous)
    return of(dtype, x.shape[::-1]).T if is_fortran else of(dtype, x.shape)


def reduced(function: np.ufunc, x: Array, axis: Any, dtype: Any, keepdims: bool) -> Array:
    """The layout of a reduction's result."""
    axes = tuple(range(x.ndim)) if axis is None else axis
    axes = {a % x.ndim for a in ((axes,) if isinstance(axes, int) else axes)} if x.ndim else set()
    dtype = np.empty(0, _loop_dtype(function, x.dtype, dtype)).dtype
    places = [-1 if a in axes else sum(b not in axes for b in range(a)) for a in range(x.ndim)]
    flags: Any = ["reduce_ok", "zerosize_ok"]
    if x.ndim:
        found = np.nditer(
            (x, None),
            flags,
            [["readonly"], ["readwrite", "allocate"]],
            [None, dtype],
            order="K",
            op_axes=[list(range(x.ndim)), places],
        ).operands[1]
        found = of(dtype, found.shape, found.strides)
    else:
        found = of(dtype, ())
    return np.expand_dims(found, sorted(axes)) if keepdims and axes else found


def _loop_dtype(function: np.ufunc, dtype: np.dtype[Any], wanted: Any) -> np.dtype[Any]:
    """The dtype in which NumPy reduces a dtype, asked with one element."""
    return np.asarray(function.reduce(np.ones(1, dtype), 0, wanted)).dtype


def product(name: str, x: Array, y: Array) -> Array:
    """The layout of the result of ``dot`` or ``matmul``."""
    dtype = np.result_type(x, y)
    if name == "dot":
        return of(dtype, (*x.shape[:-1], *y.shape[:-2], *y.shape[-1:]) if y.ndim > 1 else x.shape[:-1])
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    rows = x.shape[-2:-1] if x.ndim > 1 else ()
    columns = y.shape[-1:] if y.ndim > 1 else ()
    return of(dtype, (*batch, *rows, *columns))
