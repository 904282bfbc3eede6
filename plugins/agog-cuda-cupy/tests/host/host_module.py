"""Host module: the kernels of a CUDA C source on the host, for tests; what `cupy.RawModule` is on a device.

The host's C++ compiler builds the source with ``cuda_on_host.h``, which stands beside this file.
"""

from __future__ import annotations

import ctypes
import hashlib
import mmap
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

COMPILER = shutil.which(os.environ.get("CXX", "g++"))
_HERE = Path(__file__).parent
_BUILT = Path(tempfile.gettempdir()) / f"agog-cuda-on-host-{os.getuid() if hasattr(os, 'getuid') else 0}"
_KERNEL = re.compile(r'extern "C" __global__ void(?:\s+__launch_bounds__\([^)]*\))?\s+(\w+)\s*\(([^)]*)\)')
# Numbers of Python as a device's launch takes them.
_NUMBERS: dict[type, Any] = {bool: np.bool_, int: np.int64, float: np.float64}


_one_at_a_time = threading.Lock()  # a library's threads and its signals' handlers are the process's
_building = threading.Lock()


class _Unwritten:
    """NumPy, where memory that nobody has written never holds by luck what a kernel should write: it is all ones."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def empty(self, shape: int | tuple[int, ...], dtype: Any = "float64") -> Array:
        """Memory for an array: NaN, or -1."""
        array = np.empty(shape, dtype)
        array.reshape(-1).view("u1")[...] = 0xFF
        return array


UNWRITTEN: Any = _Unwritten()


class LaunchError(RuntimeError):
    """What a kernel has done wrong, with its block and thread."""


class HostModule:
    """The kernels of one source.

    Args:
        code: the source.
        options: those of NVRTC; definitions and folders of headers are the compiler's, and others are left out.
        is_fused: let the compiler fuse products and sums, as NVRTC does unless told otherwise. A kernel whose bits are
            promised gives the same ones either way.
    """

    def __init__(self, code: str, options: Sequence[str] = (), *, is_fused: bool = False) -> None:
        self._parameters = {name: parameters.split(",") for name, parameters in _KERNEL.findall(code)}
        with _building:
            self._library = ctypes.CDLL(str(_built(code, [*self._parameters], tuple(options), is_fused)))

    def get_function(self, name: str) -> HostKernel:
        """The kernel of a name."""
        if name not in self._parameters:
            raise AttributeError(f"The source has no kernel {name!r}; it has {', '.join(self._parameters)}.")
        is_written = ["const" not in parameter for parameter in self._parameters[name]]
        return HostKernel(name, self._library[f"launch_{name}"], is_written)


def _built(code: str, names: list[str], options: tuple[str, ...], is_fused: bool) -> Path:
    """The library of a source, which is built once for each text of it and of its headers."""
    folders = [Path(option.partition("=")[2]) for option in options if option.startswith("--include-path=")]
    definitions = [option for option in options if option.startswith("-D")]
    # GCC fuses among its expensive optimizations only.
    arithmetic = ["-ffp-contract=fast", "-mfma", "-fexpensive-optimizations"] if is_fused else ["-ffp-contract=off"]
    command = [
        *(str(COMPILER), "-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-Wl,-Bsymbolic", *arithmetic, *definitions),
        *(f"-I{folder}" for folder in (*folders, _HERE)),
        *("-x", "c++", "-"),
    ]
    headers = [header.read_bytes() for folder in (*folders, _HERE) for header in sorted(folder.glob("*.*h"))]
    text = '#include "cuda_on_host.h"\n#line 1 "kernels.cu"\n' + code
    text += "\n" + "".join(f"AGOG_ON_HOST({name})\n" for name in names)
    key = hashlib.sha256(b"".join([text.encode(), repr(command).encode(), *headers])).hexdigest()[:24]
    _BUILT.mkdir(exist_ok=True)
    library = _BUILT / f"{key}.so"
    if not library.exists():
        # In a folder of its own, and then at once to where all processes look: who loads a part of a library crashes.
        with tempfile.TemporaryDirectory(dir=_BUILT) as folder:
            made = Path(folder) / library.name
            subprocess.run([*command, "-o", str(made)], input=text.encode(), check=True)
            made.rename(library)
    return library


class HostKernel:
    """One kernel, called as CuPy calls one: ``kernel(grid, block, arguments)``."""

    order = 0
    """In which threads and blocks run: 0 forward, 1 backward, more at random.

    All threads take turns in the even orders; in the odd ones each warp goes on as far as it gets.
    """

    def __init__(self, name: str, function: Any, is_written: Sequence[bool]) -> None:
        self._name, self._function, self._is_written = name, function, is_written
        function.argtypes = _LAUNCH

    def __call__(
        self, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any], *, order: int | None = None
    ) -> None:
        """Run the kernel.

        Each array lies against a page that nobody may touch: behind it, and in the odd orders before it.

        Args:
            grid: the blocks along each axis.
            block: the threads along each axis.
            arguments: arrays, whose addresses are passed, and numbers and structures, which are passed by value.
            order: see `HostKernel.order`.

        Raises:
            LaunchError: the kernel has failed.
        """
        order = HostKernel.order if order is None else order
        copies = {id(a): guarded(a, is_first=bool(order % 2)) for a in arguments if isinstance(a, np.ndarray)}
        slots = [
            np.array(_address(copies[id(argument)]) if id(argument) in copies else _by_value(argument))
            for argument in arguments
        ]
        # Tables of NumPy's: each number of them would be a type of its own for ctypes.
        pointers = np.array([_address(slot) for slot in slots], np.uintp)
        bytes_of = np.array([slot.nbytes for slot in slots], np.uintp)
        sizes = [np.array((*size, 1, 1)[:3], np.uintc) for size in (grid, block)]
        error = np.zeros(512, np.uint8)
        given = *map(_address, (*sizes, pointers, bytes_of)), len(slots), order, order, _address(error), error.size
        with _one_at_a_time:
            status = self._function(*given)
        # What the kernel only reads may have been written by another thread meanwhile.
        for argument, is_written in zip(arguments, self._is_written, strict=False):
            if is_written and id(argument) in copies:
                argument[...] = copies[id(argument)]
        if status:
            raise LaunchError(f"{self._name}: {error.tobytes().partition(bytes(1))[0].decode()}")


def _by_value(argument: Any) -> Any:
    """A number or a structure as NumPy has it."""
    return _NUMBERS.get(type(argument), lambda value: value)(argument)


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def guarded(array: Array, *, is_first: bool = False) -> Array:
    """A copy of an array between two pages that nobody may touch: against the second, or against the first."""
    if not array.flags.c_contiguous:
        raise TypeError(f"A kernel takes arrays that lie in one piece; got strides {array.strides}.")
    page = mmap.PAGESIZE
    room = -(-max(array.nbytes, 1) // page) * page
    memory = np.frombuffer(mmap.mmap(-1, room + 2 * page), np.uint8)
    for start in (0, page + room):
        if _libc.mprotect(ctypes.c_void_p(memory.ctypes.data + start), ctypes.c_size_t(page), _NO_ACCESS):
            raise OSError(ctypes.get_errno(), "mprotect has failed")
    start = page if is_first else page + room - array.nbytes
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


_LAUNCH = (*[ctypes.c_void_p] * 4, ctypes.c_int, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p, ctypes.c_size_t)
_NO_ACCESS = 0  # PROT_NONE of <sys/mman.h>
_libc = ctypes.CDLL(None, use_errno=True)
