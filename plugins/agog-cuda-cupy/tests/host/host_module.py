"""Host module: the kernels of a CUDA C source on the host, for tests; what `cupy.RawModule` is on a device.

The host's C++ compiler builds the source with ``cuda_on_host.h``, which stands beside this file.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from guarded_memory import Array, address_of, guarded_for_a_while

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
    # Wherever the headers lie: each installation would compile all sources again.
    how = repr([part for part in command if not part.startswith("-I")])
    key = hashlib.sha256(b"".join([text.encode(), how.encode(), *headers])).hexdigest()[:24]
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
        arrays = list({id(argument): argument for argument in arguments if isinstance(argument, np.ndarray)}.values())
        with guarded_for_a_while(arrays, is_first=bool(order % 2)) as copies:
            copy_of = {id(array): copy for array, copy in zip(arrays, copies, strict=True)}
            values = [
                ("p", _pointer(copy_of[id(each)][1])) if id(each) in copy_of else _by_value(each) for each in arguments
            ]
            error = self._run(grid, block, values, order)
            # What the kernel only reads may have been written by another thread meanwhile.
            for argument, is_written in zip(arguments, self._is_written, strict=False):
                if is_written and id(argument) in copy_of:
                    argument[...] = copy_of[id(argument)][0]
        if error:
            raise LaunchError(f"{self._name}: {error}")

    def _run(
        self, grid: Sequence[int], block: Sequence[int], given_values: Sequence[tuple[str, bytes]], order: int
    ) -> str:
        """Run the kernel with values of kinds; returns what it has done wrong, if anything."""
        kinds, values = "".join(kind for kind, _ in given_values).encode(), [value for _, value in given_values]
        # All in one piece, each where any type may lie.
        pieces = [value.ljust(-(-len(value) // _ALIGNED) * _ALIGNED) for value in values]
        piece = np.array(bytearray(b"".join(pieces)), np.uint8)
        pointers = np.array([*accumulate(map(len, pieces), initial=address_of(piece))], np.uintp)
        bytes_of = np.array([*map(len, values)], np.uintp)
        sizes = [np.array((*size, 1, 1)[:3], np.uintc) for size in (grid, block)]
        error = _Message()
        given = *map(address_of, (*sizes, pointers, bytes_of)), kinds, len(values), order, order, error, len(error)
        with _one_at_a_time:
            status = self._function(*given)
        return error.value.decode() if status else ""


class HostWords:
    """Error words, each an array of its own."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Any, Callable[..., None]]] = []

    def take(self) -> Any:
        """A word in which all bits are set."""
        self._last = np.full((), (1 << 64) - 1, "uint64")
        return self._last

    def watch(self, look: Callable[..., None]) -> None:
        """Have the last word looked at by `HostModules.errors`."""
        self.waiting.append((self._last, look))


def _pointer(address: int) -> bytes:
    return address.to_bytes(_POINTER, sys.byteorder)


def _by_value(argument: Any) -> tuple[str, bytes]:
    """The kind of a number or a structure, and its bytes as they lie in memory."""
    number = _NUMBERS.get(type(argument))
    value = np.asarray(argument if number is None else number(argument))
    return value.dtype.kind, value.tobytes()


_LAUNCH = (
    *[ctypes.c_void_p] * 4,
    ctypes.c_char_p,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_uint,
    ctypes.c_void_p,
    ctypes.c_size_t,
)
_Message = ctypes.c_char * 512  # a type, which would be garbage where each launch makes its own
_POINTER = ctypes.sizeof(ctypes.c_void_p)
_ALIGNED = 16  # bytes, as of what malloc gives
