"""Pools: what TensorFlow's arguments mean, against loops in NumPy, and the texts of errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_core.ops.conv import pools
from agog_testing import says

Array = np.ndarray[Any, Any]
SEED = 21


def random(*shape: int) -> Array:
    return np.random.default_rng(SEED).uniform(-1, 1, shape)


def naive(x: Array, window: int, stride: int, low: int, places: int, reduce: Callable[..., Any]) -> Array:
    """A pool over height and width with the same numbers for both; padding is left out."""
    out = np.zeros((len(x), places, places, x.shape[3]))
    for n, r, c, k in np.ndindex(*out.shape):
        rows, columns = (slice(max(0, i * stride - low), max(0, i * stride - low + window)) for i in (r, c))
        out[n, r, c, k] = reduce(x[n, rows, columns, k])
    return out


def same(out: ag.Tensor, expected: Array) -> None:
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-12, atol=1e-12, err_msg=f"seed {SEED}")


@pytest.mark.parametrize(
    ("pool", "kind", "reduce"), [(pools.max_pool, "MAX", np.max), (pools.avg_pool, "AVG", np.mean)]
)
@pytest.mark.parametrize(
    ("size", "window", "stride", "padding", "low", "places"),
    [(6, 2, 2, "VALID", 0, 3), (6, 3, 2, "SAME", 0, 3), (5, 3, 2, "SAME", 1, 3), (5, 2, 1, "SAME", 0, 5)],
)
def test_pools(
    pool: Any, kind: str, reduce: Any, size: int, window: int, stride: int, padding: str, low: int, places: int
) -> None:
    x = random(2, size, size, 3)
    expected = naive(x, window, stride, low, places, reduce)
    same(pool(x, [1, window, window, 1], [1, stride, stride, 1], padding), expected)
    same(pools.pool(x, [window, window], kind, padding, strides=[stride, stride]), expected)
    swapped = np.moveaxis(x, -1, 1)
    out = pool(swapped, [1, 1, window, window], [1, 1, stride, stride], padding, data_format="NCHW")
    same(out, np.moveaxis(expected, -1, 1))
    out = pools.pool(swapped, [window, window], kind, padding, strides=[stride, stride], data_format="NCHW")
    same(out, np.moveaxis(expected, -1, 1))
    pool3d = pools.max_pool3d if kind == "MAX" else pools.avg_pool3d
    out = pool3d(x[:, None], [1, 1, window, window, 1], [1, 1, stride, stride, 1], padding)
    same(out[:, 0], expected)


def test_one_axis_and_dilations() -> None:
    x = random(2, 7, 3)
    same(pools.pool(x, [2], "MAX", "VALID", dilation_rate=[3]), np.maximum(x[:, :4], x[:, 3:]))
    out = pools.pool(x, [2], "AVG", "SAME", dilation_rate=[2])
    inner = (x[:, :-2] + x[:, 2:]) / 2
    same(out, np.concatenate([x[:, 1:2], inner, x[:, -2:-1]], 1))


def test_argmax_counts_through_the_batch() -> None:
    x = random(2, 4, 5, 3)
    maxima, positions = pools.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    assert positions.dtype == ag.int64
    same(maxima, x.reshape(-1)[positions.numpy()])
    same(maxima, pools.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME").numpy())
    _, positions = pools.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME", ag.int32)
    assert positions.dtype == ag.int32


def test_gradient_of_equal_elements_goes_to_the_first() -> None:
    x = ag.constant(np.zeros((1, 2, 2, 1)))
    with ag.GradientTape() as tape:
        tape.watch(x)
        out = pools.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    assert tape.gradient(out, x).numpy().reshape(-1).tolist() == [1, 0, 0, 0]


X = np.ones((1, 4, 4, 3), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: pools.max_pool(X[0], [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
            InvalidArgumentError,
            "max_pool: the input must be of rank 4 (N, H, W, C); got shape (4, 4, 3).",
        ),
        (
            lambda: pools.avg_pool(X, [1, 2, 2, 3], [1, 2, 2, 1], "SAME"),
            InvalidArgumentError,
            "avg_pool: ksize must be 1 for batch and channels; got [1, 2, 2, 3].",
        ),
        (
            lambda: pools.avg_pool(X, [1, 0, 2, 1], [1, 2, 2, 1], "SAME"),
            InvalidArgumentError,
            "avg_pool: ksize must be a positive integer, 2 of them, or 4 of them with those of batch and channels; got "
            "[1, 0, 2, 1].",
        ),
        (
            lambda: pools.max_pool(X, 2, 2, "FULL"),
            InvalidArgumentError,
            "max_pool: padding must be 'SAME' or 'VALID'; got 'FULL'.",
        ),
        (
            lambda: pools.pool(X, [2], "MAX", "SAME"),
            ValueError,
            "pool: window_shape must be 1 to 3 positive integers, two fewer than the input has axes; got [2] and an "
            "input of shape (1, 4, 4, 3).",
        ),
        (
            lambda: pools.pool(X, [2, 2], "MIN", "SAME"),
            ValueError,
            "pool: pooling_type must be 'MAX' or 'AVG'; got 'MIN'.",
        ),
        (
            lambda: pools.max_pool_with_argmax(X, 2, 2, "SAME", ag.uint8),
            InvalidArgumentError,
            "max_pool_with_argmax: Targmax must be 'int32' or 'int64'; got 'uint8'.",
        ),
    ],
)
def test_errors(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with says(error, text):
        call()
