"""gradcheck accepts right gradients and names what is wrong with others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_testing import GradientCheckError, gradcheck, says

X = np.array([[0.5, -1.5, 2.0]])


def with_gradient(gradient: Callable[[ag.Tensor, ag.Tensor], Any]) -> Callable[[ag.Tensor], ag.Tensor]:
    """The cube, with a gradient of its own."""

    @ag.custom_gradient
    def cube(x: ag.Tensor) -> Any:
        return x * x * x, lambda dy: gradient(dy, x)

    def named(x: ag.Tensor) -> ag.Tensor:
        result: ag.Tensor = cube(x)
        return result

    named.__name__ = "cube"
    return named


@pytest.mark.parametrize("order", [1, 2, 3])
def test_right_gradients_pass(order: int) -> None:
    gradcheck(lambda x: ag.exp(x) * ag.sin(x), [X], order=order)


def test_several_inputs_and_results_pass() -> None:
    def f(x: ag.Tensor, n: ag.Tensor, y: ag.Tensor) -> Any:
        return {"product": x * y, "rows": [ag.matmul(x, y, transpose_b=True), ag.cast(n, ag.float64) * x]}

    gradcheck(f, [X, np.array([2]), X + 1])


def test_right_gradients_take_few_calls() -> None:
    calls = []

    def f(x: ag.Tensor) -> ag.Tensor:
        calls.append(x)
        return ag.exp(x) * ag.sin(x)

    gradcheck(f, [np.linspace(-1, 1, 50)], order=2)
    assert len(calls) == 14  # for each order twice, once for its gradient and along two directions in both senses


@pytest.mark.parametrize("position", range(4))
@pytest.mark.parametrize("phase", [1.0, -1.0, *np.exp(1j * np.linspace(0, 2 * np.pi, 8, endpoint=False))])
def test_one_element_that_is_wrong_by_little_more_than_allowed_is_named(phase: complex, position: int) -> None:
    wrong = 1.01 * phase * (np.arange(4) == position)

    @ag.custom_gradient
    def triple(x: ag.Tensor) -> Any:
        return 3.0 * x, lambda dy: 3.0 * dy + wrong * (1e-5 + 1e-3 * np.abs(3.0 * dy.numpy()))

    with pytest.raises(GradientCheckError, match=rf"at 1 of 4 elements, first at \({position},\)"):
        gradcheck(triple, [np.ones_like(wrong)], order=1)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_right_complex_gradients_pass(order: int) -> None:
    gradcheck(lambda z: ag.exp(z) * ag.sin(z), [[0.5 + 0.25j, -1.5j]], order=order)


def test_real_and_complex_inputs_and_results_pass() -> None:
    def f(x: ag.Tensor, z: ag.Tensor) -> Any:
        return ag.abs(z) * x, ag.cast(x, ag.complex128) * ag.conj(z), ag.imag(z * z)

    gradcheck(f, [X, X + 1j])


def test_complex_gradient_that_is_not_conjugated_is_named() -> None:
    @ag.custom_gradient
    def square(z: ag.Tensor) -> Any:
        return z * z, lambda dy: dy * 2.0 * z

    rng = np.random.default_rng(1)
    (re,), (im,) = (np.copysign(rng.uniform(0.5, 1.5, (1,)), rng.uniform(-1, 1, (1,))) for _ in range(2))
    right, wrong = (re + 1j * im) * 2 * (1 - 2j), (re + 1j * im) * 2 * (1 + 2j)
    with says(
        GradientCheckError,
        "gradcheck of square: the gradient with respect to input 0 is wrong at 1 of 1 elements, first at (0,): the "
        f"tape gives {wrong:.6g}, central differences give {right:.6g} (they may differ by 1e-05 + 0.001 * "
        f"{abs(right):.6g}).",
    ):
        gradcheck(square, [[1.0 + 2.0j]], order=1, seed=1)


def test_input_without_influence_passes() -> None:
    gradcheck(lambda x, y: ag.square(x), [X, 3.0])


def test_python_numbers_are_float64() -> None:
    seen = []

    def f(x: ag.Tensor) -> ag.Tensor:
        seen.append(x.dtype)
        return ag.square(x)

    gradcheck(f, [[1.0, 2.0]])
    assert set(seen) == {ag.float64}


def test_wrong_gradient_is_named() -> None:
    with pytest.raises(GradientCheckError) as caught:
        gradcheck(with_gradient(lambda dy, x: dy * 3.0 * x * ag.abs(x)), [X], seed=1)
    # The weight of the element, 3 * x ** 2 times which is right; the sign is wrong where x is negative.
    weight = 0.5 + np.random.default_rng(1).uniform(0, 1, 3)[1]
    weight *= np.sign(np.random.default_rng(1).uniform(-1, 1, 6)[4])
    assert str(caught.value) == (
        "gradcheck of cube: the gradient with respect to input 0 is wrong at 1 of 3 elements, first at (0, 1): the "
        "tape gives "
        f"{-6.75 * weight:.6g}, central differences give {6.75 * weight:.6g} (they may differ by 1e-05 + 0.001 * "
        f"{abs(6.75 * weight):.6g})."
    )


def test_wrong_second_derivative_is_named() -> None:
    # The value of the gradient is right; the tape cannot see through stop_gradient.
    f = with_gradient(lambda dy, x: dy * ag.stop_gradient(3.0 * x * x))
    gradcheck(f, [X], order=1)
    with pytest.raises(
        GradientCheckError,
        match=r"^gradcheck of cube: the second derivative with respect to input 0 is wrong at 3 of 3",
    ):
        gradcheck(f, [X])


def test_missing_gradient_is_named() -> None:
    with pytest.raises(GradientCheckError, match=r"the tape gives 0, central differences give"):
        gradcheck(lambda x: ag.stop_gradient(x), [X])


def test_nan_is_not_right() -> None:
    with pytest.raises(GradientCheckError, match=r"the tape gives nan, central differences give"):
        gradcheck(with_gradient(lambda dy, x: dy * np.nan), [X])


def test_gradient_of_wrong_shape_is_named() -> None:
    with says(
        GradientCheckError,
        "gradcheck of cube: the gradient with respect to input 0 has shape (); the input has shape (1, 3).",
    ):
        gradcheck(with_gradient(lambda dy, x: ag.reduce_sum(dy * 3.0 * x * x)), [X])


def test_random_function_is_named() -> None:
    def noisy(x: ag.Tensor) -> ag.Tensor:
        return x * ag.random_uniform([1, 3], dtype=ag.float64)

    with says(
        GradientCheckError, "gradcheck of noisy: it gives another result each time; set the random seed inside of it."
    ):
        gradcheck(noisy, [X])


def test_dtype_other_than_float64_is_refused() -> None:
    with says(
        ValueError, "gradcheck: input 0 of square has dtype float32; central differences need float64 or complex128."
    ):
        gradcheck(ag.square, [np.ones(2, np.float32)])


def test_nothing_to_differentiate_is_refused() -> None:
    with says(ValueError, "gradcheck: square has no float64 or complex128 input to differentiate with respect to."):
        gradcheck(ag.square, [np.array([1])])
