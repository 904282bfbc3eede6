"""Caches in memory and in files: what is kept, when, and that it is right."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pipelines import noise, values

import agog_core as ag
from agog_data import Dataset
from agog_data.cache_file import CacheReader
from agog_data.transformations.filtering import ignore_errors
from agog_testing import says

Pair = namedtuple("Pair", ["x", "y"])
InvalidArgumentError, DataLossError = ag.errors.InvalidArgumentError, ag.errors.DataLossError


class Counted:
    """A dataset that counts how often its elements are made."""

    def __init__(self, count: int, filename: str) -> None:
        self.made: list[int] = []
        self.dataset = Dataset.range(count).map(self._make).cache(filename)

    def _make(self, x: Any) -> Any:
        self.made.append(int(x))
        return noise(x)


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "" if request.param == "memory" else str(tmp_path / "cache")


def test_elements_are_made_once(place: str) -> None:
    counted = Counted(5, place)
    first = values(counted.dataset)
    assert counted.made == [0, 1, 2, 3, 4]
    assert values(counted.dataset) == first
    assert values(counted.dataset.repeat(3)) == first * 3
    assert values(counted.dataset.shuffle(5)) != first
    assert counted.made == [0, 1, 2, 3, 4]


def test_the_second_epoch_is_kept(place: str) -> None:
    counted = Counted(4, place)
    found = values(counted.dataset.repeat(3))
    assert counted.made == [0, 1, 2, 3]
    assert found == found[:4] * 3


def test_a_pass_that_does_not_reach_the_end_keeps_nothing(place: str) -> None:
    counted = Counted(5, place)
    values(counted.dataset.take(3).repeat(2))
    assert counted.made == [0, 1, 2, 0, 1, 2]
    # All elements were given, but nobody has seen the end.
    values(counted.dataset.take(5))
    assert len(counted.made) == 11
    values(counted.dataset)
    values(counted.dataset)
    assert len(counted.made) == 16
    if place:
        assert os.listdir(os.path.dirname(place)) == ["cache"]


def test_a_pass_with_an_error_keeps_nothing(place: str) -> None:
    fails = {1}

    def function(x: Any) -> Any:
        if int(x) in fails:
            raise OSError("the network is gone")
        return noise(x)

    dataset = Dataset.range(3).map(function).cache(place)
    errors = ignore_errors()
    iterator = iter(dataset.apply(errors).repeat(3))
    first = [float(next(iterator)), float(next(iterator))]
    state = iterator.state_dict()
    fails.clear()
    rest = values(iterator)
    assert [int(x) for x in rest] == [0, 1, 2] * 2
    assert rest[:3] == rest[3:]
    assert errors.skipped == 1
    # Resumed, the pass finds its error again, and goes on behind the same element.
    fails.add(1)
    resumed = iter(Dataset.range(3).map(function).cache(place and place + "2").apply(errors))
    resumed.load_state_dict(state["input"])
    assert values(resumed) == []
    assert errors.skipped == 2
    assert [int(x) for x in first] == [0, 2]


def test_the_end_stays(place: str) -> None:
    iterator = iter(Counted(2, place).dataset)
    assert len(values(iterator)) == 2
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(iterator)


def test_an_empty_dataset(place: str) -> None:
    dataset = Dataset.range(0).cache(place)
    assert values(dataset) == values(dataset) == []


def test_iterators_at_once_in_memory() -> None:
    counted = Counted(3, "")
    one, two = iter(counted.dataset), iter(counted.dataset)
    pairs = [(float(next(one)), float(next(two))) for _ in range(3)]
    assert all(x != y for x, y in pairs)
    assert values(two) == []  # the first to be complete
    assert values(one) == []
    assert values(counted.dataset) == [y for _, y in pairs]


def test_two_datasets_in_memory_share_nothing() -> None:
    dataset = Dataset.range(3).map(noise)
    assert values(dataset.cache()) != values(dataset.cache())


STRUCTURES: dict[str, Callable[[], Dataset]] = {
    "strings": lambda: Dataset.from_tensor_slices([["a", ""], ["é", "long" * 99]]),
    "pair": lambda: Dataset.from_tensor_slices(Pair(np.arange(6.0).reshape(3, 2), {1: [1, 2, 3], 7: ["a", "b", "c"]})),
    "ordered": lambda: Dataset.from_tensor_slices(OrderedDict([("b", [1, 2]), ("a", [3, 4])])),
    "dict": lambda: Dataset.from_tensor_slices({"b": ([1, 2], [True, False]), "a": [3.0, 4.0]}),
    "sizes": lambda: Dataset.range(4).map(lambda n: (ag.fill([int(n), 2], n), ag.fill([n], "x"))),
    "dtypes": lambda: Dataset.range(2).map(
        lambda n: tuple(ag.cast(n, name) for name in ("bfloat16", "float16", "complex64", "uint8", "bool"))
    ),
}


@pytest.mark.parametrize("build", STRUCTURES.values(), ids=STRUCTURES)
def test_structures_dtypes_and_shapes_stay(build: Callable[[], Dataset], place: str) -> None:
    plain, dataset = build(), build().cache(place)
    assert dataset.output_types == plain.output_types
    for cached in (dataset, dataset, build().cache(place)):
        for element, expected in zip(cached, plain, strict=True):
            assert type(element) is type(expected)
            if isinstance(expected, dict):
                assert list(element) == list(expected)
            parts = zip(ag.nest.flatten(element), ag.nest.flatten(expected), strict=True)
            for x, y in parts:
                assert (x.dtype, x.shape) == (y.dtype, y.shape)
                assert np.asarray(x.numpy()).tolist() == np.asarray(y.numpy()).tolist()


# Files


def test_another_process_reads_the_file(tmp_path: Path) -> None:
    path = str(tmp_path / "cache")
    first = values(Counted(4, path).dataset)
    other = Counted(4, path)
    assert values(other.dataset) == first
    assert other.made == []
    code = f"""
