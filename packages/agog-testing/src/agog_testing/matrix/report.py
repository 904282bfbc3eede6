"""Report: what the matrix found, as a page of Markdown, as JSON, and as a file of JUnit.

The folder holds ``backends.json``, and of each backend that is present the files ``PLUGIN.json`` and ``PLUGIN.kit.xml``
of the conformance kit and ``PLUGIN.suites.xml`` of pytest. One that is missing is told as a failure: its program has
died.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from agog_testing.kinds import QUICK

KINDS = ("passed", "failed", "xfailed", "xpassed", "not checked", "unavailable", "not run")
DECLINED = "declined"
BAD = ("failed", "xpassed", "not run")
SUITES = ("passed", "failed", "skipped")

# How a line begins that gives a reason; what was not checked names its check.
_REASONS = {"unavailable": " not available: ", "xfailed": " expected to fail: ", "not checked": ": "}

Account = Mapping[str, Any]
Suites = ElementTree.Element


def markdown(
    backends: Sequence[Mapping[str, str | None]], accounts: Mapping[str, Account], suites: Mapping[str, Suites]
) -> str:
    """The page.

    Args:
        backends: for each backend its plugin, device type, and why it is absent, or None.
        accounts: by plugin, what the conformance kit has written as JSON.
        suites: by plugin, what pytest has written of the members' suites as JUnit.
    """
    present = [str(backend["plugin"]) for backend in backends if backend["absent"] is None]
    lines = ["# The matrix", "", *_table(_overview(present, accounts, suites)), "", "## What failed", ""]
    lines += [f"- {line}" for line in _failures(present, accounts, suites)] or ["Nothing."]
    lines += ["", "## What was skipped, and why", ""]
    lines += [f"- {line}" for line in _skipped(backends, accounts, suites)] or ["Nothing."]
    for plugin in present:
        if plugin in accounts:
            lines += ["", f"## {plugin}: worst errors, in units in the last place", "", _LEGEND, ""]
            lines += _table(_errors(accounts[plugin]["tests"]))
    return "\n".join(lines) + "\n"


_LEGEND = (
    "`ok`: passed, where results have to be exact or nothing was compared. `F`: a test failed. `x`: failures are "
    "expected. `u`: not available. Empty: no kernel."
)


def junit(suites: Sequence[tuple[str, Suites]]) -> str:
    """Test suites of several programs as one file, each under a name of its own."""
    whole = ElementTree.Element("testsuites")
    for name, found in suites:
        for suite in found.iter("testsuite"):
            suite.set("name", name)
            whole.append(suite)
    ElementTree.indent(whole)
    return ElementTree.tostring(whole, encoding="unicode", xml_declaration=True) + "\n"


def _overview(
    present: Sequence[str], accounts: Mapping[str, Account], suites: Mapping[str, Suites]
) -> Iterator[Sequence[str]]:
    kinds = (*KINDS, f"passed, calls {DECLINED}")
    yield ("backend", *(f"kit: {kind}" for kind in kinds), *(f"suites: {kind}" for kind in SUITES))
    for plugin in present:
        kit, outcomes = ["no result"] * len(kinds), ["no result"] * len(SUITES)
        if plugin in accounts:
            counts, declining = accounts[plugin]["counts"], _declining(accounts[plugin]["tests"])
            kit = [str(number) for number in (*(counts.get(kind, 0) for kind in KINDS), len(declining))]
        if plugin in suites:
            ended = Counter(kind for _, kind, _ in _cases(suites[plugin]))
            outcomes = [str(ended[kind]) for kind in SUITES]
        yield (plugin, *kit, *outcomes)


def _declining(tests: Sequence[Mapping[str, Any]]) -> list[str]:
    """The op of each test that passed although the kernel declined calls."""
    return [test["op"] for test in tests if test["outcome"] == "passed" and test["text"].startswith(DECLINED)]


def _failures(present: Sequence[str], accounts: Mapping[str, Account], suites: Mapping[str, Suites]) -> Iterator[str]:
    for plugin in present:
        if plugin not in accounts:
            yield f"{plugin}: the conformance kit gave no result"
        for test in accounts[plugin]["tests"] if plugin in accounts else ():
            if test["outcome"] in BAD:
                yield f"{plugin}: {test['id']}: {test['outcome']}: {_one_line(test['text'])}"
        if plugin not in suites:
            yield f"{plugin}: the suites gave no result"
        for name, kind, text in _cases(suites[plugin]) if plugin in suites else ():
            if kind == "failed":
                yield f"{plugin}: {name}: {_one_line(text)}"


def _skipped(
    backends: Sequence[Mapping[str, str | None]], accounts: Mapping[str, Account], suites: Mapping[str, Suites]
) -> Iterator[str]:
    """Reasons, each with what it is the reason for, or with how many tests it is for."""
    for backend in backends:
        if backend["absent"] is not None:
            yield f"{backend['plugin']}: absent: {backend['absent']}"
    present = [str(backend["plugin"]) for backend in backends if backend["absent"] is None]
    all_ops = {test["op"] for account in accounts.values() for test in account["tests"]}
    for plugin in present:
        if plugin in accounts:
            tests = accounts[plugin]["tests"]
            for kind, words in _REASONS.items():
                reasons = Counter(test["text"] for test in tests if test["outcome"] == kind)
                for reason, count in reasons.items():
                    yield f"{plugin}: {_tests(count)}{words}{_one_line(reason)}"
            if declining := sorted({*_declining(tests)}):
                yield f"{plugin}: kernels that {DECLINED} calls: {', '.join(declining)}"
            if lacking := sorted(all_ops - {test["op"] for test in tests}):
                yield f"{plugin}: no kernel that another backend has: {', '.join(lacking)}"
            if accounts[plugin].get("choice", {}).get("quick"):
                yield f"{plugin}: the kit has run quickly: {QUICK}"
            if uncovered := accounts[plugin]["not_covered"]:
                yield f"{plugin}: the kit has no facts about {', '.join(uncovered)}"
        if plugin in suites:
            reasons = Counter(_one_line(text) for _, kind, text in _cases(suites[plugin]) if kind == "skipped")
            for reason, count in sorted(reasons.items()):
                yield f"{plugin}: {_tests(count)} of the suites skipped: {reason}"


def _errors(tests: Sequence[Mapping[str, Any]]) -> Iterator[Sequence[str]]:
    """A row for each op, and in it for each dtype the worst error of all its tests, and how they ended if not well."""
    cells: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for test in tests:
        cells.setdefault((test["op"], test["dtype"]), []).append(test)
    dtypes = sorted({dtype for _, dtype in cells})
    yield ("op", *dtypes)
    for op in sorted({op for op, _ in cells}):
        yield (op, *(_cell(cells.get((op, dtype), [])) for dtype in dtypes))


def _cell(tests: Sequence[Mapping[str, Any]]) -> str:
    if not tests:
        return ""
    kinds = {test["outcome"] for test in tests}
    if kinds == {"unavailable"}:
        return "u"
    marks = [mark for mark, those in (("F", BAD), ("x", ("xfailed",))) if kinds & {*those}]
    errors = [test["ulp"] for test in tests if test["ulp"] is not None]
    return " ".join([*(f"{worst:.3g}" for worst in sorted(errors)[-1:]), *marks]) or "ok"


def _cases(suites: Suites) -> Iterator[tuple[str, str, str]]:
    """The name of each test of a suite, how it ended, and what was said of that."""
    for case in suites.iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        for tag, kind in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
            if (found := case.find(tag)) is not None:
                yield name, kind, found.get("message") or ""
                break
        else:
            yield name, "passed", ""


def _table(rows: Iterator[Sequence[str]]) -> list[str]:
    head, *others = ["| " + " | ".join(row) + " |" for row in rows]
    return [head, "|" + "---|" * (head.count(" | ") + 1), *others]


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")[:300]


def _tests(count: int) -> str:
    return f"{count} test" if count == 1 else f"{count} tests"


def write(folder: Path) -> None:
    """Write ``matrix.md``, ``matrix.json`` and ``matrix.xml`` into the folder."""
    backends = json.loads((folder / "backends.json").read_text(encoding="utf-8"))
    plugins = [backend["plugin"] for backend in backends if backend["absent"] is None]
    accounts = {
        plugin: json.loads(file.read_text(encoding="utf-8"))
        for plugin in plugins
        if (file := folder / f"{plugin}.json").exists()
    }
    found = {
        (plugin, part): ElementTree.parse(file).getroot()
        for plugin in plugins
        for part in ("suites", "kit")
        if (file := folder / f"{plugin}.{part}.xml").exists()
    }
    suites = {plugin: suite for (plugin, part), suite in found.items() if part == "suites"}
    (folder / "matrix.md").write_text(markdown(backends, accounts, suites), encoding="utf-8")
    facts = {
        "backends": [{**each, "kit": accounts.get(str(each["plugin"]), {}).get("counts")} for each in backends],
        "failed": [*_failures(plugins, accounts, suites)],
        "left_out": [*_skipped(backends, accounts, suites)],
    }
    (folder / "matrix.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (folder / "matrix.xml").write_text(
        junit([(f"{plugin} {part}", suite) for (plugin, part), suite in found.items()]), encoding="utf-8"
    )
