"""Files at URLs, against the same on the disk."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agog_core import files
from agog_core.errors import InvalidArgumentError, UnavailableError, UnimplementedError
from agog_core.files import retries
from agog_core.files.retries import is_transient, set_remote_retries
from agog_testing import says

pytest.importorskip("fsspec", reason="fsspec, which opens URLs, is not installed")

from agog_core.files import stores
from agog_core.files.remote_files import RemoteReader
from agog_testing.stores import Faults, failing_store


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """How long was waited between tries, without waiting."""
    found: list[float] = []
    monkeypatch.setattr(retries.time, "sleep", found.append)
    monkeypatch.setattr(retries.random, "uniform", lambda least, most: most)
    yield found
    set_remote_retries()


@pytest.fixture(params=["memory", "objects"])
def base(request: pytest.FixtureRequest) -> Iterator[str]:
    import fsspec

    if request.param == "memory":
        yield "memory://files"
        if fsspec.filesystem("memory").exists("/files"):
            fsspec.filesystem("memory").rm("/files", recursive=True)
    else:
        with failing_store():
            yield "failing://bucket/files"


def told(base: str, act: Callable[[], Any]) -> Any:
    """What an action returns or raises, without the place where it happens."""
    try:
        found = act()
    except OSError as error:
        return type(error), str(error.filename).replace(base, "BASE"), error.errno
    if isinstance(found, list):
        return sorted(str(each).replace(base, "BASE") for each in found)
    return found


def story(base: str) -> Iterator[Any]:
    """What a program sees that makes, changes and deletes files."""

    def write(name: str, mode: str, data: Any) -> Any:
        files.make_folders(files.folder_of(files.join(base, name)))
        with files.open_file(files.join(base, name), mode) as file:
            return file.write(data)

    def read(name: str, mode: str = "r") -> Any:
        with files.open_file(files.join(base, name), mode) as file:
            return file.read()

    def change() -> Any:
        with files.open_file(files.join(base, "a.txt"), "r+b") as file:
            file.seek(4)
            file.write(b"TWO")
            file.seek(0)
            return file.read()

    def seek() -> Any:
        with files.open_file(files.join(base, "a.txt"), "rb") as file:
            return [
                file.seek(-3, 2),
                file.read(1),
                file.seek(1),
                file.readline(),
                file.tell(),
                file.read(),
                file.read(),
            ]

    def line_by_line() -> Any:
        with files.open_file(files.join(base, "a.txt"), newline="") as file:
            return list(file)

    yield told(base, lambda: write("a.txt", "w", "one\ntwo\n"))
    yield told(base, lambda: write("a.txt", "a", "thréé\r\n"))
    yield told(base, lambda: write("b/c/d", "wb", b""))
    yield told(base, lambda: write("b/e.txt", "xb", b"e"))
    yield told(base, lambda: write("b/e.txt", "xb", b"e"))
    for name in ("a.txt", "b/c/d", "b/e.txt"):
        yield told(base, lambda name=name: read(name, "rb"))
        yield files.status(files.join(base, name)).size
        yield (
            abs(files.modified(files.join(base, name)) - files.status(files.join(base, name)).nanoseconds / 1e9) < 1e-3
        )
    yield told(base, change)
    yield told(base, seek)
    yield told(base, line_by_line)
    yield told(base, lambda: files.names_in(base))
    yield told(base, lambda: files.names_in(files.join(base, "b")))
    for name in ("", "a.txt", "b", "b/c", "b/c/d", "z"):
        path = files.join(base, name) if name else base
        yield files.exists(path), files.is_file(path), files.is_folder(path)
    for top_down in (True, False):
        walked = files.walk(base, top_down)
        yield [(top.replace(base, "BASE"), sorted(inside), sorted(names)) for top, inside, names in walked]
    for pattern in ("*", "*.txt", "b/*", "*/*.txt", "a.txt", "z", "b/[a-e].t?t"):
        yield told(base, lambda pattern=pattern: files.find(files.join(base, pattern)))
    yield told(base, lambda: files.find([files.join(base, "a.*"), files.join(base, "b/e.txt")]))
    yield told(base, lambda: files.copy(files.join(base, "a.txt"), files.join(base, "b/f.txt")))
    yield told(base, lambda: files.copy(files.join(base, "a.txt"), files.join(base, "a.txt")))
    yield told(base, lambda: files.rename(files.join(base, "b/f.txt"), files.join(base, "g.txt")))
    yield told(base, lambda: files.rename(files.join(base, "b"), files.join(base, "h")))
    yield [(top.replace(base, "BASE"), sorted(inside), sorted(names)) for top, inside, names in files.walk(base)]
    for name in ("z", "h/z"):
        yield told(base, lambda name=name: files.remove(files.join(base, name)))
        yield told(base, lambda name=name: read(name))
        yield told(base, lambda name=name: files.status(files.join(base, name)))
        yield told(base, lambda name=name: files.names_in(files.join(base, name)))
        yield told(base, lambda name=name: files.remove_tree(files.join(base, name)))
        yield told(base, lambda name=name: files.copy(files.join(base, name), files.join(base, "y")))
        yield told(base, lambda name=name: files.rename(files.join(base, name), files.join(base, "y")))
    yield told(base, lambda: files.open_stream(files.join(base, "z")))
    yield told(base, lambda: files.names_in(files.join(base, "g.txt")))
    yield told(base, lambda: files.remove(files.join(base, "g.txt")))
    yield told(base, lambda: files.remove_tree(files.join(base, "h")))
    yield told(base, lambda: files.names_in(base))


def test_files_at_urls_are_as_those_on_the_disk(tmp_path: Path, base: str) -> None:
    expected = list(story(str(tmp_path)))
    for number, (found, other) in enumerate(zip(story(base), expected, strict=True)):
        assert found == other, number


def test_copies_between_the_disk_and_a_url(tmp_path: Path, base: str) -> None:
    here, there = f"{tmp_path}/a", f"{base}/a"
    Path(here).write_bytes(b"content")
    files.copy(here, there)
    os.remove(here)
    files.rename(there, f"{tmp_path}/b")
    assert (Path(tmp_path, "b").read_bytes(), files.exists(there)) == (b"content", False)
    with files.open_file(there, "wb") as file:
        file.write(b"more")
    with files.local_file(there) as copy:
        assert os.pread(copy.fileno(), 9, 0) == b"more"


def test_the_disk_needs_no_fsspec(tmp_path: Path) -> None:
    program = (
        "import sys; from agog_core import files; path = sys.argv[1]\n"
        "with files.open_file(path, 'w') as file: file.write('x')\n"
        "files.exists(path), files.status(path), files.find(path), files.rename(path, path + 'y')\n"
        "files.remove(path + 'y')\n"
        "print([name for name in sys.modules if 'fsspec' in name or name.startswith('agog_core.files.')])"
    )
    done = subprocess.run([sys.executable, "-c", program, f"{tmp_path}/a"], capture_output=True, text=True, check=True)
    local = ["paths", "errors", "file_system", "patterns"]
    assert sorted(eval(done.stdout)) == sorted(f"agog_core.files.{name}" for name in local)


@pytest.mark.parametrize(
    "path", ["C:\\runs\\ckpt", "C://runs", "a:b", "s3:/bucket", "./s3://bucket", "x/y://z", "://a", "3d://a"]
)
def test_names_that_are_no_urls(path: str) -> None:
    assert not files.is_url(path)
    assert files.file_path("f", path) == path
    assert files.join(path, "a") == os.path.join(path, "a")
    assert files.folder_of(path) == os.path.dirname(path)


@pytest.mark.parametrize(
    "path", ["s3://bucket/a", b"gs://a", "simplecache::s3://bucket/a", "s3a://b", Path("x/y").name + "+z://a"]
)
def test_names_that_are_urls(path: Any) -> None:
    assert files.is_url(path)


def test_urls_of_the_disk_are_its_paths() -> None:
    assert files.file_path("f", "file:///a/b") == files.file_path("f", "FILE:///a/b") == "/a/b"


def test_urls_of_nothing_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    with says(
        UnimplementedError,
        "read: of 'nothing://a' fsspec does not know the scheme 'nothing'; correct the URL, or teach fsspec the scheme "
        "by fsspec.register_implementation.",
    ):
        files.file_path("read", "nothing://a")
    monkeypatch.setitem(sys.modules, "paramiko", None)
    monkeypatch.delitem(sys.modules, "fsspec.implementations.sftp", raising=False)
    with says(
        UnimplementedError,
        "read: 'sftp://host/a' needs another package: SFTPFileSystem requires \"paramiko\" to be installed.",
    ):
        files.file_path("read", "sftp://host/a")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with says(
        UnimplementedError,
        "read: 's3://b/a' is a URL, which the package fsspec opens; install it by pip install \"agog[remote]\".",
    ):
        files.file_path("read", "s3://b/a")


class OfHttp(Exception):
    """An error as libraries for HTTP raise it."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


