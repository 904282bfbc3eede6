"""`get_file`: what is fetched, kept, checked and unpacked as in TensorFlow 1.12; all files are made here."""

from __future__ import annotations

import hashlib
import io
import os
import re
import socket
import tarfile
import threading
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agog_core import errors
from agog_data.datasets import fetching
from agog_data.datasets.fetching import get_file
from agog_testing import says

TEXT = b"inside" * 100


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.delenv("KERAS_HOME", raising=False)
    return tmp_path / "home"


def tar(path: Path, members: dict[str, Any], mode: str = "w:gz") -> Path:
    """A tar file of texts (bytes), folders (None), links and others (a TarInfo)."""
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            info = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.name = name
            if content is None:
                info.type = tarfile.DIRTYPE
            if isinstance(content, bytes):
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content) if isinstance(content, bytes) else None)
    return path


def zipped(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def link(target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo()
    info.type, info.linkname = kind, target
    return info


def held(folder: Path) -> dict[str, bytes | None]:
    """All that is in a folder, by path; None for folders."""
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*"))}
    assert not any(path.is_symlink() for path in found.values())
    return {name: None if path.is_dir() else path.read_bytes() for name, path in found.items()}


def test_files_are_fetched_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "words.txt"
    source.write_bytes(b"one")
    checksum = hashlib.sha256(b"one").hexdigest().upper()
    for _ in range(2):
        path = get_file("w.txt", source.as_uri(), file_hash=checksum, cache_dir=tmp_path / "cache")
        assert path == str(tmp_path / "cache" / "datasets" / "w.txt")
        assert Path(path).read_bytes() == b"one"
        source.write_bytes(b"two")
    assert capsys.readouterr().out == f"Downloading data from {source.as_uri()}\n"
    get_file("w.txt", source.as_uri(), cache_dir=tmp_path / "cache", force_download=True)
    assert Path(path).read_bytes() == b"two"
    query = source.as_uri() + "?version=1#part"
    assert Path(get_file(origin=source.as_uri(), cache_dir=tmp_path / "cache")).read_bytes() == b"two"
    assert get_file(None, query, cache_dir=tmp_path / "cache") == str(tmp_path / "cache" / "datasets" / "words.txt")


def test_places(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "w.txt"
    source.write_bytes(b"one")
    url = source.as_uri()
    assert get_file("a", url) == str(home / ".keras" / "datasets" / "a")
    assert get_file("a", url, cache_subdir="models") == str(home / ".keras" / "models" / "a")
    assert get_file("a", url, cache_subdir=tmp_path / "own") == str(tmp_path / "own" / "a")
    assert get_file("a", url, cache_dir="~/mine") == str(home / "mine" / "datasets" / "a")
    assert get_file("deep/b", url) == str(home / ".keras" / "datasets" / "deep" / "b")
    assert get_file(tmp_path / "there", url) == str(tmp_path / "there")
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    assert get_file("a", url) == str(tmp_path / "keras" / "datasets" / "a")
    assert (tmp_path / "keras" / "datasets" / "a").read_bytes() == b"one"


def test_what_is_there_is_used_where_nothing_can_be_fetched(home: Path) -> None:
    kept = home / ".keras" / "datasets" / "a.txt"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"mine")
    assert get_file("a.txt", "https://nowhere.invalid/a.txt") == str(kept)


def test_checksums(tmp_path: Path) -> None:
    source = tmp_path / "w.txt"
    source.write_bytes(b"two")
    url = source.as_uri()
    found = {name: hashlib.new(name, b"two").hexdigest() for name in ("md5", "sha256")}
    (tmp_path / "datasets").mkdir()
    for arguments in (
        {"md5_hash": found["md5"]},
        {"file_hash": found["md5"]},
        {"file_hash": found["sha256"], "hash_algorithm": "sha256"},
        {"file_hash": found["md5"], "md5_hash": "0", "hash_algorithm": "md5"},
    ):
        (tmp_path / "datasets" / "w.txt").write_bytes(b"damaged")
        path = get_file("w.txt", url, cache_dir=tmp_path, **arguments)
        assert Path(path).read_bytes() == b"two"
    for arguments, algorithm in (
        ({"md5_hash": "0" * 64}, "md5"),
        ({"file_hash": "0" * 64}, "sha256"),
        ({"file_hash": "0" * 32}, "md5"),
        ({"file_hash": "0" * 32, "hash_algorithm": "sha256"}, "sha256"),
    ):
        expected = next(value for name, value in arguments.items() if name != "hash_algorithm")
        with says(
            errors.DataLossError,
            f"get_file: {url} has the {algorithm} checksum {found[algorithm]}; {expected} is expected.",
        ):
            get_file("x.txt", url, cache_dir=tmp_path, **arguments)  # type: ignore[arg-type]
    assert [path.name for path in (tmp_path / "datasets").iterdir()] == ["w.txt"]


def test_arguments() -> None:
    url = "https://example.invalid/"
    for arguments, text in (
        (
            {"fname": "a"},
            "get_file: origin is the address to fetch the file from; give it, such as origin='https://...'.",
        ),
        ({"origin": url}, f"get_file: {url!r} ends with no file's name; give one, such as fname='data.zip'."),
        (
            {"fname": "a", "origin": url, "hash_algorithm": "sha1"},
            "get_file: hash_algorithm must be 'auto', 'md5' or 'sha256'; got 'sha1'.",
        ),
        (
            {"fname": "a", "origin": url, "archive_format": ["tar", "rar"]},
            "get_file: archive_format must be 'auto', 'tar', 'zip', a list of these two, or None; got ['tar', 'rar'].",
        ),
    ):
        with says(ValueError, text):
            get_file(**arguments)  # type: ignore[arg-type]
    with says(errors.InvalidArgumentError, "get_file: max_bytes must be greater than zero; got 0."):
        get_file("a", url, max_bytes=0)


def test_what_cannot_be_fetched(tmp_path: Path) -> None:
    source = tmp_path / "none"
    file = tmp_path / "datasets" / "a"
    with says(
        errors.UnavailableError,
        f"get_file: {source.as_uri()} could not be fetched: <urlopen error [Errno 2] No such file or directory: "
        f"'{source}'>. Try again later, or put the file there by hand, as {file}.",
    ):
        get_file("a", source.as_uri(), cache_dir=tmp_path)
    with says(
        errors.UnavailableError,
        "get_file: words.txt could not be fetched: unknown url type: 'words.txt'. Try again later, or put the file "
        f"there by hand, as {file}.",
    ):
        get_file("a", "words.txt", cache_dir=tmp_path)
    assert [*file.parent.iterdir()] == []


def test_half_a_file_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in list(os.environ):
        if variable.lower().endswith("_proxy"):
            monkeypatch.delenv(variable)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/a.zip"

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 100\r\n\r\n" + bytes(60))

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(errors.UnavailableError) as error:
            get_file("a.zip", url, cache_dir=tmp_path)
        thread.join()
    assert str(error.value) == (
        f"get_file: {url} could not be fetched: the connection ended after 60 of 100 bytes. Try again later, or put "
        f"the file there by hand, as {tmp_path / 'datasets' / 'a.zip'}."
    )
    assert [*(tmp_path / "datasets").iterdir()] == []


def test_folders_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(url: str, part: Path) -> None:
        raise PermissionError(13, "Permission denied", str(part))

    monkeypatch.setattr(fetching, "fetch", refused)
    with says(
        errors.PermissionDeniedError,
        f"get_file: {tmp_path / 'datasets'} cannot be read or written: Permission denied. Give another one, as "
        "cache_dir=...",
    ):
        get_file("a", "https://example.invalid/a", cache_dir=tmp_path)


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.bz2", "tar.xz", "zip"])
def test_archives_are_unpacked_beside_themselves(tmp_path: Path, kind: str) -> None:
    members = {"data/a.txt": TEXT, "data/deep/b.txt": b"", "c.txt": b"c"}
    if kind == "zip":
        archive = zipped(tmp_path / "data.zip", {"empty/": b"", **members})
    else:
        compression = kind.partition(".")[2]
        archive = tar(tmp_path / f"data.{kind}", {"./": None, "empty": None, **members}, f"w:{compression}")
    name = f"kept.{kind}"
    datasets = tmp_path / "cache" / "datasets"
    path = get_file(name, archive.as_uri(), extract=True, cache_dir=tmp_path / "cache")
    assert path == str(datasets / name)  # TensorFlow 1.12 returns the archive's path
    assert (datasets / name).read_bytes() == archive.read_bytes()
    whole = {**members, "data": None, "data/deep": None, "empty": None, name: archive.read_bytes()}
    assert held(datasets) == whole
    (datasets / "c.txt").write_bytes(b"changed")
    (datasets / "data" / "more.txt").write_bytes(b"own")
    get_file(name, archive.as_uri(), extract=True, cache_dir=tmp_path / "cache")
    assert held(datasets) == {**whole, "data/more.txt": b"own"}
    for each in (None, [], ["tar"] if kind == "zip" else ["zip"]):
        other = tmp_path / "other"
        arguments: dict[str, Any] = {"extract": True, "archive_format": each, "cache_dir": other}
        if each:
            with says(
                errors.DataLossError, f"get_file: {other / 'datasets' / name} is no archive of the format {each!r}."
            ):
                get_file(name, archive.as_uri(), **arguments)
        else:
            get_file(name, archive.as_uri(), **arguments)
        assert [*held(other / "datasets")] == [name]


def test_untar(tmp_path: Path) -> None:
    archive = tar(tmp_path / "flowers.tgz", {"photos/a.jpg": TEXT})
    folder = tmp_path / "datasets"
    for name in ("photos", "photos.tar.gz"):
        assert get_file(name, archive.as_uri(), untar=True, cache_dir=tmp_path) == str(folder / "photos")
        assert held(folder) == {
            "photos": None, "photos/a.jpg": TEXT, "photos.tar.gz": archive.read_bytes()
        }  # fmt: skip
        (folder / "photos.tar.gz").write_bytes(archive.read_bytes())
    with pytest.warns(UserWarning, match=r".") as warned:
        path = get_file("flowers", archive.as_uri(), untar=True, cache_dir=tmp_path)
    assert path == str(folder / "flowers")
    assert str(warned[0].message) == (
        f"get_file: untar=True returns the path of 'flowers', and {folder / 'flowers.tar.gz'} holds nothing of that "
        f"name; what it holds is in {folder}."
    )


def test_links_become_copies(tmp_path: Path) -> None:
    members = {"d/a": TEXT, "d/b": link("a"), "c": link("d/b"), "e": link("d/a", tarfile.LNKTYPE)}
    get_file("x.tar", tar(tmp_path / "x.tar", members, "w").as_uri(), extract=True, cache_dir=tmp_path)
    found = held(tmp_path / "datasets")
    assert {name: found[name] for name in members} == dict.fromkeys(members, TEXT)
    info = zipfile.ZipInfo("d/b")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("d/a", TEXT)
        archive.writestr(info, "../d/a")
    get_file("x.zip", (tmp_path / "x.zip").as_uri(), extract=True, cache_dir=tmp_path / "z")
    assert held(tmp_path / "z" / "datasets")["d/b"] == TEXT


OUTSIDE = "it names {!r}, which is outside of the folder that it is unpacked into"


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"ok": b"", "../evil": b"x"}, OUTSIDE.format("../evil")),
        ({"a/../../evil": b"x"}, OUTSIDE.format("a/../../evil")),
        ({"/tmp/evil": b"x"}, OUTSIDE.format("/tmp/evil")),
        ({"a": link("../evil")}, OUTSIDE.format("../evil")),
        ({"a": link("/etc/passwd")}, OUTSIDE.format("/etc/passwd")),
        ({"a": link("../evil", tarfile.LNKTYPE)}, OUTSIDE.format("../evil")),
        ({"a": link("b"), "b": b""}, "its member 'a' is a link to 'b', and no file of that name comes before it"),
        ({"a": link("a")}, "its member 'a' is a link to 'a', and no file of that name comes before it"),
        ({"d": None, "a": link("d")}, "its member 'a' is a link to 'd', and no file of that name comes before it"),
        ({"a": link("", tarfile.FIFOTYPE)}, "its member 'a' is no file, no folder and no link"),
        ({"a": link("", tarfile.CHRTYPE)}, "its member 'a' is no file, no folder and no link"),
        ({"a": b"", "a/b": b""}, "its member 'a/b' is in the way of another one"),
        ({"a/b": b"", "a": b""}, "its member 'a' is in the way of another one"),
        ({".": b""}, "its member '.' is in the way of another one"),
    ],
)
def test_hostile_archives(tmp_path: Path, members: dict[str, Any], problem: str) -> None:
    archives = [tar(tmp_path / "x.tar.gz", members)]
    if all(isinstance(content, bytes) for content in members.values()):
        archives.append(zipped(tmp_path / "x.zip", members))
    for archive in archives:
        datasets = tmp_path / archive.suffix / "cache" / "datasets"
        with says(errors.DataLossError, f"{datasets / archive.name}: {problem}. Nothing of it was unpacked."):
            get_file(archive.name, archive.as_uri(), extract=True, cache_dir=tmp_path / archive.suffix / "cache")
        assert [*held(tmp_path / archive.suffix)] == ["cache", "cache/datasets", f"cache/datasets/{archive.name}"]


