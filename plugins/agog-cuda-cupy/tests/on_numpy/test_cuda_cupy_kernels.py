"""The conformance kit, with the stand-in for CuPy: of each op one dtype's values; `nox` can run all of it.

What passes here says that the kernels ask CuPy for what it has, and that their formulas are right. It does not say that
they are right on a GPU. The session `gpu_without_gpu` runs every check.
"""

from __future__ import annotations

from collections import defaultdict

import pytest

import agog_kernels_xp
from agog_core.dispatch.devices.lookup import get_device
from agog_core.dispatch.op import all_ops
from agog_cuda_cupy import cudnn
from agog_cuda_cupy.hooks import DTYPES
from agog_testing.conformance import collect
from agog_testing.conformance.cases import Case

# One dtype of each op: the first of these that it has.
USUAL = ("float32", "int32", "bool", "complex64", *DTYPES)
CHECKS = ("value", "errors")

CASES: dict[str, list[Case]] = defaultdict(list)
for _case in collect("cuda-cupy"):
    CASES[_case.op].append(_case)


def chosen(op: str) -> list[Case]:
    """The cases of an op that are run here."""
    dtype = min({case.dtype for case in CASES[op]}, key=USUAL.index)
    return [case for case in CASES[op] if case.dtype == dtype and case.check in CHECKS]


@pytest.mark.parametrize("op", sorted(CASES))
def test_kernels_conform(op: str) -> None:
    outcomes = {case.id: case.run() for case in chosen(op)}
    bad = {name: outcome.text for name, outcome in outcomes.items() if outcome.kind not in ("passed", "xfailed")}
    if op.partition("#")[0] in cudnn.OPS:  # of which one kernel is cuDNN's, which needs a card
        bad = {name: text for name, text in bad.items() if text != cudnn.unavailable()}
    assert bad == {}


def test_no_check_leaves_a_late_error_to_the_next() -> None:
    (case,) = (each for each in CASES["floordiv"] if each.id == "floordiv/int32/same_array")
    assert case.run().kind == "passed"  # it divides by an array with zeros
    get_device("gpu:0").synchronize()


def test_every_op_has_a_kernel_but_those_of_strings() -> None:
    of_strings = {op for ops in agog_kernels_xp.strings.KERNELS.values() for op in ops}
    assert set(all_ops()) - CASES.keys() == of_strings
