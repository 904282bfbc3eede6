"""Boxes on images, by hand."""

from __future__ import annotations

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_core.ops.image.drawing import draw_bounding_boxes
from agog_testing import says


def test_boxes_take_the_colors_in_turn() -> None:
    images = np.zeros((2, 4, 5, 3), np.float32)
    boxes = [[[0.0, 0.0, 0.7, 0.5], [0.4, 0.5, 1.0, 1.0]]] * 2
    colors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    wanted = np.zeros_like(images)
    # Rows 0 to 2 and columns 0 to 2; rows 1 to 3 and columns 2 to 4.
    for color, rows, columns in ((colors[0], (0, 2), (0, 2)), (colors[1], (1, 3), (2, 4))):
        for row in rows:
            wanted[:, row, columns[0] : columns[1] + 1] = color
        for column in columns:
            wanted[:, rows[0] : rows[1] + 1, column] = color
    np.testing.assert_array_equal(draw_bounding_boxes(images, boxes, colors).numpy(), wanted)
    assert not images.any()


def test_what_is_outside_is_left_out() -> None:
    found = draw_bounding_boxes(ag.zeros([1, 3, 3, 1]), [[[-1.0, 0.5, 0.5, 2.0], [2.0, 2.0, 3.0, 3.0]]]).numpy()
    assert found[0, :, :, 0].tolist() == [[0, 1, 0], [0, 1, 1], [0, 0, 0]]


def test_boxes_have_colors_of_their_own() -> None:
    drawn = draw_bounding_boxes(ag.zeros([1, 1, 2, 3]), [[[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]]]).numpy()
    assert drawn[0, 0].tolist() == [[1, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("images", "boxes", "colors", "text"),
    [
        (
            np.zeros((3, 3, 1), np.float32),
            [[[0.0, 0.0, 1.0, 1.0]]],
            None,
            "images must be of shape (batch, height, width, channels) with 1, 3 or 4 channels; got (3, 3, 1).",
        ),
        (
            np.zeros((2, 3, 3, 1), np.float32),
            [[[0.0] * 4]],
            None,
            "boxes must be of shape (2, boxes, 4); got (1, 1, 4).",
        ),
        (
            np.zeros((1, 3, 3, 3), np.float32),
            [[[0.0] * 4]],
            [[1.0]],
            "colors must be of shape (colors, 3); got (1, 1).",
        ),
    ],
)
def test_shapes(images: object, boxes: object, colors: object, text: str) -> None:
    with says(InvalidArgumentError, f"draw_bounding_boxes: {text}"):
        draw_bounding_boxes(images, boxes, colors)  # type: ignore[arg-type]
