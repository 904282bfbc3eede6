"""Work: requests to the processes of the kit, and their answers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from agog_core.dispatch.plugins.loader import Plugin
from agog_testing.conformance.cases import Case, ConformanceError, Outcome
from agog_testing.conformance.collection import (
    Selection,
    base_op,
    cases_of,
    chosen_of,
    collect,
    find_plugin,
    has_own_memory,
    not_covered,
)
from agog_testing.conformance.compilers import PROGRAMS, compiled_programs
from agog_testing.conformance.facts import facts_for
from agog_testing.conformance.timing import timings


class Request(NamedTuple):
    """A request to a process: ``"list"``, or ``"test"`` or ``"time"`` and the op, or ``"case"``, the op and a test."""

    what: str
    op: str = ""
    case: str = ""


class Planned(NamedTuple):
    """A test that is to be run: its id, its op without a number, and why it is expected to fail or not available."""

    id: str
    op: str
    reason: str | None

    @property
    def place(self) -> tuple[str, str]:
        """The op, with the number of the kernel, and the dtype."""
        op, dtype, _ = self.id.split("/")
        return op, dtype


class Listing(NamedTuple):
    """The answer to ``"list"``: the tests, ops that the kit has no facts about, and whether a device has own memory."""

    tests: tuple[Planned, ...]
    uncovered: tuple[str, ...]
    own_memory: bool


class Begun(NamedTuple):
    """The first answer to ``"test"`` for each test."""

    id: str


class Ended(NamedTuple):
    """The second answer to ``"test"`` for each test."""

    id: str
    outcome: Outcome
    seconds: float


def answer(selection: Selection, request: Request) -> Iterator[Any]:
    """Do what is asked for; a `ConformanceError` is an answer too."""
    try:
        if request.what == "list":
            yield _listing(selection)
        elif request.what == "test":
            yield from _tests(selection, request.op)
        elif request.what == "case":
            yield _kept_cases(selection, request.op)[request.case].run()
        else:
            yield from timings(selection, request.op)
    except ConformanceError as error:
        yield error


def _listing(selection: Selection) -> Listing:
    cases = collect(selection.plugin, selection.ops, selection.dtypes, selection.seed, selection.skip, selection.quick)
    tests = tuple(Planned(case.id, base_op(case), case.reason) for case in cases)
    return Listing(tests, tuple(not_covered(selection.plugin)), has_own_memory(find_plugin(selection.plugin)))


def _tests(selection: Selection, op: str) -> Iterator[Begun | Ended]:
    for case in _cases(selection, op):
        yield Begun(case.id)
        start = time.perf_counter()
        outcome = case.run()
        yield Ended(case.id, outcome, time.perf_counter() - start)


def _cases(selection: Selection, op: str) -> list[Case]:
    """The tests of one op."""
    plugin = find_plugin(selection.plugin)
    is_programs = op == PROGRAMS
    cases = compiled_programs(plugin, selection.seed) if is_programs else _cases_of_op(plugin, op, selection)
    return chosen_of([*cases], selection.dtypes, selection.quick)


def _cases_of_op(plugin: Plugin, op: str, selection: Selection) -> Iterator[Case]:
    return cases_of(plugin, facts_for(plugin)[op], selection.seed, selection.quick)


@lru_cache(maxsize=1)
def _kept_cases(selection: Selection, op: str) -> dict[str, Case]:
    """The tests of one op by name; they are asked for one after the other, and share what they have recorded."""
    return {case.id: case for case in _cases(selection, op)}
