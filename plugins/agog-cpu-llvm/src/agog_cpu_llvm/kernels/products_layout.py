"""Products layout: where a turn's copies of both operands and its sums lie in scratch memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from agog_cpu_llvm.registers import Register, widest

if TYPE_CHECKING:
    from agog_cpu_llvm.tiles import Index

Size = TypeVar("Size", int, "Index")

DEPTH = 256
"""Products that are summed in registers at most; their sums are added up, which rounds less than one long sum."""

PITCH = DEPTH + 16
"""Elements from one row of the left block to the next."""

GAP = 48
"""Elements between panels, which so begin at different lines of the cache."""


def scratch_bytes(register: Register, block_rows: int, block_columns: int) -> int:
    """Bytes of scratch memory for a block."""
    _, _, bias = places(register, block_rows, block_columns)
    return (bias + block_columns + panel_width(register)) * register.itemsize


def panel_width(register: Register) -> int:
    """Columns of a panel."""
    return widest(register) * register.count


def places(register: Register, rows: Size, columns: Size) -> tuple[Size, Size, Size]:
    """Where the right panels, sums and the bias are in the scratch memory, behind the left block; in elements."""
    width = panel_width(register)
    panels = (columns + (width - 1)) // width
    right = (rows + (register.count - 1)) // register.count * (register.count * PITCH)
    sums = right + panels * (DEPTH * width + GAP)
    return right, sums, sums + panels * rows * width
