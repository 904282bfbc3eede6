"""Event files at URLs: all events, each once, in files that follow one another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import agog_summary as summary
from agog_core.errors import UnavailableError
from agog_core.files import retries
from agog_summary import remote_records
from agog_testing import says

pytest.importorskip("fsspec", reason="fsspec, which opens URLs, is not installed")

from agog_testing.stores import FailingStore, Faults, failing_store

URL = "failing://bucket/logs"


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[FailingStore]]:
    monkeypatch.setattr(retries.time, "sleep", lambda seconds: None)
    with failing_store() as store:
        yield store


def events(store: type[FailingStore], tmp_path: Path, read: Any) -> list[list[Any]]:
    """The events of each file, in the order in which TensorBoard reads them."""
    found = []
    for name in sorted(store.store):
        (tmp_path / "copy").write_bytes(store.store[name].getvalue())
        found.append(read(tmp_path / "copy"))
    return found


def write(count: int, writer: summary.SummaryWriter) -> None:
    with writer.as_default(), summary.always_record_summaries():
        for number in range(count):
            summary.scalar("loss", float(number), step=number)


def test_events_wait_for_a_request_of_many(store: type[FailingStore], tmp_path: Path, read: Any) -> None:
    writer = summary.create_file_writer(URL)
    store.faults = Faults()
    write(2500, writer)
    assert store.faults.steps.count("pipe_file") == 3  # two of 1,000 events, and the flush in the end
    ((version, *others),) = events(store, tmp_path, read)
    assert version.file_version == "brain.Event:2"
    assert [event.step for event in others] == list(range(2500))


def test_large_files_are_followed_by_others(
    store: type[FailingStore], tmp_path: Path, read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_records, "_LARGE", 1000)
    write(200, summary.create_file_writer(URL, max_queue=10))
    files = events(store, tmp_path, read)
    assert len(files) > 3
    assert {each[0].file_version for each in files} == {"brain.Event:2"}
    assert [event.step for each in files for event in each[1:]] == list(range(200))
    assert max(len(file.getvalue()) for file in store.store.values()) < 2000


def test_what_a_store_refuses_waits_for_the_next_flush(store: type[FailingStore], tmp_path: Path, read: Any) -> None:
    writer = summary.create_file_writer(URL)
    with writer.use(), summary.always_record_summaries():
        summary.scalar("loss", 1.0, step=1)
        store.faults = Faults(0, ConnectionResetError("gone"), times=6)
        (name,) = store.store
        with says(
            UnavailableError,
            f"Summaries: writing to 'failing:/{name}' failed: gone (after 6 tries).",
        ):
            writer.flush()
        assert [len(each) for each in events(store, tmp_path, read)] == [1]
        summary.scalar("loss", 2.0, step=2)
    writer.close()
    assert [[event.step for event in each] for each in events(store, tmp_path, read)] == [[0, 1, 2]]


def test_two_writers_of_a_folder_have_files_of_their_own(store: type[FailingStore]) -> None:
    for name in ("one", "other"):
        write(1, summary.create_file_writer(URL, name=name))
    assert len(store.store) == 2
