"""The summaries of TensorFlow 2: recorded wherever a writer is the default."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
import agog_summary
from agog_summary import tf2
from agog_testing import says


def events(folder: Path) -> list[tuple[int, str, Any]]:
    from tensorboardX.proto.event_pb2 import Event

    found = []
    for file in sorted(folder.iterdir()):
        data = file.read_bytes()
        while data:
            length = int.from_bytes(data[:8], "little")
            event = Event.FromString(data[12 : 12 + length])
            found += [(event.step, value.tag, value) for value in event.summary.value]
            data = data[16 + length :]
    return found


def test_no_policy_is_needed(tmp_path: Path) -> None:
    writer = agog_summary.create_file_writer(str(tmp_path))
    assert not tf2.scalar("loss", 0.5, step=1)
    with writer.as_default():
        assert tf2.scalar("loss", 0.5, step=3, description="of the batch")
        with tf2.record_if(False):
            assert not tf2.scalar("loss", 0.25, step=4)
        with tf2.record_if(lambda: True):
            assert tf2.scalar("loss", 0.125, step=ag.Variable(5))
    writer.close()
    assert [(step, tag, value.simple_value) for step, tag, value in events(tmp_path)] == [
        (3, "loss", 0.5),
        (5, "loss", 0.125),
    ]
    assert not tf2.should_record_summaries()


def test_the_step_can_be_said_once(tmp_path: Path) -> None:
    writer = agog_summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=7):
        tf2.scalar("a", 1.0)
        tf2.set_step(8)
        tf2.scalar("b", 1.0)
    assert tf2.get_step() is None
    with (
        writer.as_default(),
        says(
            ValueError,
            "tf.summary.text: there is no step; give step=..., or say it once with "
            "tf.summary.experimental.set_step(step) or writer.as_default(step=step).",
        ),
    ):
        tf2.text("note", "x")
    writer.close()
    assert [(step, tag) for step, tag, _ in events(tmp_path)] == [(7, "a"), (8, "b")]


def test_all_kinds(tmp_path: Path) -> None:
    writer = agog_summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=1):
        assert tf2.histogram("weights", [0.5, 1.5], buckets=10)
        assert tf2.image("digits", [[[[2.0], [0.25]]]], max_outputs=1)
        assert tf2.audio("beep", [[[0.5], [-0.5]]], 8000)
        assert tf2.text("note", "it works")
        assert tf2.write("numbers", [1.0, 2.0])
    with tf2.create_noop_writer().as_default():
        assert not tf2.scalar("nothing", 1.0, step=1)
    writer.close()
    found = {tag: value for _, tag, value in events(tmp_path)}
    assert list(found) == ["weights", "digits/image", "beep/audio/0", "note", "numbers"]
    assert found["weights"].histo.num == 2
    assert (found["digits/image"].image.width, found["digits/image"].image.height) == (2, 1)


def test_pictures_of_floats_are_not_scaled(tmp_path: Path) -> None:
    import io

    image = pytest.importorskip("PIL.Image", reason="pictures are read back with Pillow, which is not installed")
    writer = agog_summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=1):
        tf2.image("p", [[[[0.25], [2.0]]]], max_outputs=1)
    writer.close()
    ((_, _, value),) = events(tmp_path)
    assert np.asarray(image.open(io.BytesIO(value.image.encoded_image_string))).tolist() == [[64, 255]]
