"""Files under TensorFlow's names, against what is on the disk."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agog_core as ag
from agog_compat import gfile as files
from agog_core.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    UnimplementedError,
)
from agog_core.files import find
from agog_testing import says


def test_text_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "text"
    with files.GFile(path, "w") as file:
        file.write("é\ntwo")
        file.flush()
        assert path.read_bytes() == b"\xc3\xa9\ntwo"
        file.write("!")
    with files.GFile(str(path), "rb") as file:
        assert (file.read(2), file.tell(), file.size()) == (b"\xc3\xa9", 2, 7)
        file.seek(-1, 2)
        assert file.read() == b"!"
    with files.GFile(path) as file:
        assert (file.readline(), file.readlines()) == ("é\n", ["two!"])
    with files.GFile(path, "a") as file:
        file.write("?")
    assert path.read_text() == "é\ntwo!?"


def test_a_file_is_opened_when_it_is_used(tmp_path: Path) -> None:
    file = files.GFile(tmp_path / "later")
    (tmp_path / "later").write_text("here")
    assert file.read() == "here"
    file.close()
    file.close()


def test_folders(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    files.make_dirs(deep)
    files.make_dirs(deep)
    files.make_dir(tmp_path / "c")
    (deep / "one.txt").write_text("1")
    files.copy(deep / "one.txt", tmp_path / "two.txt")
    assert files.list_directory(tmp_path) == ["a", "c", "two.txt"]
    assert find(f"{tmp_path}/*.txt") == [f"{tmp_path}/two.txt"]
    assert find([f"{tmp_path}/c*", f"{tmp_path}/a"]) == [f"{tmp_path}/c", f"{tmp_path}/a"]
    assert [(Path(top).name, folders, names) for top, folders, names in files.walk(tmp_path / "a")] == [
        ("a", ["b"], []),
        ("b", [], ["one.txt"]),
    ]
    assert Path(next(iter(files.walk(tmp_path / "a", in_order=False)))[0]).name == "b"
    assert (files.exists(deep), files.is_directory(deep), files.is_directory(deep / "one.txt")) == (True, True, False)
    found = files.stat(tmp_path / "two.txt")
    assert found == (1, (tmp_path / "two.txt").stat().st_mtime_ns, False)
    files.rename(tmp_path / "two.txt", tmp_path / "three.txt")
    files.copy(deep / "one.txt", tmp_path / "three.txt", overwrite=True)
    files.remove(tmp_path / "three.txt")
    files.delete_recursively(tmp_path / "a")
    assert files.list_directory(tmp_path) == ["c"]


def test_a_copy_onto_itself_changes_nothing(tmp_path: Path) -> None:
    file, link = tmp_path / "a", tmp_path / "link"
    file.write_text("one")
    link.symlink_to(file)
    for other in (file, link):
        files.copy(file, other, overwrite=True)
        assert (file.read_text(), link.is_symlink()) == ("one", True)


@pytest.mark.parametrize("end", ["", "/"])
def test_what_a_deleted_link_leads_to_stays(tmp_path: Path, end: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a").write_text("one")
    for link in (tmp_path / "link", tmp_path / "folder" / "round"):
        link.symlink_to(tmp_path / "folder")
    files.delete_recursively(f"{tmp_path}/link{end}")
    assert files.list_directory(tmp_path) == ["folder"]
    assert files.list_directory(tmp_path / "folder") == ["a", "round"]
    (tmp_path / "to_file").symlink_to(tmp_path / "folder" / "a")
    with says(FailedPreconditionError, f"DeleteRecursively: '{tmp_path}/to_file': Not a directory."):
        files.delete_recursively(tmp_path / "to_file")
    files.delete_recursively(f"{tmp_path}/folder{end}")
    assert files.list_directory(tmp_path) == ["to_file"]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda p: files.GFile(f"{p}/none").read(), NotFoundError, "GFile: there is no file '{p}/none'."),
        (lambda p: files.remove(f"{p}/none"), NotFoundError, "Remove: there is no file '{p}/none'."),
        (lambda p: files.stat(f"{p}/none"), NotFoundError, "Stat: there is no file '{p}/none'."),
        (lambda p: files.list_directory(f"{p}/f"), FailedPreconditionError, "ListDirectory: '{p}/f': Not a directory."),
        (lambda p: files.make_dir(f"{p}/f"), AlreadyExistsError, "MkDir: '{p}/f' is there already."),
        (lambda p: files.make_dirs(f"{p}/f"), AlreadyExistsError, "MakeDirs: '{p}/f' is there already."),
        (
            lambda p: files.copy(f"{p}/f", f"{p}/f"),
            AlreadyExistsError,
            "Copy: '{p}/f' is there already; overwrite=True replaces it.",
        ),
        (
            lambda p: files.rename(f"{p}/none", f"{p}/f"),
            AlreadyExistsError,
            "Rename: '{p}/f' is there already; overwrite=True replaces it.",
        ),
        (lambda p: ag.read_file(f"{p}/none"), NotFoundError, "read_file: there is no file '{p}/none'."),
        (
            lambda p: ag.read_file([p, p]),
            InvalidArgumentError,
            "read_file: filename must be a scalar string; got shape (2,).",
        ),
        (
            lambda p: ag.write_file(p, [p]),
            InvalidArgumentError,
            "write_file: contents must be a scalar string; got shape (1,).",
        ),
    ],
)
def test_errors(tmp_path: Path, call: Callable[[str], Any], error: type[Exception], text: str) -> None:
    (tmp_path / "f").write_text("")
    with says(error, text.format(p=tmp_path)):
        call(str(tmp_path))


USES: list[tuple[str, Callable[[str], Any]]] = [
    ("Exists", files.exists),
    ("IsDirectory", files.is_directory),
    ("Walk", files.walk),
    ("GFile", lambda name: files.GFile(name).read()),
    ("GFile", lambda name: files.GFile(name, "wb").write(b"")),
    ("Remove", files.remove),
    ("Stat", files.stat),
    ("ListDirectory", files.list_directory),
    ("MkDir", files.make_dir),
    ("MakeDirs", files.make_dirs),
    ("DeleteRecursively", files.delete_recursively),
    ("Copy", lambda name: files.copy(name, "other")),
    ("Rename", lambda name: files.rename(name, "other")),
    ("Copy", lambda name: files.copy("other", name)),
    ("Rename", lambda name: files.rename("other", name)),
    ("read_file", ag.read_file),
    ("write_file", lambda name: ag.write_file(name, "")),
    ("Glob", lambda name: find(name)),
    ("Glob", lambda name: find(["*", f"{name}*"])),
]


@pytest.mark.parametrize(("function", "call"), USES)
def test_no_file_name_has_a_nul_character(tmp_path: Path, function: str, call: Callable[[str], Any]) -> None:
    with says(InvalidArgumentError, f"{function}: a file name must not hold a NUL character."):
        call(f"{tmp_path}/a\0b")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("function", "call"), USES)
def test_urls_without_the_package(
    tmp_path: Path, function: str, call: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(UnimplementedError) as raised:
        call("gs://bucket/a")
    path = "gs://bucket/a*" if "gs://bucket/a*" in str(raised.value) else "gs://bucket/a"
    assert str(raised.value) == (
        f'{function}: {path!r} is a URL, which the package fsspec opens; install it by pip install "agog[remote]".'
    )
    assert list(tmp_path.iterdir()) == []


def test_what_may_not_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("os.unlink", refuse)
    with says(PermissionDeniedError, "Remove: 'mine' may not be used so."):
        files.remove("mine")


def test_whole_files_as_tensors(tmp_path: Path) -> None:
    data = bytes(range(256))
    for name in ("b", "a"):
        ag.write_file(str(tmp_path / "new" / name), ag.constant(data))
    read = ag.read_file(ag.constant(str(tmp_path / "new" / "a")))
    assert (read.dtype, read.shape.as_list(), read.numpy()) == (ag.dtypes.string, [], data)
    expected = [f"{tmp_path}/new/a".encode(), f"{tmp_path}/new/b".encode()]
    assert ag.matching_files(f"{tmp_path}/new/*").numpy().tolist() == expected
    assert ag.matching_files([f"{tmp_path}/new/b", f"{tmp_path}/new/*"]).numpy().tolist() == expected
    assert ag.decode_raw(read, "uint8").numpy().tolist() == list(range(256))
