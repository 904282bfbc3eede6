"""Modules: compiled CUDA C sources, one for each source and set of definitions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from agog_core.plugin import InvalidArgumentError

Array = Any
FOLDER = Path(__file__).parent

_ELEMENTS = {"float16": "half_t", "bfloat16": "bfloat_t", "float32": "float", "float64": "double"}
ITEMS = {1: "u8", 2: "u16", 4: "u32", 8: "u64", 16: "item16_t"}
"""The types of items.cuh by their sizes."""
INDEXES = {"int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64"}
THREADS = 128
MOST = (1 << 31) - 1024
"""The most elements that kernels count with an i32; a launch has some more threads."""


class Modules:
    """What compiles the sources and launches their kernels.

    Args:
        xp: the array library.
        compile: makes a module of ``code=`` and ``options=``, as `agog_cuda_cupy.compiling.compile` does.
        address: the address of an array's first element.
        words: the error words of the device, as `agog_cuda_cupy.value_checks.ErrorWords` has them.
    """

    def __init__(self, xp: Any, compile: Callable[..., Any], address: Callable[[Array], int], words: Any) -> None:
        self.xp, self.address, self._words = xp, address, words
        self._compile = compile
        self._modules: dict[tuple[Any, ...], Any] = {}
        self._kernels: dict[tuple[Any, ...], Any] = {}

    def kernel(self, source: str, name: str, **definitions: str) -> Any:
        """A kernel of a source, called with a grid, a block and arguments."""
        key = source, name, *definitions.items()
        try:
            return self._kernels[key]
        except KeyError:
            self._kernels[key] = kernel = self._module(source, definitions).get_function(name)
            return kernel

    def _module(self, source: str, definitions: dict[str, str]) -> Any:
        key = source, *definitions.items()
        if key not in self._modules:
            options = ("-std=c++17", f"--include-path={FOLDER}", *(f"-D{k}={v}" for k, v in definitions.items()))
            self._modules[key] = self._compile(code=(FOLDER / f"{source}.cu").read_text(), options=options)
        return self._modules[key]

    def launch(self, kernel: Any, threads: int, *arguments: Any) -> None:
        """Launch a kernel with at least as many threads along one axis; with none of them nothing is launched."""
        if threads:
            kernel((-(-threads // THREADS),), (THREADS,), arguments)

    def error_word(self) -> Array:
        """The word that a kernel lowers where it meets a wrong value."""
        return self._words.take()

    def check(self, describe: Callable[[int, int], str]) -> None:
        """Have the last word looked at later, behind its kernel; a position and a value make the error's sentence."""

        def look(number: Any) -> None:
            parts = parts_of_error(int(number))
            if parts is not None:
                raise InvalidArgumentError(describe(*parts))

        self._words.watch(look)


@cache  # a dtype's name takes NumPy microseconds
def element(dtype: Any) -> str | None:
    """The C name of a floating-point dtype; None for other dtypes."""
    return _ELEMENTS.get(dtype.name)


@cache
def number(dtype: Any) -> str | None:
    """The C name of a dtype that kernels add up: floating-point, or the common integers; None for other dtypes."""
    return INDEXES[dtype.name] if dtype.name in ("int32", "int64") else element(dtype)


@cache
def index_type(dtype: Any) -> str | None:
    """The C name of a signed integer dtype; None for other dtypes."""
    return INDEXES.get(dtype.name)


def parts_of_error(word: int) -> tuple[int, int] | None:
    """The position and the value in an error word; None where there was no error."""
    if word == (1 << 64) - 1:
        return None
    value = word & 0xFFFFFFFF
    return word >> 32, value - (1 << 32) if value >> 31 else value
