"""Encoding: numbers and bytes written down as strings, and read again."""

from __future__ import annotations

from typing import Any

from agog_core import dtypes
from agog_core.calls.call import call
from agog_core.dispatch.op import define
from agog_core.dtypes import NUMERIC_OR_BOOL, as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.shapes import TensorShape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["as_string", "decode_base64", "decode_raw", "encode_base64", "string_to_number"]

_STRING = frozenset({dtypes.string})
_SIGNED = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
_READABLE = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)
_WRITABLE = frozenset({*_SIGNED, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128, dtypes.bool_})


def string_to_number(string_tensor: TensorLike, out_type: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Read the numbers that strings write down.

    Args:
        string_tensor: a tensor of strings.
        out_type: float32, float64, int32 or int64.

    Returns:
        A tensor of that dtype and of the same shape.

    Raises:
        InvalidArgumentError: a string is no such number, or the dtype is none of those above.

    >>> print(string_to_number(["1.5", "-2"]))
    tf.Tensor([ 1.5 -2. ], shape=(2,), dtype=float32)
    """
    wanted = as_dtype(out_type)
    if wanted not in _READABLE:
        allowed = ", ".join(each.name for each in _READABLE)
        raise InvalidArgumentError(f"string_to_number: out_type must be one of {allowed}; got {wanted.name}.")
    return call(_string_to_number, convert_to_tensor(string_tensor), dtype=wanted.name)


_string_to_number = define(
    string_to_number,
    shape=lambda x, dtype: x,
    dtype=lambda given, dtype: as_dtype(dtype),
    dtypes=_STRING,
    host=True,
    elementwise=True,
    may_fail=True,
)


def as_string(
    input: TensorLike,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Write numbers down as C's ``printf`` does.

    Args:
        input: a tensor of signed integers, float32, float64, complex numbers or bools.
        precision: the number of digits after the point, for floats; -1 for 6.
        scientific: whether floats are written with an exponent.
        shortest: whether floats are written in the shorter one of both ways.
        width: the least number of characters; -1 for no limit.
        fill: what fills them up: ``" "`` (on the left), ``"0"``, or ``"-"`` for blanks on the right; ``"+"`` writes the
            sign of positive numbers too.

    Returns:
        A tensor of strings of the same shape; bools are ``true`` and ``false``, complex numbers ``(real,imaginary)``.

    Raises:
        InvalidArgumentError: an option does not fit the dtype or the other options, or the dtype is not supported.

    >>> print(as_string([1, 20], width=4, fill="0"), as_string(0.5, precision=2))
    tf.Tensor([b'0001' b'0020'], shape=(2,), dtype=string) tf.Tensor(b'0.50', shape=(), dtype=string)
    """
    x = convert_to_tensor(input)
    if scientific and shortest:
        raise InvalidArgumentError("as_string: scientific and shortest are two formats; ask for one of them.")
    if not x.dtype.is_differentiable and (scientific or shortest or precision >= 0):
        raise InvalidArgumentError(
            f"as_string: precision, scientific and shortest are for floats and complex numbers; got dtype "
            f"{x.dtype.name} and shape {x._shape}."
        )
    if fill not in ("", " ", "0", "-", "+"):
        raise InvalidArgumentError(f"as_string: fill must be '', ' ', '0', '-' or '+'; got {fill!r}.")
    letter = "e" if scientific else "g" if shortest else "f"
    kind = "s" if x.dtype.is_bool else letter if x.dtype.is_differentiable else "d"
    number = f"%{fill}{width if width >= 0 else ''}{f'.{precision}' if precision >= 0 else ''}{kind}"
    form = f"({number},{number})" if x.dtype.is_complex else number
    return call(_as_string, x, form=form, is_complex=x.dtype.is_complex)


_as_string = define(
    as_string, shape=lambda x, form, is_complex: x, dtype=dtypes.string, dtypes=_WRITABLE, elementwise=True, host=True
)


def decode_raw(bytes: TensorLike, out_type: Any, little_endian: bool = True, name: str | None = None) -> Tensor:
    """Take the bytes of strings as numbers.

    Args:
        bytes: a tensor of strings of one length, of shape (...).
        out_type: the dtype of the numbers.
        little_endian: whether the lowest byte of a number comes first.

    Returns:
        A tensor of that dtype and of shape (..., count).

    Raises:
        InvalidArgumentError: the strings differ in length, or do not hold a whole number of numbers; or the dtype has
            no fixed size.

    >>> print(decode_raw([b"\\x01\\x00", b"\\x00\\x01"], "int16"))
    tf.Tensor(
    [[  1]
     [256]], shape=(2, 1), dtype=int16)
    """
    wanted = as_dtype(out_type)
    if wanted not in NUMERIC_OR_BOOL:
        raise InvalidArgumentError(f"decode_raw: out_type must be a dtype of numbers or bool; got {wanted.name}.")
    return call(_decode_raw, convert_to_tensor(bytes), dtype=wanted.name, little_endian=bool(little_endian))


_decode_raw = define(
    decode_raw,
    shape=lambda x, dtype, little_endian: TensorShape([*x, None]),
    dtype=lambda given, dtype, little_endian: as_dtype(dtype),
    dtypes=_STRING,
    host=True,
    host_reads=["bytes"],
    may_fail=True,
)


def encode_base64(input: TensorLike, pad: bool = False, name: str | None = None) -> Tensor:
    """Encode strings in base64, with the alphabet that is safe in web addresses (RFC 4648, section 5).

    Args:
        input: a tensor of strings.
        pad: whether ``=`` fills up the last four letters.

    Returns:
        A tensor of strings of the same shape.

    >>> print(encode_base64(["abcd", "\\xff"], pad=True))
    tf.Tensor([b'YWJjZA==' b'w78='], shape=(2,), dtype=string)
    """
    return call(_encode_base64, convert_to_tensor(input), pad=bool(pad))


_encode_base64 = define(encode_base64, shape=lambda x, pad: x, dtypes=_STRING, host=True, elementwise=True)


def decode_base64(input: TensorLike, name: str | None = None) -> Tensor:
    """Decode strings in base64, with the alphabet that is safe in web addresses (RFC 4648, section 5).

    Args:
        input: a tensor of strings, with padding or without.

    Returns:
        A tensor of strings of the same shape.

    Raises:
        InvalidArgumentError: a string is not in that code.

    >>> print(decode_base64(["YWJjZA==", "YWJjZA"]))
    tf.Tensor([b'abcd' b'abcd'], shape=(2,), dtype=string)
    """
    return call(_decode_base64, convert_to_tensor(input))


_decode_base64 = define(decode_base64, shape=lambda x: x, dtypes=_STRING, host=True, elementwise=True, may_fail=True)
