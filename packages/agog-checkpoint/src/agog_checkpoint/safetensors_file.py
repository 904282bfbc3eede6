"""Safetensors files: reading and validation of headers by the package safetensors, mapping and writing of tensors by
agog.

Work done here although the package has it, with the reason and the fix, as of its version 0.8:

- `read` maps the tensors. ``safe_open`` copies them for NumPy, and fails for ``F8_E4M3`` and ``F8_E5M2``. Needless once
  its tensors are views of the mapped file, of all dtypes that ml_dtypes has.
- `metadata_of` parses metadata. ``safe_open`` maps the header, with ``backend="pread"`` too, and the system ends a
  program (SIGBUS) when another one cuts a file that it has mapped. A user knows the file that is restored, but folders
  hold files of any program. Needless once ``"pread"`` reads the header.
- `layout` writes. ``serialize`` makes two copies of all tensors. ``serialize_file`` needs all of them on the host, and
  their checksums, before it begins; writes and renames another file than the one locked by `recovery`; leaves a file
  behind after a crash that nobody can tell from another program's; lets only the owner read; tells of a full disk by a
  text alone; and hears a Ctrl-C at its end. Both put metadata into an order that changes from call to call. Needless
  once tensors can be written one at a time into a file that is open, after metadata in their order.
"""

from __future__ import annotations

import math
import mmap
import os
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from agog_checkpoint import compact_json
from agog_checkpoint.garbage_collection import without_collection
from agog_checkpoint.graph import DTYPES
from agog_checkpoint.regular_file import open_local, open_regular
from agog_core.dtypes import DType

LONGEST_HEADER = 100_000_000  # bytes; the package refuses longer ones
# The names of dtypes in files, in the order in which the package lays their tensors out.
CODES = {
    **{"uint64": "U64", "int64": "I64", "float64": "F64", "complex64": "C64", "float32": "F32", "uint32": "U32"},
    **{"int32": "I32", "bfloat16": "BF16", "float16": "F16", "uint16": "U16", "int16": "I16"},
    **{"float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "int8": "I8", "uint8": "U8", "bool": "BOOL"},
}
_NAMES = {code: name for name, code in CODES.items()}

Array = np.ndarray[Any, Any]


class StoredTensor(NamedTuple):
    """A tensor as it is in a file: the name of its dtype in agog, its shape and its bytes."""

    dtype: str
    shape: tuple[int, ...]
    data: memoryview


class Contents(NamedTuple):
    """The contents of a file: tensors by key, in the order of their bytes, and metadata."""

    tensors: dict[str, StoredTensor]
    metadata: dict[str, str]


@without_collection()
def read(path: str) -> Contents:
    """Validate a file's header, and map its tensors; writing into them changes no file. Raises OSError if the file
    cannot be read, and ValueError if its header is invalid.
    """
    with open_local(path) as stream:
        described, metadata = _header(stream)
        # A mapped file could not be replaced or removed on Windows.
        is_mapped = os.name != "nt"
        content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY) if is_mapped else bytearray(stream.read())
    data = memoryview(content)
    end = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for key, code, shape in described:
        if code not in _NAMES:
            raise ValueError(f"{key!r} has the dtype {code!r}, which agog lacks")
        begin, end = end, end + DTYPES[_NAMES[code]].size * math.prod(shape)
        tensors[key] = StoredTensor(_NAMES[code], shape, data[begin:end])
    return Contents(tensors, metadata)


def _header(stream: BinaryIO) -> tuple[list[tuple[str, str, tuple[int, ...]]], dict[str, str]]:
    """The key, the dtype and the shape of each tensor, in the order of their bytes, without gaps; and the metadata."""
    from safetensors import SafetensorError, safe_open  # here, because the import takes milliseconds

    path = f"/dev/fd/{stream.fileno()}"  # whatever file has the name by now
    try:
        with safe_open(path if os.path.exists(path) else stream.name, "numpy") as opened:
            slices = ((key, opened.get_slice(key)) for key in opened.offset_keys())
            return [(key, one.get_dtype(), tuple(one.get_shape())) for key, one in slices], opened.metadata() or {}
    except SafetensorError as error:
        size, fault = os.fstat(stream.fileno()).st_size, str(error).removeprefix("Error while deserializing header: ")
        raise ValueError(f"safetensors cannot read its {size} bytes: {fault}") from error


def array(dtype: DType, shape: tuple[int, ...], data: memoryview) -> Array:
    """An array of a tensor's bytes that is its own base, so that views of it keep them alive."""
    return np.ndarray(shape, dtype.numpy_dtype, data) if data else np.empty(shape, dtype.numpy_dtype)


def metadata_of(path: str) -> dict[str, Any]:
    """Read a file's metadata, and nothing else of it. Raises OSError if the file cannot be read, and ValueError
    if it has no header."""
    with open_regular(path) as stream:
        length = int.from_bytes(stream.read(8), "little")
        try:
            header = compact_json.load(stream.read(min(length, LONGEST_HEADER)).decode())
        except RecursionError as error:
            raise ValueError("its header is nested too deeply") from error
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    return metadata if isinstance(metadata, dict) else {}
