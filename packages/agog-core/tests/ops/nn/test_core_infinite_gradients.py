"""Infinite gradients: nothing comes through where a function is flat, as PyTorch's formulas have it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import agog_core as ag
from agog_core import nn
from agog_core.ops.sorting.sorting import nth_element

INF, NAN = float("inf"), float("nan")
IDS = [0, 0, 1, 1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("g", [INF, -INF, NAN])
@pytest.mark.parametrize(
    ("function", "x", "passes"),
    [
        (nn.relu, [-1.0, 0.0, -0.0, 2.0], [0, 0, 0, 1]),
        (nn.relu6, [-1.0, 0.0, 6.0, 2.0], [0, 0, 0, 1]),
        (lambda x: nn.leaky_relu(x, 0.0), [-1.0, 0.0, -0.0, 2.0], [0, 0, 0, 1]),
        (lambda x: ag.maximum(x, 1.0), [-1.0, 0.0, 0.5, 2.0], [0, 0, 0, 1]),
        (lambda x: ag.maximum(1.0, x), [-1.0, 0.0, 1.0, 2.0], [0, 0, 0, 1]),
        (lambda x: ag.minimum(x, 1.0), [3.0, 4.0, 1.5, 0.5], [0, 0, 0, 1]),
        (lambda x: ag.minimum(1.0, x), [3.0, 4.0, 1.0, 0.5], [0, 0, 0, 1]),
        (lambda x: ag.clip_by_value(x, 0.0, 1.0), [-1.0, 7.0, 2.0, 0.5], [0, 0, 0, 1]),
        (ag.reduce_max, [-1.0, 0.0, 1.0, 2.0], [0, 0, 0, 1]),
        (ag.reduce_min, [3.0, 4.0, 1.5, 0.5], [0, 0, 0, 1]),
        (lambda x: ag.unsorted_segment_max(x, IDS, 2), [-1.0, 3.0, 1.0, 2.0], [0, 1, 0, 1]),
        (lambda x: ag.unsorted_segment_min(x, IDS, 2), [3.0, 4.0, 1.5, 0.5], [1, 0, 0, 1]),
        (lambda x: nth_element(x, 0), [3.0, 4.0, 1.5, 0.5], [0, 0, 0, 1]),
    ],
    ids=[
        "relu",
        "relu6",
        "leaky",
        "maximum",
        "maximum_y",
        "minimum",
        "minimum_y",
        "clip",
        "max",
        "min",
        "segment_max",
        "segment_min",
        "nth",
    ],
)
def test_an_infinite_gradient_stops_where_the_function_is_flat(
    function: Callable[[ag.Tensor], ag.Tensor], x: list[float], passes: list[int], g: float, dtype: str
) -> None:
    features = ag.constant(x, dtype)
    with ag.GradientTape() as tape:
        tape.watch(features)
        out = function(features)
    found = tape.gradient(out, features, output_gradients=ag.fill(out.shape, ag.constant(g, dtype)))
    np.testing.assert_array_equal(found.numpy().astype("float64"), [g if each else 0.0 for each in passes])


def test_crelu_lets_an_infinite_gradient_through_on_one_side() -> None:
    features = ag.constant([-1.0, 0.0, 2.0])
    with ag.GradientTape() as tape:
        tape.watch(features)
        out = nn.crelu(features)
    assert tape.gradient(out, features, output_gradients=ag.fill([6], INF)).numpy().tolist() == [-INF, 0.0, INF]


@pytest.mark.parametrize(
    ("function", "second"),
    [(nn.relu, [0.0, 0.0, 12.0, 48.0]), (nn.relu6, [0.0, 0.0, 12.0, 0.0]), (ag.abs, [6.0, 0.0, 12.0, 48.0])],
    ids=["relu", "relu6", "abs"],
)
def test_second_derivatives_of_cubes(function: Callable[[ag.Tensor], ag.Tensor], second: list[float]) -> None:
    x = ag.constant([-1.0, 0.0, 2.0, 8.0])
    with ag.GradientTape() as outer:
        outer.watch(x)
        with ag.GradientTape() as inner:
            inner.watch(x)
            y = ag.pow(function(x), 3.0)
        slope = inner.gradient(y, x)
    assert outer.gradient(slope, x).numpy().tolist() == second


def test_thresholds_of_broadcast_shapes_keep_their_gradients() -> None:
    x, y = ag.constant([[1.0], [3.0]]), ag.constant([2.0, 0.0, 3.0])
    with ag.GradientTape() as tape:
        tape.watch([x, y])
        out = ag.maximum(x, y)
    of_x, of_y = tape.gradient(out, [x, y], output_gradients=ag.constant([[1.0, 2.0, 4.0], [8.0, 16.0, INF]]))
    assert of_x.numpy().tolist() == [[2.0], [INF]]
    assert of_y.numpy().tolist() == [1.0, 0.0, 4.0]
