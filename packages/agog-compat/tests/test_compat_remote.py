"""`tf.gfile` at URLs, and with files on the disk where both take part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import agog_core as ag
from agog_compat import gfile
from agog_core.errors import AlreadyExistsError, FailedPreconditionError, NotFoundError
from agog_core.files import find
from agog_testing import says

pytest.importorskip("fsspec", reason="fsspec, which opens URLs, is not installed")

from agog_testing.stores import FailingStore, failing_store

URL = "failing://bucket/run"


@pytest.fixture(autouse=True)
def store() -> Iterator[type[FailingStore]]:
    with failing_store() as store:
        yield store


def write(name: str, mode: str, text: Any) -> None:
    with gfile.GFile(f"{URL}/{name}", mode) as file:
        file.write(text)


def test_files_in_all_modes() -> None:
    write("a", "w", "one\n")
    write("a", "a", "twö\n")
    with gfile.GFile(f"{URL}/a", "r+") as file:
        file.seek(0)
        file.write("ONE")
    with gfile.GFile(f"{URL}/a") as file:
        assert (file.readline(), file.tell(), file.readlines()) == ("ONE\n", 4, ["twö\n"])
        assert file.size() == 9
    with gfile.GFile(f"{URL}/a", "rb") as file:
        file.seek(-5, 2)
        assert (file.read(2), file.read()) == (b"tw", b"\xc3\xb6\n")
    write("b", "wb", b"\x00\xff")
    assert gfile.GFile(f"{URL}/b", "rb").read() == b"\x00\xff"


def test_what_is_flushed_is_there(store: type[FailingStore]) -> None:
    file = gfile.GFile(f"{URL}/a", "w")
    file.write("one")
    assert not store.store
    file.flush()
    assert gfile.GFile(f"{URL}/a").read() == "one"
    file.write(" two")
    file.close()
    assert gfile.GFile(f"{URL}/a").read() == "one two"


def test_folders(tmp_path: Path) -> None:
    gfile.make_dirs(f"{URL}/x/y")
    gfile.make_dir(f"{URL}/z")
    for name in ("a.txt", "x/b.txt", "x/y/c.bin"):
        write(name, "w", name)
    assert gfile.list_directory(URL) == ["a.txt", "x"]
    assert list(gfile.walk(URL)) == [
        (URL, ["x"], ["a.txt"]),
        (f"{URL}/x", ["y"], ["b.txt"]),
        (f"{URL}/x/y", [], ["c.bin"]),
    ]
    assert [top for top, _, _ in gfile.walk(URL, in_order=False)] == [f"{URL}/x/y", f"{URL}/x", URL]
    assert list(gfile.walk(f"{URL}/none")) == []
    assert find(f"{URL}/*/*.txt") == [f"{URL}/x/b.txt"]
    assert ag.matching_files([f"{URL}/*.txt", f"{URL}/x/*.txt"]).numpy().tolist() == [
        f"{URL}/a.txt".encode(),
        f"{URL}/x/b.txt".encode(),
    ]
    gfile.copy(f"{URL}/a.txt", f"{tmp_path}/a.txt")
    assert (tmp_path / "a.txt").read_text() == "a.txt"
    gfile.rename(f"{URL}/x", f"{URL}/w")
    assert (gfile.exists(f"{URL}/x"), gfile.is_directory(f"{URL}/w"), gfile.is_directory(f"{URL}/a.txt")) == (
        *(False, True, False),
    )
    assert gfile.stat(f"{URL}/w").is_directory
    assert gfile.stat(f"{URL}/a.txt")[::2] == (5, False)
    gfile.delete_recursively(f"{URL}/w")
    gfile.remove(f"{URL}/a.txt")
    assert not gfile.exists(URL)


def test_whole_files_as_tensors() -> None:
    ag.write_file(f"{URL}/new/a", ag.constant(b"\x00\x01"))
    assert ag.read_file(ag.constant(f"{URL}/new/a")).numpy() == b"\x00\x01"


@pytest.mark.parametrize(
    ("error", "text", "act"),
    [
        (NotFoundError, "GFile: there is no file 'failing://bucket/run/z'.", lambda: gfile.GFile(f"{URL}/z").read()),
        (NotFoundError, "Remove: there is no file 'failing://bucket/run/z'.", lambda: gfile.remove(f"{URL}/z")),
        (NotFoundError, "Stat: there is no file 'failing://bucket/run/z'.", lambda: gfile.stat(f"{URL}/z")),
        (
            NotFoundError,
            "ListDirectory: there is no file 'failing://bucket/run/z'.",
            lambda: gfile.list_directory(f"{URL}/z"),
        ),
        (
            NotFoundError,
            "DeleteRecursively: there is no file 'failing://bucket/run/z'.",
            lambda: gfile.delete_recursively(f"{URL}/z"),
        ),
        (
            FailedPreconditionError,
            "DeleteRecursively: 'failing://bucket/run/a': Not a directory.",
            lambda: gfile.delete_recursively(f"{URL}/a"),
        ),
        (
            AlreadyExistsError,
            "Copy: 'failing://bucket/run/b' is there already; overwrite=True replaces it.",
            lambda: gfile.copy(f"{URL}/a", f"{URL}/b"),
        ),
        (
            AlreadyExistsError,
            "Rename: 'failing://bucket/run/b' is there already; overwrite=True replaces it.",
            lambda: gfile.rename(f"{URL}/a", f"{URL}/b"),
        ),
        (NotFoundError, "read_file: there is no file 'failing://bucket/run/z'.", lambda: ag.read_file(f"{URL}/z")),
    ],
)
def test_errors(error: type[Exception], text: str, act: Callable[[], Any]) -> None:
    write("a", "w", "a")
    write("b", "w", "b")
    with says(error, text):
        act()
    gfile.rename(f"{URL}/a", f"{URL}/b", overwrite=True)
    assert (gfile.list_directory(URL), gfile.GFile(f"{URL}/b").read()) == (["b"], "a")
