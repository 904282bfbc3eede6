"""TFRecord files: their bytes, their checksums, and every way in which they can be damaged."""

from __future__ import annotations

import errno
import gc
import gzip
import io
import json
import os
import struct
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agog_core as ag
from agog_data import Dataset, Iterator
from agog_data.readers.record_writer import DatasetWriter, TFRecordCompressionType, TFRecordOptions, TFRecordWriter
from agog_data.readers.tfrecord import TFRecordDataset, tf_record_iterator
from agog_testing import says

DataLossError = ag.errors.DataLossError
InvalidArgumentError = ag.errors.InvalidArgumentError
RECORDS = [b"first", b"", b"\x00\xff third"]
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}
each_compression = pytest.mark.parametrize("compression", COMPRESSIONS, ids=lambda name: name or "plain")


def crc32c(data: bytes) -> int:
    """The definition: division by the polynomial of Castagnoli, bit by bit."""
    remainder = 0xFFFFFFFF
    for byte in data:
        remainder ^= byte
        for _ in range(8):
            remainder = remainder >> 1 ^ (0x82F63B78 if remainder & 1 else 0)
    return remainder ^ 0xFFFFFFFF


def masked(data: bytes) -> bytes:
    crc = crc32c(data)
    rotated = (crc >> 15 | crc << 17) & 0xFFFFFFFF
    return struct.pack("<I", (rotated + 0xA282EAD8) & 0xFFFFFFFF)


def framed(record: bytes) -> bytes:
    length = struct.pack("<Q", len(record))
    return length + masked(length) + record + masked(record)


PLAIN = b"".join(map(framed, RECORDS))


def read(path: Any, compression: str = "", **options: Any) -> list[bytes]:
    return [record.numpy() for record in TFRecordDataset(str(path), compression, **options)]


def test_the_checksum_is_the_published_one() -> None:
    assert crc32c(b"123456789") == 0xE3069283  # the "check" of CRC-32/ISCSI in catalogues of CRCs


@each_compression
def test_files_are_written_and_read_by_the_definition(tmp_path: Path, compression: str) -> None:
    written = tmp_path / "written"
    with TFRecordWriter(written, compression) as writer:
        for record in RECORDS:
            writer.write(record)
    data = written.read_bytes()
    assert {"": bytes, "GZIP": gzip.decompress, "ZLIB": zlib.decompress}[compression](data) == PLAIN
    given = tmp_path / "given"
    given.write_bytes(COMPRESSIONS[compression](PLAIN))
    for path in (written, given):
        assert read(path, compression) == RECORDS
        assert list(tf_record_iterator(path, compression)) == RECORDS


