"""CUDA modules: what `cupy.cuda.compiler` and `cupy.cuda.function` are here: sources in CUDA C, compiled for the host,
and their launches, which are counted.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cupy_on_numpy.arrays import memory_of, ndarray
from cupy_on_numpy.counting import launch
from cupy_on_numpy.cuda_devices import current

sys.path.append(str(Path(__file__).parents[2] / "host"))

import host_module
from host_module import COMPILER, HostKernel, HostModule

__all__ = ["COMPILER", "Function", "Module", "compile_using_nvrtc"]

# A user's own CuPy keeps what it compiles elsewhere.
os.environ["CUPY_CACHE_DIR"] = str(host_module._BUILT)
# Held by the kernel that runs: on the host all share the memory that is a block's.
_running = threading.Lock()


def compile_using_nvrtc(source: str, options: tuple[str, ...] = ()) -> tuple[bytes, None]:
    """What `Module.load` takes: here the source still, with its options; and no names."""
    return json.dumps({"code": source, "options": options}).encode(), None


class Module:
    """The kernels of a source, for the device that is set when it is loaded."""

    def load(self, cubin: bytes) -> None:
        """Take what `compile_using_nvrtc` gave."""
        self._module = HostModule(**json.loads(cubin))
        self._index = current()

    def get_function(self, name: str) -> Function:
        """The kernel of a name."""
        return Function(name, self._module.get_function(name), self._index)


class Function:
    """One kernel; its arrays are those of its device."""

    def __init__(self, name: str, kernel: HostKernel, index: int) -> None:
        self._name, self._kernel, self._index = name, kernel, index

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], args: Sequence[Any]) -> None:
        """Run the kernel."""
        if type(grid) is not tuple or type(block) is not tuple:
            raise TypeError(f"grid and block must be tuples; got {grid!r} and {block!r}")
        if current() != self._index:
            raise ValueError(f"a kernel of device {self._index} is launched on device {current()}")
        launch(self._name)
        with _running:
            self._kernel(grid, block, [memory_of(each) if isinstance(each, ndarray) else each for each in args])
