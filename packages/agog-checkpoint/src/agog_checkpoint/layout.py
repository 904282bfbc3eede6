"""Layout of a safetensors file: eight bytes with the header's length, the header as JSON, the tensors' bytes.

https://huggingface.co/docs/safetensors describes it. It is written here and not by the package safetensors, whose
writer renames on its own before the bytes are on the disk, leaves temporary files behind after a crash, makes files
that only the owner may read, and writes wrong bytes for arrays that are not C-contiguous.
"""

from __future__ import annotations

import math
import mmap
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from agog_checkpoint import compact_json
from agog_checkpoint.checksum import checksum, crc32
from agog_checkpoint.cycles import without_collection
from agog_checkpoint.graph import DTYPES, Graph, SavedVariable, parse_graph
from agog_checkpoint.regular import open_regular
from agog_core.dtypes import DType
from agog_core.errors import InvalidArgumentError
from agog_core.tensors.tensor import Tensor

VERSION = "2"
READABLE = ("1", "2")
LONGEST_HEADER = 100_000_000  # what readers of safetensors accept
_ALIGNMENT = 64  # of the first tensor, for vector instructions on mapped memory
_LARGE = 1_000_000  # bytes whose sums take longer than asking another thread for them
_KINDS = {"float": "F", "int": "I", "uint": "U", "bfloat": "BF"}
_CODES = {"bool": "BOOL", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2"}

Array = np.ndarray[Any, Any]
Content = mmap.mmap | bytes | bytearray


class Header(NamedTuple):
    """The header of a file: entries of tensors by key, the metadata, and where the tensors' bytes begin."""

    entries: dict[str, Any]
    metadata: Any
    begin: int


def in_order(variables: Iterable[SavedVariable]) -> list[SavedVariable]:
    """Variables by the size of their elements, the largest first, and by key: so each starts in the file at a multiple
    of that size."""
    return sorted(variables, key=lambda variable: (-_element_size(variable.dtype), variable.key))


def size_of(variable: SavedVariable) -> int:
    """How many bytes a variable takes in a file."""
    return _size(variable.dtype) * math.prod(variable.shape)


@without_collection()
def entries_of(variables: Iterable[SavedVariable]) -> str:
    """What a header says of variables, in the order of their bytes, as JSON."""
    found: dict[str, Any] = {}
    end = 0
    for variable in variables:
        dtype, shape = _stored(variable)
        begin, end = end, end + size_of(variable)
        found[variable.key] = {"dtype": _code(dtype), "shape": shape, "data_offsets": [begin, end]}
    return compact_json.dump(found, ensure_ascii=False)


def header(entries: str, metadata: Mapping[str, str]) -> bytes:
    """A file's first bytes, up to those of the tensors, with what `entries_of` says. Raises InvalidArgumentError where
    there are more than readers accept."""
    rest = f",{entries[1:]}" if entries != "{}" else "}"
    raw = f'{{"__metadata__":{compact_json.dump(metadata, ensure_ascii=False)}{rest}'.encode()
    raw += b" " * (-(8 + len(raw)) % _ALIGNMENT)
    if len(raw) > LONGEST_HEADER:
        raise InvalidArgumentError(
            f"Checkpoint: the names, the shapes and the state outside of variables take {len(raw)} bytes, but a "
            f"safetensors file holds at most {LONGEST_HEADER} of them; keep large state in variables."
        )
    return len(raw).to_bytes(8, "little") + raw


def write_tensors(stream: BinaryIO, variables: Iterable[SavedVariable], values: Mapping[str, Tensor]) -> None:
    """Write the bytes of variables behind the header, one tensor at a time and without a copy, and note their checksums
    in them."""
    for variable in variables:
        data = np.ascontiguousarray(values[variable.key].numpy()).reshape(-1).view(np.uint8).data
        finish = _begin_checksum(data)
        stream.write(data)
        variable.checksum = finish()


def _begin_checksum(data: memoryview) -> Callable[[], str]:
    """Let another thread sum what is large while it is being written, and give what waits for it."""
    if data.nbytes < _LARGE:
        return partial(checksum, data)
    sums: list[str] = []
    thread = threading.Thread(target=lambda: sums.append(checksum(data)), name="agog-checksum", daemon=True)
    thread.start()

    def finish() -> str:
        thread.join()
        return sums[0] if sums else checksum(data)  # what has failed there fails again, and is raised

    return finish


@without_collection()
def graph_metadata(graph: Graph) -> dict[str, str]:
    """What a file's metadata say of a graph: texts by name."""
    text = graph.to_json()
    return {"agog_format": VERSION, "agog_checksum": crc32(text.encode()), "agog_graph": text}


def parse_metadata(metadata: Any) -> Graph:
    """Read the graph that `graph_metadata` wrote; anything else raises a ValueError that says what it is."""
    if not isinstance(metadata, dict) or "agog_format" not in metadata:
        raise ValueError("its metadata have no 'agog_format': it is of another program, so read it with load_tensors")
    if metadata["agog_format"] not in READABLE:
        raise ValueError(
            f"its format version is {metadata['agog_format']!r}, but this release reads the versions "
            f"{' and '.join(map(repr, READABLE))}; another release of agog-checkpoint may read it"
        )
    text, written = metadata.get("agog_graph"), metadata.get("agog_checksum")
    if not isinstance(text, str):
        raise ValueError("its metadata have no object graph")
    if written != crc32(text.encode()):
        raise ValueError(f"its object graph has the checksum {crc32(text.encode())!r}, but {written!r} was written")
    return parse_graph(text)


def parse_header(content: Content) -> Header:
    """Read a file's header; where it has none, a ValueError says why."""
    if len(content) < 8:
        raise ValueError(f"it has {len(content)} bytes, fewer than the 8 that hold the length of its header")
    length = int.from_bytes(content[:8], "little")
    # Before anything of that size is made.
    if length > min(LONGEST_HEADER, len(content) - 8):
        raise ValueError(f"it announces a header of {length} bytes, but {len(content) - 8} bytes follow")
    try:
        entries = compact_json.load(content[8 : 8 + length].decode())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its header is not JSON ({error})") from error
    if not isinstance(entries, dict):
        raise ValueError("its header is not a JSON object")
    return Header(entries, entries.pop("__metadata__", None), 8 + length)


def header_of(path: str) -> Header:
    """Read the header of a file, and nothing else of it. Where it has none, a ValueError says why; OSError where the
    file cannot be read, or is no regular one."""
    with open_regular(path) as stream:
        length = stream.read(8)
        return parse_header(length + stream.read(min(int.from_bytes(length, "little"), LONGEST_HEADER)))


def read_tensors(
    content: Content, entries: Mapping[str, Any], begin: int, variables: Iterable[SavedVariable]
) -> dict[str, Array]:
    """Check every byte of the tensors in a file, which begin at ``begin``: views of the content by key. Where they are
    not what was written, a ValueError says how."""
    expected = {variable.key: variable for variable in variables}
    total = sum(map(size_of, expected.values()))
    if entries.keys() != expected.keys():
        differing = sorted(entries.keys() ^ expected.keys())
        raise ValueError(f"its header and its object graph do not name the same tensors; they differ in {differing}")
    if total != len(content) - begin:
        raise ValueError(f"its tensors take {total} bytes, but {len(content) - begin} are there")
    return {key: _tensor(variable, entries[key], content, begin) for key, variable in expected.items()}


def _tensor(variable: SavedVariable, entry: Any, content: Content, begin: int) -> Array:
    dtype, shape = _stored(variable)
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"the entry of {variable.key!r} in its header is malformed")
    if entry["dtype"] != _code(dtype) or entry["shape"] != list(shape):
        raise ValueError(f"the dtype or shape of {variable.key!r} in its header is not that in its object graph")
    first, last = entry["data_offsets"]
    size = size_of(variable)
    if (
        type(first) is not int
        or type(last) is not int
        or first < 0
        or last - first != size
        or last > len(content) - begin
    ):
        raise ValueError(f"the offsets of {variable.key!r} in its header are wrong")
    data = memoryview(content)[begin + first : begin + last]
    # Eight digits are those of format version 1.
    found = crc32(data) if len(variable.checksum) == 8 else checksum(data)
    if found != variable.checksum:
        raise ValueError(
            f"the bytes of {variable.key!r} have the checksum {found!r}, but {variable.checksum!r} was written"
        )
    numpy_dtype = DTYPES[variable.dtype].numpy_dtype
    # One array and not a view of one, so that who holds views of it holds it.
    return np.ndarray(variable.shape, numpy_dtype, data) if size else np.empty(variable.shape, numpy_dtype)


def _stored(variable: SavedVariable) -> tuple[DType, tuple[int, ...]]:
    """The dtype and shape in the file: complex numbers, which not all readers know, are pairs of real ones."""
    dtype = DTYPES[variable.dtype]
    return (dtype.real_dtype, (*variable.shape, 2)) if dtype.is_complex else (dtype, variable.shape)


@cache
def _size(dtype: str) -> int:
    """How many bytes a number takes in the file."""
    return DTYPES[dtype].size


@cache
def _element_size(dtype: str) -> int:
    """How many bytes a number, or half of a complex one, takes in the file."""
    return _stored(SavedVariable("", dtype, ()))[0].size


@cache
def _code(dtype: DType) -> str:
    """The name that safetensors has for a dtype, such as ``F32``."""
    name = dtype.name.rstrip("0123456789")
    return _CODES.get(dtype.name) or _KINDS[name] + dtype.name.removeprefix(name)
