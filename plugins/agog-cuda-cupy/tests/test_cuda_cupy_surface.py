"""The stand-in's surface is that of a real CuPy, where one is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

STANDIN = Path(__file__).parent / "standin"


@pytest.mark.skipif(find_spec("cupy") is None, reason="CuPy is not installed, so there is nothing to compare with")
def test_surface_is_that_of_the_installed_cupy() -> None:
    code = "import cupy; print(cupy.__version__)"
    version = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    known = json.loads((STANDIN / "cupy_on_numpy" / "cupy_surface.json").read_text())
    if version != known["version"]:
        pytest.skip(f"CuPy {version} is installed, and the surface is that of {known['version']}")
    command = [sys.executable, str(Path(__file__).parent / "take_surface.py")]
    taken = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(taken) == known
