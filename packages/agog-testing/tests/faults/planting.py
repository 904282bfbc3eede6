"""Planting: tables of faults, each with its corrected twin, and the tests that the kit finds the one, not the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

import agog_core as ag
from agog_core.compiler import Compiler, Executor
from agog_core.dispatch.op import Op
from agog_core.plugin import Conformance, Kernel, hookimpl
from agog_testing.conformance import Outcome, collect
from agog_testing.opinfo import OpInfo

INFOS: list[OpInfo] = []
"""The facts of the plugin that is registered now, which it names in its `Conformance`."""


@dataclass(frozen=True, kw_only=True)
class Plant:
    """What a plugin brings: with a fault, or with the fault corrected.

    Args:
        kernels: its kernels.
        compilers: its compilers.
        executors: its executors.
        ops: makes its ops, which enter the registry by that.
        infos: the facts about these ops.
    """

    kernels: tuple[Kernel, ...] = ()
    compilers: tuple[Compiler, ...] = ()
    executors: tuple[Executor, ...] = ()
    ops: Callable[[], Iterable[Op]] = tuple
    infos: tuple[OpInfo, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault and its corrected twin.

    Args:
        name: what is wrong, in words.
        op: the op that shows it.
        dtype: the dtype that shows it.
        check: the check that finds it.
        says: a part of what the check says.
        broken: what a plugin brings with the fault.
        twin: what it brings with the fault corrected, which passes every check.
    """

    name: str
    op: str
    dtype: str = "float32"
    check: str
    says: str
    broken: Plant
    twin: Plant


def kernel(op: str, fn: Callable[..., Any] | None, dtype: str = "float32", **facts: Any) -> Plant:
    """A plugin of one kernel of the CPU."""
    return Plant(kernels=(Kernel(op=op, device="cpu", fn=fn, dtypes=(dtype,), **{"priority": 200, **facts}),))


def failures(plant: Plant, ops: Iterable[str] = (), dtypes: Iterable[str] = (), check: str = "") -> dict[str, str]:
    """The checks that fail for what a plugin brings, and what they say; of all checks, or of one."""
    outcomes = _outcomes(plant, ops, dtypes, check)
    return {name: outcome.text for name, outcome in outcomes.items() if outcome.kind != "passed"}


def planted(faults: Sequence[Fault]) -> tuple[Callable[..., None], Callable[..., None]]:
    """The two tests of a table: each fault is found by its check, and its twin passes all of them."""

    @pytest.mark.parametrize("fault", faults, ids=[fault.name for fault in faults])
    def test_fault_is_found(fault: Fault) -> None:
        found = failures(fault.broken, [fault.op], [fault.dtype], fault.check)
        assert fault.check in found
        assert fault.says in found[fault.check]

    twins = {(id(fault.twin), fault.op, fault.dtype): fault for fault in faults}.values()

    @pytest.mark.parametrize("fault", twins, ids=[fault.name for fault in twins])
    def test_twin_passes(fault: Fault) -> None:
        assert failures(fault.twin, [fault.op], [fault.dtype]) == {}

    return test_fault_is_found, test_twin_passes


def _outcomes(plant: Plant, ops: Iterable[str], dtypes: Iterable[str], check: str) -> dict[str, Outcome]:
    class Hooks:
        @hookimpl
        def agog_kernels(self) -> Iterable[Kernel]:
            return plant.kernels

        @hookimpl
        def agog_compilers(self) -> Iterable[Compiler]:
            return plant.compilers

        @hookimpl
        def agog_executors(self) -> Iterable[Executor]:
            return plant.executors

        @hookimpl
        def agog_ops(self) -> Iterable[Op]:
            return plant.ops()

        @hookimpl
        def agog_conformance(self) -> Conformance:
            return Conformance(infos=f"{__name__}:INFOS" if plant.infos else None)

    INFOS[:] = plant.infos
    ag.register_plugin(Hooks(), "stranger")
    try:
        cases = collect("stranger", tuple(ops), tuple(dtypes))
        return {case.check: case.run() for case in cases if check in ("", case.check)}
    finally:
        ag.unregister_plugin("stranger")
        INFOS.clear()
