"""The pytest plugin: in processes of their own, since this suite may itself be run with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SUITE = """
import agog_core as ag

def test_device():
    assert ag.constant(1.0).device.endswith("device:%s")

def test_numbers(rng):
    print("drawn:", rng.integers(1000), ag.random_uniform([]).numpy())
    assert %s
"""


def run(tmp_path: Path, *options: str, device: str = "CPU:0", passes: bool = True) -> tuple[int, str]:
    (tmp_path / "test_suite.py").write_text(SUITE % (device, passes))
    command = [sys.executable, "-m", "pytest", "-p", "agog_testing.pytest_plugin", "-p", "no:cacheprovider", *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    return done.returncode, done.stdout + done.stderr


def test_header_and_device(tmp_path: Path) -> None:
    code, out = run(tmp_path, "--agog-device=cpu:0", "--agog-seed=5")
    assert code == 0
    assert "agog: device cpu:0, seed 5\n" in out


def test_without_options(tmp_path: Path) -> None:
    code, out = run(tmp_path)
    assert code == 0
    assert "agog: device each test's own choice, seed " in out


def test_failure_prints_the_seed_that_repeats_it(tmp_path: Path) -> None:
    code, first = run(tmp_path, passes=False)
    assert code == 1
    option = next(word for word in first.split() if word.startswith("--agog-seed="))
    _, second = run(tmp_path, option, passes=False)
    drawn = [line for line in first.splitlines() if line.startswith("drawn:")]
    assert len(drawn) == 1
    assert drawn[0] in second.splitlines()


def test_unknown_device(tmp_path: Path) -> None:
    code, out = run(tmp_path, "--agog-device=cpu:7")
    assert code == 4
    assert "ERROR: --agog-device=cpu:7: /job:localhost/replica:0/task:0/device:CPU:7 unknown device." in out


def test_other_suites_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text("import sys\ndef test(): assert 'agog_core' not in sys.modules\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout
