"""The results for programs: JSON, and JUnit's XML."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from square_checks import COUNT

from agog_core.dispatch.plugins.loader import loader
from agog_core.plugin import Conformance, Kernel
from agog_testing.conformance import main

Array = np.ndarray[Any, Any]


def untidy(x: Array) -> Array:
    if not x.ndim:
        raise ValueError("\x00 <&> \x1b[31m")
    return np.asarray(np.square(x))


@pytest.fixture
def stranger(register: Callable[..., None]) -> None:
    """A plugin with a test of each outcome but one that is not run."""
    kernels = (
        Kernel(op="square", device="cpu", fn=untidy, dtypes=("float32",)),
        Kernel(op="exp", device="cpu", fn=np.exp, dtypes=("float32",)),
        Kernel(op="sin", device="cpu", fn=np.sin, dtypes=("float32",), unavailable=lambda: "no sine"),
        Kernel(op="levitate", device="cpu", fn=np.square),
    )
    expected = {"square/float32/strides": "raises", "exp/float32/value": "guesses"}
    register(*kernels, conformance=Conformance(expected_failures=expected))


@pytest.mark.usefixtures("stranger")
def test_json(tmp_path: Path) -> None:
    assert main(["stranger", "--json", str(tmp_path / "results.json")]) == 1
    found = json.loads((tmp_path / "results.json").read_text())
    tests = {test["id"]: test for test in found.pop("tests")}
    counts = found.pop("counts")
    assert found == {
        "plugin": "stranger",
        "distribution": "registered by the program",
        "seed": 20181105,
        "exit_code": 1,
        "not_run": 0,
        "not_covered": ["levitate"],
        "timings": [],
        "choice": {"op": [], "skip": [], "dtype": [], "quick": False},
        "left_out": [
            {"what": "sin/float32/value", "why": "no sine"},
            {"what": "levitate", "why": "the kit has no facts about this op"},
        ],
    }
    assert sum(counts.values()) == len(tests) == 2 * COUNT + 1
    assert counts["xpassed"] == counts["xfailed"] == counts["unavailable"] == 1
    assert tests["exp/float32/value"] | {"ulp": 0, "seconds": 0} == {
        "id": "exp/float32/value",
        "op": "exp",
        "dtype": "float32",
        "check": "value",
        "outcome": "xpassed",
        "text": "it passes, though the plugin expects it to fail (guesses); take the entry out",
        "ulp": 0,
        "seconds": 0,
    }
    assert tests["exp/float32/value"]["seconds"] > 0
    assert 0 <= tests["exp/float32/value"]["ulp"] <= 4


def test_json_of_tests_that_did_not_run(register: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    register(Kernel(op="square", device="cpu", fn=untidy, dtypes=("float32",)))
    assert main(["stranger", "-x", "--json", "-"]) == 1
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert (found["not_run"], found["counts"]) == (COUNT - 1, {"failed": 1, "not run": COUNT - 1})
    assert len(found["left_out"]) == COUNT - 1
    assert found["left_out"][0] == {
        "what": "square/float32/inputs",
        "why": "-x stopped the run at the first failure",
    }
    assert captured.err.splitlines()[-1] == f"0 passed, 1 failed, {COUNT - 1} not run"


@pytest.mark.usefixtures("stranger")
def test_junit(tmp_path: Path) -> None:
    """What XML cannot hold does not make it unreadable."""
    assert main(["stranger", "--junit", str(tmp_path / "results.xml")]) == 1
    (suite,) = ElementTree.parse(tmp_path / "results.xml").getroot()
    cases = {f"{case.get('classname')}/{case.get('name')}": case for case in suite}
    tags = {name: case[0].tag if len(case) else "passed" for name, case in cases.items()}
    assert tags["stranger.exp.float32/value"] == "failure"
    assert tags["stranger.exp.float32/strides"] == "passed"
    assert tags["stranger.square.float32/strides"] == tags["stranger.sin.float32/value"] == "skipped"
    failure = cases["stranger.square.float32/value"][0]
    assert failure.get("message") == "rule: a kernel computes every sample of its op"
    assert (failure.text or "").endswith("got: ValueError: \ufffd <&> \ufffd[31m")
    counts = {name: int(suite.get(name, "")) for name in ("tests", "failures", "errors", "skipped")}
    kinds = list(tags.values())
    assert counts == {
        "tests": len(cases),
        "failures": kinds.count("failure"),
        "errors": 0,
        "skipped": kinds.count("skipped"),
    }


@pytest.mark.usefixtures("stranger")
def test_printed_junit_is_all_that_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stranger", "--op", "exp", "--junit", "-"]) == 1
    assert ElementTree.fromstring(capsys.readouterr().out).tag == "testsuites"


def test_reports_say_what_is_not_checked(
    register: Callable[..., None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second derivative of digamma is a polygamma, which is not for float16."""
    (plugin,) = (plugin for plugin in loader().plugins if plugin.name == "cpu-numpy")
    digamma = next(kernel.fn for kernel in plugin.kernels if kernel.op == "digamma")
    register(Kernel(op="digamma", device="cpu", fn=digamma, dtypes=("float16",)))
    files = [str(tmp_path / name) for name in ("results.json", "results.xml")]
    assert main(["stranger", "--json", files[0], "--junit", files[1]]) == 0
    why = (
        "gradient not checked: a vjp calls another op: polygamma: dtype float16 is not supported; use one of float32, "
        "float64. Cast with tf.cast."
    )
    assert f"digamma/float16 {why}" in capsys.readouterr().out.splitlines()
    found = json.loads(Path(files[0]).read_text())
    (test,) = (test for test in found["tests"] if test["check"] == "gradient")
    assert (test["outcome"], test["text"]) == ("not checked", why)
    assert {"what": "digamma/float16/gradient", "why": why} in found["left_out"]
    (case,) = ElementTree.parse(files[1]).findall(".//testcase[@name='gradient']")
    assert [(each.tag, each.get("message")) for each in case] == [("skipped", why)]
