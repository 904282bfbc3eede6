"""Summaries of traced functions: each call asks for the writer, the policy and the step, as eager code does."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import agog as tf
from agog_summary import tf2

summary = tf.contrib.summary


def written(folder: Path) -> list[tuple[str, int, float]]:
    """Tags, steps and values in the event file of a folder."""
    from tensorboardX.proto.event_pb2 import Event

    data, found = b"".join(file.read_bytes() for file in sorted(folder.iterdir())), []
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        event = Event.FromString(data[12 : 12 + length])
        found += [(value.tag, event.step, value.simple_value) for value in event.summary.value]
        data = data[16 + length :]
    return found


def by_steps(wrap: Any, folder: Path) -> Any:
    step = tf.Variable(0, dtype=tf.int64)
    first, second = (summary.create_file_writer(str(folder / name)) for name in ("first", "second"))

    def call(x: Any) -> None:
        summary.scalar("x", x, step=step)
        with summary.always_record_summaries():
            summary.scalar("y", x + 1.0, step=step)
        step.assign_add(1)
        summary.scalar("z", x, step=step)

    f = wrap(call)
    f(tf.constant(1.0))
    for n in range(4):
        with first.as_default(), summary.record_summaries_every_n_global_steps(2, step):
            f(tf.constant(2.0 + n))
    with second.as_default():
        f(tf.constant(10.0))
    with second.as_default(), summary.always_record_summaries():
        f(tf.constant(11.0))
        f(tf.constant(12.0))
    for writer in (first, second):
        summary.flush(writer)
    return [written(folder / name) for name in ("first", "second")]


def by_conditions(wrap: Any, folder: Path) -> Any:
    f, is_wanted = wrap(lambda x: tf2.scalar("x", x)), [True]
    writer = summary.create_file_writer(str(folder))
    with writer.as_default():
        for n in range(5):
            tf2.set_step(n)
            with tf2.record_if(n % 2 == 0):
                f(tf.constant(float(n)))
        with tf2.record_if(lambda: is_wanted[0]):
            for n in range(6):
                is_wanted[0] = n % 3 == 0
                tf2.set_step(10 + n)
                f(tf.constant(float(n)))
    tf2.set_step(None)
    summary.flush(writer)
    return written(folder)


def test_policies_writers_and_steps_are_those_of_each_call(tmp_path: Path) -> None:
    eager = by_steps(lambda f: f, tmp_path / "eager")
    assert by_steps(tf.function, tmp_path / "traced") == eager
    assert [len(each) for each in eager] == [8, 7]


def test_conditions_are_asked_at_each_call(tmp_path: Path) -> None:
    eager = by_conditions(lambda f: f, tmp_path / "eager")
    assert by_conditions(tf.function, tmp_path / "traced") == eager
    assert [step for _, step, _ in eager] == [0, 2, 4, 10, 13]
