"""The tests that take a stand-in for CuPy, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "on_numpy"


@pytest.mark.parametrize("file", sorted(FOLDER.glob("test_*.py")), ids=lambda file: file.stem)
def test_file_passes_with_cupy_on_numpy(file: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", str(file)]
    environment = os.environ | {"AGOG_CUPY": "numpy"}
    done = subprocess.run([*command, "-W", "error"], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    print(f"cupy-on-numpy: {done.stdout.splitlines()[-1]}")
