"""Layouts: the strides that NumPy gives to its results, found without computing any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

ALIGNMENT = 64
"""Where memory begins: at a multiple of the bytes of a cache line."""


def of(dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...] | None) -> Array:
    """An array of no values with these strides; C-contiguous where they are not known."""
    if strides is None or 0 in shape or not shape or np.dtype(dtype).hasobject:
        return np.empty(shape, dtype)
    reach = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    before, after = -sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    buffer = np.empty(before + after + np.dtype(dtype).itemsize, np.uint8)
    return np.ndarray(shape, dtype, buffer, before, strides)


def order(array: Array) -> list[int]:
    """The axes, that of the largest stride first."""
    return sorted(range(array.ndim), key=lambda axis: -array.strides[axis])


def is_dense(array: Array) -> bool:
    """Whether the elements fill their memory, with the axes in any order."""
    return bool(array.transpose(order(array)).flags.c_contiguous)


def are_equal(one: Array, other: Array) -> bool:
    """Whether arrays of one shape have the same strides, along axes that have more than one place."""
    return one.strides == other.strides or all(
        size < 2 or a == b for size, a, b in zip(one.shape, one.strides, other.strides, strict=True)
    )


def empty_like(array: Array) -> Array:
    """An array of no values whose axes have the order of another one's."""
    axes = order(array)
    return np.empty([array.shape[axis] for axis in axes], array.dtype).transpose(np.argsort(axes))


def within(memory: Array, array: Array) -> Array:
    """An array like another, dense one, at the beginning of a memory of bytes."""
    axes = order(array)
    flat = memory[: array.nbytes].view(array.dtype)
    return flat.reshape([array.shape[axis] for axis in axes]).transpose(np.argsort(axes))


def result(dtype: np.dtype[Any], *operands: Array) -> Array:
    """What an elementwise function of operands gives."""
    flags: Any = [["readonly"]] * len(operands) + [["writeonly", "allocate"]]
    kinds: Any = [None] * len(operands) + [dtype]
    found = np.nditer((*operands, None), ["zerosize_ok"], flags, kinds, order="K")
    return found.operands[len(operands)]


def copied(x: Array, dtype: np.dtype[Any], order: Any) -> Array:
    """What `astype` gives."""
    if order == "K":
        return np.empty_like(x, dtype, order="K")
    if order == "A":
        order = "F" if x.flags.f_contiguous and not x.flags.c_contiguous else "C"
    return np.empty(x.shape, dtype, order=order)


def reduced(function: np.ufunc, x: Array, options: Mapping[str, Any]) -> Array:
    """What a reduction gives."""
    axis = options["axis"]
    axes = tuple(range(x.ndim)) if axis is None else axis
    axes = {a % x.ndim for a in ((axes,) if isinstance(axes, int) else axes)} if x.ndim else set()
    dtype = np.empty(0, _loop_dtype(function, x.dtype, options["dtype"])).dtype
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
    else:
        found = np.empty((), dtype)
    return np.expand_dims(found, sorted(axes)) if options["keepdims"] and axes else found


def _loop_dtype(function: np.ufunc, dtype: np.dtype[Any], wanted: Any) -> np.dtype[Any]:
    """The dtype of a reduction of values of a dtype, which NumPy tells best of an array that has one element."""
    return np.asarray(function.reduce(np.ones(1, dtype), 0, wanted)).dtype


def product(name: str, x: Array, y: Array) -> Array:
    """What ``dot`` or ``matmul`` gives, for arrays that both take."""
    dtype = np.result_type(x, y)
    if name == "dot":
        return np.empty((*x.shape[:-1], *y.shape[:-2], *y.shape[-1:]) if y.ndim > 1 else x.shape[:-1], dtype)
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    rows = x.shape[-2:-1] if x.ndim > 1 else ()
    columns = y.shape[-1:] if y.ndim > 1 else ()
    return np.empty((*batch, *rows, *columns), dtype)