import agog_core as ag
from agog_data import Dataset
def fails(x):
    raise SystemExit("it was made again")
print([float(x) for x in Dataset.range(4).map(fails).cache({path!r})])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(first)


def test_the_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    iterator = iter(Dataset.range(2).cache(str(path)))
    assert os.listdir(tmp_path) == []
    next(iterator)
    assert sorted(os.listdir(tmp_path)) == ["cache.lock", "cache.partial"]
    next(iterator)
    assert not path.exists()
    assert values(iterator) == []
    assert os.listdir(tmp_path) == ["cache"]
    another = iter(Dataset.range(3).cache(tmp_path / "other"))
    next(another)
    del another
    assert os.listdir(tmp_path) == ["cache"]


def test_one_iterator_writes(tmp_path: Path) -> None:
    path = str(tmp_path / "cache")
    dataset = Dataset.range(3).cache(path)
    one, two = iter(dataset), iter(Dataset.range(3).cache(path))
    next(one)
    with says(
        ag.errors.AlreadyExistsError,
        f"cache: another iterator is writing {path}. Until one has read all elements, only one may read this dataset; "
        "others may use another file.",
    ):
        next(two)
    assert values(one) == [1, 2]
    assert values(two) == [0, 1, 2]  # not from the file, because the pass began without it
    assert values(dataset) == [0, 1, 2]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_writer_blocks_nobody(tmp_path: Path) -> None:
    path = str(tmp_path / "cache")
    code = f"""
import time
from agog_data import Dataset
iterator = iter(Dataset.range(3).cache({path!r}))
next(iterator)
print("began", flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"began\n"
        with pytest.raises(ag.errors.AlreadyExistsError):
            values(Dataset.range(3).cache(path))
        process.send_signal(signal.SIGKILL)
    assert sorted(os.listdir(tmp_path)) == ["cache.lock", "cache.partial"]
    deadline = time.monotonic() + 20
    while True:
        try:
            assert values(Dataset.range(3).cache(path)) == [0, 1, 2]
            break
        except ag.errors.AlreadyExistsError:
            assert time.monotonic() < deadline
    assert os.listdir(tmp_path) == ["cache"]


def test_processes_that_begin_at_once_agree(tmp_path: Path) -> None:
    """One of them writes; the others wait for it, and read what it wrote."""
    code = f"""
