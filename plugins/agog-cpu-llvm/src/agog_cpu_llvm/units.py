"""Units: modules of compiled functions, compiled once for a processor and kept on disk for the next process.

Families of kernels write theirs in ``kernels/*_code.py``. These files, and `tiles` and llvmlite, by which they do so,
are imported only where something has to be compiled.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import struct
from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from importlib import import_module
from threading import RLock
from typing import Any

import numpy as np

from agog_cpu_llvm import disk, image, processor
from agog_cpu_llvm.registers import Register, register

_PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
# The entries of the units of this process, by name, dtype and register; written under the lock.
_units: dict[Hashable, Mapping[str, int]] = {}
# The engines that hold machine code which is no image, for as long as the process lives.
_engines: list[Any] = []
# Held while a unit is compiled or loaded, and while a process forks.
_lock = RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)

Write = Callable[..., object]


def compiled(family: str, dtype: str, **options: int) -> Mapping[str, int]:
    """The addresses of a family's entries, by their names; a call is for `team.run`, or for `call`.

    Args:
        family: its file is ``kernels/<family>_code.py``, which has ``write(module, dtype, lanes, **options)``.
        dtype: of the arrays.
        options: what the code depends on beside the dtype.
    """
    name = family, *options.items()
    found = _units.get((name, dtype, register(dtype)))
    return unit(name, partial(_write, family, options), dtype) if found is None else found


def unit(name: Hashable, write: Write, dtype: str, given: Register | None = None) -> Mapping[str, int]:
    """The addresses of the entries that ``write(module, dtype, lanes)`` writes, by their names.

    Args:
        name: of the unit; no other one has it.
        write: writes the functions, where they are not on disk.
        dtype: of the arrays.
        given: the lanes, where they are not those of the processor's widest registers.
    """
    wide = given or register(dtype)
    key = name, dtype, wide
    with _lock:
        found = _units.get(key)
        if found is None:
            found = _units[key] = loaded(repr(key), partial(_assembled, write, dtype, wide))
    return found


def loaded(name: str, assemble: Callable[[], tuple[Sequence[str], bytes]]) -> Mapping[str, int]:
    """The addresses of functions by their names, in the object file that is on disk under a name.

    Where it is not, ``assemble`` gives the names and the object file, which depend on the plugin's sources alone.
    """
    key = hashlib.sha256(f"{processor.identity()}\n{name}".encode()).hexdigest()
    with _lock:
        if (kept := disk.read(key)) is None:
            kept = _kept(*assemble())
            disk.write(key, kept)
        head, _, code = kept.partition(b"\n")
        kind, *names = head.decode().split()
        if kind == "image":
            start = image.mapped(code)
            return {name: start + int(place) for name, _, place in (each.partition("=") for each in names)}
        from agog_cpu_llvm import machine

        engine = machine.engine(code)
        _engines.append(engine)
        return {name: engine.get_function_address(name) for name in names}


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


def _kept(names: Sequence[str], code: bytes) -> bytes:
    """What is kept of an object file: a line of names, and machine code."""
    if image.IS_KNOWN and (found := image.linked(code)):
        code, places = found
        return " ".join(["image", *[f"{name}={places[name]}" for name in names]]).encode() + b"\n" + code
    return " ".join(["object", *names]).encode() + b"\n" + code


def _write(family: str, options: Mapping[str, int], module: Any, dtype: str, lanes: Any) -> None:
    import_module(f"agog_cpu_llvm.kernels.{family}_code").write(module, dtype, lanes, **options)


def _assembled(write: Write, dtype: str, wide: Register) -> tuple[Sequence[str], bytes]:
    from llvmlite import ir

    from agog_cpu_llvm import machine
    from agog_cpu_llvm.tiles import Lanes

    module = ir.Module("unit")
    write(module, dtype, Lanes(wide.count, wide.is_double))
    names = [each.name for each in module.functions if not each.is_declaration and each.linkage != "internal"]
    code = machine.assemble(str(module), optimize=False, is_movable=image.IS_KNOWN)
    machine.dissolve(module)
    return names, code
