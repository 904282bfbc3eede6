"""WebDataset tars: written by tarfile, read in order, resumed at every sample, and broken in every way."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agog_core import errors
from agog_data import Dataset, Iterator
from agog_data.readers import WebDataset
from agog_testing import says

# The session `endurance` tries many more broken files.
EXAMPLES = 20_000 if os.environ.get("AGOG_ENDURANCE") == "1" else 250

Files = dict[str, bytes]


def tar(files: Files, format: int = tarfile.PAX_FORMAT) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=format) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def numbered(first: int, count: int) -> Files:
    files = {}
    for number in range(first, first + count):
        files[f"data/{number:04}.txt"] = b"x" * number * 100
        files[f"data/{number:04}.cls"] = str(number).encode()
    return files


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    found = [tmp_path / f"{k}.tar" for k in range(3)]
    for path, files in zip(found, [numbered(0, 5), {}, numbered(5, 4)], strict=True):
        path.write_bytes(tar(files))
    return found


def listed(dataset: Any) -> list[Files]:
    return [{key: part.numpy() for key, part in sample.items()} for sample in dataset]


def expected(first: int, last: int) -> list[Files]:
    return [
        {"__key__": f"data/{k:04}".encode(), "txt": b"x" * k * 100, "cls": str(k).encode()} for k in range(first, last)
    ]


def test_samples(paths: list[Path]) -> None:
    dataset = WebDataset(paths)
    assert listed(dataset) == expected(0, 9)
    assert listed(WebDataset(str(paths[0]))) == expected(0, 5)
    assert list(dataset.output_types) == ["__key__", "txt", "cls"]
    assert {dtype.name for dtype in dataset.output_types.values()} == {"string"}
    batch = next(iter(dataset.batch(4)))
    assert batch["cls"].numpy().tolist() == [b"0", b"1", b"2", b"3"]
    assert sorted(x["cls"] for x in listed(dataset.shuffle(4, seed=1))) == [str(k).encode() for k in range(9)]


@pytest.mark.parametrize("format", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_names(tmp_path: Path, format: int) -> None:
    long = "y" * 150 if format != tarfile.USTAR_FORMAT else "y" * 80
    path = tmp_path / "x.tar"
    path.write_bytes(
        tar({f"a.b/{long}.seg.png": b"1", f"a.b/{long}.cls": b"2", "a.b/ö.seg.png": b"3", "a.b/ö.cls": b""})
    )
    first, second = listed(WebDataset(path))
    assert first == {"__key__": f"a.b/{long}".encode(), "seg.png": b"1", "cls": b"2"}
    assert second == {"__key__": "a.b/ö".encode(), "seg.png": b"3", "cls": b""}


def test_what_is_no_file_is_left_out(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for kind in (tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            member = tarfile.TarInfo("0.cls" if kind != tarfile.DIRTYPE else "folder.d")
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
        for name in ("README", ".hidden", "0.txt"):
            archive.addfile(tarfile.TarInfo(name))
    assert listed(WebDataset(tmp_path / "x.tar")) == [{"__key__": b"0", "txt": b""}]
    assert os.listdir(tmp_path) == ["x.tar"]


def test_extensions(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    path.write_bytes(tar({"0.a": b"1", "0.b": b"2", "1.a": b"3"}))
    assert listed(WebDataset(path, ["a"])) == [{"__key__": b"0", "a": b"1"}, {"__key__": b"1", "a": b"3"}]
    iterator = iter(WebDataset(path))
    next(iterator)
    for _ in range(2):  # it does not go on behind the error
        with says(
            errors.InvalidArgumentError,
            f"{path}: the sample '1' has the extensions a, but a, b are expected. The extensions that all samples have "
            "can be given to WebDataset.",
        ):
            next(iterator)
    path.write_bytes(tar({"0.a": b"1", "1.a": b"2", "1.c": b"3"}))
    with pytest.raises(errors.InvalidArgumentError, match="the sample '1' has the extensions a, c, but a are expected"):
        listed(WebDataset(path))
    with tarfile.open(path, "w") as archive:
        archive.addfile(tarfile.TarInfo("0.a"))
        archive.addfile(tarfile.TarInfo("0.a"))
    with says(
        errors.InvalidArgumentError,
        f"{path}: at byte 512: the sample '0', which begins at byte 0, has the extension 'a' twice.",
    ):
        listed(WebDataset(path))


def test_wrong_arguments(tmp_path: Path) -> None:
    with says(errors.InvalidArgumentError, "WebDataset: extensions must be a list such as ['jpg', 'cls']; got 'jpg'."):
        WebDataset("x.tar", "jpg")
    with pytest.raises(errors.InvalidArgumentError, match=r"^WebDataset: at least one path is expected; the list "):
        WebDataset([])
    with pytest.raises(TypeError, match=r"^WebDataset: a path or a list of paths is expected; got 3\.$"):
        WebDataset([3])
    path = tmp_path / "x.tar"
    with pytest.raises(errors.NotFoundError, match=r"x\.tar: there is no such file\.$"):
        listed(WebDataset(path))
    path.write_bytes(tar({}))
    with says(
        errors.InvalidArgumentError,
        f"WebDataset: {path}: there is no sample that says what the extensions are; give them.",
    ):
        listed(WebDataset(path))
    assert listed(WebDataset(path, ["a"])) == []


def test_the_state_after_every_sample(paths: list[Path]) -> None:
    dataset = WebDataset(paths).repeat(2)
    everything = listed(dataset)
    iterator = Iterator(dataset)
    for done in range(len(everything) + 1):
        other = Iterator(dataset)
        other.load_state_dict(json.loads(json.dumps(iterator.state_dict())))
        assert listed(other) == everything[done:]
        if done < len(everything):
            next(iterator)
    program = (
        "import sys, json; from agog_data import Iterator; from agog_data.readers import WebDataset\n"
        f"iterator = Iterator(WebDataset({list(map(str, paths))!r}).shuffle(3, seed=5).prefetch(2))\n"
        "iterator.load_state_dict(json.load(sys.stdin)); print([x['cls'].numpy() for x in iterator])"
    )
    shuffled = Iterator(WebDataset(paths).shuffle(3, seed=5).prefetch(2))
    for _ in range(4):
        next(shuffled)
    state = json.dumps(shuffled.state_dict())
    done = subprocess.run([sys.executable, "-c", program], input=state, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([x["cls"].numpy() for x in shuffled])


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are listed in /proc on Linux only")
def test_files_are_closed_with_the_iterator(paths: list[Path]) -> None:
    mine = [str(path) for path in paths]

    def opened() -> list[str]:
        links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
        return [os.readlink(link) for link in links if os.path.exists(link) and os.readlink(link) in mine]

    iterator = iter(WebDataset(paths))
    next(iterator)
    assert opened() == [str(paths[0])]
    del iterator
    assert opened() == []
    broken = paths[0].read_bytes()[:1500]
    paths[0].write_bytes(broken)
    iterator = iter(WebDataset(paths, ["cls"]))
    with pytest.raises(errors.DataLossError):
        next(iterator)
    assert opened() == []


def test_broken_files_name_the_place(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    content = tar({"0.a": b"1" * 600, "1.a": b"2"})
    second = 512 + 1024
    for broken, problem in [
        (b"no tar", "at byte 0: it is no whole tar file: truncated header."),
        (b"", "at byte 0: it is no whole tar file: the blocks that end it are missing."),
        (bytes([1]) * 512, "at byte 0: it is no whole tar file: invalid header."),
        (
            content[:900],
            "at byte 0: it is no whole tar file: the file of 900 bytes ends before its member '0.a' of 600 does.",
        ),
        (
            content[:second],
            f"at byte {second}: it is no whole tar file: the blocks that end it are missing.",
        ),
        (content[: second + 100], f"at byte {second}: it is no whole tar file: truncated header."),
        (
            content[:second] + b"?" + content[second + 1 :],
            f"at byte {second}: it is no whole tar file: bad checksum.",
        ),
    ]:
        path.write_bytes(broken)
        with says(errors.DataLossError, f"{path}: {problem}"):
            listed(WebDataset(path, ["a"]))


def test_compressed_files(tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    path.write_bytes(gzip.compress(tar({"0.a": b"1"})))
    with says(
        errors.InvalidArgumentError,
        f"{path}: it is compressed by gzip; WebDataset reads tar files that are not compressed.",
    ):
        listed(WebDataset(path))


SMALL = [
    tar({"0.a": b"123", "0.b": b"", "1.a": b"4" * 700, "1.b": b"5"}, f)
    for f in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT)
]
LONG = tar({"k" * 130 + ".a": b"1", "ä.b": b"2"}, tarfile.PAX_FORMAT), tar({"k" * 130 + ".a": b"1"}, tarfile.GNU_FORMAT)
HEADS = st.integers(0, 511) | st.integers(0, 4096)


@settings(
    max_examples=EXAMPLES,
    derandomize=EXAMPLES < 1000,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.sampled_from([*SMALL, *LONG]), st.booleans(), st.data())
def test_any_bytes_are_samples_or_one_clear_error(
    tmp_path: Path, content: bytes, repaired: bool, data: st.DataObject
) -> None:
    mutated = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        mutated[data.draw(HEADS) % len(mutated)] = data.draw(st.integers(0, 255) | st.sampled_from(b"LKSxg5\x80\xff"))
    if repaired:  # with a checksum that fits, the fields are looked at
        mutated[148:156] = b" " * 8
        mutated[148:156] = b"%06o\0 " % sum(mutated[:512])
    path = tmp_path / "x.tar"
    path.write_bytes(bytes(mutated[: data.draw(st.integers(0, len(mutated)) | st.just(len(mutated)))]))
    try:
        for sample in WebDataset(path):
            assert sample["__key__"].numpy() is not None
    except (errors.DataLossError, errors.InvalidArgumentError) as error:
        assert str(path) in str(error)  # noqa: PT017  (most examples raise, some do not)


def test_files_in_turn(paths: list[Path]) -> None:
    names = Dataset.from_tensor_slices([str(path) for path in (paths[0], paths[2])])
    mixed = names.interleave(lambda path: WebDataset(path, ["cls"]), cycle_length=2)
    assert [int(x["cls"]) for x in listed(mixed)] == [0, 5, 1, 6, 2, 7, 3, 8, 4]


def test_it_is_a_dataset(paths: list[Path]) -> None:
    assert isinstance(WebDataset(paths), Dataset)
    labels = WebDataset(paths).map(lambda sample: int(sample["cls"].numpy()), num_parallel_calls=2)
    assert [int(x) for x in labels] == list(range(9))
