"""The pictures of the gallery show what their texts say: the data that examples draw is compared with them."""

from __future__ import annotations

import os
import pickle
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog as tf

ROOT = Path(__file__).parents[2]
PICTURES = {picture.example: picture for picture in runpy.run_path(str(ROOT / "docs" / "gallery.py"))["PICTURES"]}
# Runs an example, which keeps the data instead of drawing it.
PROGRAM = """
import pickle
from pathlib import Path

import {example}

{example}.draw = lambda *data: Path(data[-1]).write_bytes(pickle.dumps(data[:-1]))
{example}.main()
"""


@pytest.fixture
def drawn(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """The text of a picture, and what its example draws, run as for the gallery."""
    picture, file = PICTURES[request.param], tmp_path / "data"
    command = [sys.executable, "-c", PROGRAM.format(example=picture.example)]
    command += [*picture.arguments, "--function", "--picture", str(file)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "examples")}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return picture.text, pickle.loads(file.read_bytes())


@pytest.mark.parametrize("drawn", ["huber"], indirect=True)
def test_the_line_falls_by_what_the_text_says(drawn: Any) -> None:
    text, (examples, slope, offset) = drawn
    assert "y = 85 - 6x" in text
    x, y = np.array(examples).T
    straight, _ = np.polyfit(x, y, 1)
    assert "falls by 6 all the same; that of least squares would fall by 7" in text
    assert round(slope) == -6
    assert round(straight) == -7
    assert offset == pytest.approx(85, abs=1)
    # One in ten lies far below the line, and the rest around it.
    below = slope * x + offset - y
    assert 0.05 < np.mean(below > 15) < 0.15
    assert abs(np.median(below)) < 1


@pytest.mark.skipif("AGOG_ENDURANCE" not in os.environ, reason="3,000 steps; `nox -s endurance` runs it")
@pytest.mark.parametrize("drawn", ["gan"], indirect=True)
def test_the_points_are_near_the_ring(drawn: Any) -> None:
    text, (real, points) = drawn
    assert "nearly all points of the first are near the ring" in text
    assert np.linalg.norm(real, axis=1) == pytest.approx(np.ones(len(real)), abs=0.3)
    assert np.mean(abs(np.linalg.norm(points, axis=1) - 1) < 0.2) > 0.95
    # All around it: some in each twelfth.
    angles = np.arctan2(points[:, 1], points[:, 0])
    assert np.histogram(angles, 12, (-np.pi, np.pi))[0].min() > 0


@pytest.mark.parametrize("drawn", ["fit"], indirect=True)
def test_the_losses_fall_and_the_digits_are_right(drawn: Any) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    text, (logs, images, answers) = drawn
    assert "the losses, which fall" in text
    assert "nine of these ten are right" in text
    assert all(logs[name][-1] < logs[name][0] / 2 for name in ("loss", "val_loss"))
    _, (test_images, labels) = tf.data.datasets.digits()
    assert np.array_equal(images, test_images[:10].astype("float32") / 255)
    assert images.max() == 1.0
    assert np.sum(answers.argmax(1) == labels[:10]) >= 9


def test_every_picture_is_looked_at() -> None:
    looked = {mark.args[1][0] for test in TESTS for mark in test.pytestmark if mark.name == "parametrize"}
    assert looked == set(PICTURES)


TESTS: list[Any] = [
    test_the_line_falls_by_what_the_text_says,
    test_the_points_are_near_the_ring,
    test_the_losses_fall_and_the_digits_are_right,
]
