"""Fashion-MNIST and CIFAR-10: small files made here, and a server on this machine; the network is never used."""

from __future__ import annotations

import gzip
import hashlib
import io
import struct
import tarfile
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agog_core import errors
from agog_data.datasets import cifar10, download_cifar10, download_fashion_mnist, fashion_mnist
from agog_testing import says

BATCHES = [*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin"]
RNG = np.random.default_rng(10)
IMAGES = RNG.integers(0, 256, (6, 2, 32, 32, 3), np.uint8)
LABELS = RNG.integers(0, 10, (6, 2), np.uint8)


def records(number: int) -> bytes:
    """A CIFAR-10 file of two images, written down from the description of the format."""
    data = b""
    for image, label in zip(IMAGES[number], LABELS[number], strict=True):
        data += bytes([label]) + b"".join(image[:, :, channel].tobytes() for channel in range(3))
    return data


def packed(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


WHOLE = {"readme.html": b"<html>", **{name: records(number) for number, name in enumerate(BATCHES)}}
ARCHIVE = packed(WHOLE)


def check_cifar10(found: Any) -> None:
    (x_train, y_train), (x_test, y_test) = found
    assert np.array_equal(x_train, IMAGES[:5].reshape(10, 32, 32, 3))
    assert np.array_equal(y_train, LABELS[:5].reshape(10, 1))
    assert np.array_equal(x_test, IMAGES[5])
    assert np.array_equal(y_test, LABELS[5].reshape(2, 1))
    assert [array.dtype.name for array in (x_train, y_train, x_test)] == ["uint8"] * 3
    assert y_test.dtype == np.int64  # as in TensorFlow 1.12


@pytest.fixture
def server(server: Any, keras_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A mirror of small databases, and their checksums."""
    for name in fashion_mnist.FILES:
        header = (
            struct.pack(">4I", 2051, 2, 2, 2) + bytes(8) if "images" in name else struct.pack(">2I", 2049, 2) + b"\3\4"
        )
        content = gzip.compress(header, mtime=0)
        (server.folder / name).write_bytes(content)
        monkeypatch.setitem(fashion_mnist.FILES, name, hashlib.md5(content).hexdigest())
    (server.folder / cifar10.ARCHIVE).write_bytes(ARCHIVE)
    monkeypatch.setattr(cifar10, "MD5", hashlib.md5(ARCHIVE).hexdigest())
    for module in (cifar10, fashion_mnist):
        monkeypatch.setattr(module, "MIRRORS", (server.url,))
        for function in (download_cifar10, download_fashion_mnist):
            monkeypatch.setattr(function, "__defaults__", (None, (server.url,)))
    return server


def test_fashion_mnist_is_downloaded_once(server: Any, tmp_path: Path) -> None:
    for _ in range(2):
        (x_train, y_train), (x_test, y_test) = fashion_mnist.load_data()
        assert x_train.shape == x_test.shape == (2, 2, 2)
        assert y_train.tolist() == y_test.tolist() == [3, 4]
        assert server.requests == [f"/{name}" for name in fashion_mnist.FILES]
    folder = tmp_path / "cache" / "agog" / "fashion-mnist"
    assert sorted(path.name for path in folder.iterdir()) == sorted(fashion_mnist.FILES)
    assert len(fashion_mnist.CLASSES) == 10


def test_fashion_mnist_where_keras_keeps_it(server: Any, tmp_path: Path) -> None:
    folder = tmp_path / "keras" / "datasets" / "fashion-mnist"
    folder.mkdir(parents=True)
    for name in fashion_mnist.FILES:
        (folder / name).write_bytes((server.folder / name).read_bytes())
    (_, y_train), _ = fashion_mnist.load_data()
    assert y_train.tolist() == [3, 4]
    assert server.requests == []


def test_fashion_mnist_from_files(server: Any, tmp_path: Path) -> None:
    fashion_mnist.load_data(server.folder)
    assert server.requests == []
    name = next(iter(fashion_mnist.FILES))
    (server.folder / name).write_bytes(b"something else")
    with says(
        errors.DataLossError,
        f"{tmp_path / 'x' / name}: it could not be downloaded:\n"
        f"  {server.url}/{name}: MD5 {fashion_mnist.FILES[name]} is expected; it is "
        f"{hashlib.md5(b'something else').hexdigest()}\n"
        f"Try again later, or put the files {', '.join(fashion_mnist.FILES)} into {tmp_path / 'x'} by hand.",
    ):
        download_fashion_mnist(tmp_path / "x")
    assert list((tmp_path / "x").iterdir()) == []


def test_cifar10_is_downloaded_once(server: Any, tmp_path: Path) -> None:
    for _ in range(2):
        check_cifar10(cifar10.load_data())
        assert server.requests == [f"/{cifar10.ARCHIVE}"]
    folder = tmp_path / "cache" / "agog" / "cifar-10-batches-bin"
    assert [path.name for path in folder.iterdir()] == [cifar10.ARCHIVE]
    (server.folder / cifar10.ARCHIVE).unlink()
    with pytest.raises(errors.UnavailableError, match=r"it could not be downloaded:\n  http://127.0.0.1:\d+/cifar-10-"):
        download_cifar10(tmp_path / "x")


def test_cifar10_from_files(server: Any, tmp_path: Path) -> None:
    check_cifar10(cifar10.load_data(server.folder / cifar10.ARCHIVE))
    for name, data in WHOLE.items():
        (tmp_path / name).write_bytes(data)
    check_cifar10(cifar10.load_data(tmp_path))
    assert server.requests == []


def test_broken_files_of_cifar10(tmp_path: Path) -> None:
    for name, data in WHOLE.items():
        (tmp_path / name).write_bytes(data)
    batch = tmp_path / BATCHES[2]
    for broken, problem in [
        (b"", "records of 3073 bytes are expected; it has 0 bytes."),
        (records(0)[:-1], "records of 3073 bytes are expected; it has 6145 bytes."),
        (
            records(0)[:3073] + b"\x0a" + bytes(3072),
            "at byte 3073: a label from 0 to 9 is expected; it is 10.",
        ),
    ]:
        batch.write_bytes(broken)
        with says(errors.DataLossError, f"{batch}: {problem}"):
            cifar10.load_data(tmp_path)
    archive = tmp_path / "x.tar.gz"
    for content in (b"no archive", ARCHIVE[:-2000], ARCHIVE[:100] + bytes(50) + ARCHIVE[150:]):
        archive.write_bytes(content)
        with pytest.raises(errors.DataLossError, match=r"x\.tar\.gz: it is no whole tar\.gz file: "):
            cifar10.load_data(archive)
    archive.write_bytes(packed({BATCHES[0]: records(0)}))
    with says(errors.DataLossError, f"{archive}: it has not the files {', '.join(BATCHES[1:])}."):
        cifar10.load_data(archive)


def test_an_archive_of_more_bytes_than_are_allowed(tmp_path: Path) -> None:
    archive = tmp_path / "x.tar.gz"
    archive.write_bytes(packed({"other": bytes(30_000_000)} | WHOLE))
    assert archive.stat().st_size < 100_000
    check_cifar10(cifar10.load_data(archive))
    tracemalloc.start()
    with pytest.raises(errors.ResourceExhaustedError) as info:
        cifar10.load_data(archive, max_bytes=20_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(info.value) == f"{archive}: it has more than 20000000 bytes, decompressed; max_bytes=... allows more."
    assert peak < 4e6
    announced = tarfile.TarInfo("x")
    announced.size, announced.type = 1 << 40, tarfile.XHDTYPE  # a header that Python would read at once
    archive.write_bytes(gzip.compress(announced.tobuf(tarfile.GNU_FORMAT)))
    with pytest.raises(errors.ResourceExhaustedError, match="it has more than 268435456 bytes"):
        cifar10.load_data(archive)


def test_the_checksums_are_the_published_ones() -> None:
    assert cifar10.MD5 == "c32a1d4ab5d03f1284b67883e8d87530"
    assert [len(md5) for md5 in fashion_mnist.FILES.values()] == [32] * 4
