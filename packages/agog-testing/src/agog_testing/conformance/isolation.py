"""Isolation: cases for a plugin's own suite, each in a process of the kit, which may crash or hang."""

from __future__ import annotations

import atexit
from collections.abc import Collection
from functools import cache, partial
from typing import NamedTuple

from agog_testing.conformance.cases import ConformanceError, Outcome, expected
from agog_testing.conformance.collection import DEFAULT_SEED, Selection
from agog_testing.conformance.processes import listing, start_method
from agog_testing.conformance.work import Planned, Request, answer
from agog_testing.conformance.workers import PATIENT, Died, Workers


class IsolatedCase(NamedTuple):
    """One test of one kernel, which runs in another process.

    Args:
        planned: the test.
        selection: what it was chosen by.
        timeout: how many seconds of the processor, or of waiting, it may take.
    """

    planned: Planned
    selection: Selection
    timeout: float

    @property
    def id(self) -> str:
        """The test's name, ``"op/dtype/check"``."""
        return self.planned.id

    @property
    def plugin(self) -> str:
        """The plugin's name."""
        return self.selection.plugin

    def run(self) -> Outcome:
        """Run the test, and say how it ended; where its process ends, it has failed."""
        request = Request("case", self.planned.op, self.planned.id)
        for asked, reply in _workers(self.selection).run([request], self.timeout):
            if isinstance(reply, ConformanceError):
                raise reply
            if isinstance(reply, Died):
                why = reply.text if asked == request else f"after the test {asked.case}, {reply.text}"
                return expected(Outcome("failed", why), self.planned.reason)
            assert isinstance(reply, Outcome)
            return reply
        raise AssertionError("a process gives an answer, or ends")

    def __str__(self) -> str:
        return self.id


def collect(
    plugin: str,
    ops: Collection[str] = (),
    dtypes: Collection[str] = (),
    seed: int = DEFAULT_SEED,
    skip: Collection[str] = (),
    quick: bool = False,
    timeout: float = 60.0,
) -> list[IsolatedCase]:
    """Collect the tests of a plugin's kernels, as `agog_testing.conformance.collect` does, for other processes.

    Args:
        timeout: how many seconds of the processor, or of waiting, each may take.

    Other arguments, returns and raises: see there.
    """
    selection = Selection(plugin, tuple(ops), tuple(skip), tuple(dtypes), seed, None, quick)
    found = listing(_workers(selection), plugin)
    return [IsolatedCase(planned, selection, timeout) for planned in found.tests]


@cache
def _workers(selection: Selection) -> Workers:
    """The processes for a selection, which end with this one."""
    workers = Workers(partial(answer, selection), start_method(), PATIENT)
    atexit.register(workers.__exit__, None, None, None)
    return workers
