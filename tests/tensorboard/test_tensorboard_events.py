"""What TensorBoard's own readers find in our event files."""

from __future__ import annotations

import io
import time
import wave
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tensorboard.backend.event_processing import event_accumulator, plugin_event_accumulator
from tensorboard.util.tensor_util import make_ndarray

import agog as tf

summary = tf.contrib.summary
STEPS = [0, 1, 5]
EVERYTHING = {"scalars": 0, "histograms": 0, "images": 0, "audio": 0, "tensors": 0, "graph": 0}


def read(folder: Path, purge_orphaned_data: bool = True) -> Any:
    """What the reader for programs finds."""
    reader = event_accumulator.EventAccumulator(str(folder), EVERYTHING, purge_orphaned_data=purge_orphaned_data)
    return reader.Reload()


def read_for_pages(folder: Path) -> Any:
    """What the reader that feeds TensorBoard's pages finds, which makes tensors of all."""
    kinds = dict.fromkeys(("scalars", "histograms", "images", "audio", "text"), 0)
    return plugin_event_accumulator.EventAccumulator(str(folder), EVERYTHING, tensor_size_guidance=kinds).Reload()


@pytest.fixture(scope="session")
def found(run: Any) -> Any:
    return read(run.folder / "model")


def test_every_kind_has_its_tag(found: Any) -> None:
    tags = found.Tags()
    assert tags["scalars"] == ["loss"]
    assert tags["histograms"] == ["weights"]
    assert tags["images"] == ["digits/image"]
    assert tags["audio"] == ["beep/audio"]
    assert tags["tensors"] == ["note"]
    assert tags["graph"]


def test_scalars(run: Any, found: Any) -> None:
    events = found.Scalars("loss")
    assert [(event.step, event.value) for event in events] == list(zip(STEPS, run.losses, strict=True))


def test_wall_times(tmp_path: Path) -> None:
    with summary.create_file_writer(tmp_path).as_default(), summary.always_record_summaries():
        before = time.time()
        summary.scalar("loss", 1.0, step=0)
        after = time.time()
    (event,) = read(tmp_path).Scalars("loss")
    assert before <= event.wall_time <= after


def test_histograms_bucket_by_bucket(run: Any, found: Any) -> None:
    events = found.Histograms("weights")
    assert [event.step for event in events] == STEPS
    for event, weights in zip(events, run.weights, strict=True):
        histogram = event.histogram_value
        assert (histogram.min, histogram.max, histogram.num) == (weights.min(), weights.max(), weights.size)
        assert (histogram.sum, histogram.sum_squares) == (weights.sum(), np.square(weights).sum())
        limits = [-np.inf, *histogram.bucket_limit]
        assert histogram.bucket == [np.sum((low <= weights) & (weights < high)) for low, high in pairwise(limits)]


def test_histograms_of_the_page_keep_their_count(run: Any) -> None:
    events = read_for_pages(run.folder / "model").Tensors("weights")
    for event, weights in zip(events, run.weights, strict=True):
        left, right, counts = make_ndarray(event.tensor_proto).T
        assert (left <= right).all()
        assert counts.sum() == weights.size


def test_images(run: Any, found: Any) -> None:
    events = found.Images("digits/image")
    assert [(event.step, event.width, event.height) for event in events] == [(step, 30, 20) for step in STEPS]
    for event, (image,) in zip(events, run.images, strict=True):
        np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(event.encoded_image_string))), image)


def test_audio(run: Any, found: Any) -> None:
    events = found.Audio("beep/audio")
    assert [(event.step, event.sample_rate, event.length_frames) for event in events] == [
        (step, 8000, 8000) for step in STEPS
    ]
    for event, (sound,) in zip(events, run.sounds, strict=True):
        assert event.content_type == "audio/wav"
        with wave.open(io.BytesIO(event.encoded_audio_string)) as file:
            samples = np.frombuffer(file.readframes(8000), "<i2")
        # Half a step of the 16 bits, a whole one at 1 itself, which the format cannot hold.
        assert np.abs(samples / 32768 - sound[:, 0]).max() <= 1 / 32768


def test_text(run: Any, found: Any) -> None:
    events = found.Tensors("note")
    assert [event.step for event in events] == STEPS
    assert [event.tensor_proto.string_val[0].decode() for event in events] == run.notes
    assert found.SummaryMetadata("note").plugin_data.plugin_name == "text"


def test_the_page_finds_a_plugin_for_each_kind(run: Any) -> None:
    found = read_for_pages(run.folder / "model")
    plugins = {tag: found.SummaryMetadata(tag).plugin_data.plugin_name for tag in found.Tags()["tensors"]}
    assert plugins == {
        "__run_graph__": "graphs",
        "loss": "scalars",
        "weights": "histograms",
        "digits/image": "images",
        "beep/audio": "audio",
        "note": "text",
    }


