"""Unit: the functions of a kernel's module, compiled once for a processor and kept on disk for the next process."""

from __future__ import annotations

import ctypes
import hashlib
import struct
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from agog_cpu_llvm import disk, machine
from agog_cpu_llvm.tiles.vectors import Lanes

__all__ = ["bits", "call", "compiled", "lanes"]

_PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
# The units of this process, by name, dtype and lanes; written under the lock of LLVM.
_units: dict[tuple[str, str, Lanes], Mapping[str, int]] = {}
# The engines that hold the machine code of units, for as long as the process lives.
_engines: list[Any] = []


def lanes(dtype: str) -> Lanes:
    """The lanes of this processor's widest registers for a dtype, which is computed in float64 or in float32."""
    is_double = dtype == "float64"
    return Lanes(machine.register_bytes() // (8 if is_double else 4), is_double)


def compiled(
    name: str, write: Callable[[ir.Module, str, Lanes], object], dtype: str, given: Lanes | None = None
) -> Mapping[str, int]:
    """The addresses of a module's entries, by their names; a call is for `team.run`, or for `call`.

    Args:
        name: of the family of kernels.
        write: ``write(module, dtype, lanes)`` writes its functions; one for each name.
        dtype: of the arrays.
        given: the lanes, where they are not those of the processor's registers.
    """
    wide = given or lanes(dtype)
    found = _units.get((name, dtype, wide))
    if found is None:
        with machine.lock:
            found = _units.get((name, dtype, wide))
            if found is None:
                found = _units[name, dtype, wide] = _load(name, write, dtype, wide)
    return found


def call(address: int, words: Sequence[int], scratch: int = 0) -> None:
    """Call an entry in this thread alone, with so many bytes of scratch memory; it gives up the GIL."""
    given = array("q", (0, *words))
    memory = np.empty(scratch + 64, np.uint8)
    place = memory.ctypes.data
    _PROTOTYPE(address)(given.buffer_info()[0], place + -place % 64)


def bits(number: float) -> int:
    """A number as the word of an entry's parameter of kind ``"float64"``."""
    (word,) = struct.unpack("q", struct.pack("d", number))
    return int(word)


def _load(name: str, write: Callable[[ir.Module, str, Lanes], object], dtype: str, wide: Lanes) -> Mapping[str, int]:
    key = hashlib.sha256(repr((machine.identity(), name, dtype, wide)).encode()).hexdigest()
    if (kept := disk.read(key)) is None:
        module = ir.Module(name)
        write(module, dtype, wide)
        names = [each.name for each in module.functions if not each.is_declaration and each.linkage != "internal"]
        kept = " ".join(names).encode() + b"\n" + machine.assemble(str(module), optimize=False)
        machine.dissolve(module)
        disk.write(key, kept)
    head, _, code = kept.partition(b"\n")
    engine = machine.engine(code)
    _engines.append(engine)
    return {each: engine.get_function_address(each) for each in head.decode().split()}
