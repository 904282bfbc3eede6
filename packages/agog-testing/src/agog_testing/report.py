"""What the conformance command prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agog_testing.conformance import Outcome

_WORDS = {
    "passed": "passed",
    "failed": "FAILED",
    "xfailed": "failed as expected",
    "xpassed": "PASSED UNEXPECTEDLY",
    "unavailable": "not available",
}
_MARKS = {"passed": "", "failed": "F", "xpassed": "X", "xfailed": "x", "unavailable": "u"}
_LEGEND = "tests passed; F failed; x failed as expected; X passed unexpectedly; u not available; . no kernel"


def line(name: str, outcome: Outcome) -> str:
    """One test, and what went wrong in it.

    Args:
        name: the test's id.
        outcome: how it ended.

    Returns:
        A line, and indented ones below it.
    """
    text = "".join(f"\n    {part}" for part in outcome.text.splitlines())
    return f"{name}: {_WORDS[outcome.kind]}{text}"


def coverage(results: Sequence[tuple[str, str, str]], uncovered: Sequence[str]) -> str:
    """The table of ops and dtypes.

    Args:
        results: op, dtype and kind of outcome of each test.
        uncovered: ops that have kernels and no facts.

    Returns:
        The table: each cell holds the number of tests passed, and those that ended otherwise with a letter.
    """
    cells: dict[tuple[str, str], Counter[str]] = {}
    for op, dtype, kind in results:
        cells.setdefault((op, dtype), Counter())[kind] += 1
    dtypes = sorted({dtype for _, dtype in cells})
    rows = [["op", *dtypes]]
    for op in sorted({op for op, _ in cells}):
        rows.append([op, *(_cell(cells[op, dtype]) if (op, dtype) in cells else "." for dtype in dtypes)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"Coverage ({_LEGEND})"]
    lines += ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    if uncovered:
        lines.append(f"not covered, for the kit has no facts about them: {', '.join(uncovered)}")
    return "\n".join(lines)


def _cell(counts: Counter[str]) -> str:
    return " ".join(f"{counts[kind]}{mark}" for kind, mark in _MARKS.items() if counts[kind])


def summary(outcomes: Sequence[Outcome], collected: int) -> str:
    """The last line.

    Args:
        outcomes: how the tests ended.
        collected: how many there were to run.

    Returns:
        The counts.
    """
    counts = Counter(outcome.kind for outcome in outcomes)
    parts = [
        f"{counts[kind]} {_WORDS[kind].lower()}" for kind in _WORDS if counts[kind] or kind in ("passed", "failed")
    ]
    if len(outcomes) < collected:
        parts.append(f"{collected - len(outcomes)} not run")
    return ", ".join(parts)
