"""CIFAR in its files for Python, small ones that Python's pickle writes here."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import struct
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agog_core import errors
from agog_data.datasets import cifar10, cifar100
from agog_testing import says

RNG = np.random.default_rng(12)
IMAGES = RNG.integers(0, 256, (6, 3, 32, 32, 3), np.uint8)
LABELS = RNG.integers(0, 10, (6, 3))
FINE, COARSE = RNG.integers(0, 100, (2, 3)), RNG.integers(0, 20, (2, 3))
BATCHES = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]


def rows(number: int) -> Any:
    """The rows of a file: all red, all green, all blue pixels of each image."""
    return np.stack([np.concatenate([image[:, :, c].ravel() for c in range(3)]) for image in IMAGES[number]])


def by_python_2(number: int) -> bytes:
    """A file of CIFAR-10 as Python 2 has written it, by the description of the operations in `pickletools`."""
    data = rows(number).tobytes()
    return (
        b"\x80\x02}q\x01(U\x0bbatch_labelq\x02U\x15training batch 1 of 5q\x03U\x06labelsq\x04]q\x05("
        + b"".join(b"K" + bytes([label]) for label in LABELS[number])
        + b"eU\x04dataq\x06cnumpy.core.multiarray\n_reconstruct\nq\x07cnumpy\nndarray\nq\x08K\x00\x85U\x01b\x87Rq\x09"
        + b"(K\x01K\x03M\x00\x0c\x86cnumpy\ndtype\nq\x0aU\x02u1K\x00K\x01\x87Rq\x0b(K\x03U\x01|NNNJ\xff\xff"
        + b"\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T" + struct.pack("<I", len(data)) + data
        + b"tbU\tfilenamesq\x0c]q\x0d(U\x05a.pngq\x0eU\x05b.pngq\x0fU\x05c.pngq\x10eu."
    )  # fmt: skip


TEN = {name: by_python_2(number) for number, name in enumerate(BATCHES)}
HUNDRED = {
    name: pickle.dumps(
        {
            b"filenames": [b"a.png"] * 3, b"batch_label": name, b"data": rows(number),
            b"fine_labels": FINE[number].tolist(), b"coarse_labels": COARSE[number].tolist(),
        }, 2
    )
    for number, name in enumerate(("train", "test"))
}  # fmt: skip


def packed(folder: str, files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, data in {"readme.html": b"<html>", **files}.items():
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def written(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def check_ten(found: Any) -> None:
    (x_train, y_train), (x_test, y_test) = found
    assert np.array_equal(x_train, IMAGES[:5].reshape(15, 32, 32, 3))
    assert np.array_equal(x_test, IMAGES[5])
    assert np.array_equal(y_train, LABELS[:5].reshape(15, 1))
    assert np.array_equal(y_test, LABELS[5].reshape(3, 1))
    assert [each.dtype.name for each in (x_train, y_train, x_test, y_test)] == ["uint8"] * 3 + ["int64"]
    x_train[0] = 0  # programs may write


def check_hundred(found: Any, labels: Any) -> None:
    (x_train, y_train), (x_test, y_test) = found
    assert np.array_equal(x_train, IMAGES[0])
    assert np.array_equal(x_test, IMAGES[1])
    assert np.array_equal(y_train, labels[0].reshape(3, 1))
    assert np.array_equal(y_test, labels[1].reshape(3, 1))
    assert [each.dtype.name for each in (x_train, y_train, x_test, y_test)] == ["uint8", "int64"] * 2


def test_the_files_are_those_that_python_reads() -> None:
    for number, name in enumerate(BATCHES):
        batch = pickle.loads(TEN[name], encoding="bytes")
        assert np.array_equal(batch[b"data"], rows(number))
        assert batch[b"labels"] == LABELS[number].tolist()


@pytest.mark.parametrize(
    "place",
    ["cifar-10-batches-py", "cifar-10-batches-py.tar.gz", "cifar-10-batches-py-target/cifar-10-batches-py",
     "cifar-10-batches-py-target_archive", "cifar-10-python.tar.gz"],
)  # fmt: skip
def test_cifar10_where_keras_keeps_it(keras_folder: Path, place: str) -> None:
    if place.endswith("py"):
        written(keras_folder / place, TEN)
    else:
        written(keras_folder, {place: packed("cifar-10-batches-py", TEN)})
    check_ten(cifar10.load_data())
    check_ten(cifar10.load_data(place))
    check_ten(cifar10.load_data(keras_folder / place))


def test_half_a_folder_is_not_taken(keras_folder: Path) -> None:
    written(keras_folder / "cifar-10-batches-py", {"data_batch_1": b"half"})
    written(keras_folder, {"cifar-10-batches-py.tar.gz": packed("cifar-10-batches-py", TEN)})
    check_ten(cifar10.load_data())


@pytest.mark.parametrize(
    "place",
    ["cifar-100-python", "cifar-100-python.tar.gz", "cifar-100-python-target/cifar-100-python",
     "cifar-100-python-target_archive"],
)  # fmt: skip
def test_cifar100_where_keras_keeps_it(keras_folder: Path, place: str) -> None:
    if place.endswith("python"):
        written(keras_folder / place, HUNDRED)
    else:
        written(keras_folder, {place: packed("cifar-100-python", HUNDRED)})
    check_hundred(cifar100.load_data(), FINE)
    check_hundred(cifar100.load_data("coarse"), COARSE)
    check_hundred(cifar100.load_data(path=keras_folder / place), FINE)


def test_cifar100_is_downloaded_once(mirror: Any, keras_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = packed("cifar-100-python", HUNDRED)
    (mirror.folder / cifar100.ARCHIVE).write_bytes(archive)
    monkeypatch.setattr(cifar100, "MIRRORS", (mirror.url,))
    with says(
        errors.DataLossError,
        f"{keras_folder / cifar100.ARCHIVE}: it could not be downloaded:\n  {mirror.url}/{cifar100.ARCHIVE}: SHA-256 "
        f"{cifar100.CHECKSUMS[0]} is expected; it is {hashlib.sha256(archive).hexdigest()}\n"
        f"Try again later, or put the files {cifar100.ARCHIVE} into {keras_folder} by hand.",
    ):
        cifar100.load_data()
    mirror.requests.clear()
    monkeypatch.setattr(cifar100, "CHECKSUMS", (hashlib.sha256(archive).hexdigest(),))
    for _ in range(2):
        check_hundred(cifar100.load_data(), FINE)
    assert mirror.requests == [f"/{cifar100.ARCHIVE}"]
    assert [path.name for path in keras_folder.iterdir()] == [cifar100.ARCHIVE]


def test_arguments(keras_folder: Path) -> None:
    with says(ValueError, "cifar100.load_data: label_mode must be 'fine' or 'coarse'; got 'all'."):
        cifar100.load_data("all")
    folder = written(keras_folder / "cifar-100-python", HUNDRED)
    with says(errors.ResourceExhaustedError, f"{folder}: its files have too many bytes; max_bytes=... allows more."):
        cifar100.load_data(max_bytes=10_000)


class Hostile:
    """What runs a program where it is read as Python reads it."""

    def __reduce__(self) -> Any:
        return os.system, ("touch /tmp/this-must-not-be",)


def test_broken_files(tmp_path: Path) -> None:
    whole = {"data": rows(0), "fine_labels": [1, 2, 3]}
    for batch, problem in (
        ([], "a dict with 'data', uint8 of shape (n, 3072), is expected."),
        ({**whole, "data": [1]}, "a dict with 'data', uint8 of shape (n, 3072), is expected."),
        ({**whole, "data": rows(0)[:, 1:]}, "a dict with 'data', uint8 of shape (n, 3072), is expected."),
        ({**whole, "data": rows(0).astype("i4")}, "a dict with 'data', uint8 of shape (n, 3072), is expected."),
        ({"data": rows(0)}, "a dict with 'fine_labels', a list of 3 integers, is expected."),
        ({**whole, "fine_labels": [1, 2]}, "a dict with 'fine_labels', a list of 3 integers, is expected."),
        ({**whole, "fine_labels": [1, 2, "3"]}, "a dict with 'fine_labels', a list of 3 integers, is expected."),
        ({**whole, "fine_labels": [1, 100, 3]}, "labels from 0 to 99 are expected; one is 100."),
        ({**whole, "fine_labels": [1, -1, 3]}, "labels from 0 to 99 are expected; one is -1."),
    ):  # fmt: skip
        folder = written(tmp_path / "folder", {"train": pickle.dumps(batch), "test": HUNDRED["test"]})
        with says(errors.DataLossError, f"{folder / 'train'}: {problem}"):
            cifar100.load_data(path=folder)
    folder = written(tmp_path / "folder", {"train": pickle.dumps(Hostile(), 2)})
    with says(
        errors.DataLossError,
        f"{folder / 'train'}: at byte 2: the pickle names {os.system.__module__}.system, which is never called: only "
        "NumPy's arrays of numbers and of objects are read.",
    ):
        cifar100.load_data(path=folder)
    assert not os.path.exists("/tmp/this-must-not-be")
    archive = tmp_path / "x.tar.gz"
    archive.write_bytes(packed("x", {"train": HUNDRED["train"]}))
    with says(errors.DataLossError, f"{archive}: it has not the files test."):
        cifar100.load_data(path=archive)
    archive.write_bytes(packed("x", HUNDRED)[:-3000])
    with says(
        errors.DataLossError,
        f"{archive}: it is no whole tar.gz file: Compressed file ended before the end-of-stream marker was reached.",
    ):
        cifar100.load_data(path=archive)


def test_any_damage_is_one_of_our_errors(tmp_path: Path) -> None:
    archive = tmp_path / "x.tar.gz"
    folder = written(tmp_path / "folder", HUNDRED)
    refused = 0
    for _ in range(300):
        for path, whole in ((archive, packed("x", HUNDRED)), (folder / "train", HUNDRED["train"])):
            data = bytearray(whole)
            for place in RNG.integers(0, len(data) if path is archive else 600, 3):
                data[place] = RNG.integers(256)
            path.write_bytes(data)
            try:
                cifar100.load_data(path=archive if path is archive else folder)
            except (errors.DataLossError, errors.ResourceExhaustedError):
                refused += 1
    assert refused > 350
