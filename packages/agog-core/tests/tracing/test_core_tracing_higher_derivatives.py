"""Higher derivatives of traced functions that are too long to be replayed op by op, in later calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.tracing.functions.function import function

Derivatives = list[np.ndarray[Any, Any]]


def long(x: ag.Tensor, w: ag.Variable) -> ag.Tensor:
    for _ in range(6):
        x = ag.tanh(x @ w + 0.5) * ag.exp(0.1 * x) + x / 3.0
    return ag.reduce_sum(x * x)


def derivatives(f: Callable[..., ag.Tensor], x: ag.Tensor, w: ag.Variable) -> Derivatives:
    with ag.GradientTape(persistent=True) as third:
        third.watch(x)
        with ag.GradientTape(persistent=True) as second:
            second.watch(x)
            with ag.GradientTape() as first:
                first.watch(x)
                y = f(x, w)
            g = first.gradient(y, x)
        h, of_w = second.gradient(g, x), second.gradient(g, w)
    return [each.numpy() for each in (y, g, h, of_w, third.gradient(h, x), third.gradient(h, w))]


@pytest.mark.parametrize("turned", [False, True], ids=["rows", "rows and columns"])
def test_each_call_has_derivatives_of_its_own(turned: bool) -> None:
    random, traced = np.random.default_rng(0), function(long)
    w = ag.Variable(random.normal(size=(24, 24)).astype("float32") / 5)
    for number in range(5):
        x = ag.constant(random.normal(size=(24, 24)).astype("float32"))
        if turned and number % 2:
            x = ag.transpose(x)
        for got, expected in zip(derivatives(traced, x, w), derivatives(long, x, w), strict=True):
            np.testing.assert_array_equal(got, expected)
        w.assign_add(random.normal(size=(24, 24)).astype("float32") / 50)
