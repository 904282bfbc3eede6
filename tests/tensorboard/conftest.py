"""A run with every kind of summary; without TensorBoard there is nothing to collect."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import agog as tf

if find_spec("tensorboard") is None:
    collect_ignore_glob = ["*"]
elif "AGOG_SCREENSHOTS" not in os.environ:
    collect_ignore = ["test_tensorboard_page.py"]

STEPS = [0, 1, 5]
RATE = 8000


class Run(NamedTuple):
    """What was written, for each of `STEPS`."""

    folder: Path
    losses: list[float]
    weights: list[Any]
    images: list[Any]
    sounds: list[Any]
    notes: list[str]
    model: Any
    tape: Any
    traced: Any


def make_model() -> Any:
    """Two encoders that are one, and a layer on both."""
    layers = tf.keras.layers
    left, right = tf.keras.Input(shape=(4,), name="left"), tf.keras.Input(shape=(4,), name="right")
    encoder = tf.keras.Sequential([layers.Dense(3, input_shape=(4,), name="hidden")], name="encoder")
    both = layers.Concatenate(name="both")([encoder(left), encoder(right)])
    return tf.keras.Model([left, right], layers.Dense(1, name="logits")(both))


def write_run(folder: Path) -> Run:
    """Write a run: the graphs of a model, a tape and a traced call to folders named so, the rest to each of these; and
    one that went on."""
    rng = np.random.default_rng(11)
    model, summary = make_model(), tf.contrib.summary
    x = [tf.constant(rng.normal(size=(2, 4)).astype("float32")) for _ in range(2)]
    with tf.GradientTape(persistent=True) as tape:
        tf.reduce_mean(tf.square(model(x)))
    traced = tf.function(lambda x: tf.reduce_mean(tf.square(model(x))))
    traced(tuple(x))
    waves = np.sin(2 * np.pi * 440 * np.arange(RATE) / RATE)
    run = Run(
        folder,
        losses=[1.0, 0.5, 0.25],
        weights=[rng.normal(size=500) * scale for scale in (1.0, 2.0, 1e-3)],
        images=[rng.integers(0, 256, [1, 20, 30, 3], np.uint8) for _ in STEPS],
        sounds=[(volume * waves)[np.newaxis, :, np.newaxis] for volume in (1.0, 0.5, 0.25)],
        notes=["# A first note", "The rate is **halved**.", "| a | b |\n|---|---|\n| 1 | 2 |"],
        model=model,
        tape=tape,
        traced=traced,
    )
    for name, graph in {"model": model, "tape": tape, "traced": traced}.items():
        with summary.create_file_writer(folder / name).as_default(), summary.always_record_summaries():
            summary.graph(graph, step=0)
            for number, step in enumerate(STEPS):
                summary.scalar("loss", run.losses[number], step=step)
                summary.histogram("weights", run.weights[number], step=step)
                summary.image("digits", run.images[number], max_images=1, step=step)
                summary.audio("beep", run.sounds[number], RATE, max_outputs=1, step=step)
                summary.text("note", run.notes[number], step=step)
    for steps, value, purge_step in ((range(10), 1.0, None), (range(6, 8), 2.0, 6)):
        writer = summary.create_file_writer(folder / "resumed", purge_step=purge_step)
        with writer.as_default(), summary.always_record_summaries():
            for step in steps:
                summary.scalar("loss", value, step=step)
        writer.close()
    return run


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with every kind of summary."""
    return write_run(tmp_path_factory.mktemp("run"))
