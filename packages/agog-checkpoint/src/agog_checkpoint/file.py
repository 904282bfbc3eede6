"""One checkpoint in one safetensors file: eight bytes with the header's length, the header as JSON, the tensors' bytes.

https://huggingface.co/docs/safetensors describes the layout. The file is written here and not by the package
safetensors, whose writer renames on its own before the bytes are on the disk, leaves temporary files behind after a
crash, makes files that only the owner may read, and writes wrong bytes for arrays that are not C-contiguous.
"""

from __future__ import annotations

import math
import mmap
import os
import zlib
from typing import Any, BinaryIO

import numpy as np

from agog_checkpoint import compact_json
from agog_checkpoint.commit import translated
from agog_checkpoint.graph import DTYPES, Graph, SavedVariable, parse_graph
from agog_checkpoint.objects import Snapshot
from agog_core.dtypes import DType
from agog_core.errors import DataLossError, InvalidArgumentError, NotFoundError

FORMAT_VERSION = "1"
SUFFIX = ".safetensors"
LONGEST_HEADER = 100_000_000  # what readers of safetensors accept
_KINDS = {"float": "F", "int": "I", "uint": "U", "bfloat": "BF"}

Array = np.ndarray[Any, Any]


def file_name(path: str) -> str:
    """The file that a checkpoint's path names.

    Args:
        path: what `Checkpoint.save` returned; it may also end with ``.safetensors``.

    Returns:
        The name of the one file.
    """
    return path if path.endswith(SUFFIX) else path + SUFFIX


def write(stream: BinaryIO, saved: Snapshot) -> None:
    """Write a snapshot.

    Args:
        stream: an empty file.
        saved: the snapshot.

    Raises:
        InvalidArgumentError: the header would be longer than readers accept.
    """
    # By alignment, so that each tensor starts at a multiple of the size of its elements.
    variables = sorted(saved.graph.variables(), key=lambda v: (-_stored(v)[0].size, v.key))
    # The checksums are known only after the tensors are written, one at a time; they do not change the header's length.
    stream.write(_header(saved.graph, variables))
    for variable in variables:
        data = _bytes(saved.values[variable.key].numpy())
        variable.crc32 = f"{zlib.crc32(data):08x}"
        stream.write(data)
    stream.seek(0)
    stream.write(_header(saved.graph, variables))


def _bytes(value: Any) -> memoryview:
    return np.ascontiguousarray(value).reshape(-1).view(np.uint8).data


def _header(graph: Graph, variables: list[SavedVariable]) -> bytes:
    text = graph.to_json()
    metadata = {"agog_format": FORMAT_VERSION, "agog_checksum": _checksum(text), "agog_graph": text}
    header: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for variable in variables:
        dtype, shape = _stored(variable)
        begin, end = end, end + _size(dtype, shape)
        header[variable.key] = {"dtype": _code(dtype), "shape": shape, "data_offsets": [begin, end]}
    raw = compact_json.dump(header, ensure_ascii=False).encode()
    raw += b" " * (-len(raw) % 8)
    if len(raw) > LONGEST_HEADER:
        raise InvalidArgumentError(
            f"Checkpoint: the names, the shapes and the state outside of variables take {len(raw)} bytes, but a "
            f"safetensors file holds at most {LONGEST_HEADER} of them; keep large state in variables."
        )
    return len(raw).to_bytes(8, "little") + raw


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


def _stored(variable: SavedVariable) -> tuple[DType, tuple[int, ...]]:
    """The dtype and shape in the file: complex numbers, which not all readers know, are pairs of real ones."""
    dtype = DTYPES[variable.dtype]
    return (dtype.real_dtype, (*variable.shape, 2)) if dtype.is_complex else (dtype, variable.shape)


def _code(dtype: DType) -> str:
    """The name that safetensors has for a dtype, such as ``F32``."""
    name = dtype.name.rstrip("0123456789")
    return "BOOL" if dtype.is_bool else _KINDS[name] + dtype.name.removeprefix(name)


def _size(dtype: DType, shape: tuple[int, ...]) -> int:
    return dtype.size * math.prod(shape)


