"""Downloading, from a server on this machine; the network is never used."""

from __future__ import annotations

import gzip
import hashlib
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from agog_core import errors
from agog_data.datasets import download_mnist, mnist, mnist_download
from agog_data.datasets.download import cache_directory
from agog_data.datasets.mnist_download import Content
from agog_testing import says

NAMES = list(mnist_download.FILES)
HINT = f"Try again later, or put the files {', '.join(NAMES)} into {{}} by hand."


@pytest.fixture
def server(server: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A mirror of a small database, which stands for MNIST here."""
    for name in NAMES:
        images = "images" in name
        content = bytes([0, 0, 8, 3 if images else 1, 0, 0, 0, 2]) + (
            bytes([0, 0, 0, 2] * 2) + bytes(8) if images else b"\3\4"
        )
        (server.folder / name).write_bytes(gzip.compress(content))
        monkeypatch.setitem(mnist_download.FILES, name, Content(len(content), hashlib.sha256(content).hexdigest()))
    return server


def test_download(server: Any, tmp_path: Path) -> None:
    target = tmp_path / "a" / "mnist"
    assert download_mnist(target, [server.url + "/"]) == target
    assert sorted(path.name for path in target.iterdir()) == sorted(NAMES)
    (images, labels), _ = mnist(target)
    assert images.shape == (2, 2, 2)
    assert labels.tolist() == [3, 4]
    assert len(server.requests) == 4


def test_what_is_there_is_not_downloaded_again(server: Any, tmp_path: Path) -> None:
    download_mnist(tmp_path, [server.url])
    server.requests.clear()
    (tmp_path / NAMES[0]).write_bytes(b"half")
    (tmp_path / NAMES[1]).unlink()
    # Compressed in another way, the content is the same.
    (tmp_path / NAMES[2]).write_bytes(gzip.compress(gzip.decompress((tmp_path / NAMES[2]).read_bytes()), 1))
    download_mnist(tmp_path, [server.url])
    assert server.requests == [f"/{NAMES[0]}", f"/{NAMES[1]}"]
    mnist(tmp_path)


def test_the_files_have_the_usual_mode(server: Any, tmp_path: Path) -> None:
    download_mnist(tmp_path, [server.url])
    (tmp_path / "other").write_bytes(b"")
    assert (tmp_path / NAMES[0]).stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"<html>not found</html>", "not a whole gzip file: Not a gzipped file (b'<h')"),
        (
            gzip.compress(b"short", mtime=0),
            "10 bytes are expected once decompressed; there are 5",
        ),
        (gzip.compress(bytes(11), mtime=0), "10 bytes are expected once decompressed; there are more"),
        (
            gzip.compress(bytes(10), mtime=0)[:-9],
            "not a whole gzip file: Compressed file ended before the end-of-stream marker was reached",
        ),
    ],
    ids=["no gzip file", "too few bytes", "too many bytes", "cut off"],  # the bytes hold the time
)
def test_wrong_content(server: Any, tmp_path: Path, content: bytes, problem: str) -> None:
    (server.folder / NAMES[1]).write_bytes(content)
    target = tmp_path / "mnist"
    with says(
        errors.DataLossError,
        f"{target / NAMES[1]}: it could not be downloaded:\n  {server.url}/{NAMES[1]}: "
        f"{problem}\n{HINT.format(target)}",
    ):
        download_mnist(target, [server.url])
    assert [path.name for path in target.iterdir()] == [NAMES[0]]  # nothing half is left


def test_wrong_hash(server: Any, tmp_path: Path) -> None:
    (server.folder / NAMES[1]).write_bytes(gzip.compress(bytes(10)))
    target = tmp_path / "mnist"
    with says(
        errors.DataLossError,
        f"{target / NAMES[1]}: it could not be downloaded:\n  {server.url}/{NAMES[1]}: SHA-256 "
        f"{mnist_download.FILES[NAMES[1]].sha256} is expected once decompressed; it is "
        f"{hashlib.sha256(bytes(10)).hexdigest()}\n{HINT.format(target)}",
    ):
        download_mnist(target, [server.url])


def test_no_mirror_answers(server: Any, tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound, but nobody listens
        silent = f"http://127.0.0.1:{unused.getsockname()[1]}"
        target = tmp_path / "mnist"
        with pytest.raises(errors.UnavailableError) as info:
            download_mnist(target, [silent, server.url + "/elsewhere"])
    assert str(info.value) == (
        f"{target / NAMES[0]}: it could not be downloaded:\n"
        f"  {silent}/{NAMES[0]}: <urlopen error [Errno 111] Connection refused>\n"
        f"  {server.url}/elsewhere/{NAMES[0]}: HTTP Error 404: File not found\n{HINT.format(target)}"
    )
    assert list(target.iterdir()) == []


def test_the_next_mirror_is_tried(server: Any, tmp_path: Path) -> None:
    download_mnist(tmp_path / "mnist", [server.url + "/elsewhere", server.url])
    mnist(tmp_path / "mnist")


def test_the_default_folder_is_the_users_cache(server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    assert download_mnist(mirrors=[server.url]) == tmp_path / "cache" / "agog" / "mnist"


def test_cache_directory() -> None:
    home = Path.home()
    absolute = str(home / "x")
    assert cache_directory({"XDG_CACHE_HOME": absolute}, "linux") == home / "x" / "agog"
    assert cache_directory({"XDG_CACHE_HOME": "relative"}, "linux") == home / ".cache" / "agog"
    assert cache_directory({}, "darwin") == home / ".cache" / "agog"
    assert cache_directory({"LOCALAPPDATA": absolute, "XDG_CACHE_HOME": "/no"}, "win32") == home / "x" / "agog"


def test_the_known_files_are_those_of_mnist() -> None:
    if "AGOG_DATA_DIR" not in os.environ:
        pytest.skip("AGOG_DATA_DIR is not set; it names the folder that holds mnist/train-images-idx3-ubyte.gz")
    for name, content in mnist_download.FILES.items():
        data = gzip.decompress((Path(os.environ["AGOG_DATA_DIR"]) / "mnist" / name).read_bytes())
        assert (len(data), hashlib.sha256(data).hexdigest()) == content
