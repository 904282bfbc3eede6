"""Faults of kernels that update several variables at once: each is found, and a sound one passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Array = np.ndarray[Any, Any]
Kernel = Callable[..., Any]


def descends(variable: Array, gradient: Array, *, learning_rate: float) -> None:
    variable -= (learning_rate * gradient).astype(variable.dtype)


def takes_several(groups: list[tuple[Array, ...]], *, learning_rate: float) -> None:
    for arrays in groups:
        descends(*arrays, learning_rate=learning_rate)


def takes_the_first_24(groups: list[tuple[Array, ...]], *, learning_rate: float) -> None:
    takes_several(groups[:24], learning_rate=learning_rate)


def declines_always(groups: list[tuple[Array, ...]], *, learning_rate: float) -> Any:
    return NotImplemented


def raises_always(groups: list[tuple[Array, ...]], *, learning_rate: float) -> Any:
    raise RuntimeError("no room")


@pytest.mark.parametrize(
    ("several", "why"),
    [
        (takes_several, None),
        (takes_the_first_24, "rule: a kernel gives for several variables at once what it gives for each"),
        (declines_always, "NotImplemented for each call"),
        (raises_always, "RuntimeError: no room"),
    ],
)
def test_updates_of_several_variables(verdict: Any, several: Kernel, why: str | None) -> None:
    failures = verdict("apply_gradient_descent", descends, several=several)
    assert failures.keys() == (set() if why is None else {"several"}), failures
    assert why is None or why in failures["several"]
