"""The rows of NumPy's files, compared with `numpy.load`, on good files and on every kind of bad one."""

from __future__ import annotations

import json
import os
import pickle
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agog_core import errors
from agog_data import Dataset, Iterator
from agog_data.readers import NumpyDataset
from agog_testing import says

# The session `endurance` tries many more broken files.
EXAMPLES = 20_000 if os.environ.get("AGOG_ENDURANCE") == "1" else 250

Array = np.ndarray[Any, Any]


def rows(dataset: Dataset) -> list[Any]:
    return [element.numpy() for element in dataset]


def saved(folder: Path, array: Array, name: str = "x.npy") -> Path:
    np.save(folder / name, array, allow_pickle=False)
    return folder / name


@pytest.mark.parametrize("dtype", ["u1", "i2", ">i4", "i8", "f2", ">f4", "f8", "c8", "?"])
@pytest.mark.parametrize("shape", [(5,), (4, 3), (3, 2, 2), (0, 3), (3, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_are_those_that_numpy_loads(tmp_path: Path, dtype: str, shape: tuple[int, ...], order: Any) -> None:
    array = np.asarray(np.arange(np.prod(shape)).reshape(shape) - (dtype != "u1"), dtype, order=order)
    path = saved(tmp_path, array)
    dataset = NumpyDataset(path)
    expected = np.load(path)
    found = rows(dataset)
    assert len(found) == len(expected)
    assert all(
        np.array_equal(a, b) and a.dtype == b.dtype.newbyteorder("=") for a, b in zip(found, expected, strict=True)
    )
    assert dataset.output_shapes == shape[1:]
    assert dataset.output_types == np.dtype(dtype).newbyteorder("=")
    batches = [batch.numpy() for batch in dataset.batch(2)]
    assert np.array_equal(np.concatenate([np.empty_like(expected[:0]), *batches]), expected)


def test_strings(tmp_path: Path) -> None:
    for array in (np.array(["ä", "", "xyz"]), np.array([b"a\0b", b"c", b""])):
        texts = [x.encode() if isinstance(x, str) else x for x in array.tolist()]
        dataset = NumpyDataset(saved(tmp_path, array))
        assert [element.numpy() for element in dataset] == texts
        assert next(iter(dataset.batch(3))).numpy().tolist() == texts
        assert dataset.output_types.name == "string"


def test_structures_of_files(tmp_path: Path) -> None:
    x, y = np.arange(6).reshape(3, 2), np.array([3.0, 4.0, 5.0])
    files = saved(tmp_path, x, "x.npy"), str(saved(tmp_path, y, "y.npy"))
    for a, b in (next(iter(NumpyDataset(files))), next(iter(NumpyDataset({"a": files[0], "b": files[1]}))).values()):
        assert a.numpy().tolist() == [0, 1]
        assert float(b) == 3.0


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_members(tmp_path: Path, save: Any) -> None:
    x, y = np.arange(600).reshape(300, 2), np.arange(300.0)
    save(tmp_path / "both.npz", x=x, y=np.asfortranarray(y))
    path = tmp_path / "both.npz"
    (element,) = NumpyDataset(path).batch(300)
    assert set(element) == {"x", "y"}
    assert np.array_equal(element["x"].numpy(), x)
    ((y1, nested),) = NumpyDataset(path, ("y", {"z": "x"})).batch(300)
    assert np.array_equal(y1.numpy(), y)
    assert np.array_equal(nested["z"].numpy(), x)
    assert int(next(iter(NumpyDataset(str(path), "x")))[1]) == 1


def test_shuffled_batches_and_their_state_in_a_new_process(tmp_path: Path) -> None:
    path = saved(tmp_path, np.arange(100))
    dataset = NumpyDataset(path).shuffle(50, seed=3).repeat(2).batch(7)
    iterator = Iterator(dataset)
    for _ in range(11):
        next(iterator)
    program = (
        "import sys, json; from agog_data import Iterator; from agog_data.readers import NumpyDataset\n"
        f"iterator = Iterator(NumpyDataset({str(path)!r}).shuffle(50, seed=3).repeat(2).batch(7))\n"
        "iterator.load_state_dict(json.load(sys.stdin)); print([x.numpy().tolist() for x in iterator])"
    )
    state = json.dumps(iterator.state_dict())
    done = subprocess.run([sys.executable, "-c", program], input=state, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([x.numpy().tolist() for x in iterator])


def test_elements_survive_the_file(tmp_path: Path) -> None:
    path = saved(tmp_path, np.arange(4))
    element, batch = next(iter(NumpyDataset(path))), next(iter(NumpyDataset(path).batch(4)))
    path.write_bytes(bytes(path.stat().st_size))
    assert int(element) == 0
    assert batch.numpy().tolist() == [0, 1, 2, 3]


def test_large_files_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.npy"
    np.lib.format.open_memmap(path, "w+", "u1", (1 << 20, 1 << 10))  # a gigabyte of nothing
    tracemalloc.start()
    batch = next(iter(NumpyDataset(path).shuffle(1 << 20, seed=1).batch(2)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert batch.shape == (2, 1 << 10)
    assert peak < 64e6  # the row numbers in the buffer


def npy(header: str, data: bytes = b"", version: bytes = b"\1\0") -> bytes:
    text = header.encode()
    return b"\x93NUMPY" + version + struct.pack("<H" if version[0] == 1 else "<I", len(text)) + text + data


def described(descr: str = "'<i4'", shape: str = "(2,)", order: str = "False") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}"


HEADER = npy(described())


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "at byte 0: an array begins with b'\\x93NUMPY' and a version; this begins with b''."),
        (b"IMG", "at byte 0: an array begins with b'\\x93NUMPY' and a version; this begins with b'IMG'."),
        (
            npy(described(), version=b"\4\0"),
            "at byte 0: versions 1.0, 2.0 and 3.0 of the format are known; this is 4.0.",
        ),
        (npy("{'descr'"), "at byte 0: the header is no dict with 'descr', 'fortran_order' and 'shape'."),
        (npy("[1]"), "at byte 0: the header is no dict with 'descr', 'fortran_order' and 'shape'."),
        (npy("__import__('os')"), "at byte 0: the header is no dict with 'descr', 'fortran_order' and 'shape'."),
        (npy("(" * 9000), "at byte 0: the header is no dict with 'descr', 'fortran_order' and 'shape'."),
        (
            b"\x93NUMPY\2\0\xff\xff\xff\xff",
            "at byte 0: a header of at most 65536 bytes is expected; it has 4294967295.",
        ),
        (
            npy(described(shape="(2, -1)")),
            "at byte 0: the header's shape is expected to be a tuple of sizes; it is (2, -1).",
        ),
        (npy(described(shape="3")), "at byte 0: the header's shape is expected to be a tuple of sizes; it is 3."),
        (
            npy(described(order="2")),
            "at byte 0: the header's fortran_order is expected to be True or False; it is 2.",
        ),
        (
            HEADER + bytes(7),
            f"at byte {len(HEADER) + 7}: the array ends here, but elements of shape (2,) and dtype int32 from byte "
            f"{len(HEADER)} on need 8 bytes.",
        ),
        (npy(described(shape=f"(0, {2**62}, {2**62})")), f"there can be no array of shape (0, {2**62}, {2**62})."),
    ],
)
def test_a_file_that_is_not_whole(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(content)
    with says(
        errors.DataLossError, f"{path}: at byte {problem}".replace("at byte at", "at").replace("at byte there", "there")
    ):
        NumpyDataset(path)


@pytest.mark.parametrize(
    ("array", "problem"),
    [
        (
            np.array([{}, None], object),
            "the array holds Python objects, which are pickled. Unpickling can run any code, so it is never done; save "
            "the array with a dtype of numbers or strings.",
        ),
        (np.float32(3), "the array is a scalar, which has no rows."),
        (np.zeros(2, "M8[s]"), "the array has the dtype '<M8[s]', which agog has not."),
        (np.zeros(2, "i4,f4"), "the array has the dtype [('f0', '<i4'), ('f1', '<f4')], which agog has not."),
        (np.zeros(2, np.longdouble), "the array has the dtype '<f16', which agog has not."),
    ],
)
def test_arrays_that_are_no_tensors(tmp_path: Path, array: Array, problem: str) -> None:
    path = tmp_path / "x.npy"
    np.save(path, array, allow_pickle=True)
    with says(errors.InvalidArgumentError, f"{path}: {problem}"):
        NumpyDataset(path)


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "sprung",))

    np.savez(tmp_path / "x.npz", x=np.array([Trap()], object))
    pickle.loads(pickle.dumps(Trap()))
    assert (tmp_path / "sprung").exists()  # the trap works
    (tmp_path / "sprung").unlink()
    with pytest.raises(errors.InvalidArgumentError, match="never done"):
        NumpyDataset(tmp_path / "x.npz")
    assert not (tmp_path / "sprung").exists()


def test_lengths_that_differ(tmp_path: Path) -> None:
    x, y = saved(tmp_path, np.zeros((2, 3)), "x.npy"), saved(tmp_path, np.zeros(3), "y.npy")
    with says(
        errors.InvalidArgumentError,
        f"NumpyDataset: arrays of one length are expected; {x} has shape (2, 3) and {y} has shape (3,).",
    ):
        NumpyDataset((x, y))


def test_wrong_arguments(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.zeros(2), y=np.zeros(2))
    with says(errors.NotFoundError, f"{tmp_path / 'x.npz'}: there is no member 'z'; it has x, y."):
        NumpyDataset(tmp_path / "x.npz", "z")
    with pytest.raises(TypeError, match=r"^NumpyDataset: members are those of one \.npz file; got \('a', 'b'\) for"):
        NumpyDataset(("a", "b"), "x")
    with pytest.raises(TypeError, match=r"^NumpyDataset: paths are expected; got 3 of type int\.$"):
        NumpyDataset((3,))
    with pytest.raises(errors.InvalidArgumentError, match=r"^NumpyDataset: the structure holds no array\.$"):
        NumpyDataset(())
    with pytest.raises(errors.NotFoundError, match=r"none\.npy: there is no such file\.$"):
        NumpyDataset(tmp_path / "none.npy")


def test_compressed_members_have_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "arrays.npz"
    np.savez_compressed(path, x=np.zeros(1000, np.float32), y=np.zeros(1001, np.float32))
    assert len(rows(NumpyDataset(path, "x", max_bytes=4000))) == 1000
    with says(
        errors.ResourceExhaustedError,
        f"{path}['y']: the array of shape (1001,) and dtype float32 has 4004 bytes, and at most 4000 "
        "are read; max_bytes=... allows more.",
    ):
        NumpyDataset(path, "y", max_bytes=4000)
    np.savez(path, y=np.zeros(1001, np.float32))
    assert len(rows(NumpyDataset(path, "y", max_bytes=1))) == 1001
    with says(errors.InvalidArgumentError, "NumpyDataset: max_bytes must be greater than zero; got -1."):
        NumpyDataset(path, max_bytes=-1)


def test_broken_archives(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    path.write_bytes(b"PK no archive")
    with says(errors.DataLossError, f"{path}: it is no whole .npz file: File is not a zip file."):
        NumpyDataset(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", npy(described(shape=f"({2**40},)")) + bytes(1000))
    tracemalloc.start()
    with pytest.raises(errors.DataLossError, match=f"need {2**42} bytes"):
        NumpyDataset(path)
    assert tracemalloc.get_traced_memory()[1] < 8e6
    tracemalloc.stop()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("x.npy", HEADER + bytes(8))
    with says(errors.DataLossError, f"{path}['x']: it is compressed by method 12, which NumPy never uses."):
        NumpyDataset(path)


def archive(compress: int, content: bytes, path: Path) -> bytes:
    with zipfile.ZipFile(path, "w", compress) as file:
        file.writestr("x.npy", content)
        file.writestr("y.npy", content)
    return path.read_bytes()


SHAPES = st.lists(st.integers(-1, 5) | st.integers(0, 2**64), max_size=4).map(tuple).map(str) | st.just("(2,)")
CONTENTS = st.builds(
    lambda shape, descr, data: npy(described(repr(descr), shape), data),
    SHAPES,
    st.sampled_from(["<i4", "|u1", "<f8", "|O", "<U2", "|V3", "<q", "<i77", "<U999999999"]),
    st.binary(max_size=64),
)


@settings(
    max_examples=EXAMPLES,
    derandomize=EXAMPLES < 1000,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(CONTENTS | st.binary(max_size=64), st.sampled_from(["npy", "stored", "deflated"]), st.data())
def test_any_bytes_are_rows_or_one_clear_error(tmp_path: Path, content: bytes, kind: str, data: st.DataObject) -> None:
    path = tmp_path / "x.npy"
    if kind != "npy":
        compress = zipfile.ZIP_STORED if kind == "stored" else zipfile.ZIP_DEFLATED
        content = archive(compress, content, path)
    mutated = bytearray(content)
    for _ in range(data.draw(st.integers(0, 3)) if mutated else 0):
        mutated[data.draw(st.integers(0, len(mutated) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(mutated[: data.draw(st.integers(0, len(mutated)) | st.just(len(mutated)))]))
    try:
        dataset = NumpyDataset(path)
    except (errors.DataLossError, errors.InvalidArgumentError) as error:
        assert str(error).startswith((str(path), "NumpyDataset: "))  # noqa: PT017  (most examples raise, some do not)
    else:
        for element in dataset.take(3):
            assert element is not None
