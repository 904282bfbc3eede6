"""Layout of safetensors files: eight bytes with the header's length, the header as JSON, the tensors' bytes.

https://huggingface.co/docs/safetensors describes it; `safetensors_file` says why it is written here.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any, BinaryIO

import numpy as np

from agog_checkpoint import compact_json
from agog_checkpoint.checksum import checksum, crc32
from agog_checkpoint.garbage_collection import without_collection
from agog_checkpoint.graph import DTYPES, Graph, SavedVariable, parse_graph
from agog_checkpoint.safetensors_file import CODES, LONGEST_HEADER, Array, StoredTensor, array
from agog_core import DType, Tensor
from agog_core.errors import InvalidArgumentError

VERSION = "2"
READABLE = ("1", "2")
_ALIGNMENT = 64  # of the first tensor, for vector instructions on mapped memory
_LARGE = 1_000_000  # bytes whose sums take longer than asking another thread for them


def in_order(variables: Iterable[SavedVariable]) -> list[SavedVariable]:
    """Variables in the package's order, by dtype and key; elements never grow, so each tensor is aligned to its own."""
    return sorted(variables, key=lambda variable: (_rank(variable.dtype), variable.key))


def size_of(variable: SavedVariable) -> int:
    """How many bytes a variable takes in a file."""
    return _size(variable.dtype) * math.prod(variable.shape)


@without_collection()
def entries_of(variables: Iterable[SavedVariable]) -> str:
    """The header's entries for variables, in the order of their bytes, as JSON."""
    found: dict[str, Any] = {}
    end = 0
    for variable in variables:
        dtype, shape = _stored(variable)
        begin, end = end, end + size_of(variable)
        found[variable.key] = {"dtype": CODES[dtype.name], "shape": shape, "data_offsets": [begin, end]}
    return compact_json.dump(found, ensure_ascii=False)


def header(entries: str, metadata: Mapping[str, str]) -> bytes:
    """A file's first bytes, up to those of the tensors, with what `entries_of` says. Raises InvalidArgumentError if
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
    """Let another thread compute the checksum of a large tensor during its write; the result waits for it."""
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
    """A file's metadata for a graph: texts by name."""
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


def verified(tensors: Mapping[str, StoredTensor], variables: Iterable[SavedVariable]) -> dict[str, Array]:
    """Check every byte of the tensors in a file: views of them by key. Where they are not what was written, a
    ValueError says how."""
    expected = {variable.key: variable for variable in variables}
    if tensors.keys() != expected.keys():
        differing = sorted(tensors.keys() ^ expected.keys())
        raise ValueError(f"its header and its object graph do not name the same tensors; they differ in {differing}")
    return {key: _verified(variable, tensors[key]) for key, variable in expected.items()}


def _verified(variable: SavedVariable, tensor: StoredTensor) -> Array:
    dtype, shape = _stored(variable)
    if tensor.dtype != dtype.name or tensor.shape != shape:
        raise ValueError(f"the dtype or shape of {variable.key!r} in its header is not that in its object graph")
    # Eight digits are those of format version 1.
    found = crc32(tensor.data) if len(variable.checksum) == 8 else checksum(tensor.data)
    if found != variable.checksum:
        raise ValueError(
            f"the bytes of {variable.key!r} have the checksum {found!r}, but {variable.checksum!r} was written"
        )
    return array(DTYPES[variable.dtype], variable.shape, tensor.data)


def _stored(variable: SavedVariable) -> tuple[DType, tuple[int, ...]]:
    """The dtype and shape in the file: complex numbers, which not all readers know, are pairs of real ones."""
    dtype = DTYPES[variable.dtype]
    return (dtype.real_dtype, (*variable.shape, 2)) if dtype.is_complex else (dtype, variable.shape)


@cache
def _size(dtype: str) -> int:
    """How many bytes a number takes in the file."""
    return DTYPES[dtype].size


@cache
def _rank(dtype: str) -> int:
    """The place of a dtype in the package's order."""
    return list(CODES).index(_stored(SavedVariable("", dtype, ()))[0].name)
