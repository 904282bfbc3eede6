"""Messages of the first format in forms that TensorFlow 2.21 does not write, but others may."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from agog_checkpoint.tensorflow.protobuf import Message, encoded_field, encoded_fixed32, encoded_varint
from agog_checkpoint.tensorflow.tensor_proto import values_of
from agog_core.dtypes import as_dtype
from agog_testing import says

_FIXED64 = b"\x31"  # field 6, eight bytes


@pytest.mark.parametrize(
    ("dtype", "message", "expected"),
    [
        # Raw bytes in place of numbers.
        ("float32", encoded_field(4, np.float32([1.5, -2.0]).tobytes()), [1.5, -2.0]),
        # Numbers that are not packed: a field for each.
        (
            "float32",
            b"".join(encoded_fixed32(5, n) for n in struct.unpack("<2I", struct.pack("<2f", 0.5, 3.0))),
            [0.5, 3.0],
        ),
        ("float64", _FIXED64 + struct.pack("<d", -7.25), [-7.25]),
        ("int32", encoded_field(7, 5) + encoded_field(7, -5), [5, -5]),
        # Some packed, some not.
        ("int64", encoded_field(10, b"\x01\x02") + encoded_field(10, 3), [1, 2, 3]),
        ("bool", encoded_field(11, b"\x01\x00"), [True, False]),
        ("uint64", encoded_field(17, encoded_varint(2**64 - 1)), [2**64 - 1]),
        ("bfloat16", encoded_field(13, encoded_varint(0x3FC0)), [1.5]),
        ("float16", encoded_field(13, encoded_varint(0xC000) + encoded_varint(0x3C00)), [-2.0, 1.0]),
        ("complex64", encoded_field(9, np.float32([1, -1, 0, 2]).tobytes()), [1 - 1j, 2j]),
    ],
)
def test_values(dtype: str, message: bytes, expected: list[Any]) -> None:
    values = values_of(Message(message), as_dtype(dtype), len(expected))
    assert values.dtype == as_dtype(dtype).numpy_dtype
    assert values.tolist() == expected
    with says(ValueError, f"{len(expected) + 1} values should be there, but there are {len(expected)}"):
        values_of(Message(message), as_dtype(dtype), len(expected) + 1)


@pytest.mark.parametrize("packed", [b"\x80", b"\x01\x80\x80", b"\x80" * 10 + b"\x01"])
def test_packed_numbers_that_do_not_end(packed: bytes) -> None:
    with says(ValueError, "packed numbers are cut off or too long"):
        values_of(Message(encoded_field(10, packed)), as_dtype("int64"), 1)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"\x0a\x05ab", "field 1 of a message should have 5 bytes, but ends before them"),
        (b"\x0d\x00\x00", "the last number of a message is cut off"),
        (b"\x0b", "field 1 of a message has the unknown wire type 3"),
        (b"\x08\x80", "the number at byte 1 of 2 is cut off or longer than 10 bytes"),
        (b"\x08" + b"\xff" * 11, "the number at byte 1 of 12 is cut off or longer than 10 bytes"),
    ],
)
def test_what_is_no_message(raw: bytes, text: str) -> None:
    with says(ValueError, text):
        Message(raw)


def test_fields_of_another_type_than_expected() -> None:
    with says(ValueError, "field 1 is a number"):
        Message(encoded_field(1, 7)).content(1)
    with says(ValueError, "field 1 is not a number"):
        Message(encoded_field(1, b"7")).number(1)
