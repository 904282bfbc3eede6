"""Checkpoints of TensorFlow as agog writes them, and the pieces of the formats; `nox -s tensorflow` reads them with
TensorFlow."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bundles.tensors import PARTS, SECOND, same

from agog_checkpoint.tensorflow import open_checkpoint
from agog_checkpoint.tensorflow.ordered_code import slice_key
from agog_checkpoint.tensorflow.protobuf import encoded_field, encoded_varint
from agog_checkpoint.tensorflow.snappy import decompressed
from agog_checkpoint.tensorflow.table import Table
from agog_checkpoint.tensorflow.table_writer import encoded_table
from agog_checkpoint.tensorflow.writer import write_checkpoint
from agog_core.errors import DataLossError, UnimplementedError
from agog_testing import says

FILES = Path(__file__).parent / "files"


def test_what_is_written_is_read(tmp_path: Path) -> None:
    tensors = SECOND | PARTS | {f"many/{i:04d}/w": np.full((i % 5, 2), i, np.float32) for i in range(1000)}
    tensors["strided"], tensors["big"] = np.arange(12.0).reshape(3, 4).T[::2], np.arange(3, dtype=">i4")
    path = str(tmp_path / "folder" / "m.ckpt")
    write_checkpoint(path, tensors)
    expected = tensors | {"big": np.arange(3, dtype=np.int32)}
    with open_checkpoint(path) as checkpoint:
        assert checkpoint.names() == sorted(expected)
        assert not [name for name, value in expected.items() if not same(checkpoint.read(name), value)]


def test_data_are_those_that_tensorflow_writes(tmp_path: Path) -> None:
    with open_checkpoint(FILES / "layers/model.ckpt-3") as checkpoint:
        write_checkpoint(str(tmp_path / "m"), {name: checkpoint.read(name) for name in checkpoint.names()})
    own, theirs = (f"{prefix}.data-00000-of-00001" for prefix in (tmp_path / "m", FILES / "layers/model.ckpt-3"))
    assert Path(own).read_bytes() == Path(theirs).read_bytes()
    own, theirs = f"{tmp_path}/m.index", f"{FILES}/layers/model.ckpt-3.index"
    with open(own, "rb") as one, open(theirs, "rb") as other:
        assert list(Table(one)) == list(Table(other))


@pytest.mark.parametrize(
    ("name", "array", "text"),
    [
        ("", np.ones(1), "TensorFlow checkpoint: a tensor cannot have the name ''."),
        ("\0w", np.ones(1), "TensorFlow checkpoint: a tensor cannot have the name '\\x00w'."),
        (
            "w",
            np.array(["a"]),
            "TensorFlow checkpoint: 'w' has the dtype <U1, which TensorFlow lacks.",
        ),
    ],
)
def test_what_tensorflow_lacks_is_not_written(tmp_path: Path, name: str, array: Any, text: str) -> None:
    with says(ValueError, text):
        write_checkpoint(str(tmp_path / "m"), {name: array})
    assert list(tmp_path.iterdir()) == []


def _index(folder: Path, pairs: Iterable[tuple[bytes, bytes]]) -> str:
    """A checkpoint with these entries, and 8 bytes of data."""
    (folder / "m.index").write_bytes(encoded_table(sorted(pairs)))
    (folder / "m.data-00000-of-00001").write_bytes(bytes(8))
    return str(folder / "m")


_HEADER = (b"", encoded_field(1, 1))


def _entry(dtype: int, *shape: int, size: int = 8, offset: int = 0) -> bytes:
    dims = b"".join(encoded_field(2, encoded_field(1, length)) for length in shape)
    return encoded_field(1, dtype) + encoded_field(2, dims) + encoded_field(4, offset) + encoded_field(5, size)


def test_big_endian_numbers_are_refused(tmp_path: Path) -> None:
    path = _index(tmp_path, [(b"", encoded_field(1, 1) + encoded_field(2, 1))])
    with says(
        UnimplementedError,
        f"TensorFlow checkpoint: {path!r} was written on a machine with big-endian numbers, and agog reads "
        "little-endian ones; restore and save it with TensorFlow on such a machine.",
    ):
        open_checkpoint(path)


def test_dtypes_that_agog_lacks_are_named(tmp_path: Path) -> None:
    path = _index(tmp_path, [_HEADER, (b"v", _entry(21, 2)), (b"x", _entry(99, 2))])
    with open_checkpoint(path) as checkpoint:
        assert checkpoint.shape("v") == (2,)
        text = f"TensorFlow checkpoint: tensor 'v' in {path!r} cannot be read: agog has no dtype variant."
        with says(UnimplementedError, text):
            checkpoint.read("v")
        with says(UnimplementedError, text):
            checkpoint.dtype("v")
        with says(
            DataLossError,
            f"TensorFlow checkpoint: the file {path + '.index'!r} is damaged in tensor 'x': TensorFlow has no dtype "
            "with the number 99.",
        ):
            checkpoint.read("x")


@pytest.mark.parametrize(
    ("entry", "file", "fault"),
    [
        (_entry(1, 3), ".index", "it has 8 bytes, but float32 [3] has 12"),
        (_entry(1, 1 << 62), ".index", f"it has 8 bytes, but float32 [{1 << 62}] has {1 << 64}"),
        (_entry(1, (1 << 64) - 1), ".index", "the shape [-1] has negative sizes, an unknown rank or too many axes"),
        (_entry(1, 2, offset=1), ".data-00000-of-00001", "the file ends before its 8 bytes from byte 1 on"),
        (_entry(1, 2), ".data-00000-of-00001", "its bytes have another checksum than was written"),
        (_entry(7, 1 << 40), ".data-00000-of-00001", f"{1 << 40} texts cannot be in 8 bytes"),
        (_entry(1, 2) + encoded_field(3, 7), ".data-00007-of-00001", "the file does not exist"),
        (_entry(1, 1 << 40) + encoded_field(7, encoded_field(1, b"")), ".index", "its slice - is missing"),
    ],
)
def test_entries_that_do_not_fit_are_damage(tmp_path: Path, entry: bytes, file: str, fault: str) -> None:
    path = _index(tmp_path, [_HEADER, (b"w", entry)])
    text = f"TensorFlow checkpoint: the file {path + file!r} is damaged in tensor 'w': {fault}."
    with open_checkpoint(path) as checkpoint, says(DataLossError, text):
        checkpoint.read("w")


_CHECKSUM = (0x49258FD2).to_bytes(4, "little")  # of one zero


@pytest.mark.parametrize(
    ("extents", "fault"),
    [
        ([(0, 1), (0, 1)], "its slices overlap"),
        ([(0, 1), (1, 2)], "the slice 1,2 is not inside of the shape [2]"),
        ([(0, 1)], "its slices have not the elements of its shape [2]"),
    ],
)
def test_slices_that_do_not_fit_are_damage(tmp_path: Path, extents: list[tuple[int, int]], fault: str) -> None:
    slices = b"".join(
        encoded_field(7, encoded_field(1, encoded_field(1, start) + encoded_field(2, length)))
        for start, length in extents
    )
    parts = [(slice_key("w", [extent]), _entry(4, 1, size=1) + b"\x35" + _CHECKSUM) for extent in extents]
    path = _index(tmp_path, dict([_HEADER, (b"w", _entry(4, 2) + slices), *parts]).items())
    with open_checkpoint(path) as checkpoint, pytest.raises(DataLossError) as error:
        checkpoint.read("w")
    assert str(error.value).endswith(f"is damaged in tensor 'w': {fault}.")


def test_snappy_of_literals_and_copies() -> None:
    """Against a compressor of one's own, of the elements that the format's description names."""
    chances = random.Random(0)
    for _ in range(200):
        expected, raw = bytearray(), bytearray()
        for _ in range(chances.randrange(1, 20)):
            if not expected or chances.random() < 0.5:
                text = chances.randbytes(chances.choice((1, 60, 61, 300)))
                wide = 0 if len(text) <= 60 else chances.choice((1, 2, 4)) if len(text) <= 256 else 2
                raw += bytes([(len(text) - 1 if not wide else 59 + wide) << 2])
                raw += (len(text) - 1).to_bytes(wide, "little") + text if wide else text
                expected += text
            else:
                back, length = chances.randrange(1, len(expected) + 1), chances.randrange(4, 12)
                if back < 2048 and chances.random() < 0.5:
                    raw += bytes([1 | length - 4 << 2 | back >> 8 << 5, back & 255])
                else:
                    wide = chances.choice((2, 4))
                    raw += bytes([(2 if wide == 2 else 3) | length - 1 << 2]) + back.to_bytes(wide, "little")
                for _ in range(length):
                    expected.append(expected[-back])
        assert decompressed(encoded_varint(len(expected)) + raw) == expected
        with pytest.raises(ValueError, match="should have"):
            decompressed(encoded_varint(len(expected) + 1) + raw)
