"""The reader of IDX files, on good files and on every kind of bad one."""

from __future__ import annotations

import gzip
import os
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agog_core import errors
from agog_data.datasets import idx
from agog_testing import says

# The session `endurance` tries many more files.
EXAMPLES = 20_000 if os.environ.get("AGOG_ENDURANCE") == "1" else 250

CODES = {"u1": 0x08, "i1": 0x09, "i2": 0x0B, "i4": 0x0C, "f4": 0x0D, "f8": 0x0E}


def encode(array: np.ndarray[Any, Any]) -> bytes:
    """An IDX file, written down from the description of the format."""
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, CODES[array.dtype.str[1:]], array.ndim, *array.shape)
    return header + b"".join(struct.pack(f">{array.dtype.char}", item) for item in array.reshape(-1).tolist())


def write(folder: Path, data: bytes, name: str = "file") -> Path:
    (folder / name).write_bytes(data)
    return folder / name


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 1, 3, 2), (0,), (3, 0, 2)])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_round_trip(tmp_path: Path, code: str, shape: tuple[int, ...], compress: Any) -> None:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(code) - np.dtype(code).type(code != "u1")
    found = idx.read(write(tmp_path, compress(encode(array))))
    assert found.dtype == np.dtype(code).newbyteorder("=")
    assert found.shape == shape
    assert np.array_equal(found, array)
    assert found.flags.writeable
    assert found.flags.c_contiguous


def test_values_use_all_bytes(tmp_path: Path) -> None:
    array = np.array([-1.5, 3e300, np.inf], np.float64)
    assert np.array_equal(idx.read(write(tmp_path, encode(array))), array)
    array = np.array([-(2**31), 2**31 - 1, 256], np.int32)
    assert np.array_equal(idx.read(str(write(tmp_path, encode(array)))), array)


HEADER = bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3])


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "byte 0: the file ends here, but the magic number, 4 bytes from byte 0 on need 4 bytes."),
        (b"\0\0\x08", "byte 3: the file ends here, but the magic number, 4 bytes from byte 0 on need 4 bytes."),
        (
            HEADER[:9],
            "byte 9: the file ends here, but the sizes of 2 axes, 8 bytes from byte 4 on need 8 bytes.",
        ),
        (
            HEADER + b"12345",
            "byte 17: the file ends here, but elements of shape (2, 3) and dtype uint8 from byte 12 on need 6 bytes.",
        ),
        (
            HEADER + b"12345678",
            "byte 18: the elements of shape (2, 3) and dtype uint8 end here, but more follows; the file has 20 bytes.",
        ),
        (
            b"PNG!",
            "byte 0: an IDX file begins with 00 00, a dtype (08, 09, 0b, 0c, 0d, 0e) and a number of axes up to 40; "
            "this one begins with 50 4e 47 21.",
        ),
        (
            b"\0\0\x0a\x01\0\0\0\0",
            "byte 0: an IDX file begins with 00 00, a dtype (08, 09, 0b, 0c, 0d, 0e) and a number of axes up to 40; "
            "this one begins with 00 00 0a 01.",
        ),
        (
            b"\0\0\x08\x41" + bytes(4 * 65),
            "byte 0: an IDX file begins with 00 00, a dtype (08, 09, 0b, 0c, 0d, 0e) and a number of axes up to 40; "
            "this one begins with 00 00 08 41.",
        ),
        (
            b"\0\0\x0e\x04" + b"\xff" * 16,
            "byte 20: the file ends here, but elements of shape (4294967295, 4294967295, 4294967295, 4294967295) and "
            f"dtype float64 from byte 20 on need {8 * 4294967295**4} bytes.",
        ),
        (
            b"\0\0\x08\x04" + bytes(4) + b"\xff" * 12,
            "byte 4: there can be no array of shape (0, 4294967295, 4294967295, 4294967295).",
        ),
    ],
)
def test_errors_name_the_file_and_the_byte(tmp_path: Path, data: bytes, problem: str) -> None:
    path = write(tmp_path, data)
    with says(errors.DataLossError, f"{path}: at {problem}"):
        idx.read(path)


def test_an_expected_magic_number(tmp_path: Path) -> None:
    path = write(tmp_path, HEADER + b"123456")
    assert idx.read(path, 0x00000802).shape == (2, 3)
    with says(errors.DataLossError, f"{path}: at byte 0: the magic number 0x00000803 is expected; it is 0x00000802."):
        idx.read(path, 0x00000803)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with says(errors.NotFoundError, f"{tmp_path / 'none'}: there is no such file."):
        idx.read(tmp_path / "none")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(errors.OpError) as info:
        idx.read(tmp_path)
    assert str(info.value).startswith(f"{tmp_path}: it ")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = write(tmp_path, HEADER)
    path.chmod(0)
    with says(errors.PermissionDeniedError, f"{path}: it may not be read: Permission denied."):
        idx.read(path)


