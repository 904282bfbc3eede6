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
    ops = sorted({op for op, _ in cells})
    dtypes = sorted({dtype for _, dtype in cells})
    texts = {key: " ".join(f"{count}{_MARKS[kind]}" for kind, count in sorted(counts.items(), key=_order)) for key, counts in cells.items()}
    rows = [["op", *dtypes], *([op, *(texts.get((op, dtype), ".") for dtype in dtypes)] for op in ops)]
    rows += [[op, "not covered: the kit has no facts about this op"] for op in uncovered]
    widths = [max(len(row[n]) for row in rows if len(row) > max(n, 2) or n == 0) for n in range(len(rows[0]))] if ops else []
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in rows[: len(ops) + 1]]
    lines += [f"{row[0].ljust(widths[0]) if widths else row[0]}  {row[1]}" for row in rows[len(ops) + 1 :]]
    return "\n".join([f"Coverage ({_LEGEND})", *lines])


def summary(outcomes: Sequence[Outcome], collected: int) -> str:
    """The last line.

    Args:
        outcomes: how the tests ended.
        collected: how many there were to run.

    Returns:
        The counts.
    """
    counts = Counter(outcome.kind for outcome in outcomes)
    parts = [f"{counts[kind]} {_WORDS[kind].lower()}" for kind in _WORDS if counts[kind] or kind in ("passed", "failed")]
    if len(outcomes) < collected:
        parts.append(f"{collected - len(outcomes)} not run")
    return ", ".join(parts)


def _order(item: tuple[str, int]) -> int:
    return list(_MARKS).index(item[0])
