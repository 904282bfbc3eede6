"""Reshape, Permute, RepeatVector and Lambda."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Lambda, Permute, RepeatVector, Reshape
from agog_testing import says

X = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("layer", "x", "expected"),
    [
        (Reshape((4, 3)), X, X.reshape(2, 4, 3)),
        (Reshape([-1]), X, X.reshape(2, 12)),
        (Reshape((2, -1, 3)), X, X.reshape(2, 2, 2, 3)),
        (Reshape((-1, 6)), X[:0], X[:0].reshape(0, 2, 6)),
        (Permute((2, 1)), X, X.transpose(0, 2, 1)),
        (Permute([3, 1, 2]), X[None], X[None].transpose(0, 3, 1, 2)),
        (RepeatVector(3), X[0], X[0][:, None].repeat(3, 1)),
        (Lambda(lambda x, factor: x * factor, arguments={"factor": 2.0}), X, 2 * X),
    ],
)
def test_values(layer: Any, x: Any, expected: Any, check_gradients: Callable[..., None]) -> None:
    got = layer(ag.constant(x))
    np.testing.assert_array_equal(got.numpy(), expected)
    assert layer.compute_output_shape(x.shape) == expected.shape
    assert layer.compute_output_shape((None, *x.shape[1:])).as_list() == [None, *expected.shape[1:]]
    if x.size:
        check_gradients(layer, [x])


def test_unknown_sizes() -> None:
    assert Reshape((2, -1)).compute_output_shape((None, None, 3)).as_list() == [None, 2, None]
    assert Lambda(ag.abs, output_shape=(7,)).compute_output_shape((3, 2)).as_list() == [3, 7]
    assert Lambda(ag.abs, output_shape=lambda shape: [shape[0], 1]).compute_output_shape((3, 2)).as_list() == [3, 1]


def test_masks_of_lambda() -> None:
    mask = ag.constant([True, False])
    assert Lambda(ag.abs).compute_mask(X, mask) is None
    assert Lambda(ag.abs, mask=mask).compute_mask(X) is mask
    assert Lambda(ag.abs, mask=lambda inputs, mask: ag.logical_not(mask)).compute_mask(X, mask).numpy().tolist() == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: Reshape((5,), name="r")(ag.zeros([2, 3])),
            "Reshape layer 'r' cannot give examples of shape (3,) the shape (5,).",
        ),
        (
            lambda: Reshape((2, -1), name="r")(ag.zeros([2, 3])),
            "Reshape layer 'r' cannot give examples of shape (3,) the shape (2, -1).",
        ),
        (
            lambda: Reshape((-1, -1), name="r")(ag.zeros([2, 4])),
            "Reshape layer 'r' cannot give examples of shape (4,) the shape (-1, -1).",
        ),
        (
            lambda: Permute((0, 1)),
            "Permute: Invalid permutation (0, 1): dims must be the numbers from 1 to 2 in any order.",
        ),
        (
            lambda: Permute((2, 1), name="p")(ag.zeros([2, 3])),
            "Permute layer 'p' takes inputs of rank 3 (batch, and dims (2, 1)); got shape (2, 3).",
        ),
        (
            lambda: RepeatVector(2, name="r")(ag.zeros([2])),
            "RepeatVector layer 'r' takes inputs of shape (batch, features); got shape (2,).",
        ),
    ],
)
def test_errors(make: Callable[[], Any], text: str) -> None:
    with says(ValueError, text):
        make()
