"""Cases: the kit's tests of kernels, and their outcomes."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from agog_testing.comparison import Accuracy
from agog_testing.subject import NotChecked, Violation


class ConformanceError(Exception):
    """The tests of a plugin cannot be collected, or there are none; the text says why."""


class Outcome(NamedTuple):
    """The outcome of a test.

    Args:
        kind: ``"passed"``, ``"failed"``, ``"xfailed"`` (expected), ``"xpassed"`` (an expected failure that passed,
            which is an error), ``"not checked"`` where the op's facts do not allow it, ``"unavailable"``, or ``"not
            run"`` where an earlier test of the op ended the process.
        text: the failure, the reason for an unavailable kernel or an unchecked rule, or a remark on a passed test.
        ulp: the worst error of results that the test compared with the reference, in units in the last place.
    """

    kind: str
    text: str = ""
    ulp: float | None = None

    @property
    def is_bad(self) -> bool:
        """Whether the plugin does not conform because of it."""
        return self.kind in ("failed", "xpassed", "not run")


@dataclass(frozen=True)
class Case:
    """One test of one kernel.

    Args:
        op: the op's name; a plugin's second kernel for it is ``"op#2"``.
        dtype: the dtype's name.
        check: the check's name.
        test: runs the check, and returns a remark on it if it passes; None if the kernel is not available.
        reason: why it is not available, or why it is expected to fail.
        accuracy: where the check takes note of how far results are from the reference's.
        quick: whether the check runs one sample of each kind only.
    """

    op: str
    dtype: str
    check: str
    test: Callable[[], str] | None
    reason: str | None = None
    accuracy: Accuracy | None = None
    quick: bool = False

    @property
    def id(self) -> str:
        """The test's name, ``"op/dtype/check"``."""
        return f"{self.op}/{self.dtype}/{self.check}"

    def run(self) -> Outcome:
        """Run the test, and say how it ended."""
        if self.test is None:
            return Outcome("unavailable", self.reason or "")
        accuracy = self.accuracy or Accuracy()
        accuracy.worst = None
        try:
            outcome = Outcome("passed", self.test())
        except NotChecked as why:
            return Outcome("not checked", f"{self.check} not checked: {why}")
        except Violation as violation:
            outcome = Outcome("failed", str(violation))
        except KeyboardInterrupt:
            raise
        except BaseException:  # a kernel may also call sys.exit, and libraries in other languages raise their panics
            outcome = Outcome("failed", "the test itself raised an exception:\n" + traceback.format_exc().rstrip())
        if self.quick and outcome.kind == "passed" and self.reason is not None:
            outcome = Outcome("passed", f"passes where it may fail ({self.reason}), in the samples of a quick run")
        else:
            outcome = expected(outcome, self.reason)
        return outcome._replace(ulp=accuracy.worst)

    def __str__(self) -> str:
        return self.id


def expected(outcome: Outcome, reason: str | None) -> Outcome:
    """The outcome of a test, given why the plugin expects it to fail, or None."""
    if reason is None:
        return outcome
    if outcome.kind == "passed":
        text = f"it passes, though the plugin expects it to fail ({reason}); take the entry out"
        return Outcome("xpassed", text)
    return Outcome("xfailed", reason)
