"""Packing: rows of matrices copied, or made columns, into places where tiles read them."""

from __future__ import annotations

from llvmlite import ir

from agog_cpu_llvm.tiles import Function, Lanes, transposed


def copies(module: ir.Module, name: str, lanes: Lanes, dtype: str, other: str) -> Function:
    """Rows of some columns to rows of another pitch and dtype; nothing is written beside them."""
    function = Function(module, name, **between(dtype, other), target_pitch="index")
    code = function.code
    source, pitch, rows, columns, target, target_pitch = function.parameters
    whole = columns // lanes.count * lanes.count
    mask = lanes.first(columns - whole)
    with code.loop(0, rows, 1, [source, target]) as row:
        one, another = row.carried
        with code.loop(0, whole, lanes.count, may_be_empty=True) as column:
            lanes.store(lanes.load(one + column.index), another + column.index)
        with code.when(whole < columns):
            lanes.store(lanes.load(one + whole, mask), another + whole, mask)
        row.carry(one + pitch, another + target_pitch)
    function.end()
    return function


def transposes(module: ir.Module, lanes: Lanes, dtype: str) -> Function:
    """Rows of some columns to columns, in whole squares of as many as there are lanes."""
    function = Function(module, "transpose", **between(dtype, lanes.dtype), target_pitch="index")
    code = function.code
    source, pitch, rows, columns, target, target_pitch = function.parameters
    with code.loop(0, rows, lanes.count) as row, code.loop(0, columns, lanes.count) as column:
        mask = lanes.first(columns - column.index)
        places = [source + ((row.index + n).least(rows - 1) * pitch + column.index) for n in range(lanes.count)]
        there = target + (column.index * target_pitch + row.index)
        for vector in transposed([lanes.load(place, mask) for place in places]):
            lanes.store(vector, there)
            there = there + target_pitch
    function.end()
    return function


def between(dtype: str, other: str) -> dict[str, str]:
    """The parameters of functions that copy rows and columns to elements of another dtype."""
    return {"source": f"*{dtype}", "pitch": "index", "rows": "index", "columns": "index", "target": f"*{other}"}
