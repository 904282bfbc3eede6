"""Strings: tensors of texts in data files.

The lengths, the checksum of the lengths, and the texts. Checksums are taken of lengths as words of 32 bits, or of 64
for a longer text; that of the whole goes over these words, their checksum, and the texts.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from agog_checkpoint.tensorflow.checksum import masked
from agog_checkpoint.tensorflow.protobuf import encoded_varint, varint

_LARGEST_WORD = 0xFFFFFFFF


def decoded(raw: bytes, count: int, checksum: int) -> np.ndarray[Any, Any]:
    """So many texts as an array of bytes objects. Raises ValueError if they are not what was written."""
    if count > len(raw):
        raise ValueError(f"{count} texts cannot be in {len(raw)} bytes")
    lengths, at = [], 0
    for _ in range(count):
        length, at = varint(raw, at)
        lengths.append(length)
    words, given, begin = _words(lengths), raw[at : at + 4], at + 4
    if struct.pack("<I", masked(words)) != given:
        raise ValueError("the lengths of its texts have another checksum than was written")
    if begin + sum(lengths) != len(raw):
        raise ValueError(f"its texts should have {sum(lengths)} bytes, but have {len(raw) - begin}")
    if masked(words + given + raw[begin:]) != checksum:
        raise ValueError("its bytes have another checksum than was written")
    ends = np.cumsum([begin, *lengths]).tolist()
    found = np.empty(count, object)
    found[:] = [raw[start:end] for start, end in pairwise(ends)]
    return found


def encoded(texts: Iterable[bytes]) -> tuple[bytes, int]:
    """Texts as they are in a file, and their checksum."""
    every = list(texts)
    lengths = [len(text) for text in every]
    words = _words(lengths)
    given, body = struct.pack("<I", masked(words)), b"".join(every)
    return b"".join(map(encoded_varint, lengths)) + given + body, masked(words + given + body)


def _words(lengths: list[int]) -> bytes:
    return b"".join(struct.pack("<I" if length <= _LARGEST_WORD else "<Q", length) for length in lengths)
