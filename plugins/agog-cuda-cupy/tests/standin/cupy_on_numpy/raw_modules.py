"""Raw modules: what `cupy.RawModule` is here: the sources in CUDA C, compiled for the host, their launches counted."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cupy_on_numpy.arrays import memory_of, ndarray
from cupy_on_numpy.counting import launch
from cupy_on_numpy.cuda_devices import current

sys.path.append(str(Path(__file__).parents[2] / "host"))

from host_module import COMPILER, HostKernel, HostModule

__all__ = ["COMPILER", "RawKernel", "RawModule"]


# Held by the kernel that runs: on the host all share the memory that is a block's.
_running = threading.Lock()


class RawModule:
    """The kernels of a source, for the device that is set when they are first asked for."""

    def __init__(self, *, code: str | None = None, options: Sequence[str] = ()) -> None:
        assert code is not None
        self._module = HostModule(code=code, options=options)
        self._index = current()

    def get_function(self, name: str) -> RawKernel:
        """The kernel of a name."""
        return RawKernel(name, self._module.get_function(name), self._index)


class RawKernel:
    """One kernel; its arrays are those of its device."""

    def __init__(self, name: str, kernel: HostKernel, index: int) -> None:
        self._name, self._kernel, self._index = name, kernel, index

    def __call__(self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any]) -> None:
        """Run the kernel."""
        if current() != self._index:
            raise ValueError(f"a kernel of device {self._index} is launched on device {current()}")
        launch(self._name)
        with _running:
            self._kernel(grid, block, [memory_of(each) if isinstance(each, ndarray) else each for each in args])
