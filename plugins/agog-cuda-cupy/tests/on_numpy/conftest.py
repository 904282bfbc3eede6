"""The stand-in for CuPy comes first on the path, before anything asks for CuPy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "standin"))

import cupy
from cupy_on_numpy import counting, cuda_modules


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a compiler the device's kernels in CUDA C cannot run, on which most of its ops rely."""
    if cuda_modules.COMPILER is None:
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="no C++ compiler is installed: neither $CXX nor g++ is there"))


@pytest.hookimpl(trylast=True)
def pytest_report_header() -> str:
    return f"cupy-on-numpy: the surface of CuPy {cupy.__version__}, on NumPy; nothing here has run on a GPU"


@pytest.fixture(autouse=True)
def _count_from_zero() -> Iterator[None]:
    counting.reset()
    yield
    counting.reset()
