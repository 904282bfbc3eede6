"""Datasets of files at URLs: the elements, and the positions to resume at, of the same files on the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agog_core.errors import FailedPreconditionError, NotFoundError, UnavailableError, UnimplementedError
from agog_core.files import copy, retries
from agog_data import Dataset
from agog_data.datasets.fetching import get_file
from agog_data.images import encode_png
from agog_data.readers import ArrowDataset, ImageFolder, NumpyDataset, WebDataset
from agog_data.readers.csv_files import CsvDataset
from agog_data.readers.csv_tables import make_csv_dataset
from agog_data.readers.fixed_length import FixedLengthRecordDataset
from agog_data.readers.record_writer import TFRecordWriter
from agog_data.readers.sqlite import SqlDataset
from agog_data.readers.text import TextLineDataset
from agog_data.readers.tfrecord import TFRecordDataset
from agog_testing import says

pytest.importorskip("fsspec", reason="fsspec, which opens URLs, is not installed")

from agog_testing.stores import FailingStore, Faults, failing_store

URL = "failing://bucket/data"


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[FailingStore]]:
    monkeypatch.setattr(retries.time, "sleep", lambda seconds: None)
    with failing_store() as store:
        yield store


def write_records(path: str, compression: str = "") -> None:
    with TFRecordWriter(path, compression) as writer:
        for number in range(40):
            writer.write(b"%d" % number * 9)


def write_csv(path: str) -> None:
    Path(path).write_text("x,y\n" + "".join(f"{n},{n / 2}\n" for n in range(40)))


def write_table(path: str) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"x": np.arange(40)}), path)


def write_ipc(path: str) -> None:
    import pyarrow

    table = pyarrow.table({"x": np.arange(40)})
    with pyarrow.OSFile(path, "wb") as sink, pyarrow.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def write_tar(path: str) -> None:
    import io
    import tarfile

    with tarfile.open(path, "w") as archive:
        for number in range(10):
            info = tarfile.TarInfo(f"{number}.txt")
            info.size = 3
            archive.addfile(info, io.BytesIO(b"abc"))


def write_npy(path: str) -> None:
    with open(path, "wb") as file:
        np.save(file, np.arange(40))


def write_npz(path: str) -> None:
    with open(path, "wb") as file:
        np.savez(file, x=np.arange(40))


def write_bytes(path: str) -> None:
    Path(path).write_bytes(bytes(range(82)))


def lines(path: str) -> None:
    Path(path).write_bytes(b"".join(b"line %d\n" % number for number in range(40)))


READERS: dict[str, tuple[Callable[[str], Any], Callable[[str], Dataset]]] = {
    "text": (lines, TextLineDataset),
    "records": (write_records, TFRecordDataset),
    "gzip": (lambda path: write_records(path, "GZIP"), lambda path: TFRecordDataset(path, "GZIP")),
    "fixed": (
        lambda path: Path(path).write_bytes(bytes(range(82))),
        lambda path: FixedLengthRecordDataset(path, 2, 1, 1),
    ),
    "csv": (write_csv, lambda path: CsvDataset(path, [np.int32(0), np.float32(0)], header=True)),
    "table": (write_csv, lambda path: make_csv_dataset(path, 4, num_epochs=1, shuffle=False)),
    "numpy": (write_npy, NumpyDataset),
    "npz": (write_npz, NumpyDataset),
    "parquet": (write_table, ArrowDataset),
    "arrow": (write_ipc, ArrowDataset),
    "tar": (write_tar, WebDataset),
}


def flat(element: Any) -> Any:
    if isinstance(element, dict):
        return {key: flat(value) for key, value in element.items()}
    return tuple(map(flat, element)) if isinstance(element, tuple) else np.asarray(element.numpy()).tolist()


@pytest.mark.parametrize("name", READERS)
def test_elements_and_positions(tmp_path: Path, store: type[FailingStore], name: str) -> None:
    write, read = READERS[name]
    path = f"{tmp_path}/data"
    write(path)
    copy(path, f"{URL}/data")
    local, remote = read(path), read(f"{URL}/data")
    expected = list(map(flat, local))
    assert len(expected) >= 10
    assert list(map(flat, remote)) == expected
    iterator = iter(local)
    for number in range(len(expected)):
        there = iter(remote)
        there.load_state_dict(iterator.state_dict())
        assert list(map(flat, there)) == expected[number:], number
        next(iterator)


@pytest.mark.parametrize("name", ["text", "records", "gzip", "csv", "tar"])
def test_a_connection_that_is_lost_at_every_request(tmp_path: Path, store: type[FailingStore], name: str) -> None:
    write, read = READERS[name]
    path = f"{tmp_path}/data"
    write(path)
    copy(path, f"{URL}/data")
    expected = list(map(flat, read(path)))
    for step in range(100):
        store.faults = Faults(step, ConnectionResetError(), times=2)
        assert list(map(flat, read(f"{URL}/data"))) == expected
        if len(store.faults.steps) <= step:
            break
    assert step > 1


def test_positions_are_read_at_and_not_before(tmp_path: Path, store: type[FailingStore]) -> None:
    data = b"".join(b"%9d\n" % number for number in range(1_000_000))
    store().pipe_file("/bucket/data/lines", data)
    iterator = iter(FixedLengthRecordDataset(f"{URL}/lines", 10))
    iterator.load_state_dict(
        iterator.state_dict() | {"taken": 1, "files": [{"file": 1, "offset": 9_000_000, "record": 900_000}]}
    )
    store.faults = Faults()
    assert next(iterator).numpy() == b"   900000\n"
    assert store.faults.bytes_read == [1 << 18]


def test_files_of_several_places(tmp_path: Path) -> None:
    for number, place in enumerate([str(tmp_path), URL]):
        with TFRecordWriter(f"{place}/{number}.tfrecord") as writer:
            writer.write(b"%d" % number)
    found = [*Dataset.list_files(f"{URL}/*.tfrecord"), *Dataset.list_files(f"{tmp_path}/*.tfrecord")]
    assert [path.numpy().decode() for path in found] == [f"{URL}/1.tfrecord", f"{tmp_path}/0.tfrecord"]
    assert [x.numpy() for x in TFRecordDataset([path.numpy() for path in found])] == [b"1", b"0"]


def test_a_writer_puts_all_records_or_none(store: type[FailingStore]) -> None:
    writer = TFRecordWriter(f"{URL}/records")
    for _ in range(100):
        writer.write(bytes(10_000))
    assert not store.store
    writer.close()
    assert len(list(TFRecordDataset(f"{URL}/records"))) == 100
    store.faults = Faults(0, ConnectionResetError(), times=99)
    other = TFRecordWriter(f"{URL}/other")
    other.write(b"x")
    with pytest.raises(UnavailableError, match=r"TFRecordWriter: 'failing://bucket/data/other'"):
        other.close()
    assert list(store.store) == ["/bucket/data/records"]


def test_a_cache_at_a_url(store: type[FailingStore]) -> None:
    made: list[int] = []
    dataset = Dataset.range(5).map(lambda x: made.append(int(x)) or x).cache(f"{URL}/cache")  # type: ignore[func-returns-value]
    one, other = iter(dataset), iter(dataset)  # no lock keeps the second one out
    assert [[int(x) for x in each] for each in (one, other)] == [[0, 1, 2, 3, 4]] * 2
    assert list(store.store) == ["/bucket/data/cache"]
    made.clear()
    assert ([int(x) for x in dataset], made) == ([0, 1, 2, 3, 4], [])


def test_a_folder_of_images(store: type[FailingStore]) -> None:
    for number, name in enumerate(("cats", "dogs")):
        store().pipe_file(f"/bucket/data/{name}/1.png", encode_png(np.full([2, 2, 3], number, np.uint8)).numpy())
    dataset = ImageFolder(URL)
    assert (dataset.class_names, dataset.files) == (["cats", "dogs"], [f"{URL}/cats/1.png", f"{URL}/dogs/1.png"])
    assert [int(label) for _, label in dataset] == [0, 1]
    with says(NotFoundError, "failing://bucket/none: there is no such folder."):
        ImageFolder("failing://bucket/none")


def test_get_file_fetches_from_a_url(tmp_path: Path, store: type[FailingStore]) -> None:
    store().pipe_file("/bucket/data/words.txt", b"to be")
    path = get_file(origin=f"{URL}/words.txt", cache_dir=tmp_path)
    assert Path(path).read_bytes() == b"to be"
    with pytest.raises(UnavailableError, match="get_file: failing://bucket/data/none could not be fetched"):
        get_file(origin=f"{URL}/none", cache_dir=tmp_path)


def test_get_file_keeps_files_on_the_disk() -> None:
    with says(ValueError, "get_file: cache_dir must be a folder of this machine; got 's3://bucket/cache'."):
        get_file(origin="https://a/b", cache_dir="s3://bucket/cache")


def test_what_cannot_be_read(store: type[FailingStore]) -> None:
    with says(NotFoundError, "TextLineDataset: there is no file 'failing://bucket/data/none'."):
        list(TextLineDataset(f"{URL}/none"))
    store().pipe_file("/bucket/data/file", b"x")
    with says(FailedPreconditionError, "TextLineDataset: 'failing://bucket/data': Is a directory."):
        list(TextLineDataset(URL))
    store.faults = Faults(0, TimeoutError("too slow"), times=99)
    with says(UnavailableError, "TextLineDataset: 'failing://bucket/data/file': too slow (after 6 tries)."):
        list(TextLineDataset(f"{URL}/file"))
    with says(
        UnimplementedError,
        "SqlDataset: 'failing://bucket/data/file' is a URL, and SQLite reads files of this machine only; copy it from "
        "there, by tf.io.gfile.copy.",
    ):
        SqlDataset("sqlite", f"{URL}/file", "select 1", (np.int32,))
