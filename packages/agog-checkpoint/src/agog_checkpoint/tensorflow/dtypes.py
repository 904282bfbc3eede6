"""Dtypes of TensorFlow by their numbers in its files, ``DataType`` in ``types.proto``."""

from __future__ import annotations

from agog_core.dtypes import DType, as_dtype, string
from agog_core.errors import UnimplementedError

STRING = 7
_NAMES = {
    **{1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", STRING: "string", 8: "complex64"},
    **{9: "int64", 10: "bool", 14: "bfloat16", 17: "uint16", 18: "complex128", 19: "float16", 22: "uint32"},
    **{23: "uint64", 24: "float8_e5m2", 25: "float8_e4m3fn"},
}
NUMBERS = {name: number for number, name in _NAMES.items()}
# Quantized numbers are kept as the integers that they are.
_QUANTIZED = {11: "int8", 12: "uint8", 13: "int32", 15: "int16", 16: "uint16"}
_WITHOUT_EQUAL = {20: "resource", 21: "variant", 26: "float8_e4m3fnuz", 29: "int4", 30: "uint4"}


def dtype_of(number: int) -> DType:
    """The dtype with a number. Raises UnimplementedError if agog lacks it, and ValueError if there is none."""
    if number == STRING:
        return string
    if name := _NAMES.get(number) or _QUANTIZED.get(number):
        return as_dtype(name)
    if name := _WITHOUT_EQUAL.get(number):
        raise UnimplementedError(f"agog has no dtype {name}")
    raise ValueError(f"TensorFlow has no dtype with the number {number}")
