"""Deep PNG files: several channels of 16 bits, which Pillow reads as 8 bits.

The format: W3C, "Portable Network Graphics (PNG) Specification", 2003.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_MAGIC = b"\x89PNG\r\n\x1a\n"
_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # channels: color type
_CHANNELS = {color_type: channels for channels, color_type in _COLOR_TYPES.items()}
# The seven passes of an interlaced file: the first row and column, and the steps.
_PASSES = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))


def is_deep(data: bytes) -> bool:
    """Whether a PNG file has 16 bits for each channel and more than one channel."""
    return data[24:25] == b"\x10" and data[25:26] in (b"\2", b"\4", b"\6")


def encode(pixels: Array, compression: int) -> bytes:
    """A PNG file of uint16 pixels of shape (height, width, channels), by zlib's level of compression."""
    height, width, channels = pixels.shape
    rows = np.zeros((height, 1 + 2 * width * channels), np.uint8)  # each row begins with its filter, 0 for none
    rows[:, 1:] = np.ascontiguousarray(pixels, ">u2").view(np.uint8).reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 16, _COLOR_TYPES[channels], 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), compression)), (b"IEND", b""))
    return _MAGIC + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def decode(data: bytes) -> Array:
    """The pixels of a PNG file of 16 bits for each channel, uint16 of shape (height, width, channels).

    Its size must have been checked. Raises ValueError if it is broken.
    """
    width, height = struct.unpack_from(">II", data, 16)
    channels, interlaced = _CHANNELS[data[25]], data[28]
    passes = _PASSES if interlaced else ((0, 0, 1, 1),)
    areas = [(len(range(top, height, down)), len(range(left, width, right))) for top, left, down, right in passes]
    sizes = [rows * (1 + 2 * columns * channels) if rows and columns else 0 for rows, columns in areas]
    expander = zlib.decompressobj()
    try:
        filtered = expander.decompress(b"".join(_image_data(data)), sum(sizes))
    except zlib.error as error:
        raise ValueError(f"{error}") from error
    if len(filtered) < sum(sizes):
        raise ValueError(f"{sum(sizes)} bytes of pixels are expected; there are {len(filtered)}")
    image, begin = np.empty((height, width, channels), np.uint16), 0
    for (top, left, down, right), (rows, columns), size in zip(passes, areas, sizes, strict=True):
        if size:
            lines = np.frombuffer(filtered, np.uint8, size, begin).reshape(rows, -1)
            found = _unfiltered(lines[:, 1:].reshape(rows, columns, 2 * channels), lines[:, 0])
            image[top::down, left::right] = found.view(">u2")
        begin += size
    return image


def _image_data(data: bytes) -> Iterator[bytes]:
    position = len(_MAGIC)
    while position + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, position)
        end = position + 8 + length
        if kind == b"IDAT":
            if struct.pack(">I", zlib.crc32(data[position + 4 : end])) != data[end : end + 4]:
                raise ValueError(f"the checksum of the chunk at byte {position} is wrong")
            yield data[position + 8 : end]
        position = end + 4


def _unfiltered(lines: Array, filters: Array) -> Array:
    """Add to each byte what its row's filter predicts of the pixels to the left, above, and above to the left.

    Those come first, so pixels are computed in the order of row plus column, all with one sum at a time.
    """
    rows, columns, width = lines.shape
    if filters.size and filters.max() > 4:
        raise ValueError(f"a filter from 0 to 4 is expected; it is {filters.max()}")
    padded = np.zeros((rows + 1, columns + 1, width), np.int16)
    for diagonal in range(rows + columns - 1):
        row = np.arange(max(0, diagonal - columns + 1), min(rows, diagonal + 1))
        column = diagonal - row
        kind = filters[row, np.newaxis]
        left, above, corner = padded[row + 1, column], padded[row, column + 1], padded[row, column]
        mean = (left + above) >> 1
        off_left, off_above, off_corner = abs(above - corner), abs(left - corner), abs(left + above - 2 * corner)
        paeth = np.where(
            (off_left <= off_above) & (off_left <= off_corner), left, np.where(off_above <= off_corner, above, corner)
        )
        predicted = np.choose(kind, [np.zeros_like(left), left, above, mean, paeth])
        padded[row + 1, column + 1] = (lines[row, column] + predicted) & 255
    return np.ascontiguousarray(padded[1:, 1:], np.uint8)
