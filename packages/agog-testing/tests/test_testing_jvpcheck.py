"""jvpcheck accepts right forward derivatives and names what is wrong with others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_testing import GradientCheckError, jvpcheck, says

X = np.array([[0.5, -1.5, 2.0]])


def with_gradient(gradient: Callable[[ag.Tensor, ag.Tensor], Any]) -> Callable[[ag.Tensor], ag.Tensor]:
    """The square, with a gradient of its own."""

    @ag.custom_gradient
    def square(x: ag.Tensor) -> Any:
        return x * x, lambda dy: gradient(dy, x)

    def named(x: ag.Tensor) -> ag.Tensor:
        result: ag.Tensor = square(x)
        return result

    named.__name__ = "square"
    return named


def test_right_derivatives_pass() -> None:
    jvpcheck(with_gradient(lambda dy, x: dy * 2.0 * x), [X])


def test_several_inputs_and_results_pass() -> None:
    def f(x: ag.Tensor, n: ag.Tensor, z: ag.Tensor) -> Any:
        return {"product": ag.abs(z) * x, "rows": [ag.conj(z), ag.cast(n, ag.float64) * x], "count": n + 1}

    jvpcheck(f, [X, np.array([2]), X + 1j])


def test_result_that_depends_on_no_input_has_derivative_zero() -> None:
    jvpcheck(lambda x: (x, ag.ones_like(x)), [X])


def test_wrong_derivative_is_named() -> None:
    rng = np.random.default_rng(1)
    direction = np.copysign(rng.uniform(0.5, 1.5, 3), rng.uniform(-1, 1, 3))[1]
    with says(
        GradientCheckError,
        "jvpcheck of square: the derivative of result 0 is wrong at 1 of 3 elements, first at (0, 1): forward mode "
        f"gives {3 * direction:.6g}, central differences give {-3 * direction:.6g} (they may differ by 1e-05 + 0.001 * "
        f"{abs(3 * direction):.6g}).",
    ):
        jvpcheck(with_gradient(lambda dy, x: dy * 2.0 * ag.abs(x)), [X], seed=1)


def test_missing_derivative_is_named() -> None:
    with pytest.raises(GradientCheckError, match=r"forward mode gives 0, central differences give"):
        jvpcheck(lambda x: ag.stop_gradient(x), [X])


def test_modes_that_disagree_are_named() -> None:
    # Forward mode takes the derivative of the vjp where its argument is zero; there the wrong term vanishes.
    rng = np.random.default_rng(1)
    direction, weight = (np.copysign(rng.uniform(0.5, 1.5, X.shape), rng.uniform(-1, 1, X.shape)) for _ in range(2))
    with says(
        GradientCheckError,
        "jvpcheck of square: the gradient times the direction is "
        f"{np.sum((weight + weight**2) * 2 * X * direction):.10g} in reverse mode; the weights times the derivative "
        f"are {np.sum(weight * 2 * X * direction):.10g} in forward mode.",
    ):
        jvpcheck(with_gradient(lambda dy, x: (dy + dy * dy) * 2.0 * x), [X], seed=1)


def test_dtype_other_than_float64_is_refused() -> None:
    with says(
        ValueError, "jvpcheck: input 0 of square has dtype float32; central differences need float64 or complex128."
    ):
        jvpcheck(ag.square, [np.ones(2, np.float32)])


def test_nothing_to_differentiate_is_refused() -> None:
    with says(ValueError, "jvpcheck: square has no float64 or complex128 input to differentiate with respect to."):
        jvpcheck(ag.square, [np.array([1])])
