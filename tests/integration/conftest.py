"""What the tests of traced functions share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import agog as tf
from agog_core import nest
from agog_core.dispatch.plugins.compilers import compilers_of
from agog_core.tracing.execution.hotness import compile_functions_at_once
from agog_testing.compilers import compilers_in_use


def outcome(run: Callable[[Any], Any], wrap: Callable[[Any], Any]) -> list[Any]:
    """The dtype, shape and bits of all that a program gives."""
    tf.set_random_seed(5)
    arrays = [np.array("None" if leaf is None else tf.convert_to_tensor(leaf)) for leaf in nest.flatten(run(wrap))]
    return [(each.dtype, each.shape, each.tolist() if each.dtype == object else each.tobytes()) for each in arrays]


@pytest.fixture
def assert_same_bits() -> Callable[[Callable[[Any], Any]], None]:
    """Asserts that a program gives the same with `tf.function` as with what leaves functions as they are."""

    def check(run: Callable[[Any], Any]) -> None:
        eager, traced = outcome(run, lambda function: function), outcome(run, tf.function)
        assert len(eager) == len(traced) > 0
        for number, (left, right) in enumerate(zip(eager, traced, strict=True)):
            assert left == right, f"result {number}"

    return check


@pytest.fixture(params=["nodes", "numpy", "compiled", "portable"])
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """What runs the traced functions: node by node, NumPy's calls, compiled loops, or kernels on another device."""
    if request.param == "compiled" and not compilers_of("cpu"):
        pytest.skip("no compiler is there")
    where = tf.device("fake:0") if request.param == "portable" else nullcontext()
    compile_functions_at_once(request.param != "nodes")
    with compilers_in_use() if request.param == "numpy" else nullcontext(), where:
        yield request.param
    compile_functions_at_once(False)
