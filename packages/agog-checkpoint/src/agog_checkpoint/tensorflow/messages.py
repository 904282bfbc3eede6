"""Messages: descriptions of tensors, as ``tensor_bundle.proto`` and ``saved_tensor_slice.proto`` define them."""

from __future__ import annotations

import math
from typing import NamedTuple

from agog_checkpoint.tensorflow.ordered_code import WHOLE_AXIS
from agog_checkpoint.tensorflow.protobuf import Message, encoded_field, encoded_fixed32

_MOST_AXES = 254


class Slice(NamedTuple):
    """A part of a tensor: start and length along each axis, `WHOLE_AXIS` for a length that is not said."""

    extents: tuple[tuple[int, int], ...]

    def within(self, shape: tuple[int, ...]) -> tuple[slice, ...]:
        """The place in an array of a shape. Raises ValueError if it is not inside."""
        if len(self.extents) != len(shape):
            raise ValueError(f"a slice has {len(self.extents)} axes, but the shape is {list(shape)}")
        place = tuple(
            slice(start, size if length == WHOLE_AXIS else start + length)
            for (start, length), size in zip(self.extents, shape, strict=True)
        )
        if not all(0 <= each.start <= each.stop <= size for each, size in zip(place, shape, strict=True)):
            raise ValueError(f"the slice {self} is not inside of the shape {list(shape)}")
        return place

    def __str__(self) -> str:
        return ":".join("-" if length == WHOLE_AXIS else f"{start},{length}" for start, length in self.extents)


class TensorInfo(NamedTuple):
    """What is said of a tensor, which is whole where there are no slices."""

    dtype: int
    shape: tuple[int, ...]
    slices: tuple[Slice, ...]

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)


class Place(NamedTuple):
    """Where the bytes of a tensor or of a slice are: the number of the file, the first byte, how many there are, and
    their checksum."""

    shard: int
    offset: int
    size: int
    checksum: int


def parse_entry(data: bytes) -> tuple[TensorInfo, Place]:
    """Read a ``BundleEntryProto``. Raises ValueError if it is none."""
    entry = Message(data)
    info = TensorInfo(entry.number(1), parse_shape(entry.content(2)), tuple(map(parse_slice, entry.contents(7))))
    return info, Place(entry.number(3), entry.number(4), entry.number(5), entry.number(6))


def parse_shape(data: bytes) -> tuple[int, ...]:
    """Read a ``TensorShapeProto``. Raises ValueError if it is none, or a size is unknown."""
    message = Message(data)
    shape = tuple(Message(dim).signed(1) for dim in message.contents(2))
    if message.number(3) or len(shape) > _MOST_AXES or any(size < 0 for size in shape):
        raise ValueError(f"the shape {list(shape[:8])} has negative sizes, an unknown rank or too many axes")
    return shape


def parse_slice(data: bytes) -> Slice:
    """Read a ``TensorSliceProto``. Raises ValueError if it is none."""
    extents = []
    for content in Message(data).contents(1):
        extent = Message(content)
        extents.append((extent.signed(1), extent.signed(2) if 2 in extent else WHOLE_AXIS))
    return Slice(tuple(extents))


def encoded_entry(dtype: int, shape: tuple[int, ...], place: Place) -> bytes:
    """A ``BundleEntryProto`` of a whole tensor."""
    dims = b"".join(encoded_field(2, encoded_field(1, size)) for size in shape)
    return b"".join(
        (
            encoded_field(1, dtype),
            encoded_field(2, dims),
            encoded_field(3, place.shard),
            encoded_field(4, place.offset),
            encoded_field(5, place.size),
            encoded_fixed32(6, place.checksum),
        )
    )
