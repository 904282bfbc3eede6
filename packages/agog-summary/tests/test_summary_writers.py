"""Which summaries reach a file, and when."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboardX.proto.event_pb2 import SessionLog

import agog_core as ag
import agog_summary as summary
from agog_core.errors import FailedPreconditionError
from agog_core.observers.summaries import registered_summaries
from agog_core.variables.global_step import get_or_create_global_step
from agog_testing import says


def test_the_checksum_is_crc_32c(checksum: Any) -> None:
    # The check value of https://reveng.sourceforge.io/crc-catalogue/all.htm, CRC-32/ISCSI, before masking.
    crc = 0xE3069283
    assert checksum(b"123456789") == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_one_scalar_is_two_events(tmp_path: Path, read: Any) -> None:
    before = time.time()
    with summary.create_file_writer(tmp_path).as_default(), summary.always_record_summaries():
        summary.scalar("loss", ag.constant(0.5), step=3)
    (file,) = tmp_path.iterdir()
    assert re.fullmatch(r"events\.out\.tfevents\.\d{10}\..+\.v2", file.name)
    version, event = read(file)
    assert version.file_version == "brain.Event:2"
    assert before <= version.wall_time <= event.wall_time <= time.time()
    (value,) = event.summary.value
    assert (event.step, value.tag, value.simple_value) == (3, "loss", 0.5)


def test_the_step_is_the_global_step(tmp_path: Path, events_of: Any) -> None:
    get_or_create_global_step().assign(41)
    with summary.create_file_writer(tmp_path).as_default(), summary.always_record_summaries():
        summary.scalar("loss", 1.0)
        get_or_create_global_step().assign_add(1)
        summary.scalar("loss", 1.0)
        summary.scalar("loss", 1.0, step=ag.constant(5, ag.int64))
    assert [event.step for event in events_of(tmp_path)[1:]] == [41, 42, 5]


def test_nothing_is_written_without_a_policy(tmp_path: Path, events_of: Any) -> None:
    with summary.create_file_writer(tmp_path).as_default():
        assert not summary.should_record_summaries()
        summary.scalar("loss", "no number, and not looked at")
        with summary.always_record_summaries(), summary.never_record_summaries():
            summary.scalar("loss", 1.0)
    assert len(events_of(tmp_path)) == 1


def test_nothing_is_written_without_a_writer(tmp_path: Path) -> None:
    with summary.always_record_summaries():
        summary.scalar("loss", "no number, and not looked at")
        summary.flush()
    with summary.create_file_writer(None).as_default() as writer, summary.always_record_summaries():
        summary.scalar("loss", "no number, and not looked at")
        writer.set_as_default()
        writer.flush()
        writer.close()
    assert list(tmp_path.iterdir()) == []


def test_a_writer_that_does_nothing_leaves_the_default(tmp_path: Path, events_of: Any) -> None:
    outer, nothing = summary.create_file_writer(tmp_path), summary.create_file_writer(None)
    with outer.as_default(), nothing.as_default(), summary.always_record_summaries():
        summary.scalar("loss", 1.0, step=0)
    assert len(events_of(tmp_path)) == 2


def test_every_n_global_steps(tmp_path: Path, events_of: Any) -> None:
    step = ag.Variable(ag.constant(0, ag.int64))
    writer = summary.create_summary_file_writer(tmp_path)
    with writer.as_default(), summary.record_summaries_every_n_global_steps(3, step):
        for _ in range(7):
            summary.scalar("loss", 1.0, step=step)
            step.assign_add(1)
    assert [event.step for event in events_of(tmp_path)[1:]] == [0, 3, 6]


def test_every_n_of_the_global_step() -> None:
    get_or_create_global_step().assign(5)
    with summary.record_summaries_every_n_global_steps(5):
        assert summary.should_record_summaries()
        get_or_create_global_step().assign(6)
        assert not summary.should_record_summaries()
    with (
        says(ValueError, "record_summaries_every_n_global_steps: n must be at least 1; got 0."),
        summary.record_summaries_every_n_global_steps(0),
    ):
        pass


def test_set_as_default_and_the_writer_inside(tmp_path: Path, events_of: Any) -> None:
    outer, inner = summary.create_file_writer(tmp_path / "a"), summary.create_file_writer(tmp_path / "b")
    with outer.as_default(), summary.always_record_summaries():
        with inner.as_default():
            summary.scalar("inner", 1.0, step=0)
        summary.scalar("outer", 1.0, step=0)
        inner.set_as_default()
        summary.scalar("inner", 1.0, step=1)
        summary.flush()
    assert [e.summary.value[0].tag for e in events_of(tmp_path / "a")[1:]] == ["outer"]
    assert [e.step for e in events_of(tmp_path / "b")[1:]] == [0, 1]


def test_events_wait_until_there_are_too_many(tmp_path: Path, events_of: Any) -> None:
    with summary.create_file_writer(tmp_path, max_queue=2).as_default(), summary.always_record_summaries():
        counts = []
        for step in range(4):
            summary.scalar("loss", 1.0, step=step)
            counts.append(len(events_of(tmp_path)))
    assert counts == [1, 1, 4, 4]
    assert len(events_of(tmp_path)) == 5


def test_events_wait_no_longer_than_flush_millis(tmp_path: Path, events_of: Any) -> None:
    with summary.create_file_writer(tmp_path, flush_millis=1).as_default(), summary.always_record_summaries():
        time.sleep(0.01)
        summary.scalar("loss", 1.0, step=0)
        assert len(events_of(tmp_path)) == 2


def test_flush_of_a_writer(tmp_path: Path, events_of: Any) -> None:
    writer = summary.create_file_writer(tmp_path)
    with writer.as_default(), summary.always_record_summaries():
        for flush in (writer.flush, summary.flush, lambda: summary.flush(writer)):
            before = len(events_of(tmp_path))
            summary.scalar("loss", 1.0, step=0)
            flush()
            assert len(events_of(tmp_path)) == before + 1


def test_leaving_with_an_error_flushes(tmp_path: Path, events_of: Any) -> None:
    def fail() -> None:
        with summary.create_file_writer(tmp_path).as_default(), summary.always_record_summaries():
            summary.scalar("loss", 1.0, step=0)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert len(events_of(tmp_path)) == 2


def test_a_closed_writer_refuses(tmp_path: Path, events_of: Any) -> None:
    writer = summary.create_file_writer(tmp_path)
    writer.close()
    writer.close()
    writer.flush()
    (file,) = tmp_path.iterdir()
    with (
        writer.as_default(),
        summary.always_record_summaries(),
        says(
            FailedPreconditionError,
            f"The summary writer of {file} is closed; its init() begins another file, as create_file_writer does.",
        ),
    ):
        summary.scalar("loss", 1.0, step=0)
    assert len(events_of(tmp_path)) == 1


def test_init_opens_a_closed_writer_again(tmp_path: Path, read: Any) -> None:
    writer = summary.create_file_writer(tmp_path, filename_suffix=".x")
    writer.set_as_default()
    writer.init()  # it is open, and nothing happens
    with summary.always_record_summaries():
        summary.scalar("loss", 1.0, step=0)
        writer.close()
        writer.init()
        summary.scalar("loss", 2.0, step=1)
        with writer.as_default():
            summary.scalar("loss", 3.0, step=2)
        writer.close()
    assert [file.suffix for file in tmp_path.iterdir()] == [".x", ".x"]
    files = [read(file) for file in sorted(tmp_path.iterdir())]
    assert [event.file_version for file in files for event in file[:1]] == ["brain.Event:2", "brain.Event:2"]
    assert [[(event.step, event.summary.value[0].simple_value) for event in file[1:]] for file in files] == [
        [(0, 1.0)],
        [(1, 2.0), (2, 3.0)],
    ]


def test_what_a_writer_wrote_after_init_is_not_lost(tmp_path: Path, read: Any) -> None:
    program = (
        "import sys, agog_summary as s\n"
        "writer = s.create_file_writer(sys.argv[1])\n"
        "writer.close()\n"
        "writer.init()\n"
        "writer.set_as_default()\n"
        "with s.always_record_summaries(): s.scalar('loss', 1.0, step=0)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    assert [len(read(file)) for file in sorted(tmp_path.iterdir())] == [1, 2]


def test_init_shares_the_file_of_a_name(tmp_path: Path, read: Any) -> None:
    first = summary.create_file_writer(tmp_path)
    first.close()
    first.init()
    second = summary.create_file_writer(tmp_path)
    with summary.always_record_summaries():
        for number, writer in enumerate((first, second)):
            with writer.as_default():
                summary.scalar("loss", 1.0, step=number)
    assert [len(read(file)) for file in sorted(tmp_path.iterdir())] == [1, 3]


def test_writers_of_one_folder_share_a_file_while_in_use(tmp_path: Path, read: Any, events_of: Any) -> None:
    first, second = summary.create_file_writer(tmp_path), summary.create_file_writer(str(tmp_path))
    with summary.always_record_summaries():
        for writer in (first, second):
            with writer.as_default():
                summary.scalar("loss", 1.0, step=0)
    assert len(events_of(tmp_path)) == 3
    first.close()
    summary.create_file_writer(tmp_path, filename_suffix=".later").close()
    # In the same second, but nothing is lost.
    lengths = {file.suffix: len(read(file)) for file in tmp_path.iterdir()}
    assert lengths == {".v2": 3, ".later": 1}


def test_files_of_one_second_are_different(tmp_path: Path, read: Any) -> None:
    for _ in range(3):
        summary.create_file_writer(tmp_path).close()
    summary.create_file_writer(tmp_path, name="a").close()
    assert [len(read(file)) for file in tmp_path.iterdir()] == [1, 1, 1, 1]


def test_nothing_is_lost_at_the_end_of_the_program(tmp_path: Path, events_of: Any) -> None:
    program = (
        "import sys, agog_summary as s\n"
        "for f in (s.scalar, s.histogram, s.image, s.text, s.generic): f('no writer', 1.0)\n"
        "s.graph(1.0)\n"
        "assert not [name for name in sys.modules if name.startswith('tensorboardX')]\n"
        "s.create_file_writer(sys.argv[1]).set_as_default()\n"
        "with s.always_record_summaries(): s.scalar('loss', 1.0, step=0)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    assert len(events_of(tmp_path)) == 2


def test_sessions_have_nothing_to_do() -> None:
    assert summary.all_summary_ops() == []
    summary.initialize()
    summary.create_file_writer(None).init()


def test_databases(tmp_path: Path) -> None:
    path = str(tmp_path / "runs.sqlite")
    first = summary.create_db_writer(path, "experiment", "first", "user")
    second = summary.create_db_writer(f"file:{path}", "experiment", "second", "user")
    with summary.always_record_summaries(), first.as_default():
        summary.scalar("loss", 0.5, step=1)
        with second.as_default():
            summary.scalar("loss", 2.0, step=1)
        summary.generic("numbers", ag.constant([[1, 2]], ag.int64), step=2)
        summary.text("note", ["a", "b"], step=3)
        summary.histogram("weights", [1.0, 1.0, -2.0], step=4)
        summary.image("dot", np.zeros((1, 2, 3, 1), np.uint8), step=5)
        summary.audio("beep", [[0.0, 1.0]], 8000, max_outputs=1, step=6)
        tape = ag.GradientTape(persistent=True)
        with tape:
            tape.watch(x := ag.constant(3.0))
            ag.exp(x)
        summary.graph(tape, step=7)
    first.close()
    connection = sqlite3.connect(path)

    def rows(query: str) -> list[Any]:
        return connection.execute(query).fetchall()

    assert rows("SELECT user_name FROM Users") == [("user",)]
    assert rows("SELECT experiment_name FROM Experiments JOIN Users USING (user_id)") == [("experiment",)]
    scalars = rows(
        "SELECT run_name, step, dtype, shape, data FROM Tensors JOIN Tags ON series = tag_id JOIN Runs USING (run_id) "
        "WHERE tag_name = 'loss'"
    )
    assert scalars == [("first", 1, 1, "", np.float32(0.5).tobytes()), ("second", 1, 1, "", np.float32(2).tobytes())]
    tensors = {
        name: (dtype, shape, data, rowid)
        for name, dtype, shape, data, rowid in rows(
            "SELECT tag_name, dtype, shape, data, Tensors.rowid FROM Tensors JOIN Tags ON series = tag_id "
            "WHERE step > 1 ORDER BY step"
        )
    }
    assert list(tensors) == ["numbers", "note", "weights", "dot/image/0", "beep/audio"]
    assert tensors["numbers"][:3] == (9, "1,2", np.array([1, 2], np.int64).tobytes())
    assert rows("SELECT plugin_name FROM Tags WHERE tag_name = 'note'") == [("text",)]
    assert tensors["note"][:3] == (7, "2", b"")
    strings = dict(rows(f"SELECT idx, data FROM TensorStrings WHERE tensor_rowid = {tensors['note'][3]}"))
    assert strings == {0: b"a", 1: b"b"}
    buckets = np.frombuffer(tensors["weights"][2]).reshape([int(n) for n in tensors["weights"][1].split(",")])
    filled = buckets[buckets[:, 2] > 0]
    assert [(low <= x < high, count) for (low, high, count), x in zip(filled, [-2.0, 1.0], strict=True)] == [
        (True, 1),
        (True, 2),
    ]
    images = rows(f"SELECT data FROM TensorStrings WHERE tensor_rowid = {tensors['dot/image/0'][3]}")
    assert images[:2] == [(b"3",), (b"2",)]
    assert images[2][0].startswith(b"\x89PNG")
    assert tensors["beep/audio"][:2] == (7, "1,2")
    assert [op for (op,) in rows("SELECT op FROM Nodes ORDER BY node_id")][-1] == "exp"
    with (
        says(FailedPreconditionError, f"The summary writer of {path} is closed; its init() opens the database again."),
        summary.always_record_summaries(),
        first.as_default(),
    ):
        summary.scalar("loss", 0.5, step=2)
    first.init()
    with summary.always_record_summaries(), first.as_default():
        summary.scalar("loss", 0.5, step=2)
    assert rows("SELECT count(*) FROM Tags WHERE tag_name = 'loss'") == [(2,)]
    connection.close()


@pytest.mark.parametrize(
    ("argument", "value", "pattern"),
    [
        ("experiment_name", "\0", r"[^\x00-\x1f<>]{0,256}"),
        ("run_name", 300 * "r", r"[^\x00-\x1f<>]{0,256}"),
        ("user_name", "hi-", "([A-Za-z]([-A-Za-z0-9]{0,29}[A-Za-z0-9])?)?"),
    ],
)
def test_names_of_databases(tmp_path: Path, argument: str, value: str, pattern: str) -> None:
    names = {"experiment_name": "experiment", "run_name": "run", "user_name": "user", argument: value}
    with says(ValueError, f"create_db_writer: {argument} must match {pattern}; got {value!r}."):
        summary.create_db_writer(str(tmp_path / "runs.sqlite"), **names)
    assert list(tmp_path.iterdir()) == []


def test_folders_of_evaluations(tmp_path: Path) -> None:
    assert summary.eval_dir(tmp_path) == str(tmp_path / "eval")
    assert summary.eval_dir(str(tmp_path), "test") == str(tmp_path / "eval_test")


@pytest.mark.parametrize("given", [5, ag.constant(5, ag.int64), "the global step"])
def test_a_step_to_purge_from(tmp_path: Path, given: Any, events_of: Any) -> None:
    step = get_or_create_global_step()
    step.assign(5)
    summary.create_file_writer(tmp_path, purge_step=step if given == "the global step" else given).close()
    _, *events = events_of(tmp_path)
    assert [(event.step, event.session_log.status) for event in events] == [(5, SessionLog.START)] * 2


def test_a_step_to_purge_from_in_a_file_that_is_in_use(tmp_path: Path, events_of: Any) -> None:
    writer = summary.create_file_writer(tmp_path)
    with writer.as_default(), summary.always_record_summaries():
        summary.scalar("loss", 1.0, step=8)
        summary.create_file_writer(tmp_path, purge_step=5)
        summary.scalar("loss", 1.0, step=6)
    events = events_of(tmp_path)[1:]
    start = (5, SessionLog.START)
    assert [(event.step, event.session_log.status) for event in events] == [(8, 0), start, start, (6, 0)]


def test_metrics_write_here(tmp_path: Path, events_of: Any) -> None:
    summaries = registered_summaries()
    assert summaries is not None
    summaries.scalar("no writer", 1.0)
    get_or_create_global_step().assign(9)
    with summaries.recorded_in(str(tmp_path)):
        summaries.scalar("Avg Loss", ag.constant(2.0))
    _, event = events_of(tmp_path)
    assert (event.step, event.summary.value[0].tag, event.summary.value[0].simple_value) == (9, "Avg_Loss", 2.0)