def read(path: str) -> tuple[Graph, dict[str, Array]]:
    """Read a checkpoint and check every byte of it.

    Args:
        path: what `Checkpoint.save` returned.

    Returns:
        The graph, and the values by key: read-only views of the file, which may be replaced or removed meanwhile.

    Raises:
        NotFoundError: there is no such file.
        PermissionDeniedError: the file may not be read.
        DataLossError: the file is not a whole checkpoint.
    """
    file = file_name(path)
    if not os.path.isfile(file):
        hint = "; it is a folder, so pass latest_checkpoint of it" if os.path.isdir(path) else ""
        raise NotFoundError(f"Checkpoint: there is no checkpoint {path!r}: the file {file!r} does not exist{hint}.")
    try:
        with open(file, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            # An empty file cannot be mapped.
            content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    except OSError as error:
        raise translated(error, "read", file) from error
    try:
        return _parse(content)
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError) as error:
        raise DataLossError(
            f"Checkpoint: the file {file!r} is not a whole checkpoint: {error}. Nothing was changed; restore another "
            "checkpoint."
        ) from error


def _parse(content: mmap.mmap | bytes) -> tuple[Graph, dict[str, Array]]:
    header, begin = _parse_header(content)
    graph = _graph_of(header.pop("__metadata__", None))
    variables = graph.variables()
    expected = sum(_size(*_stored(variable)) for variable in variables)
    if header.keys() != {variable.key for variable in variables}:
        differing = sorted(header.keys() ^ {variable.key for variable in variables})
        raise ValueError(f"its header and its object graph do not name the same tensors; they differ in {differing}")
    if expected != len(content) - begin:
        raise ValueError(f"its tensors take {expected} bytes, but {len(content) - begin} are there")
    return graph, {variable.key: _tensor(variable, header[variable.key], content, begin) for variable in variables}


def _parse_header(content: mmap.mmap | bytes) -> tuple[dict[str, Any], int]:
    if len(content) < 8:
        raise ValueError(f"it has {len(content)} bytes, fewer than the 8 that hold the length of its header")
    length = int.from_bytes(content[:8], "little")
    # Before anything of that size is made.
    if length > min(LONGEST_HEADER, len(content) - 8):
        raise ValueError(f"it announces a header of {length} bytes, but {len(content) - 8} bytes follow")
    try:
        header = compact_json.load(content[8 : 8 + length].decode())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its header is not JSON ({error})") from error
    if not isinstance(header, dict):
        raise ValueError("its header is not a JSON object")
    return header, 8 + length


def _graph_of(metadata: Any) -> Graph:
    if not isinstance(metadata, dict) or "agog_format" not in metadata:
        raise ValueError("its metadata have no 'agog_format', so another program wrote it")
    if metadata["agog_format"] != FORMAT_VERSION:
        raise ValueError(
            f"its format version is {metadata['agog_format']!r}, but this release reads version {FORMAT_VERSION!r}; "
            "another release of agog-checkpoint may read it"
        )
    text, checksum = metadata.get("agog_graph"), metadata.get("agog_checksum")
    if not isinstance(text, str):
        raise ValueError("its metadata have no object graph")
    if checksum != _checksum(text):
        raise ValueError(f"its object graph has the checksum {_checksum(text)!r}, but {checksum!r} was written")
    return parse_graph(text)


def _tensor(variable: SavedVariable, entry: Any, content: mmap.mmap | bytes, begin: int) -> Array:
    dtype, shape = _stored(variable)
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"the entry of {variable.key!r} in its header is malformed")
    if entry["dtype"] != _code(dtype) or entry["shape"] != list(shape):
        raise ValueError(f"the dtype or shape of {variable.key!r} in its header is not that in its object graph")
    first, last = entry["data_offsets"]
    size = _size(dtype, shape)
    if (
        type(first) is not int
        or type(last) is not int
        or first < 0
        or last - first != size
        or last > len(content) - begin
    ):
        raise ValueError(f"the offsets of {variable.key!r} in its header are wrong")
    data = memoryview(content)[begin + first : begin + last]
    checksum = f"{zlib.crc32(data):08x}"
    if checksum != variable.crc32:
        raise ValueError(
            f"the bytes of {variable.key!r} have the checksum {checksum!r}, but {variable.crc32!r} was written"
        )
    array = (
        np.frombuffer(data, DTYPES[variable.dtype].numpy_dtype)
        if size
        else np.empty(0, DTYPES[variable.dtype].numpy_dtype)
    )
    return array.reshape(variable.shape)
