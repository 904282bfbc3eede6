"""The kernels run in traced functions without an executor, one after the other, to the bits of eager calls."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import pytest

from agog_testing.checks.tracing import differences
from agog_testing.opinfo import table
from agog_testing.random_programs.executors import running

PROGRAM = """
import agog_core as ag

step = ag.function(lambda x: ag.tanh(x * 2.0))
x = ag.constant([1.0, -2.0])
print(all((step(x).numpy() == ag.tanh(x * 2.0).numpy()).all() for _ in range(1000)))
print(step.graph().summary().splitlines()[-1])
"""


def test_traced_functions_need_no_other_plugin() -> None:
    env = {**os.environ, "AGOG_PLUGINS": "cpu-numpy"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.splitlines() == ["True", "each kernel is called by itself; nothing is planned or fused"]


@pytest.mark.parametrize("op", sorted(table))
def test_op_is_equal_kernel_by_kernel(op: str) -> None:
    info = table[op]
    dtypes = [dtype for dtype in ("float32", "int32", "complex64", "bool", "string") if dtype in info.dtypes]
    with warnings.catch_warnings(), running("portable"):
        warnings.simplefilter("ignore")  # of sources that have no gradient, and of numbers
        assert list(differences(info, (dtypes or info.dtypes)[0])) == []
