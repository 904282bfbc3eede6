"""Blocks: moving blocks of positions between the spatial axes and the channels or the batch."""

from __future__ import annotations

import math
from typing import Any

from agog_core import dtypes
from agog_core.calls.docstrings import documented_like
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.padding import Paddings, pad, pairs
from agog_core.ops.array.reshaping import reshape, transpose
from agog_core.ops.array.slicing import slice
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, constant
from agog_core.tensors.convert import convert_to_tensor, host_value

__all__ = [
    "batch_to_space",
    "batch_to_space_nd",
    "depth_to_space",
    "required_space_to_batch_paddings",
    "space_to_batch",
    "space_to_batch_nd",
    "space_to_depth",
]


def space_to_depth(input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """Move each square block of positions of an image into the channels of one position.

    Args:
        input: images of shape (batch, height, width, channels), for ``"NCHW"`` (batch, channels, height, width).
        block_size: the side of a block, at least 2.
        data_format: ``"NHWC"`` or ``"NCHW"``.

    Returns:
        A tensor of the same dtype; height and width are divided by the block size, the channels are multiplied by its
        square. The position in the block is the slower part of the new channel.

    Raises:
        InvalidArgumentError: the rank is not 4, the block size is less than 2 or does not divide height and width, or
            the format is unknown.

    >>> print(space_to_depth([[[[1], [2]], [[3], [4]]]], 2))
    tf.Tensor([[[[1 2 3 4]]]], shape=(1, 1, 1, 4), dtype=int32)
    """
    x, size = _images("space_to_depth", input, block_size, data_format)
    if data_format == "NHWC":
        batch, height, width, channels = x._shape
    else:
        batch, channels, height, width = x._shape
    if height % size or width % size:
        raise InvalidArgumentError(
            f"space_to_depth: height {height} and width {width} of the input of shape {x._shape} must be multiples of "
            f"block_size {size}."
        )
    rows, columns, depth = height // size, width // size, channels * size * size
    if data_format == "NHWC":
        blocks = reshape(x, (batch, rows, size, columns, size, channels))
        return reshape(transpose(blocks, (0, 1, 3, 2, 4, 5)), (batch, rows, columns, depth))
    blocks = reshape(x, (batch, channels, rows, size, columns, size))
    return reshape(transpose(blocks, (0, 3, 5, 1, 2, 4)), (batch, depth, rows, columns))


@documented_like(space_to_depth)
def depth_to_space(input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """Move the channels of each position of an image into a square block of positions.

    Returns:
        A tensor of the same dtype; the channels are divided by the square of the block size, height and width are
        multiplied by it.

    Raises:
        InvalidArgumentError: the rank is not 4, the block size is less than 2 or its square does not divide the
            channels, or the format is unknown.

    >>> print(depth_to_space([[[[1, 2, 3, 4]]]], 2).numpy().tolist())
    [[[[1], [2]], [[3], [4]]]]
    """
    x, size = _images("depth_to_space", input, block_size, data_format)
    if data_format == "NHWC":
        batch, rows, columns, depth = x._shape
    else:
        batch, depth, rows, columns = x._shape
    if depth % (size * size):
        raise InvalidArgumentError(
            f"depth_to_space: the {depth} channels of the input of shape {x._shape} must be a multiple of "
            f"{size * size}, the square of block_size {size}."
        )
    height, width, channels = rows * size, columns * size, depth // (size * size)
    if data_format == "NHWC":
        blocks = reshape(x, (batch, rows, columns, size, size, channels))
        return reshape(transpose(blocks, (0, 1, 3, 2, 4, 5)), (batch, height, width, channels))
    blocks = reshape(x, (batch, size, size, channels, rows, columns))
    return reshape(transpose(blocks, (0, 3, 4, 1, 5, 2)), (batch, channels, height, width))


def _images(op: str, input: TensorLike, block_size: int, data_format: str) -> tuple[Tensor, int]:
    x = convert_to_tensor(input)
    if data_format not in ("NHWC", "NCHW"):
        raise InvalidArgumentError(f"{op}: data_format is {data_format!r}; use 'NHWC' or 'NCHW'.")
    if len(x._shape) != 4:
        raise InvalidArgumentError(f"{op}: the input must be of rank 4; got shape {x._shape}.")
    if block_size < 2:
        raise InvalidArgumentError(f"{op}: block_size must be at least 2; got {block_size}.")
    return x, int(block_size)


def space_to_batch_nd(input: TensorLike, block_shape: Any, paddings: Any, name: str | None = None) -> Tensor:
    """Pad the spatial axes, cut them into blocks, and move the position in the block into the batch.

    Args:
        input: a tensor of shape (batch, spatial axes, ...).
        block_shape: m integers, the block's sizes along the first m spatial axes.
        paddings: integers of shape (m, 2): how many zeros to add before and after each of these axes.

    Returns:
        A tensor of the same dtype: the batch is multiplied by the block's size, each of the m axes is divided by the
        block's size along it.

    Raises:
        InvalidArgumentError: arguments of other shapes, or a padded axis that is no multiple of the block.

    >>> print(space_to_batch_nd([[1, 2, 3, 4]], [2], [[0, 0]]))
    tf.Tensor(
    [[1 3]
     [2 4]], shape=(2, 2), dtype=int32)
    """
    x = convert_to_tensor(input)
    block = _block("space_to_batch_nd", x._shape, block_shape)
    count = len(block)
    widths = pairs("space_to_batch_nd", "paddings", paddings, count)
    rest = x._shape[count + 1 :]
    padded = pad(x, [(0, 0), *widths, *[(0, 0)] * len(rest)]) if any(map(any, widths)) else x
    spatial = padded._shape[1 : count + 1]
    if any(length % size for length, size in zip(spatial, block, strict=True)):
        raise InvalidArgumentError(
            f"space_to_batch_nd: the padded spatial sizes {spatial} must be multiples of block_shape {block}."
        )
    cut = tuple(length // size for length, size in zip(spatial, block, strict=True))
    both = [size for pair in zip(cut, block, strict=True) for size in pair]
    inner, outer = range(2, 2 * count + 1, 2), range(1, 2 * count + 1, 2)
    after = range(2 * count + 1, 2 * count + 1 + len(rest))
    moved = transpose(reshape(padded, (x._shape[0], *both, *rest)), (*inner, 0, *outer, *after))
    return reshape(moved, (x._shape[0] * math.prod(block), *cut, *rest))


def batch_to_space_nd(input: TensorLike, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """Undo `space_to_batch_nd`: move a part of the batch back into blocks of the spatial axes, and crop them.

    Args:
        input: a tensor of shape (batch, spatial axes, ...).
        block_shape: m integers, the block's sizes along the first m spatial axes.
        crops: integers of shape (m, 2): how many elements to remove before and after each of these axes.

    Returns:
        A tensor of the same dtype: the batch is divided by the block's size, each of the m axes is multiplied by the
        block's size along it, and then cropped.

    Raises:
        InvalidArgumentError: arguments of other shapes, a batch that is no multiple of the block, or crops that are
            larger than the axis.

    >>> print(batch_to_space_nd([[1, 3], [2, 4]], [2], [[0, 1]]))
    tf.Tensor([[1 2 3]], shape=(1, 3), dtype=int32)
    """
    x = convert_to_tensor(input)
    block = _block("batch_to_space_nd", x._shape, block_shape)
    count = len(block)
    removed = pairs("batch_to_space_nd", "crops", crops, count)
    if x._shape[0] % math.prod(block):
        raise InvalidArgumentError(
            f"batch_to_space_nd: the batch {x._shape[0]} must be a multiple of {math.prod(block)}, the size of "
            f"block_shape {block}."
        )
    batch, spatial, rest = x._shape[0] // math.prod(block), x._shape[1 : count + 1], x._shape[count + 1 :]
    pairwise = [axis for n in range(count) for axis in (count + 1 + n, n)]
    after = range(2 * count + 1, 2 * count + 1 + len(rest))
    moved = transpose(reshape(x, (*block, batch, *spatial, *rest)), (count, *pairwise, *after))
    whole = tuple(length * size for length, size in zip(spatial, block, strict=True))
    joined = reshape(moved, (batch, *whole, *rest))
    return _cropped(joined, removed, whole) if any(map(any, removed)) else joined


def _cropped(x: Tensor, crops: Paddings, spatial: Shape) -> Tensor:
    sizes = tuple(length - before - after for length, (before, after) in zip(spatial, crops, strict=True))
    if min(sizes) < 0:
        raise InvalidArgumentError(f"batch_to_space_nd: crops {crops} are larger than the spatial sizes {spatial}.")
    rest = x._shape[len(crops) + 1 :]
    return slice(x, (0, *(before for before, _ in crops), *(0 for _ in rest)), (x._shape[0], *sizes, *rest))


def _block(op: str, shape: Shape, block_shape: Any) -> Shape:
    host = host_value(block_shape)
    block = tuple(int(size) for size in host.reshape(-1).tolist())
    if host.ndim != 1 or min(block, default=1) < 1 or len(shape) < len(block) + 1:
        raise InvalidArgumentError(
            f"{op}: block_shape must be a vector of positive sizes, one for each spatial axis; got {host.tolist()} for "
            f"an input of shape {shape}."
        )
    return block


def space_to_batch(input: TensorLike, paddings: Any, block_size: int, name: str | None = None) -> Tensor:
    """Pad images, cut them into square blocks, and move the position in the block into the batch.

    Args:
        input: images of shape (batch, height, width, channels).
        paddings: integers of shape (2, 2): how many zeros to add before and after height and width.
        block_size: the side of a block.

    Returns:
        A tensor of shape (batch * block_size**2, padded height / block_size, padded width / block_size, channels).

    Raises:
        InvalidArgumentError: arguments of other shapes, or a padded axis that is no multiple of the block.

    >>> print(space_to_batch([[[[1], [2]], [[3], [4]]]], [[0, 0], [0, 0]], 2).numpy().reshape(-1))
    [1 2 3 4]
    """
    x, size = _images("space_to_batch", input, block_size, "NHWC")
    return space_to_batch_nd(x, [size, size], paddings)


def batch_to_space(input: TensorLike, crops: Any, block_size: int, name: str | None = None) -> Tensor:
    """Undo `space_to_batch`: move a part of the batch back into square blocks of images, and crop them.

    Args:
        input: images of shape (batch, height, width, channels).
        crops: integers of shape (2, 2): how many elements to remove before and after height and width.
        block_size: the side of a block.

    Returns:
        A tensor of shape (batch / block_size**2, height * block_size - crops, width * block_size - crops, channels).

    Raises:
        InvalidArgumentError: arguments of other shapes, or a batch that is no multiple of the block.

    >>> print(batch_to_space([[[[1]]], [[[2]]], [[[3]]], [[[4]]]], [[0, 0], [0, 0]], 2).numpy().tolist())
    [[[[1], [2]], [[3], [4]]]]
    """
    x, size = _images("batch_to_space", input, block_size, "NHWC")
    return batch_to_space_nd(x, [size, size], crops)


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The paddings to multiples of a block, and the crops that undo them.

    Args:
        input_shape: m spatial sizes.
        block_shape: m sizes of a block.
        base_paddings: integers of shape (m, 2): paddings that there are at least; zeros by default.

    Returns:
        The paddings for `space_to_batch_nd` and the crops for `batch_to_space_nd`, int32 of shape (m, 2). The crops
        leave the base paddings where they are.

    Raises:
        InvalidArgumentError: arguments of other shapes.

    >>> paddings, crops = required_space_to_batch_paddings([5], [2], [[1, 0]])
    >>> paddings.numpy().tolist(), crops.numpy().tolist()
    ([[1, 0]], [[0, 0]])
    >>> required_space_to_batch_paddings([5], [2])[0].numpy().tolist()
    [[0, 1]]
    """
    sizes, block = host_value(input_shape), host_value(block_shape)
    if sizes.ndim != 1 or sizes.shape != block.shape:
        raise InvalidArgumentError(
            "required_space_to_batch_paddings: input_shape and block_shape must be vectors of one length; got shapes "
            f"{sizes.shape} and {block.shape}."
        )
    base = [(0, 0)] * len(sizes) if base_paddings is None else base_paddings
    given = pairs("required_space_to_batch_paddings", "base_paddings", base, len(sizes))
    missing = [
        -(length + before + after) % size
        for length, size, (before, after) in zip(sizes.tolist(), block.tolist(), given, strict=True)
    ]
    paddings = [[before, after + more] for (before, after), more in zip(given, missing, strict=True)]
    crops = [[0, more] for more in missing]
    shape = (len(missing), 2)
    return reshape(constant(paddings, dtypes.int32), shape), reshape(constant(crops, dtypes.int32), shape)
