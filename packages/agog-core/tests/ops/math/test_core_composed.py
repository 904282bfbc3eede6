"""Arithmetic that is composed of other ops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_core.ops.math.linear_combinations import polyval
from agog_core.ops.math.special import bessel_i0, bessel_i1, bessel_i1e
from agog_testing import says


def test_accumulate_n() -> None:
    assert ag.accumulate_n([[1, 2], [3, 4], [5, 6]], shape=[2], tensor_dtype=ag.int32).numpy().tolist() == [9, 12]
    with says(ValueError, "accumulate_n: inputs is empty; give at least one tensor."):
        ag.accumulate_n([])
    with says(ValueError, "accumulate_n: inputs[1] has shape (1,); shape asks for [2]."):
        ag.accumulate_n([[1.0, 2.0], [1.0]], shape=[2])
    with says(
        TypeError, "accumulate_n: the inputs have dtype float32; tensor_dtype asks for int32. Cast with tf.cast."
    ):
        ag.accumulate_n([[1.0, 2.0]], tensor_dtype="int32")


def test_scalar_mul() -> None:
    assert ag.scalar_mul(3, [1, 2]).numpy().tolist() == [3, 6]
    rows = ag.scalar_mul(ag.constant(2.0), ag.IndexedSlices([[1.0]], [1], (3, 1)))
    assert isinstance(rows, ag.IndexedSlices)
    assert rows.numpy().tolist() == [[0.0], [2.0], [0.0]]
    with says(ValueError, "scalar_mul: Only scalar multiply works, got a scalar of rank 1."):
        ag.scalar_mul([1.0, 2.0], [1.0, 2.0])


def test_polyval() -> None:
    x = np.array([[0.5, -1.0], [2.0, 3.0]])
    assert polyval([2.0, -3.0, 1.0], x).numpy().tolist() == (2 * x**2 - 3 * x + 1).tolist()
    assert polyval([ag.constant([1.0, 2.0], dtype=ag.float64)], x).numpy().tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert polyval([], x).numpy().tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_approximate_equal() -> None:
    x = [1.0, 2.0, math.nan, math.inf]
    assert ag.approximate_equal(x, [1.05, 2.2, math.nan, 0.0], tolerance=0.1).numpy().tolist() == [
        *(True, False, False, False)
    ]
    assert ag.approximate_equal([1, 2], [1, 3]).numpy().tolist() == [True, False]
    assert ag.approximate_equal(np.array([1], np.uint8), np.array([2], np.uint8), 2.0).numpy().tolist() == [True]
    assert ag.approximate_equal([1 + 1j], [1 + 1.5j], tolerance=0.6).numpy().tolist() == [True]


def test_log_sigmoid_does_not_overflow() -> None:
    got = ag.log_sigmoid(np.array([-1000.0, 0.0, 1000.0])).numpy()
    np.testing.assert_allclose(got, [-1000.0, -math.log(2), 0.0], rtol=1e-15)


def test_round_leaves_integers() -> None:
    assert ag.round([0.5, 1.5, 2.5, -0.5, -1.5, 0.7]).numpy().tolist() == [0.0, 2.0, 2.0, -0.0, -2.0, 1.0]
    x = ag.constant([1, 2])
    assert ag.round(x) is x


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float32", "float64", "complex64"])
def test_div_is_that_of_python_2(dtype: str) -> None:
    got = ag.div(ag.cast([7, 9], dtype), ag.cast([2, 3], dtype))
    assert got.dtype.name == dtype
    assert got.numpy().tolist() == ([3, 3] if "int" in dtype else [3.5, 3.0])


def test_div_rounds_down() -> None:
    assert ag.div([7, -7], [-2, 2]).numpy().tolist() == [-4, -4]
    assert ag.truncatediv([7, -7, -8], [-2, 2, 2]).numpy().tolist() == [-3, -3, -4]
    assert ag.truncatemod([7, -7, -8], [-2, 2, 2]).numpy().tolist() == [1, -1, 0]
    assert ag.floor_div is ag.floordiv


def test_div_no_nan_has_no_gradient_at_zero() -> None:
    x, y = ag.constant([1.0, 6.0, 0.0, math.inf]), ag.constant([0.0, 2.0, 0.0, 0.0])
    with ag.GradientTape() as tape:
        tape.watch([x, y])
        out = ag.div_no_nan(x, y)
    assert out.numpy().tolist() == [0.0, 3.0, 0.0, 0.0]
    of_x, of_y = tape.gradient(out, [x, y])
    assert of_x.numpy().tolist() == [0.0, 0.5, 0.0, 0.0]
    assert of_y.numpy().tolist() == [0.0, -1.5, 0.0, 0.0]


def test_lbeta() -> None:
    x = np.array([[1.0, 2.0, 3.0], [0.5, 0.5, 4.0]])
    expected = [sum(map(math.lgamma, row)) - math.lgamma(sum(row)) for row in x.tolist()]
    np.testing.assert_allclose(ag.lbeta(x).numpy(), expected, rtol=1e-13)
    assert ag.lbeta(np.zeros((2, 0))).numpy().tolist() == [-math.inf, -math.inf]
    with says(InvalidArgumentError, "lbeta: x must have rank 1 or more; got a tensor of rank 0."):
        ag.lbeta(1.0)


@pytest.mark.parametrize(("function", "order"), [(bessel_i0, 0), (bessel_i1, 1)])
def test_bessel_functions(function: object, order: int) -> None:
    """Against the integral of e ** (x cos t) cos(order t) over half a turn, which the midpoint rule gives exactly."""
    x = np.array([-2.0, 0.0, 0.3, 3.0])
    angles = (np.arange(200) + 0.5) * np.pi / 200
    expected = np.mean(np.exp(x[:, None] * np.cos(angles)) * np.cos(order * angles), axis=1)
    assert callable(function)
    np.testing.assert_allclose(function(x).numpy(), expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("point", [1e-300, 1e-20, 1e-8, 1e-3, 0.2499, 0.2501, 3.0, 40.0])
def test_second_derivative_of_bessel_i1e(point: float) -> None:
    """Against its expression by functions of higher order, which cancels nowhere (Abramowitz and Stegun, 9.6.29)."""
    for x, side in ((point, 1.0), (-point, -1.0)):
        variable = ag.constant(x, ag.float64)
        with ag.GradientTape() as outer:
            outer.watch(variable)
            with ag.GradientTape() as inner:
                inner.watch(variable)
                y = bessel_i1e(variable)
            slope = inner.gradient(y, variable)
        i1, i3 = special.ive(1, x), special.ive(3, x)
        of_bessel = (special.ive(0, x) + special.ive(2, x)) / 2
        expected = (3 * i1 + i3) / 4 - 2 * side * of_bessel + i1
        assert float(outer.gradient(slope, variable)) == pytest.approx(expected, rel=1e-12)


def test_derivatives_of_bessel_i0_at_zero() -> None:
    x = ag.constant(0.0, dtype=ag.float64)
    with ag.GradientTape() as second:
        second.watch(x)
        with ag.GradientTape() as first:
            first.watch(x)
            y = bessel_i0(x)
        slope = first.gradient(y, x)
    assert (slope.numpy(), second.gradient(slope, x).numpy()) == (0.0, 0.5)


def test_bits_shift_within_the_dtype() -> None:
    from agog_core.ops.math.bitwise import left_shift, right_shift

    x, by = np.array([1, 1, -1, -1], np.int8), np.array([100, -3, 100, -3], np.int8)
    assert left_shift(x, by).numpy().tolist() == [-128, 1, -128, -1]
    assert right_shift(x, by).numpy().tolist() == [0, 1, -1, -1]


def test_xor_is_of_bools_and_of_the_bits_of_integers() -> None:
    assert (ag.constant([True, False]) ^ True).numpy().tolist() == [False, True]
    assert (ag.constant([1, 6]) ^ ag.constant([2, 3])).numpy().tolist() == [3, 5]
    with says(InvalidArgumentError, "logical_xor: dtype float32 is not supported; use one of bool. Cast with tf.cast."):
        ag.constant([1.0]) ^ ag.constant([2.0])
