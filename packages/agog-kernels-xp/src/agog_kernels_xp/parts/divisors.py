"""Divisors: no integer is divided by zero."""

from __future__ import annotations

from functools import partial
from typing import Any

from agog_core.plugin import InvalidArgumentError
from agog_kernels_xp.arrays import Array
from agog_kernels_xp.parts.deferral import check, deferring


def check_divisor(xp: Any, op: str, y: Array) -> None:
    """Raise InvalidArgumentError where an integer is to be divided by zero."""
    if y.dtype.kind in "iu" and (xp in deferring or not bool(xp.all(y))):
        check(xp, partial(_look, op, y.shape, y.dtype), xp.all(y))


def _look(op: str, shape: tuple[int, ...], dtype: Any, is_nonzero: Any) -> None:
    if not is_nonzero:
        raise InvalidArgumentError(
            f"{op}: Integer division by zero: y of shape {shape} and dtype {dtype} holds a zero."
        )
