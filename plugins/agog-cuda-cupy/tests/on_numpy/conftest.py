"""The stand-in for CuPy comes first on the path, before anything asks for CuPy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "standin"))

import cupy
from cupy_on_numpy import counting


@pytest.hookimpl(trylast=True)
def pytest_report_header() -> str:
    return f"cupy-on-numpy: the surface of CuPy {cupy.__version__}, on NumPy; nothing here has run on a GPU"


@pytest.fixture(autouse=True)
def _count_from_zero() -> Iterator[None]:
    counting.reset()
    yield
    counting.reset()