GOOD = gzip.compress(HEADER + bytes(range(6)), mtime=0)


@pytest.mark.parametrize("length", range(2, len(GOOD)))
def test_a_truncated_gzip_file(tmp_path: Path, length: int) -> None:
    path = write(tmp_path, GOOD[:length])
    with pytest.raises(errors.DataLossError) as info:
        idx.read(path)
    assert str(info.value).startswith(f"{path}: at byte ")
    assert str(info.value).endswith("of the decompressed data: the gzip stream is truncated.")


def test_gzip_errors(tmp_path: Path) -> None:
    wrong_sum = write(tmp_path, GOOD[:-8] + b"\0\0\0\0" + GOOD[-4:])
    with pytest.raises(
        errors.DataLossError, match=r"at byte 18 of the decompressed data: the gzip stream is corrupt: CRC"
    ):
        idx.read(wrong_sum)
    no_stream = write(tmp_path, b"\x1f\x8bno gzip at all")
    with pytest.raises(errors.DataLossError, match=r"at byte 0 of the decompressed data: the gzip stream is corrupt: "):
        idx.read(no_stream)
    long = write(tmp_path, gzip.compress(HEADER + bytes(7)))
    with says(
        errors.DataLossError,
        f"{long}: at byte 18 of the decompressed data: the elements of shape (2, 3) and dtype uint8 end here, but "
        "more follows.",
    ):
        idx.read(long)
    short = write(tmp_path, gzip.compress(HEADER + bytes(5)))
    with says(
        errors.DataLossError,
        f"{short}: at byte 17 of the decompressed data: the data end here, but elements of shape (2, 3) and dtype "
        "uint8 from byte 12 on need 6 bytes.",
    ):
        idx.read(short)


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_header_cannot_make_us_allocate(tmp_path: Path, compress: Any) -> None:
    path = write(tmp_path, compress(b"\0\0\x08\x03" + struct.pack(">III", 2**31, 2**5, 2**4) + bytes(1000)))
    tracemalloc.start()
    with pytest.raises(errors.DataLossError, match="need 1099511627776 bytes"):
        idx.read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6


def test_more_than_is_allowed_of_a_compressed_file(tmp_path: Path) -> None:
    array = np.zeros((20, 1000, 1000), np.uint8)
    path = write(tmp_path, gzip.compress(encode(array)))
    assert path.stat().st_size < 30_000
    tracemalloc.start()
    with pytest.raises(errors.ResourceExhaustedError) as info:
        idx.read(path, max_bytes=2_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(info.value) == (
        f"{path}: elements of shape (20, 1000, 1000) and dtype uint8 from byte 16 on need 20000000 bytes, and at most "
        "2000000 of a compressed file are read; max_bytes=... allows more."
    )
    assert peak < 8e6
    assert idx.read(path, max_bytes=20_000_016).shape == array.shape
    assert idx.read(write(tmp_path, encode(array), "plain"), max_bytes=1).shape == array.shape  # its size is known
    with pytest.raises(errors.InvalidArgumentError, match="max_bytes"):
        idx.read(path, max_bytes=0)


HEADERS = st.builds(
    lambda zeros, code, sizes, data: zeros + bytes([code, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes) + data,
    st.sampled_from([b"\0\0", b"\0\x01"]),
    st.sampled_from([*CODES.values(), 0x0A]),
    st.lists(st.integers(0, 4) | st.integers(0, 2**32 - 1), max_size=5),
    st.binary(max_size=80),
)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=64) | HEADERS, st.booleans(), st.data())
def test_any_bytes_are_an_array_or_one_error(
    tmp_path: Path, content: bytes, compressed: bool, data: st.DataObject
) -> None:
    if compressed:
        packed = bytearray(gzip.compress(content, mtime=0))
        for _ in range(data.draw(st.integers(0, 3))):
            packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
        content = bytes(packed[: data.draw(st.integers(0, len(packed)))])
    path = write(tmp_path, content)
    try:
        array = idx.read(path)
    except errors.DataLossError as error:
        assert str(error).startswith(f"{path}: at byte ")  # noqa: PT017  (most examples raise, some do not)
    else:
        read = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        assert encode(array) == read or np.isnan(array).any()
