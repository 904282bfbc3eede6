"""Faults of kernels that fill an array with their result: each is found, and a sound one passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Array = np.ndarray[Any, Any]
Kernel = Callable[..., Any]

RULE = "rule: a kernel's `out` fills an array with what the kernel returns"


def fills(x: Array, out: Array) -> None:
    np.square(x, out)


def fills_a_part(x: Array, out: Array) -> None:
    np.square(x[:1], out[:1]) if x.ndim else np.square(x, out)


def adds(x: Array, out: Array) -> None:
    out += np.square(x)


def is_near(x: Array, out: Array) -> None:
    np.nextafter(np.square(x), x.dtype.type(np.inf), out)


def returns(x: Array, out: Array) -> Array:
    return np.square(x, out)


def changes(x: Array, out: Array) -> None:
    np.square(x, out)
    x[...] = 1


def declines_always(x: Array, out: Array) -> Any:
    return NotImplemented


def raises_always(x: Array, out: Array) -> Any:
    raise RuntimeError("no room")


@pytest.mark.parametrize(
    ("out", "why"),
    [
        (fills, None),
        (fills_a_part, RULE),
        (adds, RULE),
        (is_near, RULE),
        (returns, "None, or NotImplemented"),
        (changes, "rule: a kernel does not change its inputs"),
        (declines_always, "NotImplemented for each call"),
        (raises_always, "RuntimeError: no room"),
    ],
)
def test_results_in_an_array_that_is_given(verdict: Any, out: Kernel, why: str | None) -> None:
    failures = verdict("square", lambda x: np.square(x), out=out)
    assert failures.keys() == (set() if why is None else {"out"}), failures
    assert why is None or why in failures["out"]
