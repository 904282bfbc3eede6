"""What tests of planted faults share: the kit's verdict on one kernel, and the reference kernels to plant faults in."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.plugins.loader import loader
from agog_core.plugin import load_reference

sys.path.insert(0, str(Path(__file__).parent))  # so that the tests can import `planting`
pytest.register_assert_rewrite("planting")

Verdict = Callable[..., dict[str, str]]


@pytest.fixture(autouse=True)
def _the_process_stays_as_it_was() -> Iterator[None]:
    numpy_state, state, errors = np.random.get_state(), random.getstate(), np.geterr()
    with ag.device("/cpu:0"):  # which the faults are for, whatever device the tests are run on
        yield
    np.random.set_state(numpy_state)
    random.setstate(state)
    np.seterr(**errors)


@pytest.fixture
def verdict() -> Verdict:
    """A function that gives the checks which fail for a kernel of the CPU, and what they say."""

    from planting import failures, kernel

    def of(op: str, fn: Callable[..., Any] | None, dtype: str = "float32", **facts: Any) -> dict[str, str]:
        return failures(kernel(op, fn, dtype, **facts))

    return of


@pytest.fixture
def reference() -> Callable[[str], Callable[..., Any]]:
    """A function that gives the reference kernel of an op on the CPU."""

    def of(op: str) -> Callable[..., Any]:
        (plugin,) = (plugin for plugin in loader().plugins if plugin.name == "cpu-numpy")
        found: Callable[..., Any] = load_reference(next(kernel.fn for kernel in plugin.kernels if kernel.op == op))
        return found

    return of
