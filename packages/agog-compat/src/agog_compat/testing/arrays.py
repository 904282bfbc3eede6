"""Arrays: assertions about the values, the shapes and the dtypes of tensors."""

from __future__ import annotations

import unittest
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from agog_core import Tensor, dtypes, nest
from agog_core.calls.docstrings import documented_like

_MOST_SHOWN = 10  # of the elements that an assertion is about


class ArrayAssertions(unittest.TestCase):
    """Assertions that take tensors, variables, and what NumPy makes arrays of."""

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Fail unless two values are equal, elementwise and in shape; NaN is equal to NaN.

        Args:
            a: a tensor or what NumPy makes an array of.
            b: a tensor or what NumPy makes an array of.
            msg: what to say on failure.
        """
        try:
            one, other = self._array(a), self._array(b)
        except ValueError:  # lists of arrays of several shapes
            self.assertEqual(len(a), len(b), msg)
            for pair in zip(a, b, strict=True):
                self.assertAllEqual(*pair, msg)
            return
        self._check_shapes(one, other, msg)
        same = one == other
        if one.dtype.kind in "fcV" and other.dtype.kind in "fcV":
            same = same | ((one != one) & (other != other))
        if not np.all(same):
            which = ~np.asarray(same)
            text = [msg or "", f"not equal where = {np.nonzero(np.atleast_1d(which))}"]
            text += [f"not equal lhs = {one[which]}", f"not equal rhs = {other[which]}"]
            np.testing.assert_array_equal(one, other, err_msg="\n".join(text))

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Fail unless two values, or structures of them, are close, elementwise and in shape.

        Args:
            a: a structure of tensors or of what NumPy makes arrays of: lists, tuples, named tuples and dicts.
            b: a structure of the same form.
            rtol: the relative tolerance.
            atol: the absolute tolerance.
            msg: what to say on failure.

        Raises:
            ValueError: one is a dict and the other is not, or their lengths differ.
        """
        self._assert_close(a, b, rtol, atol, "", msg or "")

    def _assert_close(self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: str) -> None:
        a, b = (value._asdict() if hasattr(value, "_asdict") else value for value in (a, b))
        if nest.is_mapping(a) != nest.is_mapping(b):
            raise ValueError(f"Can't compare dict to non-dict, a{path} and b{path}. {msg}")
        if nest.is_mapping(a):
            keys = f"mismatched keys: a{path} has {sorted(map(str, a))}, b{path} has {sorted(map(str, b))}. {msg}"
            self.assertCountEqual(list(a), list(b), keys)
            for key in a:
                self._assert_close(a[key], b[key], rtol, atol, f"{path}[{key}]", msg)
            return
        try:
            one, other = self._array(a), self._array(b)
        except (ValueError, TypeError):
            if not isinstance(a, (list, tuple)) or not isinstance(b, (list, tuple)):
                raise
        else:
            if one.dtype != object and other.dtype != object:
                self._assert_arrays_close(one, other, rtol, atol, f"a{path} is different from b{path}. {msg}")
                return
        if len(a) != len(b):
            raise ValueError(f"Mismatched length: a{path} has {len(a)} items, b{path} has {len(b)}. {msg}")
        for index, (one, other) in enumerate(zip(a, b, strict=True)):
            self._assert_close(one, other, rtol, atol, f"{path}[{index}]", msg)

    def _assert_arrays_close(self, a: Any, b: Any, rtol: float, atol: float, msg: str) -> None:
        self._check_shapes(a, b, msg)
        if a.dtype == dtypes.bfloat16.as_numpy_dtype or b.dtype == dtypes.bfloat16.as_numpy_dtype:
            a, b = a.astype(np.float32), b.astype(np.float32)
        if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            return
        far = ~np.atleast_1d(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True))
        x, y = np.atleast_1d(a)[far], np.atleast_1d(b)[far]
        text = [msg, f"not close where = {np.nonzero(far)}", f"not close lhs = {x}", f"not close rhs = {y}"]
        text += [f"not close dif = {np.abs(x - y)}", f"not close tol = {atol + rtol * np.abs(y)}"]
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg="\n".join(text))
        raise self.failureException("\n".join(["Not equal to tolerance", *text]))

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """Fail unless two values are close, by the tolerances of the less exact of their dtypes.

        Args:
            a: a tensor or what NumPy makes an array of.
            b: a tensor or what NumPy makes an array of.
            rtol: the relative tolerance, of float64 too.
            atol: the absolute tolerance, of float64 too.
            float_rtol: the relative tolerance of float32 and complex64.
            float_atol: the absolute tolerance of float32 and complex64.
            half_rtol: the relative tolerance of float16.
            half_atol: the absolute tolerance of float16.
            bfloat16_rtol: the relative tolerance of bfloat16.
            bfloat16_atol: the absolute tolerance of bfloat16.
            msg: what to say on failure.
        """
        one, other = self._array(a), self._array(b)
        tolerances = {
            "float32": (float_rtol, float_atol),
            "complex64": (float_rtol, float_atol),
            "float16": (half_rtol, half_atol),
            "bfloat16": (bfloat16_rtol, bfloat16_atol),
        }
        for dtype in (one.dtype.name, other.dtype.name):
            relative, absolute = tolerances.get(dtype, (rtol, atol))
            rtol, atol = max(rtol, relative), max(atol, absolute)
        self.assertAllClose(one, other, rtol, atol, msg)

    @documented_like(assertAllClose, "Args")
    def assertNotAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Fail when two values, or structures of them, are close, elementwise and in shape.

        Args:
            a: a structure of tensors or of what NumPy makes arrays of.
        """
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        raise self.failureException(msg or f"The two values are close at all elements:\n{a}\n{b}")

    def assertNear(self, f1: Any, f2: Any, err: float, msg: str | None = None) -> None:
        """Fail unless two numbers differ by at most a bound.

        Args:
            f1: a number.
            f2: a number.
            err: the bound.
            msg: what to say on failure.
        """
        if f1 != f2 and not abs(float(f1) - float(f2)) <= err:
            text = f"{float(f1)} and {float(f2)} differ by more than {err}."
            raise self.failureException(f"{text} {msg}" if msg else text)

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:
        """Fail unless two sequences of numbers have one length, and each pair differs by at most a bound.

        Args:
            farray1: a sequence of numbers.
            farray2: a sequence of numbers.
            err: the bound.
            msg: what to say on failure.
        """
        self.assertEqual(len(farray1), len(farray2), msg)
        for one, other in zip(farray1, farray2, strict=True):
            self.assertNear(one, other, err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None) -> None:
        """Fail unless the Euclidean distance of two arrays is less than a bound.

        Args:
            ndarray1: a tensor or what NumPy makes an array of.
            ndarray2: a value of the same shape.
            err: the bound.
            msg: what to say on failure.
        """
        distance = np.linalg.norm(self._array(ndarray1) - self._array(ndarray2))
        self.assertTrue(distance < err, msg or f"The distance {distance} is not less than {err}.")

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Fail unless all elements are greater than a number.

        Args:
            a: a tensor or what NumPy makes an array of.
            comparison_target: the number.
        """
        self.assertGreater(np.min(self._array(a)), comparison_target)

    @documented_like(assertAllGreater)
    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Fail unless all elements are at least a number."""
        self.assertGreaterEqual(np.min(self._array(a)), comparison_target)

    @documented_like(assertAllGreater)
    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Fail unless all elements are less than a number."""
        self.assertLess(np.max(self._array(a)), comparison_target)

    @documented_like(assertAllGreater)
    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Fail unless all elements are at most a number."""
        self.assertLessEqual(np.max(self._array(a)), comparison_target)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Fail unless all elements are in an interval, and none is NaN.

        Args:
            target: a tensor or what NumPy makes an array of, of integers or floating-point numbers.
            lower_bound: the interval's lower bound.
            upper_bound: the interval's upper bound.
            open_lower_bound: whether the lower bound is outside.
            open_upper_bound: whether the upper bound is outside.
        """
        array = self._array(target)
        if not (np.issubdtype(array.dtype, np.floating) or np.issubdtype(array.dtype, np.integer)):
            raise self.failureException(
                f"assertAllInRange: the elements must be integers or floating-point numbers; got {array.dtype}."
            )
        missing = np.isnan(array)
        if missing.any():
            raise self.failureException(
                f"{missing.sum()} of the {array.size} element(s) are NaN. "
                f"Subscript(s) and value(s) of the NaN element(s):\n{_shown(array, missing)}"
            )
        below = array <= lower_bound if open_lower_bound else array < lower_bound
        above = array >= upper_bound if open_upper_bound else array > upper_bound
        outside = below | above
        if outside.any():
            left, right = "(" if open_lower_bound else "[", ")" if open_upper_bound else "]"
            raise self.failureException(
                f"{outside.sum()} of the {array.size} element(s) are outside the range "
                f"{left}{lower_bound}, {upper_bound}{right}. "
                f"Subscript(s) and value(s) of the offending elements:\n{_shown(array, outside)}"
            )

    def assertAllInSet(self, target: Any, expected_set: Iterable[Any]) -> None:
        """Fail unless all elements are among some values.

        Args:
            target: a tensor or what NumPy makes an array of.
            expected_set: the values.
        """
        others = np.setdiff1d(self._array(target).ravel(), list(expected_set))
        if others.size:
            raise self.failureException(f"{others.size} unique element(s) are not in the set {expected_set}: {others}")

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Fail unless a value has a dtype.

        Args:
            target: a tensor or what NumPy makes an array of.
            expected_dtype: the dtype, NumPy's or agog's.
        """
        self.assertEqual(self._array(target).dtype, dtypes.as_dtype(expected_dtype).as_numpy_dtype)

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: str | None = None) -> None:
        """Fail unless an array and a tensor have the same shape.

        Args:
            np_array: a NumPy array or scalar.
            tf_tensor: a tensor.
            msg: what to say on failure.

        Raises:
            TypeError: the first is no array, or the second no tensor.
        """
        if not isinstance(np_array, (np.ndarray, np.generic)):
            raise TypeError(
                f"assertShapeEqual: np_array must be a NumPy array or scalar; got {type(np_array).__name__}."
            )
        if not isinstance(tf_tensor, Tensor):
            raise TypeError(f"assertShapeEqual: tf_tensor must be a Tensor; got {type(tf_tensor).__name__}.")
        self._check_shapes(np_array, tf_tensor.numpy(), msg)

    def _check_shapes(self, a: Any, b: Any, msg: str | None) -> None:
        if a.shape != b.shape:
            text = f"Shape mismatch: expected {a.shape}, got {b.shape}."
            raise self.failureException(f"{text} {msg}" if msg else text)

    def _array(self, value: Any) -> Any:
        return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def _shown(array: Any, which: Any) -> str:
    places = np.argwhere(which)
    lines = [f"  {place} : {array[tuple(place)]}" for place in islice(places, _MOST_SHOWN)]
    return "\n".join([*lines, "  ..."] if len(places) > _MOST_SHOWN else lines)
