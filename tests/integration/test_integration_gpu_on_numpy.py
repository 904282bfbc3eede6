"""The device gpu in programs: the tests of GPUs, on the stand-in for CuPy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STANDIN = ROOT / "plugins" / "agog-cuda-cupy" / "tests" / "standin"


def run(*command: str, folder: Path) -> str:
    """What a Python program prints, in a process in which the stand-in has CuPy's place."""
    environment = os.environ | {"PYTHONPATH": str(STANDIN)}
    done = subprocess.run([sys.executable, *command], env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# Two examples launch for minutes on the stand-in, where `nox -s gpu_without_gpu` runs them too; NCCL needs two cards.
CHOSEN = "not cnn_lstm and not char_rnn and not each_card"


# cuDNN computes on a card alone.
FILES = sorted({*(ROOT / "tests" / "gpu").glob("test_*.py")} - {ROOT / "tests" / "gpu" / "test_gpu_cudnn.py"})


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_tests_of_gpus_pass(file: Path, tmp_path: Path) -> None:
    options = ("-q", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"), f"--rootdir={ROOT}", "-k", CHOSEN)
    shown = run("-m", "pytest", *options, str(file), folder=tmp_path)
    assert "skipped" not in shown
    print(f"cupy-on-numpy: {shown.splitlines()[-1]}")


def test_speeds_are_measured(tmp_path: Path) -> None:
    run(str(ROOT / "tests" / "gpu" / "speeds.py"), "speeds.json", "--times", "1", "--repeats", "1", folder=tmp_path)
    assert '"card": "cupy-on-numpy, no card"' in (tmp_path / "speeds.json").read_text()
