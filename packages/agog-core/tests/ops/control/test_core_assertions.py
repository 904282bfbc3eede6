"""Checks that raise: what passes them, and the whole text of what does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_testing import says


def fails(error: type[Exception], text: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    with says(error, text) as caught:
        function(*args, **kwargs)
    assert type(caught.value) is error


COMPARISONS = [
    ("assert_equal", "==", 2, 2, 3),
    ("assert_none_equal", "!=", 3, 2, 2),
    ("assert_less", "<", 1, 2, 2),
    ("assert_less_equal", "<=", 2, 2, 1),
    ("assert_greater", ">", 3, 2, 3),
    ("assert_greater_equal", ">=", 2, 2, 3),
]


@pytest.mark.parametrize(("name", "symbol", "x", "y", "bad"), COMPARISONS)
def test_comparisons(name: str, symbol: str, x: int, y: int, bad: int) -> None:
    check = getattr(ag, name)
    assert check([x, x], y) is None
    assert check(np.zeros((0, 2)), np.zeros((0, 2))) is None
    second = [y, bad] if name in ("assert_less_equal", "assert_greater_equal", "assert_greater") else [y, x]
    second = [y, bad] if name == "assert_equal" else second
    fails(
        InvalidArgumentError,
        f"{name}: x {symbol} y did not hold for 1 of 2 elements, first at (1,): x is {x}, y is "
        f"{second[1]} (shapes (2,) and (2,)).",
        check,
        [x, x],
        second,
    )
    fails(
        InvalidArgumentError,
        f"sizes: {name}: x {symbol} y did not hold for 1 of 1 elements: x is {x}, y is {second[1]} "
        "(shapes () and ()). Data: the data, [1 2 3 ... 5 6 7]",
        check,
        x,
        second[1],
        data=["the data", ag.constant([1, 2, 3, 4, 5, 6, 7])],
        message="sizes",
    )


def test_comparison_of_strings_and_of_dtypes_that_differ() -> None:
    ag.assert_equal(["a", "b"], ["a", "b"])
    with pytest.raises(InvalidArgumentError, match=r"^assert_equal: x has dtype float32 and y has dtype int32"):
        ag.assert_equal(ag.constant(1.0), ag.constant(1))


@pytest.mark.parametrize(
    ("name", "symbol", "good", "bad"),
    [
        ("assert_positive", ">", [1, 2], 0),
        ("assert_negative", "<", [-1, -2], 0),
        ("assert_non_negative", ">=", [0, 2], -1),
        ("assert_non_positive", "<=", [0, -2], 1),
    ],
)
def test_signs(name: str, symbol: str, good: list[int], bad: int) -> None:
    check = getattr(ag, name)
    assert check(good) is None
    assert check(ag.constant(good, "float32")) is None
    fails(
        InvalidArgumentError,
        f"{name}: x {symbol} 0 did not hold for 1 of 3 elements, first at (2,): x is {bad} (shape (3,)).",
        check,
        [*good, bad],
    )
    assert check.__doc__.startswith(f"Raise unless ``x {symbol} 0`` holds for all elements.")
    assert check.__name__ == name


def test_near() -> None:
    ag.assert_near([1.0, 1e30], [1.000001, 1e30], atol=1e-5, rtol=0.0)
    ag.assert_near(np.array([1.0]), np.array([1.0 + 1e-15]))
    ag.assert_near(ag.constant([1.0], "bfloat16"), ag.constant([1.0625], "bfloat16"))
    ag.assert_near(np.array([1j]), np.array([1j]))
    fails(
        InvalidArgumentError,
        "assert_near: x and y not equal to tolerance: |x - y| <= 0.1 + 0 |y| did not hold for 1 of 2 elements, "
        "first at (1,): x is 2.0, y is 3.0 (shapes (2,) and (2,)).",
        ag.assert_near,
        [1.0, 2.0],
        [1.0, 3.0],
        rtol=0.0,
        atol=ag.constant(0.1),
    )


def test_assert() -> None:
    ag.Assert(True, [])
    fails(
        InvalidArgumentError,
        'Assert: the condition does not hold. Data: x is, [1 ... 4], ["a" "b"]',
        ag.Assert,
        ag.constant(False),
        ["x is", ag.constant([1, 2, 3, 4]), ag.constant(["a", "b"])],
        summarize=1,
    )


def test_ranks() -> None:
    x = np.zeros((2, 3))
    ag.assert_rank(x, 2)
    ag.assert_rank(x, ag.constant(2))
    ag.assert_rank_at_least(x, 1)
    ag.assert_rank_in(x, (1, 2))
    assert ag.assert_scalar(1.0).dtype == ag.float32
    fails(ValueError, "assert_rank: x must have rank 1; got rank 2 (shape (2, 3)).", ag.assert_rank, x, 1)
    fails(
        ValueError,
        "weights: assert_rank_at_least: x must have rank at least 3; got rank 2 (shape (2, 3)).",
        ag.assert_rank_at_least,
        x,
        3,
        message="weights",
    )
    fails(
        ValueError,
        "assert_rank_in: x must have rank in [0, 1]; got rank 2 (shape (2, 3)). Data: hint",
        ag.assert_rank_in,
        x,
        [0, 1],
        data=["hint"],
    )
    fails(ValueError, "assert_scalar: Expected scalar; got a tensor of shape (2, 3).", ag.assert_scalar, x)


def test_dtypes() -> None:
    ag.assert_integer([1])
    ag.assert_type(1.0, ag.float32)
    fails(
        TypeError,
        "assert_integer: Expected x to be of integer type; got dtype float32 and shape ().",
        ag.assert_integer,
        1.0,
    )
    fails(
        TypeError,
        "labels: assert_type: the tensor must be of type int64; got dtype int32 and shape (1,).",
        ag.assert_type,
        [1],
        ag.int64,
        "labels",
    )


def test_same_float_dtype() -> None:
    one, wide = ag.constant(1.0), ag.constant(1.0, "float64")
    assert ag.assert_same_float_dtype() == ag.float32
    assert ag.assert_same_float_dtype([None, wide]) == ag.float64
    assert ag.assert_same_float_dtype(None, ag.float16) == ag.float16
    text = "assert_same_float_dtype: the tensors must be of one floating-point dtype{}; got {}."
    fails(ValueError, text.format("", "float32, float64"), ag.assert_same_float_dtype, [one, wide])
    fails(ValueError, text.format(", float64", "float32"), ag.assert_same_float_dtype, [one], ag.float64)
    fails(ValueError, text.format("", "int32"), ag.assert_same_float_dtype, [ag.constant(1)])
    fails(ValueError, text.format(", int32", "int32"), ag.assert_same_float_dtype, None, ag.int32)


def test_collections() -> None:
    for good in ([1], (), {1}, {"a": 1}):
        ag.assert_proper_iterable(good)
    for bad, kind in ((ag.constant([1]), "Tensor"), (np.zeros(2), "ndarray"), ("ab", "str"), (1, "int")):
        fails(
            TypeError,
            f"assert_proper_iterable: expected values to be iterable, in a collection such as a list; got a {kind}.",
            ag.assert_proper_iterable,
            bad,
        )


def test_numeric_tensors() -> None:
    assert ag.is_numeric_tensor(ag.constant(1j))
    assert ag.is_numeric_tensor(ag.constant(1))
    assert not ag.is_numeric_tensor(ag.constant("a"))
    assert not ag.is_numeric_tensor(ag.constant(True))
    assert not ag.is_numeric_tensor(1)


@pytest.mark.parametrize(
    ("x", "non_decreasing", "increasing"),
    [
        ([], True, True),
        ([1], True, True),
        ([1, 2, 2], True, False),
        ([[1, 2], [3, 4]], True, True),
        ([2, 1], False, False),
    ],
)
def test_orders(x: Any, non_decreasing: bool, increasing: bool) -> None:
    values = np.array(x, np.float32)
    assert bool(ag.is_non_decreasing(values)) is non_decreasing
    assert bool(ag.is_strictly_increasing(values)) is increasing


def test_numbers_are_finite() -> None:
    assert ag.verify_tensor_all_finite([1.0], "x").numpy().tolist() == [1.0]
    fails(
        InvalidArgumentError,
        "x: check_numerics: the tensor of dtype float64 and shape () has 1 NaN and 0 infinite elements; "
        "tfe.seterr(inf_or_nan='raise') finds the op that makes them.",
        ag.verify_tensor_all_finite,
        np.float64("nan"),
        "x",
    )


def test_gradients_are_finite() -> None:
    fails(
        InvalidArgumentError,
        "x (in the gradient): check_numerics: the tensor of dtype float32 and shape () has 0 NaN and 1 infinite "
        "elements; tfe.seterr(inf_or_nan='raise') finds the op that makes them.",
        ag.gradients_function(lambda x: ag.sqrt(ag.check_numerics(x, "x"))),
        0.0,
    )


def test_what_is_a_tensor() -> None:
    sparse = ag.SparseTensor([[0]], [1.0], [2])
    assert [ag.is_tensor(x) for x in (ag.ones([2]), ag.Variable(1.0), sparse, [1.0], np.ones(2))] == [
        *([True] * 3),
        *([False] * 2),
    ]
