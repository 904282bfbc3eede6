"""A driver without GPUs, which cuDNN's libraries link to; no driver is needed to plan for a GPU that is described."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest

# What the libraries of cuDNN 9 want of libcuda.so.1 when they are loaded.
_FUNCTIONS = (
    "cuGetErrorString",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuTensorMapEncodeIm2col",
    "cuTensorMapEncodeTiled",
)
_NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE


@pytest.fixture(scope="session", autouse=True)
def _driver(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Load the machine's driver, or one whose functions say that there is no device."""
    try:
        ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
    except OSError:
        library = _build(tmp_path_factory.mktemp("driver"))
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


def _build(folder: Path) -> Path:
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None:
        pytest.skip("there is no driver, and no C++ compiler for one: neither $CXX nor g++ is there")
    source, library = folder / "driver.cpp", folder / "libcuda.so.1"
    source.write_text("".join(f'extern "C" int {name}() {{ return {_NO_DEVICE}; }}\n' for name in _FUNCTIONS))
    subprocess.run([compiler, "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", library, source], check=True)
    return library
