"""Activations of Keras 3, against NumPy in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import activations
from agog_layers.activations.piecewise import (
    hard_shrink,
    hard_silu,
    hard_tanh,
    soft_shrink,
    sparse_plus,
    sparse_sigmoid,
    threshold,
)
from agog_layers.activations.smooth import celu, glu, log_sigmoid, sparsemax, squareplus, tanh_shrink

X = np.concatenate([np.linspace(-4, 4, 33), [100.0, -100.0, 0.5, -0.5]])


def np_sparsemax(row: Any) -> Any:
    """The projection onto the simplex, its level found by bisection."""
    low, high = row.min() - 1.0, row.max()
    for _ in range(200):
        level = (low + high) / 2
        low, high = (level, high) if np.maximum(row - level, 0).sum() > 1 else (low, level)
    return np.maximum(row - low, 0)


CASES: dict[str, tuple[Callable[..., Any], Callable[[Any], Any]]] = {
    "threshold": (lambda x: threshold(x, 0.5, -2.0), lambda x: np.where(x > 0.5, x, -2.0)),
    "hard_shrink": (hard_shrink, lambda x: np.where(np.abs(x) > 0.5, x, 0)),
    "soft_shrink": (soft_shrink, lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)),
    "hard_silu": (hard_silu, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "hard_tanh": (hard_tanh, lambda x: np.clip(x, -1, 1)),
    "sparse_plus": (sparse_plus, lambda x: np.where(x <= -1, 0, np.where(x < 1, (x + 1) ** 2 / 4, x))),
    "sparse_sigmoid": (sparse_sigmoid, lambda x: np.clip((x + 1) / 2, 0, 1)),
    "celu": (lambda x: celu(x, 1.5), lambda x: np.where(x > 0, x, 1.5 * np.expm1(np.minimum(x, 0) / 1.5))),
    "log_sigmoid": (log_sigmoid, lambda x: -np.logaddexp(0, -x)),
    "squareplus": (lambda x: squareplus(x, 2.0), lambda x: (x + np.sqrt(x * x + 2)) / 2),
    "tanh_shrink": (tanh_shrink, lambda x: x - np.tanh(x)),
    "sparsemax": (sparsemax, np_sparsemax),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name: str) -> None:
    function, wanted = CASES[name]
    np.testing.assert_allclose(function(ag.constant(X)).numpy(), wanted(X), rtol=1e-9, atol=1e-12)
    inner = np.array([-2.3, -0.7, -0.2, 0.3, 0.8, 2.7])  # away from the corners
    (gradient,) = ag.gradients_function(lambda x: ag.reduce_sum(function(x) * np.arange(1.0, 7.0)))(ag.constant(inner))
    steps = 1e-6 * np.eye(6)
    numeric = [np.sum((wanted(inner + step) - wanted(inner - step)) * np.arange(1.0, 7.0)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient.numpy(), numeric, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gates(axis: int) -> None:
    x = np.random.default_rng(5).normal(size=(4, 6))
    first, second = np.split(x, 2, axis)
    np.testing.assert_allclose(glu(ag.constant(x), axis).numpy(), first / (1 + np.exp(-second)))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_sparsemax_along_axes(axis: int) -> None:
    x = np.random.default_rng(6).normal(size=(3, 4, 5))
    wanted = np.apply_along_axis(np_sparsemax, axis, x)
    np.testing.assert_allclose(sparsemax(ag.constant(x), axis).numpy(), wanted, atol=1e-12)


def test_sparsemax_of_many_steps_is_that_of_the_paper() -> None:
    """Of numbers in steps of 1/4 from 4 down, 1 + k * z(k) is more than the sum of the first k for 3 and not for 4, so
    tau = (4 + 3.75 + 3.5 - 1) / 3. Keras 3.15.1 adds up all sums in place of the last one, and gives numbers that do
    not add up to 1."""
    found = sparsemax(np.linspace(-4, 4, 33)).numpy()
    tau = (4 + 3.75 + 3.5 - 1) / 3
    np.testing.assert_allclose(found[-3:], np.array([3.5, 3.75, 4.0]) - tau, atol=1e-12)
    assert found[:-3].tolist() == [0.0] * 30
    np.testing.assert_allclose(found.sum(), 1.0, rtol=1e-12)


@pytest.mark.parametrize("name", ["celu", "hard_swish", "hard_silu", "log_sigmoid", "sparsemax", "tanh_shrink"])
def test_they_are_known_by_name(name: str) -> None:
    x = ag.constant(X)
    known = activations.get(name)(x).numpy()
    wanted = CASES["hard_silu" if name == "hard_swish" else name][0] if name != "celu" else celu
    np.testing.assert_array_equal(known, wanted(x).numpy())
