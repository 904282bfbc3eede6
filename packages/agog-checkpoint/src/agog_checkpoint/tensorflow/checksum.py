"""Checksums of TensorFlow's checkpoints: CRC-32C, masked.

G. Castagnoli, S. Braeuer, M. Herrmann, "Optimization of Cyclic Redundancy-Check Codes with 24 and 32 Parity Bits", IEEE
Transactions on Communications 41, 1993; the mask is that of the log format of LevelDB.
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from google_crc32c import value as crc32c
except ImportError as error:
    raise ImportError(
        "TensorFlow's checkpoints need the package google-crc32c for their checksums: "
        "pip install agog-checkpoint[tensorflow]"
    ) from error

_MASK = 0xA282EAD8


def masked(data: bytes | np.ndarray[Any, np.dtype[np.uint8]]) -> int:
    """The CRC-32C of bytes, rotated by 15 bits and with a constant added, so that bytes with checksums have good ones.

    >>> hex(masked(b"123456789"))
    '0xc78ab0e5'
    """
    crc: int = crc32c(data)
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF
