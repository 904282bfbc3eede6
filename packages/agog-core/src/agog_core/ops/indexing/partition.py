"""Partition: distributing the rows of a tensor over several tensors, and collecting them again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from agog_core import dtypes
from agog_core.calls.call import call, call_several
from agog_core.dispatch.op import Op, define
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import concat, range, reshape, zeros_like
from agog_core.ops.indexing.gathering import gather
from agog_core.shapes import Shape, TensorShape
from agog_core.tensors.convert import convert_to_tensor, host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["dynamic_partition", "dynamic_stitch"]


def dynamic_partition(
    data: TensorLike, partitions: TensorLike, num_partitions: Any, name: str | None = None
) -> list[Tensor]:
    """Distribute the rows of a tensor over several tensors.

    Args:
        data: a tensor whose shape begins with that of the partitions.
        partitions: int32, of any shape: the number of the partition into which each row goes.
        num_partitions: how many partitions there are.

    Returns:
        For each partition a tensor of its rows, in the order in which they come in the data.

    Raises:
        InvalidArgumentError: the shapes do not fit, or a partition's number is out of range.

    >>> [part.numpy().tolist() for part in dynamic_partition([10, 20, 30], [1, 0, 1], 2)]
    [[20], [10, 30]]
    """
    x, count = convert_to_tensor(data), int(host_value(num_partitions))
    numbers = convert_to_tensor(partitions, preferred_dtype=dtypes.int32)
    if numbers.dtype is not dtypes.int32:
        raise InvalidArgumentError(f"dynamic_partition: partitions must be int32; got dtype {numbers.dtype.name}.")
    return list(call_several(_dynamic_partition, x, numbers, num_partitions=count))


def _partition_shape(data: Shape, partitions: Shape, num_partitions: int) -> list[TensorShape]:
    if num_partitions < 1:
        raise InvalidArgumentError(f"dynamic_partition: num_partitions must be at least 1; got {num_partitions}.")
    if data[: len(partitions)] != partitions:
        raise InvalidArgumentError(
            f"dynamic_partition: the shape of data must begin with that of partitions; got shapes {data} and "
            f"{partitions}."
        )
    return [TensorShape([None, *data[len(partitions) :]])] * num_partitions


def _partition_vjp(
    g: list[Tensor | None], out: tuple[Tensor, ...], partitions: Tensor, num_partitions: int, data_shape: Shape
) -> Tensor:
    rows = reshape(range(math.prod(partitions._shape)), partitions._shape)
    sources = dynamic_partition(rows, partitions, num_partitions)
    parts = [zeros_like(part) if each is None else each for each, part in zip(g, out, strict=True)]
    return reshape(dynamic_stitch(sources, parts), data_shape)


_dynamic_partition = define(
    dynamic_partition,
    shape=_partition_shape,
    alike=["data"],
    vjp={"data": _partition_vjp},
    host_reads=["partitions"],
    may_fail=True,
)


def dynamic_stitch(indices: Sequence[TensorLike], data: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Collect the rows of several tensors in one, at given positions.

    Args:
        indices: int32 tensors of any shapes: the position of each row.
        data: as many tensors; the shape of each begins with that of its indices, and the rest is the same for all.

    Returns:
        A tensor of shape (largest position + 1, *rest). Of several rows at one position the last one counts; a row
        that no position names is zero.

    Raises:
        InvalidArgumentError: the shapes or dtypes do not fit, or a position is negative.
        ValueError: there are not as many tensors of indices as of data.

    >>> print(dynamic_stitch([[0, 2], [1]], [[10, 30], [20]]))
    tf.Tensor([10 20 30], shape=(3,), dtype=int32)
    """
    positions = [convert_to_tensor(each, preferred_dtype=dtypes.int32) for each in indices]
    rows = [convert_to_tensor(each) for each in data]
    if len(positions) != len(rows):
        raise ValueError(
            "dynamic_stitch: indices and data must be lists of one length; got "
            f"{len(positions)} and {len(rows)} tensors."
        )
    for at in positions:
        if at.dtype is not dtypes.int32:
            raise InvalidArgumentError(f"dynamic_stitch: indices must be int32; got dtype {at.dtype.name}.")
    rests = {x._shape[len(at._shape) :] for at, x in zip(positions, rows, strict=True)}
    begins = all(x._shape[: len(at._shape)] == at._shape for at, x in zip(positions, rows, strict=True))
    if not positions or not begins or len(rests) > 1:
        raise InvalidArgumentError(
            "dynamic_stitch: each tensor of data must have the shape of its indices and then the same rest as all "
            f"others; got shapes {[x._shape for x in positions]} and {[x._shape for x in rows]}."
        )
    (rest,) = rests
    flat = [reshape(x, (math.prod(at._shape), *rest)) for at, x in zip(positions, rows, strict=True)]
    return call(_dynamic_stitch, concat([reshape(at, [-1]) for at in positions], 0), concat(flat, 0))


_dynamic_stitch = Op(
    "dynamic_stitch",
    dynamic_stitch,
    inputs=["indices", "data"],
    shape=lambda indices, data: TensorShape([None, *data[1:]]),
    alike=["data"],
    vjp={"data": lambda g, indices: gather(g, indices)},
    host_reads=["indices"],
    may_fail=True,
)
