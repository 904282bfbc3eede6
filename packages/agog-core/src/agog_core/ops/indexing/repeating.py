"""Repeating: elements several times in a row."""

from __future__ import annotations

from agog_core.dispatch.devices.lookup import device
from agog_core.ops.array.casting import cast
from agog_core.ops.array.creation import ones_like, range
from agog_core.ops.array.reshaping import expand_dims, reshape
from agog_core.ops.indexing.gathering import gather
from agog_core.ops.indexing.scattering import scatter_nd
from agog_core.ops.reduce.scans import cumsum
from agog_core.tensors.convert import convert_to_tensor, whole
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["repeat"]


def repeat(input: TensorLike, repeats: TensorLike, axis: int | None = None, name: str | None = None) -> Tensor:
    """Repeat each element several times in a row.

    Args:
        input: a tensor.
        repeats: how many times: one integer for all, or one for each place along the axis.
        axis: the axis; None for the tensor as a vector.

    Returns:
        A tensor that is longer along the axis.

    >>> print(repeat([[1, 2], [3, 4]], [1, 2], axis=1))
    tf.Tensor(
    [[1 2 2]
     [3 4 4]], shape=(2, 3), dtype=int32)
    """
    x = convert_to_tensor(input)
    if axis is None:
        x, axis = reshape(x, [-1]), 0
    length = x._shape[axis]
    with device(x.device):
        times = convert_to_tensor(repeats)
        if times.size == 1:
            count = whole(reshape(times, []))
            positions = range(length * count) // max(1, count)
        else:
            # The number of an element is how many elements end before its copies.
            ends = cumsum(cast(times, "int64"))
            total = whole(ends[-1]) if length else 0
            begun = ends[:-1]
            positions = cumsum(scatter_nd(expand_dims(begun, 1), ones_like(begun), [total + 1]))[:total]
    return gather(x, positions, axis=axis)
