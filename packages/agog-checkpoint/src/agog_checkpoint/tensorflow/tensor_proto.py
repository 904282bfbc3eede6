"""TensorProto: values as TensorFlow's messages hold them, in a field for each kind of dtypes, ``tensor.proto``."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from agog_checkpoint.tensorflow.protobuf import Message
from agog_core.dtypes import DType, string

_RAW, _TEXTS = 4, 8
# Fields of packed numbers whose bytes are those of the values.
_FIXED = {"float32": 5, "float64": 6, "complex64": 9, "complex128": 12}
# Fields of packed numbers of one to ten bytes; numbers of 16 bits are there as their bits.
_VARINTS = {
    **{"int32": 7, "int16": 7, "int8": 7, "uint8": 7, "uint16": 7, "int64": 10, "bool": 11, "uint32": 16, "uint64": 17},
    **{"float16": 13, "bfloat16": 13},
}
_LONGEST = 10  # bytes of a number of 64 bits


def values_of(tensor: Message, dtype: DType, count: int) -> np.ndarray[Any, Any]:
    """The values of a ``TensorProto``, of one axis. Raises ValueError if they are not so many."""
    if dtype is string:
        values = np.empty(len(texts := tensor.contents(_TEXTS)), object)
        values[:] = texts
    elif _RAW in tensor:
        values = np.frombuffer(bytearray(tensor.content(_RAW)), dtype.numpy_dtype)
    elif dtype.name in _FIXED:
        size = dtype.real_dtype.size
        raw = b"".join(
            value if isinstance(value, bytes) else struct.pack("<Q", value)[:size]
            for value in tensor.values(_FIXED[dtype.name])
        )
        values = np.frombuffer(bytearray(raw), dtype.numpy_dtype)
    elif dtype.name in _VARINTS:
        numbers = np.concatenate([np.empty(0, np.uint64), *map(_numbers, tensor.values(_VARINTS[dtype.name]))])
        is_bits = dtype.name in ("float16", "bfloat16")
        values = numbers.astype(np.uint16).view(dtype.numpy_dtype) if is_bits else numbers.astype(dtype.numpy_dtype)
    else:
        raise ValueError(f"a TensorProto holds no {dtype.name}")
    if values.size != count:
        raise ValueError(f"{count} values should be there, but there are {values.size}")
    return values


def _numbers(value: int | bytes) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """The number of a field, or the packed ones: all at once, since Python takes a microsecond for each."""
    if isinstance(value, int):
        return np.array([value], np.uint64)
    raw = np.frombuffer(value, np.uint8)
    if not raw.size:
        return np.empty(0, np.uint64)
    ends = np.flatnonzero(raw < 128) + 1
    starts = np.concatenate([[0], ends[:-1]])
    lengths = ends - starts
    if not ends.size or ends[-1] != raw.size or lengths.max() > _LONGEST:
        raise ValueError("packed numbers are cut off or too long")
    places = np.arange(raw.size) - np.repeat(starts, lengths)
    return np.add.reduceat((raw & 127).astype(np.uint64) << (7 * places).astype(np.uint64), starts)