def test_damaged_archives(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).bytes(100_000)
    file = tar(tmp_path / "x.tar.gz", {"a": noise, "b": noise})
    whole = file.read_bytes()
    file.write_bytes(whole[:-50_000])
    kept = tmp_path / "cache" / "datasets" / "x.tar.gz"
    with says(
        errors.DataLossError,
        f"{kept}: it is no whole tar file: Compressed file ended before the end-of-stream marker was reached. Nothing "
        "of it was unpacked.",
    ):
        get_file("x.tar.gz", file.as_uri(), extract=True, cache_dir=tmp_path / "cache")
    assert [*held(kept.parent)] == ["x.tar.gz"]
    plain = tar(tmp_path / "x.tar", {"a": b"1", "b": b"2"}, "w")
    data = bytearray(plain.read_bytes())
    data[1024 + 150] ^= 1  # the checksum of the second header, which tarfile would take for the end
    plain.write_bytes(data)
    with says(
        errors.DataLossError,
        f"{tmp_path / 'plain' / 'datasets' / 'x.tar'}: it is no whole tar file: bad checksum. Nothing of it was "
        "unpacked.",
    ):
        get_file("x.tar", plain.as_uri(), extract=True, cache_dir=tmp_path / "plain")


def test_archives_of_any_damage(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    members = {"d/a.txt": TEXT, "d/b.txt": rng.bytes(700), "c.txt": b"c"}
    archives = [
        tar(tmp_path / "x.tar", members, "w"), tar(tmp_path / "x.tgz", members),
        tar(tmp_path / "x.txz", members, "w:xz"), zipped(tmp_path / "x.zip", members),
        zipped(tmp_path / "y.zip", members, zipfile.ZIP_STORED),
    ]  # fmt: skip
    refused = 0
    for archive in archives:
        whole = archive.read_bytes()
        for _ in range(80):
            data = bytearray(whole[: rng.integers(1, len(whole) + 1)] if rng.random() < 0.3 else whole)
            for place in rng.integers(0, len(data), rng.integers(0, 4)):
                data[place] = rng.integers(256)
            archive.write_bytes(data)
            try:
                get_file("x", archive.as_uri(), extract=True, cache_dir=tmp_path / "cache", force_download=True)
            except (errors.DataLossError, errors.ResourceExhaustedError, errors.AlreadyExistsError):
                refused += 1
            assert not [path for path in (tmp_path / "cache" / "datasets").iterdir() if path.name.endswith(".part")]
    assert 200 < refused < 400


def test_archives_of_more_bytes_than_are_allowed(tmp_path: Path) -> None:
    zeros = bytes(40_000_000)
    for archive in (tar(tmp_path / "x.tar.gz", {"a": zeros}), zipped(tmp_path / "x.zip", {"a": zeros})):
        tracemalloc.start()
        with pytest.raises(errors.ResourceExhaustedError) as error:
            get_file(archive.name, archive.as_uri(), extract=True, cache_dir=tmp_path / "c", max_bytes=20_000_000)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        kept = tmp_path / "c" / "datasets" / archive.name
        assert str(error.value) == (
            f"{kept}: it has more than 20000000 bytes, decompressed; max_bytes=... allows more."
        )
        assert peak < 6e6
        kept.unlink()
        assert held(kept.parent) == {}
    many = tar(tmp_path / "y.tar.gz", {f"{number}": None for number in range(3000)})
    with pytest.raises(errors.ResourceExhaustedError, match=re.escape("more than 1000000 bytes")):
        get_file("y", many.as_uri(), extract=True, cache_dir=tmp_path, max_bytes=1_000_000)


def test_headers_that_take_memory(tmp_path: Path) -> None:
    announced = tarfile.TarInfo("x")
    announced.size, announced.type = 900_000_000, tarfile.XHDTYPE  # tarfile would read it at once
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("first"))
        archive.addfile(announced)
    with says(
        errors.DataLossError,
        f"{tmp_path / 'datasets' / 'x'}: it is no whole tar file: it has a header of 900000256 bytes. Nothing of it "
        "was unpacked.",
    ):
        get_file("x", (tmp_path / "x.tar").as_uri(), extract=True, cache_dir=tmp_path)


def test_what_is_in_the_way(tmp_path: Path) -> None:
    archive = tar(tmp_path / "x.tar", {"a/b": b"1"}, "w")
    for name, content in (("a", "file"), ("a/b", "folder")):
        base = tmp_path / content
        way = base / "datasets" / name
        way.parent.mkdir(parents=True)
        way.write_bytes(b"") if content == "file" else way.mkdir()
        with says(
            errors.AlreadyExistsError,
            f"{base / 'datasets' / 'x'}: {way} is in the way of what it holds. Move it away, or unpack into another "
            "folder.",
        ):
            get_file("x", archive.as_uri(), extract=True, cache_dir=base)


def test_what_is_no_archive_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    with says(errors.DataLossError, f"get_file: {tmp_path / 'datasets' / 'a.txt'} is no archive of the format 'auto'."):
        get_file(origin=(tmp_path / "a.txt").as_uri(), extract=True, cache_dir=tmp_path)
