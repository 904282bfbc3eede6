"""Joining: joining tensors along axes, and cutting them into pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core.calls.call import call, call_several
from agog_core.dispatch.devices.lookup import device, scopes
from agog_core.dispatch.op import Op, define
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.creation import zeros_like
from agog_core.ops.array.reshaping import expand_dims, identity, reshape
from agog_core.ops.array.slicing import slice
from agog_core.shapes import Shape, normalize_axis
from agog_core.tensors import convert
from agog_core.tensors.convert import convert_to_tensor, first_dtype, host_value, is_tensor
from agog_core.tensors.placement import are_sizes
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["concat", "parallel_stack", "split", "stack", "unstack"]


def concat(values: Sequence[TensorLike], axis: int, name: str | None = "concat") -> Tensor:
    """Join tensors along an axis that they have.

    Args:
        values: at least one tensor; all of one dtype, and of one shape but for the axis. Lists and arrays take the
            dtype of the first tensor beside them.
        axis: the axis.

    Returns:
        A tensor whose size along the axis is the sum of theirs. One tensor stays as it is, whatever the axis.

    Raises:
        ValueError: there is no tensor.
        InvalidArgumentError: ranks, sizes or dtypes differ.

    >>> print(concat([[1, 2], [3]], 0))
    tf.Tensor([1 2 3], shape=(3,), dtype=int32)
    """
    tensors = _of_one_dtype(values if isinstance(values, (list, tuple)) else [values])
    if not tensors:
        raise ValueError("concat: values is empty; give at least one tensor.")
    if len(tensors) == 1:
        return identity(tensors[0])
    where = normalize_axis("concat", axis, len(tensors[0]._shape))
    return call(_concat, *tensors, axis=where)


def _of_one_dtype(values: Sequence[TensorLike]) -> list[Tensor]:
    """Values as tensors; those that are none take the dtype of the first that is one, wherever it stands."""
    known = first_dtype(values)
    if scopes and known is not None:
        given = [convert_to_tensor(value) for value in values if is_tensor(value)]
        if given and are_sizes("concat", given):
            with device(None):
                return [convert_to_tensor(value, None if is_tensor(value) else known) for value in values]
    return [convert_to_tensor(value, None if is_tensor(value) else known) for value in values]


def _concat_shape(*shapes: Shape, axis: int) -> Shape:
    first = shapes[0]
    rest = (*first[:axis], *first[axis + 1 :])
    for each in shapes:
        if len(each) != len(first) or (*each[:axis], *each[axis + 1 :]) != rest:
            raise InvalidArgumentError(
                f"concat: the values must have one shape but for axis {axis}; got shapes {', '.join(map(str, shapes))}."
            )
    return (*first[:axis], sum(each[axis] for each in shapes), *first[axis + 1 :])


def _concat_vjp(g: Tensor, shapes: tuple[Shape, ...], axis: int, needed: tuple[int, ...]) -> tuple[Tensor | None, ...]:
    parts, start = [], 0
    for n, shape in enumerate(shapes):
        begin = [0] * len(shape)
        begin[axis] = start
        parts.append(slice(g, begin, shape) if n in needed else None)
        start += shape[axis]
    return tuple(parts)


_concat = Op("concat", concat, inputs=["*values"], shape=_concat_shape, vjp={"values": _concat_vjp})


def stack(values: Sequence[TensorLike], axis: int = 0, name: str | None = "stack") -> Tensor:
    """Join tensors of one shape along a new axis.

    Args:
        values: at least one tensor; all of one shape and dtype, of rank n. Lists and arrays take the dtype of the
            first tensor beside them.
        axis: the new axis, from -(n + 1) to n.

    Returns:
        A tensor of rank n + 1.

    Raises:
        ValueError: there is no tensor, or the axis is out of range.
        InvalidArgumentError: shapes or dtypes differ.

    >>> print(stack([1, 2]))
    tf.Tensor([1 2], shape=(2,), dtype=int32)
    """
    tensors = _of_one_dtype(list(values))
    if not tensors:
        raise ValueError("stack: values is empty; give at least one tensor.")
    if any(x._shape != tensors[0]._shape for x in tensors):
        raise InvalidArgumentError(
            f"stack: the values must have one shape; got shapes {', '.join(str(x._shape) for x in tensors)}."
        )
    where = _axis("stack", axis, len(tensors[0]._shape) + 1)
    return concat([expand_dims(x, where) for x in tensors], where)


def _axis(op: str, axis: int, rank: int) -> int:
    """The axis, not negative. TensorFlow checks this one in Python, so that the error is a ValueError."""
    if not -rank <= axis < rank:
        raise ValueError(f"{op}: axis = {axis} not in [{-rank}, {rank}).")
    return axis % rank


def parallel_stack(values: Sequence[TensorLike], name: str | None = "parallel_stack") -> Tensor:
    """Join tensors of one shape along a new first axis; see `stack`."""
    return stack(values)


def split(
    value: TensorLike, num_or_size_splits: Any, axis: int = 0, num: int | None = None, name: str | None = "split"
) -> list[Tensor]:
    """Cut a tensor into pieces along an axis.

    Args:
        value: a tensor.
        num_or_size_splits: the number of equal pieces, or their sizes, one of which may be -1.
        axis: the axis.
        num: how many sizes there have to be; None for any number.

    Returns:
        The pieces.

    Raises:
        InvalidArgumentError: the axis cannot be cut so.

    >>> [piece.numpy().tolist() for piece in split([1, 2, 3, 4], 2)]
    [[1, 2], [3, 4]]
    """
    x = convert_to_tensor(value)
    where = normalize_axis("split", axis, len(x._shape))
    sizes = _piece_sizes(x._shape, where, num_or_size_splits)
    if num is not None and num != len(sizes):
        raise InvalidArgumentError(f"split: num says {num} pieces; there are {len(sizes)}.")
    return list(call_several(_split, x, sizes=sizes, axis=where))


def _piece_sizes(shape: Shape, axis: int, pieces: Any) -> Shape:
    length = shape[axis]
    given = host_value(pieces)
    if not given.shape:
        count = int(given)
        if count < 1 or length % count:
            raise InvalidArgumentError(
                f"split: axis {axis} of a tensor of shape {shape} cannot be cut into {count} equal pieces."
            )
        return (length // count,) * count
    wanted = tuple(int(size) for size in given)
    sizes = list(wanted)
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = length - sum(sizes) - 1
    if sum(sizes) != length or min(sizes, default=0) < 0:
        raise InvalidArgumentError(
            f"split: pieces of sizes {wanted} do not fill axis {axis} of a tensor of shape {shape}."
        )
    return tuple(sizes)


def _split_vjp(g: list[Tensor | None], out: tuple[Tensor, ...], axis: int) -> Tensor:
    return concat([zeros_like(piece) if each is None else each for each, piece in zip(g, out, strict=True)], axis)


_split = define(
    split,
    shape=lambda value, sizes, axis: [(*value[:axis], size, *value[axis + 1 :]) for size in sizes],
    vjp={"value": _split_vjp},
    views=True,
)


def unstack(value: TensorLike, num: int | None = None, axis: int = 0, name: str | None = "unstack") -> list[Tensor]:
    """Cut a tensor into its slices along an axis, and remove the axis.

    Args:
        value: a tensor of rank n > 0.
        num: the expected number of slices; None for any.
        axis: the axis.

    Returns:
        Tensors of rank n - 1.

    Raises:
        ValueError: the axis is out of range.
        InvalidArgumentError: ``num`` is not the size of the axis.

    >>> [piece.numpy().tolist() for piece in unstack([[1, 2], [3, 4]])]
    [[1, 2], [3, 4]]
    """
    x = convert_to_tensor(value)
    where = _axis("unstack", axis, len(x._shape))
    length = x._shape[where]
    if num not in (None, length):
        raise InvalidArgumentError(
            f"unstack: num is {num}, but axis {where} of a tensor of shape {x._shape} has size {length}."
        )
    rest = (*x._shape[:where], *x._shape[where + 1 :])
    return [reshape(piece, rest) for piece in split(x, length, where)] if length else []


convert.stackers.append(stack)
