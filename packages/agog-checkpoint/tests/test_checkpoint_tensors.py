"""Safetensors files of other programs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import safetensors
from safetensors import safe_open
from safetensors.numpy import save_file

import agog_core as ag
from agog_checkpoint import Checkpoint, load_tensors
from agog_core.errors import DataLossError
from agog_testing import says


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


def test_a_dtype_that_agog_lacks(tmp_path: Path) -> None:
    file = write(tmp_path, {"dtype": "F8_E8M0", "shape": [1], "data_offsets": [0, 1]}, b"1")
    with says(
        DataLossError,
        f"load_tensors: '{file}' is not a whole safetensors file: 'x' has the dtype 'F8_E8M0', which agog lacks.",
    ):
        load_tensors(file)


@pytest.mark.parametrize(
    ("entry", "data", "fault"),
    [
        (
            {"dtype": "float32", "shape": [1], "data_offsets": [0, 4]},
            b"1234",
            "invalid JSON in header: unknown variant",
        ),
        ({"dtype": "U8", "shape": [1]}, b"1", "invalid JSON in header: missing field"),
        ({"dtype": "U8", "shape": [-1], "data_offsets": [0, 1]}, b"1", "invalid JSON in header: invalid value"),
        ({"dtype": "U8", "shape": [1], "data_offsets": [0, True]}, b"1", "invalid JSON in header: invalid type"),
        ({"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}, b"1234", "invalid shape, data type, or offset"),
        (
            {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
            b"12345",
            "incomplete metadata, file not fully covered",
        ),
        ({"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}, b"123", "incomplete metadata, file not"),
        ({"dtype": "F32", "shape": [1], "data_offsets": [1, 5]}, b"?1234", "invalid offset for tensor `x`"),
    ],
)
def test_what_the_package_refuses(tmp_path: Path, entry: Any, data: bytes, fault: str) -> None:
    file = write(tmp_path, entry, data)
    with pytest.raises(DataLossError) as raised:
        load_tensors(file)
    assert raised.value.message.startswith(
        f"load_tensors: '{file}' is not a whole safetensors file: safetensors cannot read its "
        f"{file.stat().st_size} bytes: {fault}"
    )


@pytest.mark.parametrize(
    ("content", "fault"),
    [(b"", "header too small"), (b"1234567", "header too small"), (b"\xff" * 100, "header too large")],
)
def test_what_is_no_file_of_tensors(tmp_path: Path, content: bytes, fault: str) -> None:
    file = tmp_path / "a.safetensors"
    file.write_bytes(content)
    with says(
        DataLossError,
        f"load_tensors: '{file}' is not a whole safetensors file: safetensors cannot read its {len(content)} bytes: "
        f"{fault}.",
    ):
        load_tensors(file)


def test_values_that_begin_anywhere(tmp_path: Path) -> None:
    array = np.arange(3, dtype=np.float32)
    header = json.dumps(
        {
            "byte": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
            "x": {"dtype": "F32", "shape": [3], "data_offsets": [1, 13]},
        }
    ).encode()
    (tmp_path / "a.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"?" + array.tobytes())
    v = ag.Variable(np.zeros(3, np.float32))
    tensors = load_tensors(tmp_path / "a.safetensors")
    Checkpoint(x=v).restore_tensors({"x": tensors["x"]}).assert_consumed()
    np.testing.assert_array_equal(v.numpy() + 1, array + 1)


def test_a_file_that_is_replaced_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The header and the tensors are those of one file, which is open, and not of its name."""
    file, newer = tmp_path / "a.safetensors", tmp_path / "newer"
    save_file({"older": np.arange(3, dtype=np.int16)}, file)
    save_file({"newer": np.arange(50, dtype=np.float64), "more": np.zeros(2)}, newer)

    def replace_and_open(*arguments: Any) -> Any:
        newer.replace(file)
        return safe_open(*arguments)

    monkeypatch.setattr(safetensors, "safe_open", replace_and_open)
    assert {name: array.tolist() for name, array in load_tensors(file).items()} == {"older": [0, 1, 2]}


def test_a_system_that_does_not_name_open_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.safetensors"
    save_file({"x": np.arange(3, dtype=np.int16)}, file)
    monkeypatch.setattr("os.path.exists", lambda path: False)
    assert load_tensors(file)["x"].tolist() == [0, 1, 2]


def test_a_file_that_is_cut_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.safetensors"
    save_file({"x": np.arange(3, dtype=np.float32)}, file)

    def open_and_cut(*arguments: Any) -> Any:
        opened = safe_open(*arguments)
        os.truncate(file, file.stat().st_size - 4)
        return opened

    monkeypatch.setattr(safetensors, "safe_open", open_and_cut)
    with pytest.raises(DataLossError, match="is not a whole safetensors file: buffer is too small"):
        load_tensors(file)


def test_tensors_are_read_only(tmp_path: Path) -> None:
    save_file({"x": np.arange(3, dtype=np.float32), "none": np.zeros((0, 2))}, tmp_path / "a.safetensors")
    tensors = load_tensors(tmp_path / "a.safetensors")
    assert not tensors["x"].flags.writeable
    assert tensors["none"].shape == (0, 2)
