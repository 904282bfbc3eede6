"""Snappy: decompression, https://github.com/google/snappy/blob/main/format_description.txt.

TensorFlow writes uncompressed blocks, but reads compressed ones of other programs.
"""

from __future__ import annotations

from agog_checkpoint.tensorflow.protobuf import varint


def decompressed(data: bytes) -> bytes:
    """The bytes that were compressed. Raises ValueError if they cannot be told.

    >>> decompressed(bytes([6, 0x04, 97, 98, 0x0E, 2, 0]))
    b'ababab'
    """
    size, at = varint(data, 0)
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        at = _literal(data, at, tag >> 2, out) if tag & 3 == 0 else _copy(data, at, tag, out)
        if len(out) > size:
            break
    if len(out) != size:
        raise ValueError(f"a compressed block should have {size} bytes, but has {len(out)}")
    return bytes(out)


def _literal(data: bytes, at: int, length: int, out: bytearray) -> int:
    """Append bytes that stand there as they are; where they end."""
    if length >= 60:
        wide = length - 59
        length, at = int.from_bytes(data[at : at + wide], "little"), at + wide
    end = at + length + 1
    if end > len(data):
        raise ValueError("a compressed block is cut off")
    out += data[at:end]
    return end


def _copy(data: bytes, at: int, tag: int, out: bytearray) -> int:
    """Append bytes that came before, which may overlap those that are appended; where the copy's code ends."""
    if tag & 3 == 1:
        length, wide, high = 4 + (tag >> 2 & 7), 1, tag >> 5 << 8
    else:
        length, wide, high = 1 + (tag >> 2), 2 if tag & 3 == 2 else 4, 0
    if at + wide > len(data):
        raise ValueError("a compressed block is cut off")
    back = high | int.from_bytes(data[at : at + wide], "little")
    if not 0 < back <= len(out):
        raise ValueError(f"a compressed block repeats {back} bytes back, but has {len(out)} by then")
    source = out[len(out) - back : len(out) - back + length]
    out += (source * (length // back + 1))[:length]
    return at + wide
