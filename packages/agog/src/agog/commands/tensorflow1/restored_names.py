"""Restored names: names dropped by Python and NumPy, restored in this process."""

from __future__ import annotations

import collections
import collections.abc
import errno
import fractions
import inspect
import math
import os
import time
import unittest
from typing import Any, NamedTuple

import numpy as np

_NUMPY: dict[str, Any] = {
    "Inf": np.inf,
    "Infinity": np.inf,
    "NAN": np.nan,
    "NINF": -np.inf,
    "NaN": np.nan,
    "PINF": np.inf,
    "alen": len,
    "alltrue": np.all,
    "asfarray": lambda a, dtype=np.float64: np.asarray(a, dtype),
    "asscalar": lambda a: a.item(),
    "bool": bool,
    "bool8": np.bool_,
    "cfloat": np.complex128,
    "complex": complex,
    "complex_": np.complex128,
    "cumproduct": np.cumprod,
    "float": float,
    "float_": np.float64,
    "in1d": np.isin,
    "infty": np.inf,
    "int": int,
    "long": int,
    "longfloat": np.longdouble,
    "mat": np.asmatrix,
    "msort": lambda a: np.sort(a, axis=0),
    "object": object,
    "object0": np.object_,
    "product": np.prod,
    "rank": np.ndim,
    "round_": np.round,
    "row_stack": np.vstack,
    "singlecomplex": np.complex64,
    "sometrue": np.any,
    "str": str,
    "string_": np.bytes_,
    "trapz": np.trapezoid,
    "typeDict": np.sctypeDict,
    "unicode": str,
    "unicode_": np.str_,
}

_TEST_CASE = {
    "assertEquals": "assertEqual",
    "assertItemsEqual": "assertCountEqual",
    "assertNotEquals": "assertNotEqual",
    "assertNotRegexpMatches": "assertNotRegex",
    "assertRaisesRegexp": "assertRaisesRegex",
    "assertRegexpMatches": "assertRegex",
    "assert_": "assertTrue",
    "failUnless": "assertTrue",
}


class ArgSpec(NamedTuple):
    """The arguments of a function, as Python 2 told them."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getargspec(function: Any) -> ArgSpec:
    """The arguments of a function."""
    return ArgSpec(*inspect.getfullargspec(function)[:4])


def put_back() -> None:
    """Give modules the names that they had; a name that exists is left alone."""
    for name in collections.abc.__all__:
        _offer(collections, name, getattr(collections.abc, name))
    for name, value in _NUMPY.items():
        _offer(np, name, value)
    for name, today in _TEST_CASE.items():
        if hasattr(unittest.TestCase, today):
            _offer(unittest.TestCase, name, getattr(unittest.TestCase, today))
    _offer(fractions, "gcd", math.gcd)
    _offer(inspect, "getargspec", getargspec)
    _offer(os, "errno", errno)
    _offer(time, "clock", time.perf_counter)


def _offer(owner: Any, name: str, value: Any) -> None:
    if name not in vars(owner):
        setattr(owner, name, value)
