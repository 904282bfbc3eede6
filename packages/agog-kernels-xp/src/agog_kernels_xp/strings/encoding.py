"""Encoding: numbers and bytes as strings. Only the host has strings: the arrays hold bytes objects."""

from __future__ import annotations

import binascii
from collections.abc import Callable
from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array


def string_to_number(xp: Any, string_tensor: Array, *, dtype: Any) -> Array:
    """The numbers that strings write down."""
    is_integer = dtype.kind == "i"
    limits = xp.iinfo(dtype) if is_integer else None

    def number(text: bytes) -> Any:
        try:
            if b"_" in text:  # Python's digit grouping is no number elsewhere
                raise ValueError
            value = int(text) if is_integer else float(text)
            if limits is not None and not limits.min <= value <= limits.max:
                raise ValueError
        except ValueError:
            raise InvalidArgumentError(
                f"string_to_number: {text!r} is no number of dtype {dtype.name}; out_type= takes another dtype."
            ) from None
        return value

    return _each(xp, number, string_tensor, dtype)


def as_string(xp: Any, input: Array, *, form: str, is_complex: bool) -> Array:
    """Numbers written down by a format of C's printf, complex ones as a pair."""
    kind = input.dtype.kind
    if kind == "b":
        return _each(xp, lambda value: (form % ("true" if value else "false")).encode(), input)
    if is_complex:
        return _each(xp, lambda value: (form % (value.real, value.imag)).encode(), input)
    return _each(xp, lambda value: (form % value).encode(), input)


def decode_raw(xp: Any, bytes: Array, *, dtype: Any, little_endian: bool) -> Array:
    """The bytes of strings as numbers."""
    lengths = sorted({len(text) for text in bytes.flat})
    if len(lengths) > 1:
        raise InvalidArgumentError(
            f"decode_raw: all strings must be of one length; they have from {lengths[0]} to {lengths[-1]} bytes."
        )
    length = lengths[0] if lengths else 0
    if length % dtype.itemsize:
        raise InvalidArgumentError(
            f"decode_raw: strings of {length} bytes hold no whole number of {dtype.name}, which takes {dtype.itemsize}."
        )
    units = xp.array(bytearray().join(bytes.flat), "uint8").reshape(-1, dtype.itemsize)
    units = units if little_endian else xp.ascontiguousarray(units[:, ::-1])
    values = units.reshape(-1).view("uint8" if dtype.kind == "b" else dtype)
    return (values != 0 if dtype.kind == "b" else values).reshape(*bytes.shape, length // dtype.itemsize)


def encode_base64(xp: Any, input: Array, *, pad: bool) -> Array:
    """Strings in the alphabet of base64 that is safe in web addresses."""

    def encoded(text: bytes) -> bytes:
        letters = binascii.b2a_base64(text, newline=False).replace(b"+", b"-").replace(b"/", b"_")
        return letters if pad else letters.rstrip(b"=")

    return _each(xp, encoded, input)


def decode_base64(xp: Any, input: Array) -> Array:
    """What strings in base64 stand for, with or without padding."""

    def decoded(text: bytes) -> bytes:
        letters = text.rstrip(b"=") if len(text) % 4 == 0 else text
        try:
            if b"+" in text or b"/" in text or len(text) - len(letters) > 2:
                raise binascii.Error
            standard = letters.replace(b"-", b"+").replace(b"_", b"/")
            return binascii.a2b_base64(standard + b"=" * (-len(letters) % 4), strict_mode=True)
        except binascii.Error:
            raise InvalidArgumentError(
                f"decode_base64: {text!r} is no base64 of the alphabet that is safe in web addresses (A-Z, a-z, 0-9, "
                "- and _)."
            ) from None

    return _each(xp, decoded, input)


def _each(xp: Any, function: Callable[..., Any], items: Array, dtype: Any = "object") -> Array:
    array = xp.empty(items.size, dtype)
    for place, item in enumerate(items.flat):
        array[place] = function(item)
    return array.reshape(items.shape)
