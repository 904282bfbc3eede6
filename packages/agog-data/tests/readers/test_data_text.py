"""Lines of text files, records of a fixed length, and how the readers of all files resume and close."""

from __future__ import annotations

import gc
import gzip
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pipelines import values

import agog_core as ag
from agog_data import Dataset, Iterator
from agog_data.readers.csv_files import CsvDataset
from agog_data.readers.fixed_length import FixedLengthRecordDataset
from agog_data.readers.text import TextLineDataset
from agog_testing import says

InvalidArgumentError = ag.errors.InvalidArgumentError
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}
each_compression = pytest.mark.parametrize("compression", COMPRESSIONS, ids=lambda name: name or "plain")


@pytest.mark.parametrize("buffer_size", [None, 0, 1, 4])
@each_compression
def test_lines(tmp_path: Path, compression: str, buffer_size: int | None) -> None:
    texts = {
        b"": [],
        b"one": [b"one"],
        b"one\r\ntwo\n\nth\rree": [b"one", b"two", b"", b"three"],
        b"\n\n": [b"", b""],
        "é\n\0end\n".encode(): ["é".encode(), b"\0end"],
        b"long" * 50_000 + b"\nshort": [b"long" * 50_000, b"short"],
    }
    path = tmp_path / "text"
    for text, lines in texts.items():
        if not buffer_size or len(text) < 100:
            path.write_bytes(COMPRESSIONS[compression](text))
            assert values(TextLineDataset(str(path), compression, buffer_size)) == lines


@pytest.mark.parametrize("buffer_size", [None, 1, 4])
@each_compression
def test_lines_have_a_limit(tmp_path: Path, compression: str, buffer_size: int | None) -> None:
    path, other = tmp_path / "text", tmp_path / "other"
    path.write_bytes(COMPRESSIONS[compression](b"one\nthree\nfour\n"))
    other.write_bytes(COMPRESSIONS[compression](b"five\n"))
    assert len(values(TextLineDataset(str(path), compression, buffer_size, max_bytes=6))) == 3
    iterator = iter(TextLineDataset([str(path), str(other)], compression, buffer_size, max_bytes=5))
    assert values([next(iterator)]) == [b"one"]
    with says(
        ag.errors.ResourceExhaustedError,
        f"TextLineDataset: {path}: record 1 (the first is 0), at byte 4: the line has more than 5 bytes; "
        "max_bytes=... allows more.",
    ):
        next(iterator)
    assert values(iterator) == [b"five"]


def test_the_limit_of_lines_is_checked() -> None:
    with says(InvalidArgumentError, "TextLineDataset: max_bytes must be greater than zero; got 0."):
        TextLineDataset("text", max_bytes=0)


