"""Results: the outcome of each test so far."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from agog_testing.conformance.cases import Outcome, expected
from agog_testing.conformance.work import Begun, Ended, Planned
from agog_testing.conformance.workers import Died


class Results:
    """The tests that were collected, and the outcomes of those that have ended.

    Args:
        tests: the tests, in the order in which they are to be reported.
    """

    def __init__(self, tests: Sequence[Planned]) -> None:
        self.tests = tests
        self.ended: dict[str, Ended] = {}
        self._by_op: dict[str, list[Planned]] = {}
        for test in tests:
            self._by_op.setdefault(test.op, []).append(test)
        self._current: dict[str, str] = {}
        self._to_report = deque(self._by_op.values())

    @property
    def ops(self) -> list[str]:
        """The ops that are tested."""
        return list(self._by_op)

    @property
    def outcomes(self) -> list[tuple[Planned, Outcome]]:
        """The tests that have ended, with their outcomes."""
        return [(test, self.ended[test.id].outcome) for test in self.tests if test.id in self.ended]

    def add(self, op: str, answer: Begun | Ended | Died) -> list[Ended]:
        """Take an answer of the process that tests an op; returns the tests that have ended by it."""
        if isinstance(answer, Begun):
            self._current[op] = answer.id
            return []
        ended = self._casualties(op, answer.text) if isinstance(answer, Died) else [answer]
        self.ended |= {each.id: each for each in ended}
        return ended

    def _casualties(self, op: str, why: str) -> list[Ended]:
        """The outcomes of an op's tests after the end of their process: one failed, and the rest did not run."""
        tests = self._by_op[op]
        guilty = self._current.get(op, tests[0].id)
        why = f"after the test, {why}" if guilty in self.ended else why
        outcomes = {guilty: Outcome("failed", why)}
        for test in tests:
            if test.id not in self.ended:
                outcomes.setdefault(test.id, Outcome("not run", f"{guilty} ended the process"))
        reasons = {test.id: test.reason for test in tests}
        return [Ended(name, expected(outcome, reasons[name]), 0.0) for name, outcome in outcomes.items()]

    def reportable(self) -> Iterator[Ended]:
        """The outcomes that are next in order, op by op; each is given once."""
        while self._to_report and all(test.id in self.ended for test in self._to_report[0]):
            for test in self._to_report.popleft():
                yield self.ended[test.id]

    def unreported(self) -> Iterator[Ended]:
        """The other outcomes that there are."""
        while self._to_report:
            for test in self._to_report.popleft():
                if test.id in self.ended:
                    yield self.ended[test.id]
