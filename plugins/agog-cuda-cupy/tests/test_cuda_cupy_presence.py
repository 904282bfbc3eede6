"""What the plugin says where there is no CuPy, no driver or no GPU, and that it is harmless there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from agog_cuda_cupy import presence


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    presence.unavailable.cache_clear()
    yield
    presence.unavailable.cache_clear()


def cupy_that(count: int | Exception) -> ModuleType:
    """A module with which CUDA shows so many GPUs, or raises."""
    cupy = ModuleType("cupy")

    def get_device_count() -> int:
        if isinstance(count, Exception):
            raise count
        return count

    cupy.cuda = ModuleType("cupy.cuda")  # type: ignore[attr-defined]
    cupy.cuda.runtime = ModuleType("cupy.cuda.runtime")
    cupy.cuda.runtime.getDeviceCount = get_device_count
    return cupy


def test_missing_cupy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setattr(presence, "find_spec", lambda name: None)
    assert presence.unavailable() == (
        "cupy is not installed: pip install agog-cuda-cupy[cuda12], or [cuda13] for a driver of CUDA 13"
    )
    assert presence.device_count() == 0


def test_broken_cupy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    said = presence.unavailable()
    assert said is not None
    assert said.startswith("cupy cannot be imported: ")


def test_missing_driver_is_said_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version"
    monkeypatch.setitem(sys.modules, "cupy", cupy_that(RuntimeError(words)))
    assert presence.unavailable() == f"CUDA says: {words}"
    assert presence.device_count() == 0


def test_missing_gpu_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", cupy_that(0))
    assert presence.unavailable() == "CUDA finds no GPU"


def test_gpus_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", cupy_that(4))
    assert presence.unavailable() is None
    assert presence.device_count() == 4


PROGRAM = """
import sys
import agog_core as ag
print(float(ag.square(ag.constant(3.0))), "cupy" in sys.modules)
"""


def test_agog_imports_no_cupy_to_compute_on_the_cpu() -> None:
    code = f"import sys; sys.modules['cupy'] = None\n{PROGRAM}"  # importing it would raise
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == "9.0"
    assert done.stderr == ""
