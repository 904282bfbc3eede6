"""What test cases say of arrays: each assertion holds, and each fails with a text that says where."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_compat.testing.test_case import TestCase

CASE = TestCase()
Point = namedtuple("Point", ["x", "y"])


def text_of(call: Callable[..., Any], *args: Any, error: type[Exception] = AssertionError, **kwargs: Any) -> str:
    with pytest.raises(error) as caught:
        call(*args, **kwargs)
    assert type(caught.value) is error
    return str(caught.value)


def test_structures_are_close() -> None:
    a = {"p": Point([1.0, 2.0], ag.constant(3.0)), "l": [(1.0, [2.0, 3.0]), [np.ones((2, 3)), 5]]}
    b = {"l": ([1.0, (2.0, 3.0)], (np.ones((2, 3)), 5)), "p": {"x": (1.0, 2.0), "y": 3.0000001}}
    CASE.assertAllClose(a, b)
    assert "[p][y] is different from b[p][y]" in text_of(CASE.assertAllClose, a, {**b, "p": Point([1.0, 2.0], 4.0)})
    assert "Can't compare dict to non-dict, a[p] and b[p]." in text_of(
        CASE.assertAllClose, a, {**b, "p": 1.0}, error=ValueError
    )
    assert "mismatched keys: a has ['l', 'p'], b has ['p']." in text_of(CASE.assertAllClose, a, {"p": b["p"]})
    assert text_of(CASE.assertAllClose, [1.0, [2.0]], [1.0, [2.0], 3.0], error=ValueError) == (
        "Mismatched length: a has 2 items, b has 3. "
    )


def test_what_is_not_close_is_shown() -> None:
    text = text_of(CASE.assertAllClose, [1.0, 2.0, np.nan], [1.0, 2.5, np.nan], rtol=0.0, atol=0.1, msg="the sizes")
    assert "Not equal to tolerance" in text
    assert "a is different from b. the sizes" in text
    assert "not close where = (array([1]),)" in text
    assert "not close lhs = [2.]\nnot close rhs = [2.5]\nnot close dif = [0.5]\nnot close tol = [0.1]" in text
    assert text_of(CASE.assertAllClose, [1.0], [1.0, 1.0]) == (
        "Shape mismatch: expected (1,), got (2,). a is different from b. "
    )
    CASE.assertAllClose(np.nan, np.nan)
    assert "Not equal" in text_of(CASE.assertAllClose, np.nan, 1.0)


@pytest.mark.parametrize(
    ("dtype", "near", "far"),
    [("float64", 5e-7, 3e-6), ("float32", 5e-7, 5e-6), ("float16", 8e-4, 5e-3), ("bfloat16", 8e-3, 5e-2)],
)
def test_tolerances_go_by_the_dtype(dtype: str, near: float, far: float) -> None:
    one = ag.constant([1.0], dtype)
    kind = ag.as_dtype(dtype).numpy_dtype
    CASE.assertAllCloseAccordingToType(one, np.array([1.0 + near], kind))
    CASE.assertAllCloseAccordingToType(np.array([1.0 + near], kind), one, msg="sizes")
    assert "Not equal to tolerance" in text_of(CASE.assertAllCloseAccordingToType, one, np.array([1.0 + far], kind))


def test_equal() -> None:
    CASE.assertAllEqual([1.0, np.nan], ag.constant([1.0, np.nan]))
    CASE.assertAllEqual(ag.constant(["a"]), [b"a"])
    CASE.assertAllEqual([1, np.ones(2)], [1, ag.ones([2])])
    text_of(CASE.assertAllEqual, [1, np.ones(2)], [1, np.zeros(2)])
    text_of(CASE.assertAllEqual, [1, np.ones(2)], [1, np.ones(2), 3])
    CASE.assertAllEqual(ag.constant([1.0], "bfloat16"), ag.constant([1.0], "bfloat16"))
    text = text_of(CASE.assertAllEqual, [[1, 2], [3, 4]], [[1, 2], [5, 4]], msg="rows")
    assert "rows\nnot equal where = (array([1]), array([0]))\nnot equal lhs = [3]\nnot equal rhs = [5]" in text
    assert text_of(CASE.assertAllEqual, [1], [[1]], msg="ranks") == "Shape mismatch: expected (1,), got (1, 1). ranks"
    assert "not equal" in text_of(CASE.assertAllEqual, 1, 2)


def test_not_close() -> None:
    CASE.assertNotAllClose([1.0, 2.0], [1.0, 2.1])
    CASE.assertNotAllClose(1.0, 1.01, rtol=1e-3)
    assert text_of(CASE.assertNotAllClose, [1.0], [1.0]) == "The two values are close at all elements:\n[1.0]\n[1.0]"
    assert text_of(CASE.assertNotAllClose, 1.0, 1.01, rtol=0.1, msg="same") == "same"


def test_near() -> None:
    CASE.assertNear(ag.constant(1.0), 1.01, 0.1)
    CASE.assertNear(float("inf"), float("inf"), 0.0)
    assert text_of(CASE.assertNear, 1.0, 2.0, 0.5, "loss") == "1.0 and 2.0 differ by more than 0.5. loss"
    CASE.assertArrayNear([1.0, 2.0], [1.05, 1.95], 0.1)
    assert text_of(CASE.assertArrayNear, [1.0, 2.0], [1.0, 3.0], 0.1) == "2.0 and 3.0 differ by more than 0.1."
    assert "1 != 2" in text_of(CASE.assertArrayNear, [1.0], [1.0, 2.0], 0.1)
    CASE.assertNDArrayNear(np.array([3.0, 4.0]), ag.constant([0.0, 0.0]), 5.1)
    assert "The distance 5.0 is not less than 5.0." in text_of(CASE.assertNDArrayNear, [3.0, 4.0], [0.0, 0.0], 5.0)


def test_bounds_of_all_elements() -> None:
    x = ag.constant([[1, 2], [3, 4]])
    CASE.assertAllGreater(x, 0)
    CASE.assertAllGreaterEqual(x, 1)
    CASE.assertAllLess(x, 5)
    CASE.assertAllLessEqual(x, 4)
    for check, bound in (
        (CASE.assertAllGreater, 1),
        (CASE.assertAllGreaterEqual, 2),
        (CASE.assertAllLess, 4),
        (CASE.assertAllLessEqual, 3),
    ):
        text_of(check, x, bound)


def test_ranges() -> None:
    x = ag.constant([[1.0, 2.0], [3.0, 4.0]])
    CASE.assertAllInRange(x, 1.0, 4.0)
    CASE.assertAllInRange(x, 0.9, 4.1, open_lower_bound=True, open_upper_bound=True)
    CASE.assertAllInRange(ag.constant([np.inf]), 0.0, np.inf)
    assert text_of(CASE.assertAllInRange, x, 1.0, 4.0, open_lower_bound=True) == (
        "1 of the 4 element(s) are outside the range (1.0, 4.0]. Subscript(s) and value(s) of the offending elements:\n"
        "  [0 0] : 1.0"
    )
    assert text_of(CASE.assertAllInRange, x, 1.0, 4.0, open_upper_bound=True).endswith("[1 1] : 4.0")
    many = text_of(CASE.assertAllInRange, np.arange(13), 0, 1)
    assert many.splitlines()[0].startswith("11 of the 13 element(s) are outside the range [0, 1].")
    assert (len(many.splitlines()), many.splitlines()[-1]) == (12, "  ...")
    assert text_of(CASE.assertAllInRange, [1.0, np.nan], 0.0, 2.0) == (
        "1 of the 2 element(s) are NaN. Subscript(s) and value(s) of the NaN element(s):\n  [1] : nan"
    )
    assert text_of(CASE.assertAllInRange, ["a"], 0, 1) == (
        "assertAllInRange: the elements must be integers or floating-point numbers; got <U1."
    )


def test_sets_dtypes_and_shapes() -> None:
    x = ag.constant([[1, 2], [2, 1]])
    CASE.assertAllInSet(x, {1, 2, 3})
    assert text_of(CASE.assertAllInSet, x, {1, 3}) == "1 unique element(s) are not in the set {1, 3}: [2]"
    CASE.assertDTypeEqual(x, ag.int32)
    CASE.assertDTypeEqual(x, np.int32)
    text_of(CASE.assertDTypeEqual, x, np.int64)
    CASE.assertShapeEqual(np.zeros((2, 2)), x)
    CASE.assertShapeEqual(np.float32(1), ag.constant(1.0))
    assert text_of(CASE.assertShapeEqual, np.zeros(3), x, "sizes") == "Shape mismatch: expected (3,), got (2, 2). sizes"
    assert text_of(CASE.assertShapeEqual, [1], x, error=TypeError) == (
        "assertShapeEqual: np_array must be a NumPy array or scalar; got list."
    )
    assert text_of(CASE.assertShapeEqual, np.zeros(1), [1], error=TypeError) == (
        "assertShapeEqual: tf_tensor must be a Tensor; got list."
    )