@each_compression
def test_an_empty_file_has_no_records(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "empty"
    path.write_bytes(b"")
    assert read(path, compression) == []
    with TFRecordWriter(path, compression):
        pass
    assert read(path, compression) == []


@each_compression
@pytest.mark.parametrize("buffer_size", [1, 13, None])
def test_records_may_be_larger_than_the_buffer(tmp_path: Path, compression: str, buffer_size: int | None) -> None:
    records = [bytes(range(256)) * 40, b"small", os.urandom(300_000 if buffer_size is None else 3000)]
    path = tmp_path / "large"
    with TFRecordWriter(path, compression) as writer:
        for record in records:
            writer.write(record)
    assert read(path, compression, buffer_size=buffer_size) == records


def test_an_empty_file_has_no_example_of_its_records(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    dataset = TFRecordDataset(str(tmp_path / "empty")).map(lambda record: record)
    assert list(dataset.batch(2)) == []
    with pytest.raises(
        ValueError, match=r"^The dataset has no elements, so there is none to learn the results of a function"
    ):
        dataset.output_types  # noqa: B018  # the access is what is tested


def boundaries() -> dict[int, int]:
    """Where a file may end, and how many records it has then."""
    ends = [0]
    for record in RECORDS:
        ends.append(ends[-1] + len(framed(record)))
    return {end: count for count, end in enumerate(ends)}


@each_compression
def test_every_truncation_is_found(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "cut"
    whole = COMPRESSIONS[compression](PLAIN)
    whole_records = boundaries() if not compression else {0: 0}
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        if end in whole_records:
            assert read(path, compression) == RECORDS[: whole_records[end]]
        else:
            with pytest.raises(DataLossError, match=r"too early|within its length"):
                read(path, compression)
        with pytest.raises(DataLossError):
            read(path, compression, expected_records=len(RECORDS))
    path.write_bytes(whole)
    assert read(path, compression, expected_records=3) == RECORDS


@each_compression
def test_every_flipped_bit_is_found(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "flipped"
    whole = COMPRESSIONS[compression](PLAIN)
    harmless = set()
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            assert read(path, compression) == RECORDS, bit
        except DataLossError:
            continue
        harmless.add(bit // 8)
    # Gzip's header has the time, the system and the speed, which no checksum covers and which say nothing of the
    # records; the bits after the last symbol, up to the next byte, have no meaning.
    header = {3, *range(4, 10)} if compression == "GZIP" else set()
    checksum = {"": 0, "GZIP": 8, "ZLIB": 4}[compression]
    padding = {len(whole) - checksum - 1} if compression else set()
    assert harmless <= header | padding


def test_errors_name_file_record_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    second = len(framed(RECORDS[0]))
    third = second + len(framed(RECORDS[1]))

    def error_of(data: bytes, compression: str = "") -> str:
        path.write_bytes(data)
        with pytest.raises(DataLossError) as raised:
            read(path, compression)
        with says(DataLossError, str(raised.value).replace("TFRecordDataset", "tf_record_iterator")):
            list(tf_record_iterator(path, compression))
        return str(raised.value)

    place = f"TFRecordDataset: {path}: record {{}} (the first is 0), at byte {{}}: "
    assert error_of(PLAIN[: third + 5]) == place.format(2, third) + (
        "the file ends within its length, 5 bytes after its beginning."
    )
    assert error_of(PLAIN[:-1]) == place.format(2, third) + (
        "the file ends too early; 12 bytes should follow the length, 11 do."
    )
    assert error_of(PLAIN[:second] + b"\x01" + PLAIN[second + 1 :]) == place.format(1, second) + (
        "its length does not fit the checksum of the length."
    )
    assert error_of(PLAIN[:12] + b"F" + PLAIN[13:]) == place.format(0, 0) + "its 5 bytes do not fit their checksum."
    assert error_of(zlib.compress(PLAIN)[:-1], "ZLIB") == place.format(3, len(PLAIN)) + (
        "the compressed bytes end too early."
    )
    assert error_of(zlib.compress(PLAIN) + b"!", "ZLIB") == place.format(3, len(PLAIN)) + (
        "there are bytes after the end of the compressed ones."
    )
    assert error_of(PLAIN, "GZIP") == place.format(0, 0) + (
        "the compressed bytes are broken: Error -3 while decompressing data: incorrect header check."
    )


def test_a_wrong_length_with_a_right_checksum_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    length = struct.pack("<Q", 2**62)
    path.write_bytes(length + masked(length) + b"little")
    with pytest.raises(DataLossError, match=f"too early; {2**62 + 4} bytes should follow the length, 6 do"):
        read(path)


def test_gzip_files_may_be_joined(tmp_path: Path) -> None:
    path = tmp_path / "joined"
    path.write_bytes(gzip.compress(PLAIN) + gzip.compress(PLAIN))
    assert read(path, "GZIP") == RECORDS * 2


def test_the_count_of_records_is_of_all_files(tmp_path: Path) -> None:
    path = tmp_path / "records"
    path.write_bytes(PLAIN)
    names = [str(path)] * 2
    assert len(list(TFRecordDataset(names, expected_records=6))) == 6
    with says(DataLossError, "TFRecordDataset: 5 records are expected in all; the files hold 6."):
        list(TFRecordDataset(names, expected_records=5))


def test_damaged_records_can_be_skipped(tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    damaged = PLAIN[:12] + b"F" + PLAIN[13:]
    path.write_bytes(damaged + PLAIN[:-1])
    dataset = TFRecordDataset([str(path), str(path)], on_corrupt="skip")
    assert dataset.skipped_records == 0
    with pytest.warns(UserWarning, match="It is skipped") as warned:
        found = [record.numpy() for record in dataset]
    assert found == (RECORDS[1:] + RECORDS[:2]) * 2
    assert dataset.skipped_records == 4
    assert [str(each.message) for each in warned] == [
        f"TFRecordDataset: {path}: record 0 (the first is 0), at byte 0: its 5 bytes do not fit their checksum. "
        "It is skipped, and so will others be without a word."
    ]
    assert dataset.map(lambda record: record).output_types == ag.string
    assert dataset.skipped_records == 4, "what is read to learn the types is not counted"


def test_after_an_error_the_loop_can_go_on(tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    path.write_bytes(PLAIN[:12] + b"F" + PLAIN[13:])
    broken = tmp_path / "broken"
    broken.write_bytes(b"x" * 20)
    iterator = iter(TFRecordDataset([str(path), str(broken), str(path)]))
    found: list[Any] = []
    while len(found) < 7:
        try:
            found.append(next(iterator).numpy())
        except DataLossError:
            found.append(DataLossError)
    assert found == [DataLossError, *RECORDS[1:], DataLossError, DataLossError, *RECORDS[1:]]


def write_numbers(folder: Path, counts: list[int], compression: str = "") -> list[str]:
    names = []
    for file, count in enumerate(counts):
        names.append(str(folder / f"{file}"))
        with TFRecordWriter(names[-1], compression) as writer:
            for number in range(count):
                writer.write(f"{file}.{number}")
    return names


def test_files_are_read_in_turns(tmp_path: Path) -> None:
    names = write_numbers(tmp_path, [3, 1, 2])
    found = [record.numpy().decode() for record in TFRecordDataset(names, num_parallel_reads=2)]
    assert found == ["0.0", "1.0", "0.1", "0.2", "2.0", "2.1"]


@pytest.mark.parametrize("turns", [None, 2])
@each_compression
def test_an_iterator_resumes_after_every_record(tmp_path: Path, compression: str, turns: int | None) -> None:
    names = Dataset.from_tensor_slices(write_numbers(tmp_path, [3, 0, 2, 1], compression)).shuffle(4, seed=1)
    dataset = TFRecordDataset(names, compression, num_parallel_reads=turns, expected_records=6).repeat(2)
    iterator = Iterator(dataset)
    states, expected = [json.dumps(iterator.state_dict())], []
    for record in iterator:
        expected.append(record.numpy())
        states.append(json.dumps(iterator.state_dict()))
    assert len(expected) == 12
    for position, state in enumerate(states):
        resumed = Iterator(dataset)
        resumed.load_state_dict(json.loads(state))
        assert [record.numpy() for record in resumed] == expected[position:], position


def test_a_new_process_resumes(tmp_path: Path) -> None:
    names = write_numbers(tmp_path, [3, 2], "GZIP")
    program = (
        "import json, sys\n"
        "from agog_data import Iterator\n"
        "from agog_data.readers.tfrecord import TFRecordDataset\n"
        "iterator = Iterator(TFRecordDataset(json.loads(sys.argv[1]), 'GZIP'))\n"
        "iterator.load_state_dict(json.loads(sys.argv[2]))\n"
        "print(*(record.numpy().decode() for record in iterator))\n"
    )
    iterator = Iterator(TFRecordDataset(names, "GZIP"))
    next(iterator), next(iterator)
    arguments = [json.dumps(names), json.dumps(iterator.state_dict())]
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout == "0.2 1.0 1.1\n"


def test_a_state_of_more_files_does_not_fit(tmp_path: Path) -> None:
    names = write_numbers(tmp_path, [1, 2])
    iterator = Iterator(TFRecordDataset(names))
    next(iterator), next(iterator)
    state = iterator.state_dict()
    with says(InvalidArgumentError, "load_state_dict: the state is at file 2; there are only 1."):
        Iterator(TFRecordDataset(names[:1])).load_state_dict(state)
    with says(InvalidArgumentError, "load_state_dict: the state is in file 2, but has taken 1 files."):
        Iterator(TFRecordDataset(names)).load_state_dict({**state, "taken": 1})


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the open files are not to be seen")
@each_compression
def test_files_are_closed_with_the_iterator(tmp_path: Path, compression: str) -> None:
    names = write_numbers(tmp_path, [3, 2], compression)

    def open_files() -> list[str]:
        links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
        return [os.readlink(link) for link in links if os.path.lexists(link) and str(tmp_path) in os.readlink(link)]

    iterator = iter(TFRecordDataset(names, compression).prefetch(1))
    next(iterator)
    assert open_files()
    del iterator
    gc.collect()
    assert open_files() == []
    for _ in TFRecordDataset(names, compression):
        pass
    assert open_files() == []


def test_paths_may_be_of_many_kinds(tmp_path: Path) -> None:
    (name,) = write_numbers(tmp_path, [1])
    kinds: list[Any] = [name, Path(name), os.fsencode(name), [Path(name)], (name,), ag.constant(name)]
    kinds += [ag.constant([name]), Dataset.from_tensors(name)]
    for filenames in kinds:
        assert [record.numpy() for record in TFRecordDataset(filenames)] == [b"0.0"]
    assert list(TFRecordDataset([])) == []


def test_wrong_arguments(tmp_path: Path) -> None:
    with says(ag.errors.NotFoundError, f"TFRecordDataset: there is no file '{tmp_path}/none'."):
        read(tmp_path / "none")
    with says(ag.errors.NotFoundError, f"TFRecordWriter: there is no file '{tmp_path}/none/file'."):
        TFRecordWriter(tmp_path / "none" / "file")
    with says(
        TypeError,
        "TFRecordDataset: filenames must be a path, a list of paths or a dataset of paths; it holds 1 of type int.",
    ):
        TFRecordDataset([1])
    with says(
        TypeError,
        "TFRecordDataset: filenames must be scalar strings; the elements of the dataset are <dtype: 'int64'> of shape "
        "().",
    ):
        TFRecordDataset(Dataset.range(2))
    with says(InvalidArgumentError, "TFRecordDataset: compression_type must be '', 'GZIP' or 'ZLIB'; got 'ZIP'."):
        TFRecordDataset("x", "ZIP")
    with says(InvalidArgumentError, "TFRecordDataset: on_corrupt must be 'raise' or 'skip'; got 'ignore'."):
        TFRecordDataset("x", on_corrupt="ignore")
    with says(
        InvalidArgumentError,
        "TFRecordDataset: expected_records counts undamaged files; it does not go with on_corrupt='skip'.",
    ):
        TFRecordDataset("x", on_corrupt="skip", expected_records=1)


def test_a_missing_package_is_named() -> None:
    program = (
        "import sys; sys.modules['google_crc32c'] = None\n"
        "from agog_data.readers.tfrecord import TFRecordDataset\n"
        "TFRecordDataset('x')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == (
        "ImportError: TFRecord files need the package google-crc32c for their checksums: "
        "pip install agog-data[tfrecord]"
    )


@pytest.mark.parametrize("kind", ["NONE", "ZLIB", "GZIP"])
def test_options(tmp_path: Path, kind: str) -> None:
    options = TFRecordOptions(getattr(TFRecordCompressionType, kind))
    name = {"NONE": "", "ZLIB": "ZLIB", "GZIP": "GZIP"}[kind]
    assert TFRecordOptions.get_compression_type_string(options) == name
    with TFRecordWriter(tmp_path / "file", options=options) as writer:
        writer.write(b"x")
    assert list(tf_record_iterator(tmp_path / "file", options)) == [b"x"]
    assert read(tmp_path / "file", name) == [b"x"]
    with says(InvalidArgumentError, "TFRecordOptions: compression_type must be '', 'GZIP' or 'ZLIB'; got 7."):
        TFRecordOptions(7)


def test_what_a_writer_takes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    writer = TFRecordWriter(str(path))
    for record in (b"a", "é", bytearray(b"b"), ag.constant("c")):
        writer.write(record)
    with says(TypeError, "TFRecordWriter: a record must be bytes; got 1 of type int."):
        writer.write(1)
    assert path.read_bytes() == b""
    writer.flush()
    assert read(path) == [b"a", "é".encode(), b"b", b"c"]
    writer.close()
    writer.close()
    with says(ag.errors.FailedPreconditionError, f"TFRecordWriter: {path} is closed; make another writer."):
        writer.write(b"d")


@each_compression
def test_flushed_records_can_be_read_and_forgotten_writers_close(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "file"
    writer = TFRecordWriter(path, compression)
    writer.write(b"one")
    writer.flush()
    records = tf_record_iterator(path, compression)
    assert next(records) == b"one"
    del records
    writer.write(b"two")
    del writer
    assert read(path, compression) == [b"one", b"two"]


@each_compression
def test_a_full_disk_leaves_no_half_record(tmp_path: Path, compression: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    room = [10**9]

    class Disk(io.FileIO):
        def write(self, data: Any) -> int:
            if not room[0]:
                raise OSError(errno.ENOSPC, "No space left on device")
            written = super().write(data[: min(room[0], 7)])
            room[0] -= written
            return written

    monkeypatch.setattr("agog_data.readers.record_writer.io.FileIO", Disk)
    writer = TFRecordWriter(path, compression)
    writer.write(b"one")
    writer.flush()
    size = path.stat().st_size
    room[0] = 17
    writer.write(b"two" * 10)
    for _ in range(2):
        with says(ag.errors.FailedPreconditionError, f"TFRecordWriter: '{path}': No space left on device."):
            writer.flush()
        assert path.stat().st_size == size
    room[0] = 10**9
    writer.close()
    assert read(path, compression) == [b"one", b"two" * 10]


def test_datasets_can_be_written(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    DatasetWriter(path, "GZIP").write(Dataset.from_tensor_slices(["a", "b"]))
    assert read(path, "GZIP") == [b"a", b"b"]
    for dataset in (Dataset.range(2), Dataset.from_tensors(["a", "b"]), Dataset.from_tensors(("a", "b"))):
        with pytest.raises(TypeError, match=r"^TFRecordWriter: the elements must be scalar strings; they are "):
            DatasetWriter(path).write(dataset)
    with says(TypeError, "TFRecordWriter: a Dataset is expected; got ['a'] of type list."):
        DatasetWriter(path).write(["a"])  # type: ignore[arg-type]


@each_compression
def test_records_have_a_limit(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "records"
    path.write_bytes(COMPRESSIONS[compression](framed(b"four") + framed(b"seventh") + framed(b"")))
    assert read(path, compression, max_bytes=7) == [b"four", b"seventh", b""]
    iterator = iter(TFRecordDataset(str(path), compression, max_bytes=6))
    assert next(iterator).numpy() == b"four"
    problem = "record 1 (the first is 0), at byte 20: the record has more than 6 bytes; max_bytes=... allows more."
    with says(ag.errors.ResourceExhaustedError, f"TFRecordDataset: {path}: {problem}"):
        next(iterator)
    assert list(iterator) == []
    with says(ag.errors.ResourceExhaustedError, f"tf_record_iterator: {path}: {problem}"):
        list(tf_record_iterator(path, compression, max_bytes=6))
    with says(InvalidArgumentError, "TFRecordDataset: max_bytes must be greater than zero; got 0."):
        TFRecordDataset(str(path), max_bytes=0)


def test_memory_for_a_record_that_is_mostly_announced(tmp_path: Path) -> None:
    path = tmp_path / "records"
    length = struct.pack("<Q", 50_000_000)
    path.write_bytes(gzip.compress(length + masked(length) + bytes(50_000_004)))
    dataset = TFRecordDataset(str(path), "GZIP", max_bytes=1_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(ag.errors.ResourceExhaustedError):
            list(dataset)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 5_000_000
