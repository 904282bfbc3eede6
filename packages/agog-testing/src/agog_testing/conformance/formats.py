"""Formats: results as JSON, and as JUnit's XML for CI systems."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from agog_testing.conformance.timing import Timing
from agog_testing.conformance.work import Ended
from agog_testing.kinds import QUICK

# What XML 1.0 cannot hold.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TAGS = {"failed": "failure", "xpassed": "failure", "not run": "error", "xfailed": "skipped"}
_TAGS |= {"not checked": "skipped", "unavailable": "skipped"}


class Choice(NamedTuple):
    """What was asked for: ops, ops to leave out, and dtypes, where not all; and whether the run was quick."""

    op: Sequence[str] = ()
    skip: Sequence[str] = ()
    dtype: Sequence[str] = ()
    quick: bool = False


class Account(NamedTuple):
    """The command's results, for programs."""

    plugin: str
    distribution: str
    seed: int
    exit_code: int
    tests: Sequence[Ended]
    not_run: int
    not_covered: Sequence[str]
    timings: Sequence[Timing]
    choice: Choice
    left_out: Sequence[tuple[str, str]]


def as_json(account: Account) -> str:
    """The account as JSON: an object with counts, and one for each test."""
    counts = Counter(test.outcome.kind for test in account.tests)
    counts["not run"] += account.not_run
    facts = {
        **account._asdict(),
        "counts": {kind: count for kind, count in sorted(counts.items()) if count},
        "tests": [_test(test) for test in account.tests],
        "timings": [timing._asdict() for timing in account.timings],
        "choice": account.choice._asdict(),
        "left_out": [{"what": what, "why": why} for what, why in account.left_out],
    }
    return json.dumps(facts, indent=1) + "\n"


def _test(test: Ended) -> dict[str, object]:
    op, dtype, check = test.id.split("/")
    facts: dict[str, object] = {"id": test.id, "op": op, "dtype": dtype, "check": check}
    outcome: dict[str, object] = {"outcome": test.outcome.kind, "text": test.outcome.text, "ulp": test.outcome.ulp}
    return facts | outcome | {"seconds": round(test.seconds, 6)}


def as_junit(account: Account) -> str:
    """The tests of the account as a test suite in JUnit's XML."""
    kinds = Counter(_TAGS.get(test.outcome.kind, "passed") for test in account.tests)
    suite = ElementTree.Element(
        "testsuite",
        name=f"agog-conformance {account.plugin}",
        tests=str(len(account.tests)),
        failures=str(kinds["failure"]),
        errors=str(kinds["error"]),
        skipped=str(kinds["skipped"]),
        time=f"{sum(test.seconds for test in account.tests):.3f}",
    )
    if account.choice.quick:
        properties = ElementTree.SubElement(suite, "properties")
        ElementTree.SubElement(properties, "property", name="quick", value=QUICK)
    for test in account.tests:
        op, dtype, check = test.id.split("/")
        place = f"{account.plugin}.{op}.{dtype}"
        case = ElementTree.SubElement(suite, "testcase", classname=place, name=check, time=f"{test.seconds:.3f}")
        if tag := _TAGS.get(test.outcome.kind):
            text = _ILLEGAL.sub("\ufffd", test.outcome.text)
            ElementTree.SubElement(case, tag, message=text.partition("\n")[0]).text = text
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"
