"""Ordered code: keys of slices, encoded so that they sort as the slices do.

TensorFlow's ``OrderedCode`` and ``EncodeTensorNameSlice``: a zero, the tensor's name, its rank, and for each axis the
start and the length.
"""

from __future__ import annotations

from collections.abc import Sequence

WHOLE_AXIS = -1  # in place of a length
# What the first two bytes of a number with a sign are changed by, by the count of its bytes, so that longer ones sort
# last.
_HEADERS = (0, 0x8000, 0xC000, 0xE000, 0xF000, 0xF800, 0xFC00, 0xFE00, 0xFF00, 0xFF80, 0xFFC0)


def slice_key(name: str, extents: Sequence[tuple[int, int]]) -> bytes:
    """The key of a slice, which has a start and a length for each axis.

    >>> slice_key("w", [(0, 2), (0, -1)]).hex()
    '0077000101028082807f'
    """
    key = _unsigned(0) + _text(name.encode()) + _unsigned(len(extents))
    return key + b"".join(_signed(start) + _signed(length) for start, length in extents)


def _unsigned(value: int) -> bytes:
    raw = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([len(raw)]) + raw


def _text(text: bytes) -> bytes:
    """A text in UTF-8, which has no byte 255; that would be escaped as well."""
    return text.replace(b"\x00", b"\x00\xff") + b"\x00\x01"


def _signed(value: int) -> bytes:
    """Of 7 bits for each byte; the first of them say how many bytes there are."""
    size = (value if value >= 0 else ~value).bit_length() // 7 + 1
    raw = bytearray(value.to_bytes(size, "big", signed=True))
    header = _HEADERS[size].to_bytes(2, "big")
    for place in range(min(size, 2)):
        raw[place] ^= header[place]
    return bytes(raw)
