"""Safetensors files of other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint, load_tensors
from agog_core.errors import DataLossError


def write(folder: Path, entry: Any, data: bytes) -> Path:
    header = json.dumps({"x": entry}).encode()
    (folder / "a.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + data)
    return folder / "a.safetensors"


@pytest.mark.parametrize(
    ("code", "dtype"),
    [
        *(("BOOL", "bool"), ("I8", "int8"), ("U8", "uint8"), ("I64", "int64"), ("U16", "uint16"), ("U32", "uint32")),
        *(("U64", "uint64"), ("F16", "float16"), ("F32", "float32"), ("F64", "float64"), ("C64", "complex64")),
        ("BF16", ml_dtypes.bfloat16),
        ("F8_E4M3", ml_dtypes.float8_e4m3fn),
        ("F8_E5M2", ml_dtypes.float8_e5m2),
    ],
)
def test_dtypes(tmp_path: Path, code: str, dtype: Any) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    entry = {"dtype": code, "shape": [2, 3], "data_offsets": [0, array.nbytes]}
    loaded = load_tensors(write(tmp_path, entry, array.tobytes()))["x"]
    assert loaded.dtype == array.dtype
    assert loaded.shape == (2, 3)
    assert loaded.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    ("entry", "data", "fault"),
    [
        ({"dtype": code, "shape": [1], "data_offsets": [0, 1]}, b"1", f"'x' has the dtype {code!r}, which agog lacks")
        for code in ("F8_E8M0", "F8_E5M2FNUZ", "F4", "I4", "float32", "")
    ]
    + [
        ({"dtype": "U8", "shape": [1]}, b"1", "the entry of 'x' in its header is malformed"),
        ([], b"1", "the entry of 'x' in its header is malformed"),
        (
            {"dtype": "U8", "shape": [-1], "data_offsets": [0, 1]},
            b"1",
            "the shape or the offsets of 'x' in its header are not those of a tensor",
        ),
        (
            {"dtype": "U8", "shape": [1], "data_offsets": [0, True]},
            b"1",
            "the shape or the offsets of 'x' in its header are not those of a tensor",
        ),
        (
            {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
            b"1234",
            "'x' should take 8 bytes, which are not there",
        ),
        (
            {"dtype": "F32", "shape": [1], "data_offsets": [0, 3]},
            b"1234",
            "'x' should take 4 bytes, which are not there",
        ),
    ],
)
def test_what_is_no_tensor(tmp_path: Path, entry: Any, data: bytes, fault: str) -> None:
    file = write(tmp_path, entry, data)
    with pytest.raises(DataLossError) as raised:
        load_tensors(file)
    assert raised.value.message == f"load_tensors: '{file}' is not a whole safetensors file: {fault}."


@pytest.mark.parametrize("content", [b"", b"1234567", b"\xff" * 100])
def test_what_is_no_file_of_tensors(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.safetensors").write_bytes(content)
    with pytest.raises(DataLossError, match=r"is not a whole safetensors file: it (has|announces)"):
        load_tensors(tmp_path / "a.safetensors")


def test_values_that_begin_anywhere(tmp_path: Path) -> None:
    array = np.arange(3, dtype=np.float32)
    file = write(tmp_path, {"dtype": "F32", "shape": [3], "data_offsets": [1, 13]}, b"?" + array.tobytes())
    v = ag.Variable(np.zeros(3, np.float32))
    Checkpoint(x=v).restore_tensors(load_tensors(file)).assert_consumed()
    np.testing.assert_array_equal(v.numpy() + 1, array + 1)