class ReadTimeoutError(Exception):
    """An error of urllib3, by its name."""


class ClientError(Exception):
    """An error of botocore."""

    def __init__(self, status: int) -> None:
        super().__init__("an error occurred")
        self.response = {"ResponseMetadata": {"HTTPStatusCode": status}, "Error": {"Code": "x"}}


TRANSIENT = [
    *(ConnectionResetError(), TimeoutError(), OSError(errno.EBUSY, "busy"), OSError(errno.EIO, "I/O")),
    *(OfHttp(status) for status in (408, 425, 429, 500, 502, 503, 504)),
    *(ReadTimeoutError(), ClientError(503)),
]
PERMANENT = [
    *(FileNotFoundError(), PermissionError(), FileExistsError(), IsADirectoryError(), OSError(errno.ENOSPC, "full")),
    *(OfHttp(400), OfHttp(401), OfHttp(404), OfHttp(501), ClientError(403), RuntimeError("odd"), OSError("no number")),
]


@pytest.mark.parametrize("error", [*TRANSIENT, *PERMANENT], ids=repr)
def test_which_errors_may_pass(error: Exception) -> None:
    assert is_transient(error) == (error in TRANSIENT)


@pytest.mark.parametrize("error", TRANSIENT, ids=repr)
@pytest.mark.parametrize("is_done", [False, True])
def test_requests_are_made_again(error: Exception, is_done: bool, pauses: list[float]) -> None:
    with failing_store(Faults(0, error, times=3, is_done=is_done)) as store:
        with files.open_file("failing://b/a", "wb") as file:
            file.write(b"content")
        assert store.faults.steps == ["pipe_file"] * 4
        assert pauses == [0.5, 1.0, 2.0]
        store.faults = Faults(1, error, times=2)
        with files.open_file("failing://b/a", "rb") as file:
            assert file.read() == b"content"
        assert store.faults.steps == ["info", *["cat_file"] * 3]


