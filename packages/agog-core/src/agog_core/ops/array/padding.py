"""Padding: making tensors larger at their edges."""

from __future__ import annotations

from typing import Any

from agog_core import dtypes
from agog_core.calls.call import call
from agog_core.calls.elementwise import operands
from agog_core.dispatch.op import Op
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.joining import concat
from agog_core.ops.array.reversing import reverse
from agog_core.ops.array.slicing import slice, slice_along
from agog_core.shapes import Shape
from agog_core.tensors.convert import convert_to_tensor, fixed, host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["pad"]

Paddings = tuple[tuple[int, int], ...]


def pad(
    tensor: TensorLike, paddings: Any, mode: str = "CONSTANT", name: str | None = None, constant_values: TensorLike = 0
) -> Tensor:
    """Add elements before and after those of a tensor.

    Args:
        tensor: a tensor of rank n, of any dtype.
        paddings: integers of shape (n, 2): how many elements to add before and after each axis.
        mode: ``"CONSTANT"`` adds one value; ``"REFLECT"`` mirrors the elements at the first and the last one, which are
            not repeated; ``"SYMMETRIC"`` mirrors them at the edges.
        constant_values: the value to add, a scalar of the tensor's dtype; by default 0, False or an empty string.

    Returns:
        A tensor of the input's dtype.

    Raises:
        InvalidArgumentError: the paddings are of another shape or negative, there are too few elements to mirror, or
            ``constant_values`` is a tensor of another dtype.
        TypeError: ``constant_values`` does not fit the dtype.
        ValueError: the mode is unknown.

    >>> print(pad([1, 2, 3], [[1, 2]]), pad([1, 2, 3], [[1, 2]], "REFLECT"))
    tf.Tensor([0 1 2 3 0 0], shape=(6,), dtype=int32) tf.Tensor([2 1 2 3 2 1], shape=(6,), dtype=int32)
    >>> print(pad([1, 2, 3], [[1, 2]], "SYMMETRIC"))
    tf.Tensor([1 1 2 3 3 2], shape=(6,), dtype=int32)
    """
    x = convert_to_tensor(tensor)
    kind = mode.upper()
    if kind not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(f"pad: Unknown padding mode: {mode!r}; use 'CONSTANT', 'REFLECT' or 'SYMMETRIC'.")
    widths = pairs("pad", "paddings", paddings, len(x._shape))
    if kind == "CONSTANT":
        return call(_pad, x, paddings=widths, value=_added_value(x, constant_values))
    skip = 1 if kind == "REFLECT" else 0
    for axis, width in enumerate(widths):
        if max(width) > x._shape[axis] - skip and any(width):
            raise InvalidArgumentError(
                f"pad: mode {kind} mirrors at most {max(x._shape[axis] - skip, 0)} elements of axis {axis} of a tensor "
                f"of shape {x._shape}; paddings ask for {width}."
            )
        x = _mirrored(x, axis, width, skip)
    return x


def _added_value(x: Tensor, value: TensorLike) -> Any:
    if type(value) is int and value == 0:
        return b"" if x._table.dtype is dtypes.string else 0
    _, scalar = operands("pad", ("tensor", "constant_values"), x, value)
    if scalar._shape:
        raise InvalidArgumentError(f"pad: constant_values must be a scalar; got shape {scalar._shape}.")
    return fixed(scalar).item()


def _mirrored(x: Tensor, axis: int, width: tuple[int, int], skip: int) -> Tensor:
    before, after = width
    parts = [x]
    if before:
        parts.insert(0, reverse(slice_along(x, axis, skip, before), [axis]))
    if after:
        parts.append(reverse(slice_along(x, axis, x._shape[axis] - skip - after, after), [axis]))
    return concat(parts, axis) if len(parts) > 1 else x


def pairs(op: str, what: str, values: Any, count: int) -> Paddings:
    """Read an argument of two numbers for each of ``count`` axes, not negative, such as paddings or crops.

    >>> pairs("pad", "paddings", [[1, 2]], 1)
    ((1, 2),)
    """
    host = host_value(values)
    if host.shape != (count, 2) and (count or host.size):
        raise InvalidArgumentError(f"{op}: {what} must be integers of shape ({count}, 2); got shape {host.shape}.")
    found = tuple((int(before), int(after)) for before, after in host.reshape(-1, 2).tolist())
    if any(before < 0 or after < 0 for before, after in found):
        raise InvalidArgumentError(f"{op}: {what} must not be negative; got {found}.")
    return found


def _pad_shape(x: Shape, paddings: Paddings, value: Any) -> Shape:
    return tuple(before + size + after for size, (before, after) in zip(x, paddings, strict=True))


_pad = Op(
    "pad",
    pad,
    inputs=["tensor"],
    shape=_pad_shape,
    vjp={"tensor": lambda g, tensor_shape, paddings: slice(g, [before for before, _ in paddings], tensor_shape)},
)
