"""Compilers: the tests of a plugin's executors and compilers: each call of each op, and random programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from agog_core.compiler import Compiler, Executor
from agog_core.dispatch.devices.backends import device_types
from agog_core.dispatch.plugins.executors import executors_of
from agog_core.dispatch.plugins.loader import Plugin
from agog_core.dispatch.plugins.ranking import why_unusable
from agog_testing.compilers import check_calls, compilers_in_use, executors_in_use
from agog_testing.compilers.agreement import Tolerances
from agog_testing.conformance.cases import Case
from agog_testing.opinfo import OpInfo
from agog_testing.random_programs import check_program
from agog_testing.random_programs.executors import running

PROGRAMS = "random_programs"
"""What stands in the place of an op for the tests of random programs."""

_PARTS, _PROGRAMS_IN_EACH = 6, 25
# The dtypes of calls; what a compiler does with others is what it does with these.
_DTYPES = ("bool", "float16", "float32", "float64", "int32", "int64")


def compiled_calls(plugin: Plugin, info: OpInfo, seed: int) -> Iterator[Case]:
    """Tests for each executor, compiler and dtype: an op's calls, forward and for gradients, have NumPy's bits, or are
    within the compiler's tolerances where these are asked for.
    """
    for executor in plugin.executors:
        for dtype in info.dtypes:
            if dtype in _DTYPES:
                yield _case(executor, info.name, dtype, "executed", partial(_executed, executor, info, dtype, seed))
    for compiler in plugin.compilers:
        for dtype in info.dtypes:
            if dtype in _DTYPES:
                yield _case(compiler, info.name, dtype, "compiled", partial(_compiled, compiler, info, dtype, seed))
            if dtype in compiler.tolerances:
                test = partial(_compiled, compiler, info, dtype, seed, compiler.tolerances)
                yield _case(compiler, info.name, dtype, "compiled_loosely", test)


def compiled_programs(plugin: Plugin, seed: int) -> Iterator[Case]:
    """Tests for each executor and compiler: random programs, traced, have the bits that they have eagerly."""
    brought: list[Executor | Compiler] = [*plugin.executors, *plugin.compilers]
    for what in brought:
        for part in range(_PARTS):
            yield _case(what, PROGRAMS, "float32", f"part_{part}", partial(_programs, what, part, seed))


def _case(what: Executor | Compiler, op: str, dtype: str, check: str, test: Callable[[], str]) -> Case:
    """A test; of an executor or a compiler that cannot be used here, one that says why."""
    why = why_unusable(what)
    if why is None and what.device not in device_types():
        why = f"no installed plugin brings the device type {what.device!r}."
    if why is None and not executors_of(what.device):
        why = f"no installed plugin brings an executor for {what.device!r}, which alone asks compilers."
    return Case(op, dtype, f"{check}_by_{what.name}", test if why is None else None, why)


def _executed(executor: Executor, info: OpInfo, dtype: str, seed: int) -> str:
    check_calls(info, dtype, seed, executor=executor)
    return ""


def _compiled(compiler: Compiler, info: OpInfo, dtype: str, seed: int, tolerances: Tolerances | None = None) -> str:
    check_calls(info, dtype, seed, [compiler], tolerances=tolerances)
    return ""


def _programs(what: Executor | Compiler, part: int, seed: int) -> str:
    in_use = executors_in_use(what) if isinstance(what, Executor) else compilers_in_use(what)
    with running("compilers"), in_use:
        for number in range(part * _PROGRAMS_IN_EACH, (part + 1) * _PROGRAMS_IN_EACH):
            check_program(seed % 100_000 + number, large=part % 2 == 0, seconds=5.0)
    return ""