@pytest.mark.parametrize("error", PERMANENT, ids=repr)
def test_requests_are_not_made_again_in_vain(error: Exception, pauses: list[float]) -> None:
    with failing_store(Faults(0, error, times=9)) as store:
        with pytest.raises(OSError, match="failing://b/a") as raised:
            files.status("failing://b/a")
        assert store.faults.steps == ["info"]
    assert pauses == []
    assert raised.value.filename == "failing://b/a"
    if isinstance(error, OSError) and error.errno:
        assert raised.value.errno == error.errno


def test_how_often_requests_are_made(pauses: list[float]) -> None:
    set_remote_retries(8, pause=1.0)
    with failing_store(Faults(0, OfHttp(503), times=99)) as store:
        with (
            says(UnavailableError, "read: 'failing://b/a': status 503 (after 9 tries)."),
            files.translated_errors("read"),
        ):
            files.status("failing://b/a")
        assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]
        set_remote_retries(0)
        with pytest.raises(ConnectionError, match=r"status 503 \(after 1 try\)"):
            files.exists("failing://b/a")
        assert store.faults.steps == ["info"] * 10


@pytest.mark.parametrize("numbers", [(-1, 0.5), (1, -0.5)])
def test_numbers_of_tries_that_are_none(numbers: tuple[int, float]) -> None:
    with says(
        InvalidArgumentError,
        f"set_remote_retries: retries and pause must not be negative; got {numbers[0]} and {numbers[1]}.",
    ):
        set_remote_retries(*numbers)


