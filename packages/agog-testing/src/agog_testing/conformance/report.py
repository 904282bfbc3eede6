"""Report: the outcomes of the kit's tests, as the command prints them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agog_testing.conformance.cases import Outcome
from agog_testing.conformance.timing import Timing, verdicts
from agog_testing.kinds import QUICK

_WORDS = {
    "passed": "passed",
    "failed": "FAILED",
    "xfailed": "failed as expected",
    "xpassed": "PASSED UNEXPECTEDLY",
    "not checked": "not checked",
    "not run": "not run",
    "unavailable": "not available",
}
_MARKS = {
    **{"passed": "", "failed": "F", "xpassed": "X", "xfailed": "x"},
    **{"not checked": "?", "not run": "n", "unavailable": "u"},
}
_LEGEND = (
    "tests passed; F failed; x failed as expected; X passed unexpectedly; ? not checked; n not run; u not available; "
    ". no kernel"
)


def line(name: str, outcome: Outcome) -> str:
    """A line for a test, and indented ones for what went wrong in it."""
    text = "".join(f"\n    {part}" for part in outcome.text.splitlines())
    error = "" if outcome.ulp is None else f" (worst error {outcome.ulp:.3g} ULP)"
    return f"{name}: {_WORDS[outcome.kind]}{error}{text}"


def coverage(results: Sequence[tuple[str, str, Outcome]], uncovered: Sequence[str]) -> str:
    """The table of ops and dtypes, from the op, dtype and outcome of each test, the declined calls, and unknown ops.

    Each cell holds the number of tests passed, and those that ended otherwise with a letter.
    """
    cells: dict[tuple[str, str], Counter[str]] = {}
    declined: dict[str, str] = {}
    for op, dtype, outcome in results:
        cells.setdefault((op, dtype), Counter())[outcome.kind] += 1
        if outcome.kind == "passed" and outcome.text:
            declined.setdefault(f"{op}/{dtype}", outcome.text)
    dtypes = sorted({dtype for _, dtype in cells})
    rows = [["op", *dtypes]]
    for op in sorted({op for op, _ in cells}):
        rows.append([op, *(_cell(cells[op, dtype]) if (op, dtype) in cells else "." for dtype in dtypes)])
    lines = [f"Coverage ({_LEGEND})", *_aligned(rows)]
    lines += [f"{name} {text}" for name, text in declined.items()]
    lines += [f"{op}/{dtype} {outcome.text}" for op, dtype, outcome in results if outcome.kind == "not checked"]
    if uncovered:
        lines.append(f"not covered, for the kit has no facts about them: {', '.join(uncovered)}")
    return "\n".join(lines)


def _cell(counts: Counter[str]) -> str:
    return " ".join(f"{counts[kind]}{mark}" for kind, mark in _MARKS.items() if counts[kind])


def summary(outcomes: Sequence[Outcome], collected: int, quick: bool) -> str:
    """The last line: how many tests ended how, how many of those collected did not run, and whether all are quick."""
    counts = Counter(outcome.kind for outcome in outcomes)
    counts["not run"] += collected - len(outcomes)
    parts = [
        f"{counts[kind]} {_WORDS[kind].lower()}" for kind in _WORDS if counts[kind] or kind in ("passed", "failed")
    ]
    return ", ".join(parts) + (f" (quick: {QUICK})" if quick else "")


def speeds(timed: Sequence[Timing], rival: str) -> str:
    """The table of times, and for each op and dtype whether the kernel is faster."""
    rows = [["op", "dtype", "call", "time", rival, "times as fast"]]
    for timing in timed:
        ratio = "declined" if timing.declined else f"{timing.ratio:.2f}"
        rows.append([timing.op, timing.dtype, timing.call, _time(timing.seconds), _time(timing.rival_seconds), ratio])
    found = verdicts(timed)
    lines = ["Speed (least time of a call)", *_aligned(rows)]
    lines += [f"{op}/{dtype}: NOT FASTER than {rival}'s" for (op, dtype), is_faster in found.items() if not is_faster]
    lines.append(f"{sum(found.values())} of {len(found)} faster than {rival}")
    return "\n".join(lines)


def _time(seconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, factor in (("ns", 1e9), ("us", 1e6), ("ms", 1e3)):
        if seconds * factor < 1000:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
