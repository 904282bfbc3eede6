"""Moments and counts, against NumPy in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.reduce import moments
from agog_testing.gradcheck import gradcheck

RNG = np.random.default_rng(20181105)
X = RNG.normal(3, 2, (4, 3, 5))
W = RNG.uniform(0, 4, (4, 3, 5))
AXES: list[Any] = [[0], (0, 2), [-1], [0, 1, 2], 1]


def along(axes: Any) -> Any:
    return tuple(axes) if isinstance(axes, list) else axes


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("keep", [False, True])
def test_moments(axes: Any, keep: bool) -> None:
    mean, variance = moments.moments(X, axes, keep_dims=keep)
    np.testing.assert_allclose(mean.numpy(), X.mean(along(axes), keepdims=keep), rtol=1e-13)
    np.testing.assert_allclose(variance.numpy(), X.var(along(axes), keepdims=keep), rtol=1e-13)
    for function, reference in (
        (moments.reduce_variance, np.var),
        (moments.reduce_std, np.std),
        (moments.reduce_euclidean_norm, lambda x, a, keepdims: np.sqrt((x * x).sum(a, keepdims=keepdims))),
    ):
        expected = reference(X, along(axes), keepdims=keep)
        np.testing.assert_allclose(function(X, axes, keep).numpy(), expected, rtol=1e-13)


def test_moments_of_half_precision_are_rounded_once() -> None:
    x = np.full(4096, 1000.0, np.float16)
    x[::2] = 1002
    mean, variance = moments.moments(x, [0])
    assert (mean.dtype, variance.dtype) == (ag.float16, ag.float16)
    assert (float(mean), float(variance)) == (1001.0, 1.0)
    mean, variance = moments.weighted_moments(x, [0], np.float16(2))
    assert (float(mean), float(variance)) == (1001.0, 1.0)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("shape", [(4, 3, 5), (3, 1), (), (4, 1, 1)])
def test_weighted_moments(axes: Any, keep: bool, shape: tuple[int, ...]) -> None:
    weights = RNG.uniform(0.5, 4, shape)
    mean, variance = moments.weighted_moments(X, axes, weights, keep_dims=keep)
    whole = np.broadcast_to(weights, X.shape)
    total = whole.sum(along(axes), keepdims=True)
    middle = (whole * X).sum(along(axes), keepdims=True) / total
    spread = (whole * (X - middle) ** 2).sum(along(axes), keepdims=True) / total
    finish: Callable[[Any], Any] = (lambda y: y) if keep else (lambda y: y.squeeze(along(axes)))
    np.testing.assert_allclose(mean.numpy(), finish(middle), rtol=1e-13)
    np.testing.assert_allclose(variance.numpy(), finish(spread), rtol=1e-13)


@pytest.mark.parametrize("shift", [None, 3.0])
@pytest.mark.parametrize("axes", AXES)
def test_sufficient_statistics_give_the_moments(axes: Any, shift: float | None) -> None:
    count, total, squares, back = moments.sufficient_statistics(X, axes, shift)
    less = X if shift is None else X - shift
    assert float(count) == X.size / X.mean(along(axes)).size
    np.testing.assert_allclose(total.numpy(), less.sum(along(axes)), rtol=1e-13, atol=1e-12)
    np.testing.assert_allclose(squares.numpy(), (less * less).sum(along(axes)), rtol=1e-13)
    assert (back is None) == (shift is None)
    mean, variance = moments.normalize_moments(count, total, squares, back)
    np.testing.assert_allclose(mean.numpy(), X.mean(along(axes)), rtol=1e-12)
    np.testing.assert_allclose(variance.numpy(), X.var(along(axes)), rtol=1e-11)


@pytest.mark.parametrize("named", ["keepdims", "keep_dims"])
def test_keepdims_has_an_older_name(named: str) -> None:
    for stay in (True, False):
        mean, variance = moments.moments(X, [1], **{named: stay})
        np.testing.assert_allclose(mean.numpy(), X.mean(1, keepdims=stay), rtol=1e-13, strict=True)
        np.testing.assert_allclose(variance.numpy(), X.var(1, keepdims=stay), rtol=1e-13, strict=True)
        mean, _ = moments.weighted_moments(X, [1], W, **{named: stay})
        middle = (W * X).sum(1, keepdims=stay) / W.sum(1, keepdims=stay)
        np.testing.assert_allclose(mean.numpy(), middle, rtol=1e-13, strict=True)
        _, total, squares, _ = moments.sufficient_statistics(X, [1], **{named: stay})
        np.testing.assert_allclose(total.numpy(), X.sum(1, keepdims=stay), rtol=1e-13, strict=True)
        np.testing.assert_allclose(squares.numpy(), (X * X).sum(1, keepdims=stay), rtol=1e-13, strict=True)


@pytest.mark.parametrize("name", ["moments", "weighted_moments", "sufficient_statistics"])
def test_keepdims_is_given_under_one_of_its_names(name: str) -> None:
    further = [W] if name == "weighted_moments" else []
    with pytest.raises(ValueError, match=rf"^{name}: give only one of keepdims and keep_dims\.$"):
        getattr(moments, name)(X, [0], *further, keepdims=True, keep_dims=False)


def test_gradients_to_second_order() -> None:
    """The mean inside of the variance is differentiated too, which the second derivative shows."""
    x, w = X[0, :2, :3], W[0, :2, :3] + 0.5
    gradcheck(lambda x: moments.moments(x, [0])[1], [x])
    gradcheck(lambda x, w: moments.weighted_moments(x, [1], w)[1], [x, w])
    gradcheck(lambda x: moments.reduce_std(x, 1), [x])
    gradcheck(lambda x: moments.reduce_euclidean_norm(x, 0), [x])


def test_counts() -> None:
    x = np.array([[0, 1, 0], [1, 1, 0]])
    assert moments.count_nonzero(x).numpy() == 3
    assert moments.count_nonzero(x).dtype is ag.int64
    assert moments.count_nonzero(x.astype(np.float32), 0, True, "int32").numpy().tolist() == [[1, 2, 0]]
    assert moments.count_nonzero(x == 1, reduction_indices=[1]).numpy().tolist() == [1, 2]
    assert moments.count_nonzero(["", "a", " "]).numpy() == 2
    assert moments.count_nonzero([np.nan, 0.0, -0.0, np.inf]).numpy() == 2
    assert moments.zero_fraction(x).numpy() == 0.5
    assert np.isnan(moments.zero_fraction(np.zeros(0)).numpy())