def test_large_files_are_never_whole_in_memory() -> None:
    data = os.urandom(1 << 20) * 40
    with failing_store() as store:
        stores.put("failing://b/a", data)
        found = bytearray()
        reader = RemoteReader("failing://b/a")
        while block := reader.read(1 << 18):
            assert len(block) <= 1 << 18
            found += block
        assert found == data
        assert max(store.faults.bytes_read) == 1 << 23
        assert sum(store.faults.bytes_read) == len(data)
        store.faults = Faults()
        reader.seek(30_000_000)
        assert reader.read(10) == data[30_000_000:30_000_010]
        assert store.faults.bytes_read == [1 << 18]


def test_a_file_that_becomes_shorter_meanwhile() -> None:
    with failing_store():
        stores.put("failing://b/a", bytes(600_000))
        reader = RemoteReader("failing://b/a")
        reader.read(10)
        stores.put("failing://b/a", bytes(10))
        reader.seek(500_000)
        with pytest.raises(OSError, match="it has changed: 100000 bytes are missing at 500000"):
            reader.read(10)


def test_what_was_not_put_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with failing_store(Faults(0, PermissionError(), times=99)) as store:
        file = files.open_file("failing://b/a", "w")
        file.write("x")
        assert len(list(tmp_path.iterdir())) == 1
        with pytest.raises(PermissionError):
            file.close()
        assert not store.store
    assert list(tmp_path.iterdir()) == []


def test_updates_of_several_writers_get_none_lost(pauses: list[float]) -> None:
    def count() -> None:
        def more() -> bytes:
            with files.open_file(url, "rb") as file:
                return b"%d" % (int(file.read()) + 1)

        for _ in range(20):
            stores.update(url, more)

    url = "failing://b/count"
    with failing_store():
        stores.update(url, lambda: b"0")
        threads = [threading.Thread(target=count) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert stores.get(url) == b"80"


@pytest.mark.parametrize("exists", [False, True])
def test_an_update_whose_answer_is_lost_is_done_once(exists: bool, pauses: list[float]) -> None:
    made: list[bytes] = []

    def make() -> bytes:
        made.append(b"%d" % len(made))
        return made[-1]

    with failing_store() as store:
        if exists:
            stores.put("failing://b/a", b"old")
        store.faults = Faults(1, ConnectionResetError(), is_done=True)
        stores.update("failing://b/a", make)
        assert stores.get("failing://b/a") == b"0"
        assert made == [b"0"]


def test_an_update_after_one_of_equal_content_is_another_one() -> None:
    made = []

    def one_more() -> bytes:
        made.append(stores.get("failing://b/a"))
        if len(made) == 1:
            stores.put("failing://b/a", b"1")  # another program counts, too
        return b"%d" % (int(made[-1]) + 1)

    with failing_store():
        stores.put("failing://b/a", b"0")
        stores.update("failing://b/a", one_more)
        assert (made, stores.get("failing://b/a")) == ([b"0", b"1"], b"2")


def test_an_update_that_others_always_come_before() -> None:
    with failing_store() as store:
        numbers = iter(range(1000))

        def make() -> bytes:
            store.store.clear()
            stores.put("failing://b/a", b"%d" % next(numbers))
            return b"mine"

        with pytest.raises(OSError, match="other programs have written it 100 times meanwhile"):
            stores.update("failing://b/a", make)
