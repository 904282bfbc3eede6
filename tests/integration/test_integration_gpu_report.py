"""The report of a run on a card: what it says of results, and where a program has died."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

GPU_TESTS = Path(__file__).parents[1] / "gpu"

SPEEDS = {
    "card": "A card",
    "versions": {"agog": "1", "CuPy": "2"},
    "torch": "3",
    "rows": [{"name": "a + b", "agog": 3e-6, "torch": 4e-6}, {"name": "a step", "agog": 0.0123456, "torch": None}],
}
TESTS = """<testsuites><testsuite name="pytest"><testcase classname="a" name="one"/>
<testcase classname="a" name="two"><failure message="assert 1&#10; == 2">trace</failure></testcase>
<testcase classname="b" name="three"><skipped message="needs two"/></testcase></testsuite></testsuites>"""
MATRIX = "# The matrix\n\n| backend |\n|---|\n\n## What failed\n\nNothing.\n"
PAGE = """
- card: A card
- agog: 1
- CuPy: 2
- PyTorch: 3

## Speeds

| what | agog, µs | PyTorch, µs | agog / PyTorch |
|---|---:|---:|---:|
| a + b | 3.0 | 4.0 | 0.75 |
| a step | 12,345.6 |  |  |

## Tests of GPUs

1 passed, 1 failed, 1 skipped.
- failed: two: assert 1 == 2
- skipped: three: needs two

## The matrix

| backend |
|---|

### What failed

Nothing.
"""
DEAD = """
The program that measures speeds gave no result.

## Tests of GPUs

They gave no result.

## The matrix

It gave no result.
"""


def written(folder: Path) -> list[str]:
    """The page of a folder: its title, the line with the date, and all that comes then."""
    file = folder / "page.md"
    subprocess.run([sys.executable, str(GPU_TESTS / "gpu_report.py"), str(folder), str(file)], check=True)
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    return ["".join(lines[:2]), lines[2], "".join(lines[3:])]


def test_the_page_tells_all_that_was_found(tmp_path: Path) -> None:
    (tmp_path / "speeds.json").write_text(json.dumps(SPEEDS))
    (tmp_path / "gpu.xml").write_text(TESTS)
    (tmp_path / "matrix.md").write_text(MATRIX)
    head, date, rest = written(tmp_path)
    assert head == "# A run on a card\n\n"
    assert date.startswith("Written by `nox -s gpu` on 20")
    assert rest == PAGE


def test_the_page_tells_what_has_died(tmp_path: Path) -> None:
    assert written(tmp_path)[2] == DEAD
