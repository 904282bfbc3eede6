"""Clipping by value and by norm, against NumPy in float64."""

from __future__ import annotations

import numpy as np
import pytest

import agog_core as ag
from agog_testing import says

SEED = 20181105
X = np.random.default_rng(SEED).normal(size=(4, 3)) * 3


def test_clip_by_value() -> None:
    assert ag.clip_by_value(X, -1.0, 2.0).numpy().tolist() == np.minimum(np.maximum(X, -1), 2).tolist()
    low = np.array([-1.0, 0.0, 1.0])
    assert ag.clip_by_value(X, low, low + 1).numpy().tolist() == np.minimum(np.maximum(X, low), low + 1).tolist()
    assert ag.clip_by_value([1, 5, 9], 2, 8).numpy().tolist() == [2, 5, 8]


def test_clip_by_value_does_not_broadcast_its_input() -> None:
    with says(
        ValueError,
        "clip_by_value: clip_value_min and clip_value_max would broadcast t of shape (2,) to shape (1, 2); they must "
        "broadcast to t's shape.",
    ):
        ag.clip_by_value([1.0, 2.0], [[0.0, 0.0]], 1.0)


def test_gradient_of_clip_by_value_is_one_inside() -> None:
    x = ag.constant([-2.0, 0.5, 3.0])
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = ag.clip_by_value(x, -1.0, 1.0)
    assert tape.gradient(y, x).numpy().tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("limit", [0.5, 1e3])
def test_clip_by_norm(limit: float) -> None:
    norm = np.sqrt(np.sum(X**2))
    np.testing.assert_allclose(ag.clip_by_norm(X, limit).numpy(), X * min(1, limit / norm), rtol=1e-12)
    rows = np.sqrt(np.sum(X**2, axis=1, keepdims=True))
    expected = X * np.minimum(1, limit / rows)
    np.testing.assert_allclose(ag.clip_by_norm(X, limit, axes=[1]).numpy(), expected, rtol=1e-12)


def test_clip_by_norm_of_zeros_has_a_gradient() -> None:
    x = ag.zeros([3])
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = ag.clip_by_norm(x, 2.0)
    assert y.numpy().tolist() == [0.0, 0.0, 0.0]
    assert tape.gradient(y, x).numpy().tolist() == [1.0, 1.0, 1.0]


def test_clip_by_norm_does_not_broadcast_its_input() -> None:
    with says(
        ValueError,
        "clip_by_norm: clip_norm would broadcast t of shape (2,) to shape (1, 2); it must broadcast to t's shape.",
    ):
        ag.clip_by_norm([1.0, 2.0], [[1.0, 1.0]])


@pytest.mark.parametrize("limit", [0.1, 1e3])
def test_clip_by_average_norm(limit: float) -> None:
    average = np.sqrt(np.sum(X**2)) / X.size
    expected = X * min(1, limit / average)
    np.testing.assert_allclose(ag.clip_by_average_norm(X, limit).numpy(), expected, rtol=1e-12)


def rows() -> ag.IndexedSlices:
    return ag.IndexedSlices(ag.constant([[3.0, 0.0], [0.0, 4.0]], dtype=ag.float64), ag.constant([0, 2]), (5, 2))


def test_global_norm() -> None:
    norm = ag.global_norm([X, None, X[0], rows()])
    assert norm is not None
    np.testing.assert_allclose(norm.numpy(), np.sqrt(np.sum(X**2) + np.sum(X[0] ** 2) + 25), rtol=1e-12)
    assert ag.global_norm([None]) is None


@pytest.mark.parametrize("limit", [0.5, 1e3])
def test_clip_by_global_norm(limit: float) -> None:
    clipped, norm = ag.clip_by_global_norm([X, None, rows()], limit)
    expected = np.sqrt(np.sum(X**2) + 25)
    scale = min(1, limit / expected)
    np.testing.assert_allclose(norm.numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(clipped[0].numpy(), X * scale, rtol=1e-12)
    assert clipped[1] is None
    assert isinstance(clipped[2], ag.IndexedSlices)
    assert clipped[2].indices.numpy().tolist() == [0, 2]
    np.testing.assert_allclose(clipped[2].values.numpy(), np.array([[3.0, 0.0], [0.0, 4.0]]) * scale, rtol=1e-12)


def test_clip_by_global_norm_with_a_known_norm() -> None:
    clipped, norm = ag.clip_by_global_norm([[3.0]], 1.0, use_norm=2.0)
    assert (clipped[0].numpy().tolist(), norm.numpy()) == ([1.5], 2.0)


def test_norms_are_of_sequences() -> None:
    with says(TypeError, "global_norm: t_list should be a sequence; got Tensor."):
        ag.global_norm(ag.constant([1.0]))  # type: ignore[arg-type]
    with says(TypeError, "clip_by_global_norm: t_list should be a sequence; got str."):
        ag.clip_by_global_norm("ab", 1.0)
