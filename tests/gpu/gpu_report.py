"""Report: the page of a run on a card: ``python report.py FOLDER PAGE``.

The folder holds what ``nox -s gpu`` has written: ``matrix.md``, ``gpu.xml`` of pytest and ``speeds.json``. One that is
missing is told as a failure: its program has died.
"""

from __future__ import annotations

import datetime
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree


def page(folder: Path, today: str) -> str:
    """The page: date, card and versions; speeds; the tests of GPUs; and the page of the matrix."""
    lines = ["# A run on a card", "", f"Written by `nox -s gpu` on {today}.", ""]
    lines += [*_speeds(folder / "speeds.json"), "", "## Tests of GPUs", "", *_tests(folder / "gpu.xml"), ""]
    matrix = folder / "matrix.md"
    text = matrix.read_text(encoding="utf-8") if matrix.exists() else "# The matrix\n\nIt gave no result.\n"
    return "\n".join(lines) + "\n" + text.replace("\n## ", "\n### ").replace("# The matrix", "## The matrix", 1)


def _speeds(file: Path) -> Iterator[str]:
    if not file.exists():
        yield "The program that measures speeds gave no result."
        return
    facts = json.loads(file.read_text(encoding="utf-8"))
    yield f"- card: {facts['card']}"
    yield from (f"- {name}: {version}" for name, version in facts["versions"].items())
    yield f"- PyTorch: {facts['torch'] or 'none that sees the GPU, so speeds are compared with nothing'}"
    yield from ("", "## Speeds", "", "| what | agog, µs | PyTorch, µs | agog / PyTorch |", "|---|---:|---:|---:|")
    for row in facts["rows"]:
        yield f"| {row['name']} | {_micros(row['agog'])} | {_micros(row['torch'])} | {_ratio(row)} |"


def _micros(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e6:,.1f}"


def _ratio(row: dict[str, Any]) -> str:
    return "" if row["torch"] is None else f"{row['agog'] / row['torch']:.2f}"


def _tests(file: Path) -> Iterator[str]:
    if not file.exists():
        yield "They gave no result."
        return
    cases = [(case, _kind(case)) for case in ElementTree.parse(file).getroot().iter("testcase")]
    counts = Counter(kind for _, kind in cases)
    yield f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped."
    for case, kind in cases:
        if kind != "passed":
            (found,) = (part for part in case if part.tag in ("failure", "error", "skipped"))
            yield f"- {kind}: {case.get('name')}: {' '.join((found.get('message') or '').split())[:300]}"


def _kind(case: ElementTree.Element) -> str:
    if case.find("skipped") is not None:
        return "skipped"
    return "passed" if case.find("failure") is None and case.find("error") is None else "failed"


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(page(Path(sys.argv[1]), datetime.date.today().isoformat()), encoding="utf-8")
