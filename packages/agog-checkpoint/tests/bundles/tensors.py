"""Tensors: the values in the files of this folder that TensorFlow wrote, by name."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

_NUMBERS = np.array([[-3, 0, 1, 2], [4, 5, 6, 7], [100, 101, 120, 127]])
_TEXTS = [b"", b"zero \0 byte", "größe".encode(), b"x" * 300]

# The first format has no other dtypes.
FIRST = {
    **{
        f"kind/{dtype}": _NUMBERS.astype(dtype)
        for dtype in ("float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool")
    },
    **{f"kind/{dtype}": (_NUMBERS * (1 + 0.5j)).astype(dtype) for dtype in ("complex64", "complex128")},
    "scalar": np.array(-(2**40), np.int64),
    "empty": np.zeros((0, 5), np.float32),
    "text": np.array(b"one", object),
    "texts": np.array(_TEXTS, object).reshape(2, 2),
}
SECOND = {
    **FIRST,
    **{f"kind/{dtype}": _NUMBERS.astype(dtype) for dtype in ("uint16", "uint32", "uint64")},
    "kind/bfloat16": _NUMBERS.astype(ml_dtypes.bfloat16),
}
# Variables in parts along the first and the second axis.
PARTS = {
    "rows": np.arange(280, dtype=np.float32).reshape(140, 2),
    "columns": np.arange(40, dtype=np.float32).reshape(4, 10),
}


def same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Whether two arrays have the same dtype, shape and bits."""
    if one.dtype == object:
        is_of_texts = all(type(text) is bytes for text in (*one.flat, *other.flat))
        return is_of_texts and one.shape == other.shape and one.tolist() == other.tolist()
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
