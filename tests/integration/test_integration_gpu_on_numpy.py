"""The device gpu in programs, on the stand-in for CuPy: the tests of GPUs, and the examples with ``--device gpu``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STANDIN = ROOT / "plugins" / "agog-cuda-cupy" / "tests" / "standin"
# Program to its arguments.
EXAMPLES = {
    "linear_regression": ["--steps", "60"],
    "huber": ["--epochs", "1"],
    "mlp": ["--epochs", "1"],
    "fit": ["--epochs", "1"],
    "cnn": ["--epochs", "0"],
    "cnn_lstm": ["--epochs", "0"],
    "gan": ["--steps", "2"],
    "char_rnn": ["--steps", "1", "--units", "8", "--length", "8"],
    "transformer": ["--steps", "1"],
    "mnist": ["--epochs", "1"],
}


def run(*command: str, folder: Path) -> str:
    """What a Python program prints, in a process in which the stand-in has CuPy's place."""
    environment = os.environ | {"PYTHONPATH": str(STANDIN)}
    done = subprocess.run([sys.executable, *command], env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def numbers(text: str) -> list[float]:
    """All numbers in a text."""
    return [float(number) for number in re.findall(r"-?\d+\.\d+", text)]


def test_tests_of_gpus_pass(tmp_path: Path) -> None:
    options = ("-q", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"), f"--rootdir={ROOT}")
    shown = run("-m", "pytest", *options, str(ROOT / "tests" / "gpu"), folder=tmp_path)
    assert "skipped" not in shown
    print(f"cupy-on-numpy: {shown.splitlines()[-1]}")


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_on_a_gpu_prints_what_it_prints_on_the_cpu(name: str, tmp_path: Path) -> None:
    program = str(ROOT / "examples" / f"{name}.py")
    shown = []
    for device in ("cpu", "gpu"):
        (tmp_path / device).mkdir()
        shown.append(run(program, *EXAMPLES[name], "--device", device, folder=tmp_path / device))
    assert numbers(shown[1]) == pytest.approx(numbers(shown[0]), rel=0.02, abs=0.02)


def test_speeds_are_measured(tmp_path: Path) -> None:
    run(str(ROOT / "tests" / "gpu" / "speeds.py"), "speeds.json", "--times", "1", "--repeats", "1", folder=tmp_path)
    assert '"card": "cupy-on-numpy, no card"' in (tmp_path / "speeds.json").read_text()