import time
import agog_core as ag
from agog_data import Dataset
deadline = time.monotonic() + 60
while True:
    try:
        dataset = Dataset.range(200).map(lambda x: ag.random_uniform([])).cache({str(tmp_path / "cache")!r})
        list(dataset)
        print([float(x) for x in dataset])
        break
    except ag.errors.AlreadyExistsError:
        assert time.monotonic() < deadline
"""
    command = [sys.executable, "-c", code]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [process.communicate(timeout=100)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert len(set(outputs)) == 1
    assert os.listdir(tmp_path) == ["cache"]


@pytest.mark.parametrize("call", ["fsync", "replace", "write"])
def test_a_full_disk_leaves_nothing(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cache"
    dataset = Dataset.range(3).map(lambda x: ag.fill([100_000], x)).cache(path)

    def fails(*arguments: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    if call == "write":
        if sys.platform == "win32":
            pytest.skip("there are no limits of sizes")
        import resource

        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
    else:
        monkeypatch.setattr(os, call, fails)
    try:
        with pytest.raises(ag.errors.ResourceExhaustedError) as info:
            list(dataset)
    finally:
        if call == "write":
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        monkeypatch.undo()
    named, reason = (f"{path}.partial", "File too large") if call == "write" else (path, "No space left on device")
    assert str(info.value) == f"cache: {named} cannot be written: {reason}."
    assert os.listdir(tmp_path) == []
    assert [int(x[0]) for x in dataset] == [0, 1, 2]
    assert os.listdir(tmp_path) == ["cache"]


def small_file(path: Path) -> Dataset:
    dataset = Dataset.from_tensor_slices({"n": np.array([1, 2], np.uint8), "s": ["a", "bcd"]}).cache(path)
    values(dataset)
    return dataset


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pwrite")
def test_every_damage_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    dataset = small_file(path)
    whole = path.read_bytes()

    def read_all() -> int:
        reader = CacheReader(str(path))
        return sum(len(reader.read(number)) for number in range(reader.count))

    assert read_all() == 4
    with path.open("r+b", buffering=0) as file:  # the same file all the time: to make one costs milliseconds
        for place, byte in enumerate(whole):
            for bit in range(8):
                os.pwrite(file.fileno(), bytes([byte ^ 1 << bit]), place)
                with pytest.raises(DataLossError):
                    read_all()
            os.pwrite(file.fileno(), bytes([byte]), place)
        assert read_all() == 4
        os.pwrite(file.fileno(), b"x", len(whole))
        with pytest.raises(DataLossError):
            read_all()
        for length in reversed(range(len(whole))):
            file.truncate(length)
            with pytest.raises(DataLossError):
                read_all()
    with pytest.raises(DataLossError):
        values(dataset)
    path.write_bytes(whole)
    assert len(values(dataset)) == 2


def test_errors_of_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    dataset = small_file(path)
    whole = path.read_bytes()
    texts = {
        b"": "its beginning is not that of a cache, or it is too short",
        b"x" + whole[1:]: "its beginning is not that of a cache, or it is too short",
        whole[:-1]: "its end is missing",
        whole[:30] + bytes([whole[30] ^ 1]) + whole[31:]: "the checksum of element 0, at offset 16, is wrong",
        whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:]: "its index is too large",
        whole[:-60] + bytes([whole[-60] ^ 1]) + whole[-59:]: "the checksum of its index is wrong",
    }
    for content, text in texts.items():
        path.write_bytes(content)
        with says(DataLossError, f"cache: {path} is damaged: {text}. Remove it, and it is made again."):
            values(dataset)


def test_a_file_of_other_stages_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "cache")
    values(Dataset.range(3).cache(path))
    with says(
        InvalidArgumentError,
        f"cache: {path} was written by a dataset with other stages. Remove it, and it is made again.",
    ):
        values(Dataset.range(3).map(noise).cache(path))
    pairs = str(tmp_path / "pairs")
    values(Dataset.from_tensor_slices(Pair([1], [2])).cache(pairs))
    with says(
        InvalidArgumentError,
        f"cache: {pairs} holds elements of the structure ['namedtuple', ['x', 'y'], None, None]; those of the dataset "
        "have ['tuple', [], None, None]. Remove the file, and it is made again.",
    ):
        values(Dataset.from_tensor_slices(([1], [2])).cache(pairs))


def test_what_a_file_cannot_hold(tmp_path: Path) -> None:
    path = str(tmp_path / "cache")
    mixed = Dataset.range(2).map(lambda x: ag.cast(x, ag.float32) if int(x) else x)
    with says(
        InvalidArgumentError,
        "cache: element 1 has the dtypes ['float32']; those before have ['int64']. A file needs equal dtypes.",
    ):
        values(mixed.cache(path))
    mixed = Dataset.range(2).map(lambda x: (x, x) if int(x) else x)
    with says(
        InvalidArgumentError,
        "cache: an element has the structure ['tuple', [], None, None]; those before have None. "
        "A file needs one structure.",
    ):
        values(mixed.cache(path))
    with says(InvalidArgumentError, "cache: the keys of dicts must be strings or integers; got (1, 2)."):
        values(Dataset.from_tensor_slices({(1, 2): [1]}).cache(path))
    assert os.listdir(tmp_path) == []  # although the error holds the iterator


def test_errors_of_names(tmp_path: Path) -> None:
    with says(TypeError, "cache: filename must be a string or a path; got 3 of type int."):
        Dataset.range(2).cache(3)
    path = tmp_path / "missing" / "cache"
    with says(ag.errors.NotFoundError, f"cache: {path} cannot be written: there is no such file or folder."):
        values(Dataset.range(2).cache(path))
    with pytest.raises(ag.errors.UnknownError) as failed:
        values(Dataset.range(2).cache(tmp_path))
    assert str(failed.value).startswith(f"cache: {tmp_path} cannot be read: ")
    name = ag.constant(str(tmp_path / "cache"))
    assert values(Dataset.range(2).cache(name)) == [0, 1]
    assert os.listdir(tmp_path) == ["cache"]


# State

PIPELINES: dict[str, Callable[[str], Dataset]] = {
    "noise": lambda p: Dataset.range(4).map(noise).cache(p).repeat(3),
    "cut": lambda p: Dataset.range(4).map(noise).cache(p).take(3).repeat(3),
    "behind a thread": lambda p: Dataset.range(5).shuffle(3).map(noise, 2).shuffle(3).prefetch(2).cache(p).repeat(2),
    "before a thread": lambda p: Dataset.range(4).map(noise).cache(p).repeat(2).shuffle(3).map(noise, 2).prefetch(1),
}


@pytest.mark.parametrize("build", PIPELINES.values(), ids=PIPELINES)
@pytest.mark.parametrize("kind", ["memory", "file", "file that is kept"])
def test_an_iterator_resumes_after_every_element(build: Callable[[str], Dataset], kind: str, tmp_path: Path) -> None:
    def place(number: int) -> str:
        return "" if kind == "memory" else str(tmp_path / str(number))

    ag.set_random_seed(1)
    expected = values(build(place(0)))
    ag.set_random_seed(1)
    iterator = iter(build(place(1)))
    for position in range(len(expected) + 1):
        state = json.dumps(iterator.state_dict())
        ag.set_random_seed(None)  # as in another program: nothing but the state tells the seeds
        complete = kind == "file that is kept" and os.path.exists(place(1))
        resumed = iter(build(place(1) if complete else place(position + 2)))
        resumed.load_state_dict(json.loads(state))
        assert values(resumed) == expected[position:], position
        next(iterator, None)


def test_an_iterator_goes_back(place: str) -> None:
    iterator = iter(Dataset.range(5).map(noise).cache(place).repeat(2))
    first = float(next(iterator))
    state = iterator.state_dict()
    rest = values(iterator)
    iterator.load_state_dict(state)
    assert values(iterator) == rest
    assert rest[4] == first


def test_a_state_of_more_elements_than_there_are() -> None:
    iterator = iter(Dataset.range(3).cache())
    values(iterator)
    shorter = iter(Dataset.range(2).cache())
    shorter.load_state_dict(iterator.state_dict())
    with pytest.raises(StopIteration):
        next(shorter)