@pytest.mark.parametrize("name", ["model", "tape", "traced"])
def test_graphs(run: Any, name: str) -> None:
    expected = getattr(run, name).__graph_nodes__()
    nodes = read(run.folder / name).Graph().node
    assert [(node.name, node.op, tuple(node.input), node.device) for node in nodes] == [
        (node.name, node.op, node.inputs, node.device) for node in expected
    ]
    for node, (*_, shapes, _, _, _) in zip(nodes, expected, strict=True):
        found = [
            tuple(None if dim.size == -1 else dim.size for dim in shape.dim)
            for shape in node.attr["_output_shapes"].list.shape
        ]
        assert found == [tuple(shape.as_list()) for shape in shapes]
    edges = {(source, node.name) for node in nodes for source in node.input}
    some = {
        "model": {("left", "encoder/hidden"), ("encoder/hidden", "both"), ("encoder_1/hidden", "both")},
        "tape": {("concat", "matmul_bias_2"), ("square", "reduce_mean")},
        "traced": {("concat", "matmul_2"), ("square", "reduce_mean")},
    }
    assert some[name] <= edges


def test_generic_tensors(tmp_path: Path) -> None:
    numbers = np.arange(6, dtype=np.int64).reshape(2, 3)
    with summary.create_file_writer(tmp_path).as_default(), summary.always_record_summaries():
        summary.generic("any", numbers, step=3)
    (event,) = read(tmp_path).Tensors("any")
    assert event.step == 3
    np.testing.assert_array_equal(make_ndarray(event.tensor_proto), numbers)


def write(folder: Path, steps: range, value: float, **named: Any) -> None:
    with summary.create_file_writer(folder, **named).as_default() as writer, summary.always_record_summaries():
        for step in steps:
            summary.scalar("loss", value, step=step)
            summary.text("note", str(value), step=step)
    writer.close()


def test_a_run_that_goes_on_purges_what_came_later(tmp_path: Path) -> None:
    write(tmp_path, range(10), 1.0)
    write(tmp_path, range(6, 8), 2.0, purge_step=6)
    expected = [(step, 1.0) for step in range(6)] + [(6, 2.0), (7, 2.0)]
    assert [(event.step, event.value) for event in read(tmp_path).Scalars("loss")] == expected
    everything = read(tmp_path, purge_orphaned_data=False).Scalars("loss")
    assert len(everything) == 12
    for tag in ("loss", "note"):
        assert [event.step for event in read_for_pages(tmp_path).Tensors(tag)] == list(range(8))


def train(folder: Path, steps: int, save_at: int) -> None:
    """Go on from the checkpoint, where there is one."""
    step = tf.train.get_or_create_global_step()
    step.assign(0)
    checkpoint = tf.train.Checkpoint(step=step)
    latest = tf.train.latest_checkpoint(str(folder))
    if latest is not None:
        checkpoint.restore(latest).assert_consumed()
    purge_step = None if latest is None else step + 1
    writer = summary.create_file_writer(folder / "logs", purge_step=purge_step)
    with writer.as_default(), summary.always_record_summaries():
        for _ in range(steps):
            step.assign_add(1)
            summary.scalar("loss", 2.0 if latest is None else 1.0)
            if int(step) == save_at:
                checkpoint.save(str(folder / "checkpoint"))
    writer.close()


def test_each_step_of_a_resumed_training_is_there_once(tmp_path: Path) -> None:
    train(tmp_path, steps=9, save_at=5)
    train(tmp_path, steps=2, save_at=99)
    expected = [*((step, 2.0) for step in range(1, 6)), (6, 1.0), (7, 1.0)]
    assert [(event.step, event.value) for event in read(tmp_path / "logs").Scalars("loss")] == expected


def test_a_purge_needs_no_event_after_it(tmp_path: Path) -> None:
    write(tmp_path, range(10), 1.0)
    write(tmp_path, range(0), 2.0, purge_step=6)
    assert [event.step for event in read(tmp_path).Scalars("loss")] == list(range(6))
    assert [event.step for event in read_for_pages(tmp_path).Tensors("loss")] == list(range(6))


def test_whole_records_of_a_file_that_was_cut_off(tmp_path: Path) -> None:
    write(tmp_path, range(3), 1.0)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-5])
    found = read(tmp_path)
    assert [event.step for event in found.Scalars("loss")] == [0, 1, 2]
    assert [event.step for event in found.Tensors("note")] == [0, 1]


def test_the_callback_of_fit(tmp_path: Path) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), name="only")])
    model.compile("sgd", "mse")
    x, y = np.ones([4, 2], np.float32), np.ones([4, 1], np.float32)
    callback = tf.keras.callbacks.TensorBoard(tmp_path, histogram_freq=1)
    history = model.fit(x, y, epochs=2, verbose=0, callbacks=[callback]).history
    found = read(tmp_path)
    assert [event.value for event in found.Scalars("epoch_loss")] == pytest.approx(history["loss"], rel=1e-6)
    (kernel,) = [tag for tag in found.Tags()["histograms"] if tag.endswith("only/kernel_0")]
    assert [event.step for event in found.Histograms(kernel)] == [0, 1]
