"""Slicing: ranges, steps, single positions and new axes."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from agog_core.calls.call import call
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import NUMERIC_OR_BOOL
from agog_core.errors import InvalidArgumentError
from agog_core.shapes import Shape
from agog_core.tensors.convert import convert_to_tensor, fixed, whole
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["newaxis", "slice", "strided_slice"]

# A position (int), a range (start, stop, step), or a new axis (None); stop is None for "past the first element".
Entry = int | tuple[int, int | None, int] | None
Key = tuple[Entry, ...]

newaxis = None
"""A new axis of size 1 in an index, as in ``x[:, newaxis]``."""


def cut(x: Tensor, key: tuple[Any, ...]) -> Tensor:
    """Cut out what stands between brackets: ints, slices, ``...``, None (a new axis) and scalar tensors of integers.

    >>> print(cut(convert_to_tensor([[1, 2], [3, 4]]), (..., 0)))
    tf.Tensor([1 3], shape=(2,), dtype=int32)
    """
    return call(_strided_slice, x, key=normalized(x._shape, key))


def slice(input_: TensorLike, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """Cut a box out of a tensor.

    Args:
        input_: a tensor of rank n.
        begin: n positions.
        size: n sizes; -1 stands for all that is left.

    Returns:
        A tensor of those sizes.

    Raises:
        InvalidArgumentError: the box does not lie inside the tensor.

    >>> print(slice([1, 2, 3, 4], [1], [2]))
    tf.Tensor([2 3], shape=(2,), dtype=int32)
    """
    x = convert_to_tensor(input_)
    starts, sizes = _integers(begin), _integers(size)
    if len(starts) != len(x._shape) or len(sizes) != len(x._shape):
        raise InvalidArgumentError(
            f"slice: a tensor of shape {x._shape} needs {len(x._shape)} begins and sizes; got {starts} and {sizes}."
        )
    stops = [length if n == -1 else start + n for start, n, length in zip(starts, sizes, x._shape, strict=True)]
    if any(not 0 <= start <= stop <= length for start, stop, length in zip(starts, stops, x._shape, strict=True)):
        raise InvalidArgumentError(
            f"slice: begin {starts} and size {sizes} do not lie inside a tensor of shape {x._shape}."
        )
    key = tuple((start, stop, 1) for start, stop in zip(starts, stops, strict=True))
    return call(_strided_slice, x, key=key)


def slice_along(input: Tensor, axis: int, begin: int, size: int) -> Tensor:
    """Cut ``size`` positions out of a tensor along one axis, which is not negative.

    >>> print(slice_along(convert_to_tensor([[1, 2, 3]]), 1, 1, 2))
    tf.Tensor([[2 3]], shape=(1, 2), dtype=int32)
    """
    starts, sizes = [0] * len(input._shape), list(input._shape)
    starts[axis], sizes[axis] = begin, size
    return slice(input, starts, sizes)


def strided_slice(
    input_: TensorLike,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """Cut ranges with steps out of a tensor; masks say which entries are open, ``...``, new axes or single positions.

    Args:
        input_: a tensor.
        begin: the first position of each entry.
        end: the position after the last one of each entry.
        strides: the steps; None for ones.
        begin_mask: bit i lets entry i start at the beginning.
        end_mask: bit i lets entry i stop at the end.
        ellipsis_mask: bit i makes entry i stand for all axes that no other entry names.
        new_axis_mask: bit i makes entry i a new axis.
        shrink_axis_mask: bit i makes entry i the single position ``begin[i]``.

    Returns:
        The part of the tensor.

    Raises:
        InvalidArgumentError: a position is out of range, a stride is zero, or negative for a single position, or there
            are too many entries.

    >>> print(strided_slice([1, 2, 3, 4], [0], [4], [2]))
    tf.Tensor([1 3], shape=(2,), dtype=int32)
    """
    starts, stops = _integers(begin), _integers(end)
    steps = [1] * len(starts) if strides is None else _integers(strides)
    if not len(starts) == len(stops) == len(steps):
        raise InvalidArgumentError(
            f"strided_slice: begin, end and strides must be of one length; got {starts}, {stops} and {steps}."
        )
    key: list[Any] = []
    for n, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << n
        if ellipsis_mask & bit:
            key.append(...)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            if step <= 0:
                raise InvalidArgumentError(
                    f"strided_slice: entry {n} is a single position, so its stride must be positive; got {step}."
                )
            key.append(start)
        else:
            key.append(builtins.slice(None if begin_mask & bit else start, None if end_mask & bit else stop, step))
    return cut(convert_to_tensor(input_), tuple(key))


def slice_shape(tensor: Shape, key: Key) -> Shape:
    """The shape of a slice of a tensor; the key is normalized.

    >>> slice_shape((3, 4), (2, (0, 4, 2)))
    (2,)
    """
    sizes: list[int] = []
    axis = 0
    for entry in key:
        if entry is None:
            sizes.append(1)
            continue
        if not isinstance(entry, int):
            start, stop, step = entry
            sizes.append(len(range(start, -1 if stop is None else stop, step)))
        axis += 1
    return (*sizes, *tensor[axis:])


_strided_slice = Op(
    "strided_slice",
    strided_slice,
    inputs=["tensor"],
    shape=slice_shape,
    vjp={"tensor": lambda g, tensor_shape, key: strided_slice_grad(g, tensor_shape, key)},
    views=True,
)


def strided_slice_grad(g: TensorLike, shape: Shape, key: Key) -> Tensor:
    """Put a tensor into zeros, at the place that a slice was cut from; the transpose of `strided_slice`.

    ``shape`` is that of the whole, and the key is normalized.

    >>> print(strided_slice_grad([5.0], (3,), ((1, 2, 1),)))
    tf.Tensor([0. 5. 0.], shape=(3,), dtype=float32)
    """
    return call(_strided_slice_grad, convert_to_tensor(g), shape=shape, key=key)


_strided_slice_grad = define(
    strided_slice_grad,
    shape=lambda g, shape, key: shape,
    dtypes=NUMERIC_OR_BOOL,
    vjp={"g": lambda g, key: call(_strided_slice, g, key=key)},
)


def normalized(shape: Shape, key: tuple[Any, ...]) -> Key:
    """Turn an index into one entry for each named axis, and for each new one.

    >>> normalized((3, 4), (-1, builtins.slice(None)))
    (2, (0, 4, 1))
    """
    named = sum(1 for entry in key if entry is not None and entry is not Ellipsis)
    check_entries(shape, key, named)
    entries: list[Entry] = []
    axis = 0
    for entry in key:
        if entry is None:
            entries.append(None)
        elif entry is Ellipsis:
            skipped = len(shape) - named
            entries += [(0, length, 1) for length in shape[axis : axis + skipped]]
            axis += skipped
        else:
            entries.append(_entry(entry, axis, shape[axis]))
            axis += 1
    return tuple(entries)


def _entry(entry: Any, axis: int, length: int) -> Entry:
    if isinstance(entry, builtins.slice):
        step = 1 if entry.step is None else _position(entry.step)
        if step == 0:
            raise InvalidArgumentError(f"strided_slice: the step of axis {axis} is zero.")
        first, last = (None if part is None else _position(part) for part in (entry.start, entry.stop))
        start, stop, step = builtins.slice(first, last, step).indices(length)
        if not range(start, stop, step):
            return 0, 0, 1  # a start of -1 would mean the last element
        return start, (None if stop < 0 else stop), step
    index = _position(entry)
    if not -length <= index < length:
        raise out_of_bounds(index, axis, length)
    return index % length


def check_entries(shape: Shape, key: Sequence[Any], named: int) -> None:
    """Raise when a key names more axes than the shape has, or has more than one ellipsis."""
    if named > len(shape):
        raise InvalidArgumentError(f"strided_slice: {named} indices are too many for a tensor of shape {shape}.")
    if sum(1 for entry in key if entry is Ellipsis) > 1:
        raise InvalidArgumentError("strided_slice: an index can have only one ellipsis (...).")


def out_of_bounds(index: int, axis: int, length: int) -> InvalidArgumentError:
    """The error for a position out of range, on an axis of that length.

    >>> print(out_of_bounds(5, 0, 3))
    slice index 5 of dimension 0 out of bounds: its size is 3, so use -3 to 2.
    """
    allowed = f"use -{length} to {length - 1}" if length else "it has no positions"
    return InvalidArgumentError(
        f"slice index {index} of dimension {axis} out of bounds: its size is {length}, so {allowed}."
    )


def _position(value: Any) -> int:
    is_bool = isinstance(value, bool) or getattr(getattr(value, "dtype", None), "is_bool", False)
    if is_bool or isinstance(value, list) or not hasattr(value, "__index__") or getattr(value, "shape", ()) != ():
        raise TypeError(
            f"Tensor indices are ints, slices, ..., None, and tensors of integers or bools; got {value!r} of type "
            f"{type(value).__name__}."
        )
    if type(value) is Tensor and value._table.dtype.is_integer:
        return int(fixed(value)[()])
    return int(value.__index__())


def _integers(values: Any) -> list[int]:
    if isinstance(values, Tensor):
        return [int(value) for value in fixed(values).reshape(-1)]
    return [whole(value) for value in values]
