"""The matrix: the suites and the kit on each device, in processes of their own, and what it says where some fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

SUITE = """
import agog_core as ag

def test_of_the_plugin():
    assert ag.constant(1.0).device.endswith("CPU:0")

def test_that_fails():
    assert 1 == 2
"""


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "AGOG_PLUGINS": "cpu-numpy", **environment}
    command = [sys.executable, "-m", "agog_testing.conformance", "--matrix", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False, cwd=folder.parent)


def test_it_runs_to_the_end_and_says_what_failed(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(SUITE)
    done = run(tmp_path / "out", "cpu-numpy", "--suite", "test_mine.py", "--op", "square", "--dtype", "float32")
    assert done.returncode == 1, done.stdout
    assert done.stderr.splitlines()[-1] == "matrix: cpu-numpy failed; see the report."
    found = json.loads((tmp_path / "out" / "matrix.json").read_text())
    assert found["failed"] == ["cpu-numpy: test_mine.test_that_fails: assert 1 == 2"]
    (backend,) = found["backends"]
    assert (backend["plugin"], backend["device"], backend["absent"]) == ("cpu-numpy", "cpu", None)
    assert list(backend["kit"]) == ["passed"]
    assert backend["kit"]["passed"] > 15
    suites = {suite.get("name") for suite in ElementTree.parse(tmp_path / "out" / "matrix.xml").getroot()}
    assert suites == {"cpu-numpy suites", "cpu-numpy kit"}


def test_names_and_options_are_passed_on(tmp_path: Path) -> None:
    options = ("--quick", "--op", "square", "--dtype", "float32", "--pytest", "-k numbers", "--name", "ours")
    done = run(tmp_path / "out", "cpu-numpy", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
    found = json.loads((tmp_path / "out" / "matrix.json").read_text())
    assert [each["plugin"] for each in found["backends"]] == ["ours"]
    assert found["left_out"] == [
        "ours: the kit has run quickly: one sample of each kind, one dtype of each kind",
    ]


def test_a_required_backend_that_is_absent_is_a_failure(tmp_path: Path) -> None:
    done = run(tmp_path / "out", REQUIRE_BACKEND="cpu-numpy, card")
    assert done.returncode == 1
    assert "matrix: card: absent: no installed plugin of this name has a device" in done.stdout.splitlines()
    assert done.stderr.splitlines() == ["matrix: REQUIRE_BACKEND names card, which is absent; see above."]


def test_nothing_present_proves_nothing(tmp_path: Path) -> None:
    done = run(tmp_path / "out", "card")
    assert (done.returncode, done.stderr) == (1, "matrix: no backend is present, so nothing is proved.\n")
