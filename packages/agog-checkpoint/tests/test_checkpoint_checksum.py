"""The checksum of a tensor's bytes, and files of the first format version, which have another."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint
from agog_checkpoint.checksum import checksum
from agog_core.errors import DataLossError

ROW = 8192
SEED = 20_261_121


def by_hand(data: bytes) -> str:
    """The same in Python's integers."""
    words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data) // ROW * ROW, 8)]
    rows = [sum(words[i : i + 1024]) % 2**64 for i in range(0, len(words), 1024)]
    columns = [sum(words[i::1024]) % 2**64 for i in range(1024 if words else 0)]
    packed = [b"".join(number.to_bytes(8, "little") for number in numbers) for numbers in (rows, columns)]
    rest = data[len(words) * 8 :]
    return f"{zlib.crc32(packed[0] + rest):08x}{zlib.crc32(packed[1]):08x}"


@pytest.mark.parametrize("length", [0, 1, 7, 8, 100, ROW - 1, ROW, ROW + 1, 3 * ROW + 13, 300 * ROW + 5])
def test_it_is_what_it_says(length: int) -> None:
    data = np.random.default_rng(SEED).bytes(length)
    assert checksum(memoryview(data)) == by_hand(data)


def test_every_bit_counts() -> None:
    data = bytearray(np.random.default_rng(SEED).bytes(2 * ROW + 100))
    good = checksum(memoryview(data))
    for position in range(0, len(data)):
        for bit in (0, 1, 6, 7) if position % 97 else range(8):
            data[position] ^= 1 << bit
            assert checksum(memoryview(data)) != good, (position, bit)
            data[position] ^= 1 << bit
    assert checksum(memoryview(data)) == good


@pytest.mark.parametrize("size", [8, 16, 512, 4096, ROW])
def test_what_changes_its_place_is_noticed(size: int) -> None:
    rng = np.random.default_rng(SEED)
    data = rng.bytes(4 * ROW)
    good = checksum(memoryview(data))
    for _ in range(100):
        first, second = (int(i) * size for i in rng.choice(len(data) // size, 2, replace=False))
        other = bytearray(data)
        other[first : first + size], other[second : second + size] = (
            data[second : second + size],
            data[first : first + size],
        )
        assert checksum(memoryview(other)) != good, f"seed {SEED}: {first} and {second}"


def test_what_became_zeros_is_noticed() -> None:
    data = np.random.default_rng(SEED).bytes(4 * ROW)
    good = checksum(memoryview(data))
    for begin in range(0, len(data), 512):
        for length in (512, 4096, len(data) - begin):
            assert checksum(memoryview(data[:begin] + bytes(length) + data[begin + length :])[: len(data)]) != good


def version_1(file: Path, data: bytes) -> None:
    """A file as the first release wrote it."""
    crc32 = f"{zlib.crc32(np.arange(3, dtype='<f4').tobytes()):08x}"
    variable = {"key": "v", "dtype": "float32", "shape": [3], "crc32": crc32}
    graph = json.dumps({"nodes": [{"children": {"v": 1}}, {"variable": variable}], "slots": []})
    metadata = {"agog_format": "1", "agog_checksum": f"{zlib.crc32(graph.encode()):08x}", "agog_graph": graph}
    entry = {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}
    header = json.dumps({"__metadata__": metadata, "v": entry}).encode()
    file.write_bytes(len(header).to_bytes(8, "little") + header + data)


def test_files_of_format_version_1_are_read(tmp_path: Path) -> None:
    data = np.arange(3, dtype="<f4").tobytes()
    version_1(tmp_path / "a.safetensors", data)
    checkpoint = Checkpoint(v=ag.Variable([7.0, 7.0, 7.0]))
    checkpoint.restore(tmp_path / "a").assert_consumed()
    assert checkpoint.v.numpy().tolist() == [0.0, 1.0, 2.0]
    version_1(tmp_path / "b.safetensors", data[:-1] + b"\1")
    with pytest.raises(DataLossError, match="checksum"):
        checkpoint.restore(tmp_path / "b")
