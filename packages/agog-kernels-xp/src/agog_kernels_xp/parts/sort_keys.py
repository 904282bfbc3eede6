"""Sort keys: conversion to values that an array library can sort."""

from __future__ import annotations

from typing import Any


def comparable(x: Any) -> Any:
    """An array as it is, but bfloat16 as float32: array libraries bring bfloat16 into no order when there is a NaN.

    >>> import numpy
    >>> comparable(numpy.ones(2)).dtype
    dtype('float64')
    """
    return x.astype("float32") if x.dtype.kind == "V" else x
