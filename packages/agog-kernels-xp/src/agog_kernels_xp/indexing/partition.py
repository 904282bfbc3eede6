"""Partition: rows given to parts by number, and collected from them."""

from __future__ import annotations

from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array


def dynamic_partition(xp: Any, data: Array, partitions: Array, *, num_partitions: int) -> tuple[Array, ...]:
    """The rows of each partition."""
    if partitions.size and not 0 <= int(partitions.min()) <= int(partitions.max()) < num_partitions:
        raise InvalidArgumentError(
            f"dynamic_partition: partitions must be from 0 to {num_partitions - 1}; got numbers from "
            f"{int(partitions.min())} to {int(partitions.max())}."
        )
    return tuple(data[partitions == number] for number in range(num_partitions))


def dynamic_stitch(xp: Any, indices: Array, data: Array) -> Array:
    """Rows at their positions; of several at one position the last one counts."""
    if indices.size and int(indices.min()) < 0:
        raise InvalidArgumentError(f"dynamic_stitch: indices must not be negative; got {int(indices.min())}.")
    last = xp.full(int(indices.max()) + 1 if indices.size else 0, -1, "int64")
    xp.maximum.at(last, indices, xp.arange(indices.size))
    whole = data[last]
    whole[last < 0] = b"" if data.dtype.kind == "O" else 0
    return whole