def test_lines_of_a_broken_file(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(zlib.compress(b"one\ntwo\n")[:-2])
    with says(
        ag.errors.DataLossError,
        f"TextLineDataset: {path}: record 2 (the first is 0), at byte 8: the compressed bytes end too early.",
    ):
        values(TextLineDataset(str(path), "ZLIB"))


@pytest.mark.parametrize(("header", "footer"), [(0, 0), (3, 0), (0, 5), (2, 1)])
@each_compression
def test_records_of_a_fixed_length(tmp_path: Path, compression: str, header: int, footer: int) -> None:
    path = tmp_path / "records"
    records = [bytes([65 + i] * 4) for i in range(5)]
    path.write_bytes(COMPRESSIONS[compression](b"h" * header + b"".join(records) + b"f" * footer))
    for buffer_size in (None, 3):
        assert values(FixedLengthRecordDataset(str(path), 4, header, footer, buffer_size, compression)) == records
    path.write_bytes(COMPRESSIONS[compression](b"h" * header + b"f" * footer))
    assert values(FixedLengthRecordDataset(str(path), 4, header, footer, None, compression)) == []


@each_compression
def test_records_must_fill_the_file(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "records"
    problem = "its {} bytes are no whole number of records of 4 bytes, between a header of 2 bytes and a footer of 3."
    for size, number, begin in ((4, 0, 0), (1, 0, 0), (10, 1, 6)):
        path.write_bytes(COMPRESSIONS[compression](b"x" * size))
        place = f" record {number} (the first is 0), at byte {begin}:" if compression else ""
        with says(InvalidArgumentError, f"FixedLengthRecordDataset: {path}:{place} " + problem.format(size)):
            values(FixedLengthRecordDataset(str(path), 4, 2, 3, compression_type=compression))


def test_numbers_are_decoded_from_records(tmp_path: Path) -> None:
    path = tmp_path / "records"
    path.write_bytes(np.arange(6, dtype="<i4").tobytes())
    rows = FixedLengthRecordDataset(str(path), 8).map(lambda record: ag.decode_raw(record, ag.int32))
    assert values(rows) == [[0, 1], [2, 3], [4, 5]]


def test_wrong_arguments() -> None:
    wrong: list[tuple[Callable[[], Any], str]] = [
        (
            lambda: FixedLengthRecordDataset("x", 0),
            "FixedLengthRecordDataset: record_bytes must be greater than zero; got 0.",
        ),
        (
            lambda: FixedLengthRecordDataset("x", 1, footer_bytes=-1),
            "FixedLengthRecordDataset: footer_bytes must not be negative; got -1.",
        ),
        (
            lambda: TextLineDataset("x", buffer_size=-1),
            "TextLineDataset: buffer_size must not be negative; got -1.",
        ),
        (
            lambda: TextLineDataset("x", "BZIP"),
            "TextLineDataset: compression_type must be '', 'GZIP' or 'ZLIB'; got 'BZIP'.",
        ),
    ]
    for act, text in wrong:
        with says(InvalidArgumentError, text):
            act()


READERS: dict[str, Callable[[Any, str], Dataset]] = {
    "lines": lambda names, compression: TextLineDataset(names, compression),
    "fixed": lambda names, compression: FixedLengthRecordDataset(names, 7, 7, 7, 8, compression),
    "csv": lambda names, compression: CsvDataset(names, [ag.int64, ""], compression, header=True),
    "csv in turns": lambda names, compression: CsvDataset(names, [ag.int64, ""], compression, num_parallel_reads=2),
}
each_reader = pytest.mark.parametrize("reader", READERS.values(), ids=READERS)


def write_tables(folder: Path, compression: str) -> list[str]:
    names = []
    for file, rows in enumerate([3, 2, 4]):
        names.append(str(folder / str(file)))
        text = "".join(f'{file}{row},"{"ab"[row % 2]}"\n' for row in range(rows))
        Path(names[-1]).write_bytes(COMPRESSIONS[compression](text.encode()))
    return names


@each_compression
@each_reader
def test_an_iterator_resumes_after_every_element(
    tmp_path: Path, reader: Callable[[Any, str], Dataset], compression: str
) -> None:
    dataset = reader(write_tables(tmp_path, compression), compression).repeat(2)
    iterator = Iterator(dataset)
    states, expected = [json.dumps(iterator.state_dict())], []
    for element in iterator:
        expected += values([element])
        states.append(json.dumps(iterator.state_dict()))
    assert len(expected) > 5
    for position, state in enumerate(states):
        resumed = Iterator(dataset)
        resumed.load_state_dict(json.loads(state))
        assert values(resumed) == expected[position:], position


RESUME = """
import json, sys
import agog_core as ag
from agog_data import Iterator, readers

given = json.load(sys.stdin)
names, compression = given["names"], given["compression"]
datasets = {
    "lines": readers.TextLineDataset(names, compression),
    "fixed": readers.FixedLengthRecordDataset(names, 7, 7, 7, 8, compression),
    "csv": readers.CsvDataset(names, [ag.int64, ""], compression, header=True),
    "csv in turns": readers.CsvDataset(names, [ag.int64, ""], compression, num_parallel_reads=2),
}
found = {}
for name, states in given["states"].items():
    found[name] = []
    for state in states:
        iterator = Iterator(datasets[name])
        iterator.load_state_dict(state)
        found[name].append([[str(x.numpy()) for x in ag.nest.flatten(element)] for element in iterator])
print(json.dumps(found))
"""


@each_compression
def test_another_process_resumes_after_every_element(tmp_path: Path, compression: str) -> None:
    names = write_tables(tmp_path, compression)
    states: dict[str, list[Any]] = {}
    rest: dict[str, list[Any]] = {}
    for name, reader in READERS.items():
        iterator = Iterator(reader(names, compression))
        states[name] = [iterator.state_dict()]
        elements = []
        for element in iterator:
            elements.append([str(x.numpy()) for x in ag.nest.flatten(element)])
            states[name].append(iterator.state_dict())
        rest[name] = [elements[position:] for position in range(len(elements) + 1)]
    given = json.dumps({"names": names, "compression": compression, "states": states})
    done = subprocess.run([sys.executable, "-c", RESUME], input=given, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == rest


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the open files are not to be seen")
@each_reader
def test_files_are_closed_with_the_iterator(tmp_path: Path, reader: Callable[[Any, str], Dataset]) -> None:
    names = write_tables(tmp_path, "")

    def open_files() -> int:
        links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
        return sum(str(tmp_path) in os.readlink(link) for link in links if os.path.lexists(link))

    iterator = iter(reader(names, ""))
    next(iterator)
    assert open_files()
    del iterator
    gc.collect()
    assert not open_files()


def test_lines_of_files_are_kept_in_a_cache(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\ny\n")
    dataset = TextLineDataset(str(tmp_path / "a.txt")).map(lambda line: line, num_parallel_calls=2).cache()
    for _ in range(2):
        assert [line.numpy() for line in dataset] == [b"x", b"y"]
    iterator = iter(TextLineDataset(str(tmp_path / "a.txt")).cache())
    next(iterator)
    state = iterator.state_dict()
    again = iter(TextLineDataset(str(tmp_path / "a.txt")).cache())
    again.load_state_dict(state)
    assert [line.numpy() for line in again] == [b"y"]
