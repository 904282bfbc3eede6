"""Protobuf: the wire format of protocol buffers, https://protobuf.dev/programming-guides/encoding.

The package protobuf would need classes that are generated from TensorFlow's sources; checkpoints have six small kinds
of messages.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

_LONGEST = 10  # bytes of a number of 64 bits
_SIGN = 1 << 63


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at a place, and where it ends. Raises ValueError if there is none.

    >>> varint(bytes([0xAC, 0x02]), 0)
    (300, 2)
    """
    value = 0
    for place, byte in enumerate(data[at : at + _LONGEST]):
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return value & 2 * _SIGN - 1, at + place + 1
    raise ValueError(f"the number at byte {at} of {len(data)} is cut off or longer than {_LONGEST} bytes")


def signed(value: int) -> int:
    """The number of 64 bits with a sign that an unsigned one stands for."""
    return value - 2 * _SIGN if value & _SIGN else value


class Message:
    """The fields of a message by their numbers; each may be there several times.

    Raises ValueError if the bytes are no message.

    >>> Message(bytes([0x08, 0x96, 0x01])).number(1)
    150
    """

    def __init__(self, data: bytes) -> None:
        self._fields: dict[int, list[int | bytes]] = {}
        for number, value in _fields(data):
            self._fields.setdefault(number, []).append(value)

    def __contains__(self, number: int) -> bool:
        return number in self._fields

    def number(self, field: int) -> int:
        """The unsigned number in a field, 0 where the field is not there."""
        (*_, value) = self._fields.get(field, [0])
        if not isinstance(value, int):
            raise ValueError(f"field {field} is not a number")
        return value

    def signed(self, field: int) -> int:
        """The number with a sign in a field, 0 where the field is not there."""
        return signed(self.number(field))

    def content(self, field: int) -> bytes:
        """The bytes in a field, none where the field is not there."""
        (*_, value) = self.contents(field) or [b""]
        return value

    def contents(self, field: int) -> list[bytes]:
        """The bytes of each time that a field is there."""
        found = self._fields.get(field, [])
        values = [value for value in found if isinstance(value, bytes)]
        if len(values) != len(found):
            raise ValueError(f"field {field} is a number")
        return values

    def values(self, field: int) -> list[int | bytes]:
        """What each time that a field is there has: a number, or the bytes of packed ones."""
        return self._fields.get(field, [])

    def text(self, field: int) -> str:
        """The text in a field, an empty one where the field is not there."""
        return self.content(field).decode()


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value: int | bytes
        match key & 7:
            case 0:
                value, at = varint(data, at)
            case 1:
                value, at = _fixed("<Q", data, at)
            case 5:
                value, at = _fixed("<I", data, at)
            case 2:
                size, at = varint(data, at)
                value, at = data[at : at + size], at + size
                if at > len(data):
                    raise ValueError(f"field {key >> 3} of a message should have {size} bytes, but ends before them")
            case kind:
                raise ValueError(f"field {key >> 3} of a message has the unknown wire type {kind}")
        yield key >> 3, value


def _fixed(form: str, data: bytes, at: int) -> tuple[int, int]:
    end = at + struct.calcsize(form)
    if end > len(data):
        raise ValueError("the last number of a message is cut off")
    (value,) = struct.unpack_from(form, data, at)
    return value, end


def encoded_varint(value: int) -> bytes:
    """A number as `varint` reads it; a negative one as one of 64 bits.

    >>> encoded_varint(300).hex()
    'ac02'
    """
    value &= 2 * _SIGN - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes((*out, value))


def encoded_field(number: int, value: int | bytes) -> bytes:
    """A field with a number, which is left out where it is 0, or with bytes.

    >>> encoded_field(1, 150).hex(), encoded_field(2, b"ab").hex()
    ('089601', '12026162')
    """
    if isinstance(value, bytes):
        return encoded_varint(number << 3 | 2) + encoded_varint(len(value)) + value
    return encoded_varint(number << 3) + encoded_varint(value) if value else b""


def encoded_fixed32(number: int, value: int) -> bytes:
    """A field with an unsigned number of 32 bits that takes four bytes.

    >>> encoded_fixed32(6, 1).hex()
    '3501000000'
    """
    return encoded_varint(number << 3 | 5) + struct.pack("<I", value)
