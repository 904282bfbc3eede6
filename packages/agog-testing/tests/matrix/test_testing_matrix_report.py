"""The report of the matrix: what it says of results of the kit and of pytest, also where a program has died."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from agog_testing.matrix import report

BACKENDS = [
    {"plugin": "good", "device": "good", "absent": None},
    {"plugin": "bad", "device": "bad", "absent": None},
    {"plugin": "dead", "device": "dead", "absent": None},
    {"plugin": "away", "device": "away", "absent": "no driver"},
]
SUITES = """<?xml version="1.0"?><testsuites><testsuite name="pytest" tests="3">
<testcase classname="a" name="one"/>
<testcase classname="a" name="two"><skipped message="needs two devices"/></testcase>
<testcase classname="b" name="three"><failure message="assert 1 == 2&#10;where">trace</failure></testcase>
</testsuite></testsuites>"""
PASSED = '<testsuites><testsuite name="pytest"><testcase classname="a" name="one"/></testsuite></testsuites>'

PAGE = """\
# The matrix

| backend | kit: passed | kit: failed | kit: xfailed | kit: xpassed | kit: not checked | kit: unavailable \
| kit: not run | kit: passed, calls declined | suites: passed | suites: failed | suites: skipped |
|---|---|---|---|---|---|---|---|---|---|---|---|
| good | 4 | 0 | 0 | 0 | 1 | 1 | 0 | 2 | 1 | 0 | 0 |
| bad | 1 | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 1 | 1 | 1 |
| dead | no result | no result | no result | no result | no result | no result | no result | no result | no result \
| no result | no result |

## What failed

- bad: exp/float32/value: failed: rule: a result is right got: 2 \\| 3
- bad: b.three: assert 1 == 2 where
- dead: the conformance kit gave no result
- dead: the suites gave no result

## What was skipped, and why

- away: absent: no driver
- good: 1 test not available: no sine
- good: 1 test: gradient not checked: no sample is smooth
- good: kernels that declined calls: add
- bad: 1 test expected to fail: the library rounds
- bad: no kernel that another backend has: sin
- bad: the kit has no facts about levitate
- bad: 1 test of the suites skipped: needs two devices

## good: worst errors, in units in the last place

`ok`: passed, where results have to be exact or nothing was compared. `F`: a test failed. `x`: failures are expected. \
`u`: not available. Empty: no kernel.

| op | float32 | int32 |
|---|---|---|
| add | 0.5 | ok |
| exp | 1.5 |  |
| sin | u |  |

## bad: worst errors, in units in the last place

`ok`: passed, where results have to be exact or nothing was compared. `F`: a test failed. `x`: failures are expected. \
`u`: not available. Empty: no kernel.

| op | float32 |
|---|---|
| add | 3e+06 x |
| exp | 12 F |
"""


def kit(*tests: tuple[str, str, float | None, str], uncovered: tuple[str, ...] = ()) -> str:
    """What the kit writes, as far as the report reads it."""
    found: list[dict[str, Any]] = []
    counts: dict[str, int] = {}
    for name, outcome, ulp, text in tests:
        op, dtype, _ = name.split("/")
        found.append({"id": name, "op": op, "dtype": dtype, "outcome": outcome, "ulp": ulp, "text": text})
        counts[outcome] = counts.get(outcome, 0) + 1
    return json.dumps({"tests": found, "counts": counts, "not_covered": uncovered})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "backends.json": json.dumps(BACKENDS),
        "good.json": kit(
            ("add/float32/value", "passed", 0.0, "declined 2 of 8 calls"),
            ("add/float32/sizes", "passed", 0.5, "declined 1 of 9 calls"),
            ("exp/float32/gradient", "not checked", None, "gradient not checked: no sample is smooth"),
            ("add/int32/value", "passed", None, ""),
            ("exp/float32/value", "passed", 1.5, ""),
            ("sin/float32/value", "unavailable", None, "no sine"),
        ),
        "good.suites.xml": PASSED,
        "good.kit.xml": PASSED,
        "bad.json": kit(
            ("add/float32/value", "passed", 0.0, ""),
            ("add/float32/sizes", "xfailed", 3e6, "the library rounds"),
            ("exp/float32/value", "failed", 12.0, "rule: a result is right\ngot: 2 | 3"),
            uncovered=("levitate",),
        ),
        "bad.suites.xml": SUITES,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    report.write(tmp_path)
    return tmp_path


def test_the_page(folder: Path) -> None:
    assert (folder / "matrix.md").read_text() == PAGE


def test_the_suites_of_all_programs_are_in_one_file(folder: Path) -> None:
    root = ElementTree.parse(folder / "matrix.xml").getroot()
    assert [(suite.get("name"), len(suite)) for suite in root] == [
        ("good suites", 1),
        ("good kit", 1),
        ("bad suites", 3),
    ]
    (failure,) = root.iter("failure")
    assert (failure.get("message"), failure.text) == ("assert 1 == 2\nwhere", "trace")


def test_nothing_failed_and_nothing_was_skipped(tmp_path: Path) -> None:
    files = {
        "backends.json": json.dumps(BACKENDS[:1]),
        "good.json": kit(("add/int32/value", "passed", None, "")),
        "good.suites.xml": PASSED,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    report.write(tmp_path)
    page = (tmp_path / "matrix.md").read_text()
    assert "## What failed\n\nNothing.\n\n## What was skipped, and why\n\nNothing.\n\n" in page


def test_json_says_what_did_not_run(folder: Path) -> None:
    found = json.loads((folder / "matrix.json").read_text())
    assert found["left_out"][:2] == ["away: absent: no driver", "good: 1 test not available: no sine"]
    assert "dead: the suites gave no result" in found["failed"]
    assert [each["kit"] for each in found["backends"]] == [
        {"passed": 4, "not checked": 1, "unavailable": 1},
        {"passed": 1, "xfailed": 1, "failed": 1},
        None,
        None,
    ]
