"""Image: machine code as it lies in memory, which a process maps without LLVM.

The code and the constants of a unit refer to each other by distances alone, so they are put together once, after LLVM
has compiled them to an object file. Its format is ELF, https://gabi.xinuos.com, with the relocations of
https://gitlab.com/x86-psABIs/x86-64-ABI. Object files of other systems are for LLVM to load.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from itertools import takewhile
from struct import Struct, pack_into
from typing import NamedTuple

IS_KNOWN = sys.platform == "linux" and platform.machine() == "x86_64"
"""Whether `linked` reads object files of this system."""

_HEADER = Struct("<40xQ10xHH")  # where the headers of sections begin, the size of one, and how many there are
_SECTION = Struct("<4xIQ8xQQIIQ8x")
_SYMBOL = Struct("<IBxHQ8x")
_RELOCATION = Struct("<QIIq")  # offset, kind, number of the symbol, addend
_CONTENT, _SYMBOLS, _RELOCATIONS, _ZEROS = 1, 2, 4, 8  # kinds of sections
_WRITABLE, _LOADED = 1, 2  # flags of sections
_DISTANCES = (2, 4)  # R_X86_64_PC32, and R_X86_64_PLT32 for calls
_GLOBAL_FUNCTION = 0x12

# What is mapped, for as long as the process lives.
_mapped: list[mmap.mmap] = []


class _Section(NamedTuple):
    kind: int
    flags: int
    offset: int
    size: int
    link: int  # the number of a section that belongs to it: of symbols, their names; of relocations, the symbols
    target: int  # the number of the section that relocations are for
    alignment: int


class _Symbol(NamedTuple):
    name: int  # where it begins
    kind: int
    section: int
    offset: int


def linked(file: bytes) -> tuple[bytes, Mapping[str, int]] | None:
    """The image of an object file, and where its functions begin; None where it needs what is outside of it."""
    begin, size, count = _HEADER.unpack_from(file)
    sections = [_Section(*_SECTION.unpack_from(file, begin + n * size)) for n in range(count)]
    image, places = bytearray(), dict[int, int]()
    for number, section in enumerate(sections):
        if not section.flags & _LOADED:
            continue
        if section.flags & _WRITABLE or section.kind == _ZEROS:
            return None
        if section.kind == _CONTENT:
            image += bytes(-len(image) % section.alignment)
            places[number] = len(image)
            image += _content(file, section)
    for section in sections:
        if section.kind != _RELOCATIONS or section.target not in places:
            continue
        symbols = list(_symbols(file, sections[section.link]))
        for offset, kind, number, addend in _RELOCATION.iter_unpack(_content(file, section)):
            symbol, place = symbols[number], places[section.target] + offset
            if kind not in _DISTANCES or symbol.section not in places:
                return None
            pack_into("<i", image, place, places[symbol.section] + symbol.offset + addend - place)
    (table,) = (section for section in sections if section.kind == _SYMBOLS)
    names = _content(file, sections[table.link])
    return bytes(image), {
        bytes(takewhile(bool, names[symbol.name :])).decode(): places[symbol.section] + symbol.offset
        for symbol in _symbols(file, table)
        if symbol.kind == _GLOBAL_FUNCTION and symbol.section in places
    }


def mapped(image: bytes) -> int:
    """The address at which an image can be called.

    Raises:
        OSError: the system does not let memory be executed that was written.
    """
    memory = mmap.mmap(-1, len(image), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE)
    memory[:] = image
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    if protect(ctypes.c_void_p(address), ctypes.c_size_t(len(image)), mmap.PROT_READ | mmap.PROT_EXEC):
        number = ctypes.get_errno()
        raise OSError(number, f"compiled code cannot be executed: {os.strerror(number)}")
    _mapped.append(memory)
    return address


def _content(file: bytes, section: _Section) -> bytes:
    return file[section.offset : section.offset + section.size]


def _symbols(file: bytes, section: _Section) -> Iterator[_Symbol]:
    return (_Symbol(*fields) for fields in _SYMBOL.iter_unpack(_content(file, section)))
