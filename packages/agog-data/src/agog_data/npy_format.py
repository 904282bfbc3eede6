"""NumPy's format of arrays in files: their headers, and their elements.

The format, by R. Kern: "NEP 1: A simple file format for NumPy arrays", 2007: a magic string, the version, the length of
a header, the header (a dict, written in Python), and the elements.
"""

from __future__ import annotations

import ast
import io
import math
import re
import struct
import zipfile
import zlib
from typing import IO, Any, NamedTuple

import numpy as np

from agog_core import as_dtype, errors

Array = np.ndarray[Any, Any]

MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 1 << 16  # NumPy writes less than a thousand bytes for what has a dtype in agog
_MOST_AXES = 64  # NumPy's limit
_CHUNK = 1 << 20
# What zipfile raises for damaged files, beside OSError.
ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, EOFError, struct.error, ValueError, OverflowError),
    *(NotImplementedError, RuntimeError, UnicodeError),
)


class Header(NamedTuple):
    """The contents of the header, and the position of the first element."""

    dtype: np.dtype[Any]
    fortran_order: bool
    shape: tuple[int, ...]
    offset: int


def shaped(name: str, elements: Array, header: Header) -> Array:
    """The array of all its elements."""
    try:
        return elements.reshape(header.shape, order="F" if header.fortran_order else "C")
    except ValueError as error:  # sizes that no array may have, beside a size of zero
        raise errors.DataLossError(f"{name}: there can be no array of shape {header.shape}.") from error


def read_header(name: str, file: IO[bytes], begin: int, *, objects: bool = False) -> Header:
    """Read what an array has before its elements.

    Args:
        name: what errors call it.
        file: a file that is at its first byte.
        begin: where that is.
        objects: whether the elements may be a pickle of Python objects.

    Raises:
        DataLossError: it is no array, or a damaged one.
        InvalidArgumentError: it has a dtype that agog has not, or no axes.
    """

    def lost(problem: str) -> errors.DataLossError:
        return errors.DataLossError(f"{name}: at byte {begin}: {problem}.")

    start = file.read(len(MAGIC) + 2)
    if start[:-2] != MAGIC:
        raise lost(f"an array begins with {MAGIC!r} and a version; this begins with {start!r}")
    if start[-2] not in (1, 2, 3) or start[-1]:
        raise lost(f"versions 1.0, 2.0 and 3.0 of the format are known; this is {start[-2]}.{start[-1]}")
    width = 2 if start[-2] == 1 else 4
    length = int.from_bytes(file.read(width), "little")
    if length > _LONGEST_HEADER:
        raise lost(f"a header of at most {_LONGEST_HEADER} bytes is expected; it has {length}")
    text = file.read(length)
    try:
        # This reads numbers, strings, tuples and dicts; it never runs what it reads.
        fields = ast.literal_eval(text.decode("utf-8" if start[-2] == 3 else "latin-1").strip())
        written, fortran_order, shape = (fields[key] for key in ("descr", "fortran_order", "shape"))
    except (SyntaxError, ValueError, TypeError, KeyError, RecursionError, MemoryError) as error:
        raise lost("the header is no dict with 'descr', 'fortran_order' and 'shape'") from error
    sizes = isinstance(shape, tuple) and len(shape) <= _MOST_AXES
    if not sizes or any(type(axis) is not int or not 0 <= axis < 2**63 for axis in shape):
        raise lost(f"the header's shape is expected to be a tuple of sizes; it is {shape!r}")
    if type(fortran_order) is not bool:
        raise lost(f"the header's fortran_order is expected to be True or False; it is {fortran_order!r}")
    if not shape:
        raise errors.InvalidArgumentError(f"{name}: the array is a scalar, which has no rows.")
    offset = begin + len(start) + width + length
    return Header(_dtype(name, written, objects), fortran_order, shape, offset)


def _dtype(name: str, written: Any, objects: bool) -> np.dtype[Any]:
    if isinstance(written, str) and re.fullmatch(r"\|O8?", written):
        if objects:
            return np.dtype(object)
        raise errors.InvalidArgumentError(
            f"{name}: the array holds Python objects, which are pickled. Unpickling can run any code, so it is never "
            "done; save the array with a dtype of numbers or strings."
        )
    try:
        # Of more digits, the number of bytes overflows in older versions of NumPy.
        if not (isinstance(written, str) and re.fullmatch(r"[<>|=][a-zA-Z?]\d{1,8}", written)):
            raise TypeError(f"{written!r} is no dtype of one element")
        dtype = np.dtype(written)
        if dtype.kind not in "SU":
            as_dtype(dtype.newbyteorder("="))
        return dtype
    except (TypeError, ValueError) as error:
        raise errors.InvalidArgumentError(
            f"{name}: the array has the dtype {written!r}, which agog has not."
        ) from error


def read_elements(label: str, stream: IO[bytes], header: Header, most: int) -> Array:
    """Read the elements of an array, of so many bytes at most, and to the stream's end, where its checksum is compared.

    Raises:
        ResourceExhaustedError: it has more bytes.
        DataLossError: it ends too early.
    """
    count = math.prod(header.shape) * header.dtype.itemsize
    data = io.BytesIO()  # it grows with what there is, whatever the header announces
    while data.tell() < count and (chunk := stream.read(min(count - data.tell(), _CHUNK))):
        if data.tell() + len(chunk) > most:
            raise errors.ResourceExhaustedError(
                f"{label}: the array of shape {header.shape} and dtype {header.dtype.name} has {count} "
                f"bytes, and at most {most} are read; max_bytes=... allows more."
            )
        data.write(chunk)
    if data.tell() < count:
        raise errors.DataLossError(
            f"{label}: at byte {header.offset + data.tell()}: the array ends here, but elements of shape "
            f"{header.shape} and dtype {header.dtype.name} from byte {header.offset} on need {count} bytes."
        )
    stream.read(1)  # at the end, the checksum is compared
    return shaped(label, np.frombuffer(data.getbuffer(), header.dtype), header)
