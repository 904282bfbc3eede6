"""Module: a subgraph as LLVM IR, with the function for Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from agog_core.compiler import Subgraph
from agog_cpu_llvm import machine
from agog_cpu_llvm.fusion import operations
from agog_cpu_llvm.fusion.axes import Nest, nest_of
from agog_cpu_llvm.fusion.loops import BYTE, INDEX, POINTER, counting, index
from agog_cpu_llvm.fusion.rows import BLOCK, Rows
from agog_cpu_llvm.fusion.terms import Frame, Kind, frame_of

CONTENTS = 16
"""Where in an array's object the address of its data lies, and in a NumPy scalar's the number."""

LARGE = 1 << 20
"""Operations from which on the GIL is given up, and several threads compute: to wake one takes microseconds."""

LINE = 16
"""Elements of a row that two threads do not share, since they would wait for each other's writes."""

_LOOP_COST = 8  # operations that an inner loop of NumPy takes for one element, about


@dataclass(frozen=True, slots=True)
class Module:
    """What `write` has made of a subgraph.

    Args:
        text: of the module.
        turns: how often the outermost loop of a large one runs; 0 of a small one.
        grain: into parts of what multiples of turns it may be divided; 0 where it may not.
    """

    text: str
    turns: int
    grain: int


def write(subgraph: Subgraph, constants: Sequence[int], name: str) -> Module:
    """A module with the function of a name.

    CPython calls it as ``function(self, arguments, count)``. ``self`` is an array of addresses, that of None and
    those of the data of ``constants``. The arguments are, where the subgraph is a large one, which gives up the GIL,
    the first turn of the outermost loop and the one after the last; then the subgraph's inputs and outputs.
    """
    passed = [*subgraph.inputs, *subgraph.outputs]
    frame = frame_of(subgraph, [*passed, *constants])
    nest = nest_of(frame)
    module = ir.Module("agog")
    numbers = {value for value in subgraph.inputs if not subgraph.values[value].shape}
    kinds = [operations.TYPES[subgraph.values[value].dtype] if value in numbers else POINTER for value in passed]
    fused = ir.Function(
        module, ir.FunctionType(ir.VoidType(), [*kinds, *[POINTER] * len(constants), INDEX, INDEX]), "fused"
    )
    fused.linkage = "internal"
    shared = {value for pair in subgraph.overwrites for value in pair}
    for argument, value in zip(fused.args, [*passed, *constants], strict=False):
        if argument.type == POINTER and value not in shared:
            argument.add_attribute("noalias")
    _write_loops(fused, frame, nest)
    if not subgraph.exact:
        _contract(fused)
    turns = nest.row.size if _is_row_divided(frame, nest) else nest.outer[0].size if nest.outer else 1
    cost = _cost(frame, nest)
    _write_entry(fused, name, kinds, len(constants), None if cost >= LARGE else turns)
    is_divisible = cost >= LARGE and frame.rows == len(frame.shape)
    grain = (BLOCK if not nest.outer else LINE if _is_row_divided(frame, nest) else 1) if is_divisible else 0
    if grain:
        _write_shared(fused, f"{name}_shared", kinds, len(constants))
    text = str(module)
    machine.dissolve(module)
    return Module(text, turns if cost >= LARGE else 0, grain)


def _is_row_divided(frame: Frame, nest: Nest) -> bool:
    """Whether parts of a call have their parts of each row, and not their own rows, as where rows are added up."""
    return frame.rows == len(frame.shape) and (not nest.outer or any(store.reduction for store in frame.stores))


def _write_loops(fused: ir.Function, frame: Frame, nest: Nest) -> None:
    b = ir.IRBuilder(fused.append_basic_block())
    *parameters, first, end = fused.args
    rows = Rows(b, frame, nest, parameters)
    is_row_divided = _is_row_divided(frame, nest)
    row = (first, end) if is_row_divided else (index(0), index(nest.row.size))
    begins = [parameters[parameter] for parameter, _ in nest.numbers]
    turns = [(index(0), index(axis.size)) for axis in nest.outer]
    if turns and not is_row_divided:
        turns[0] = first, end
    rows.begin(begins, *row)
    _write_axes(b, rows, list(zip(nest.outer, turns, strict=True)), begins, row)
    b.ret_void()


def _write_axes(b: ir.IRBuilder, rows: Rows, axes: Any, bases: list[ir.Value], row: tuple[ir.Value, ir.Value]) -> None:
    """The loops over axes, each with its first turn and the one after its last, around that over a row."""
    if not axes:
        rows.write(bases, *row)
        return
    (axis, turns), *inner = axes
    with counting(b, *turns) as turn:
        pairs = zip(bases, axis.steps, strict=True)
        _write_axes(b, rows, inner, [rows.moved(base, turn, step) if step else base for base, step in pairs], row)


def _contract(fused: ir.Function) -> None:
    """Let products be added with one rounding."""
    for block in fused.blocks:
        for instruction in block.instructions:
            if instruction.opname in ("fadd", "fsub", "fmul"):
                instruction.flags.append("contract")


def _write_entry(fused: ir.Function, name: str, kinds: list[ir.Type], constants: int, turns: int | None) -> None:
    """The function that CPython calls: it takes numbers and addresses out of their objects."""
    module = fused.module
    entry = ir.Function(module, ir.FunctionType(POINTER, [POINTER, POINTER, INDEX]), name)
    b = ir.IRBuilder(entry.append_basic_block())
    owner, objects, _ = entry.args
    arguments = _contents(b, objects, 2 if turns is None else 0, kinds)
    none, *addresses = _table(b, b.load(_after(b, owner, CONTENTS), typ=POINTER), constants)
    arguments += addresses
    if turns is None:
        limits = _contents(b, objects, 0, [INDEX, INDEX])
        save = ir.Function(module, ir.FunctionType(POINTER, []), "PyEval_SaveThread")
        restore = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER]), "PyEval_RestoreThread")
        state = b.call(save, [])
        b.call(fused, [*arguments, *limits])
        b.call(restore, [state])
    else:
        b.call(fused, [*arguments, index(0), index(turns)])
    b.call(ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER]), "Py_IncRef"), [none])
    b.ret(none)


def _write_shared(fused: ir.Function, name: str, kinds: list[ir.Type], constants: int) -> None:
    """The function ``(words, scratch)`` that the threads of a team call, and take shares of the turns by.

    The words are the counter, the number of shares, the turns of one and of all, the address of the constants, and
    those of the objects that `_write_entry` finds by its arguments.
    """
    entry = ir.Function(fused.module, ir.FunctionType(ir.VoidType(), [POINTER, POINTER]), name)
    b = ir.IRBuilder(entry.append_basic_block())
    words = entry.args[0]
    shares, share, turns = [b.load(_after(b, words, 8 * n), typ=INDEX) for n in (1, 2, 3)]
    _, *addresses = _table(b, b.load(_after(b, words, 8 * 4), typ=POINTER), constants)
    arguments = [*_contents(b, words, 5, kinds), *addresses]
    head, body, done = (b.append_basic_block(each) for each in ("next", "take", "none"))
    b.branch(head)
    b.position_at_end(head)
    number = b.atomic_rmw("add", words, index(1), "monotonic")
    b.cbranch(b.icmp_signed("<", number, shares), body, done)
    b.position_at_end(body)
    first = b.mul(number, share)
    end = b.add(first, share)
    b.call(fused, [*arguments, first, b.select(b.icmp_signed("<", end, turns), end, turns)])
    b.branch(head)
    b.position_at_end(done)
    b.ret_void()


def _contents(b: ir.IRBuilder, objects: ir.Value, before: int, kinds: list[ir.Type]) -> list[ir.Value]:
    """The numbers, and the addresses of the elements, of objects by their addresses, behind some others."""
    items = [b.load(_after(b, objects, 8 * (before + n)), typ=POINTER) for n in range(len(kinds))]
    return [b.load(_after(b, item, CONTENTS), typ=kind) for item, kind in zip(items, kinds, strict=True)]


def _table(b: ir.IRBuilder, table: ir.Value, constants: int) -> list[ir.Value]:
    """The addresses of None and of the constants' elements."""
    return [b.load(_after(b, table, 8 * n), typ=POINTER) for n in range(1 + constants)]


def _after(b: ir.IRBuilder, place: ir.Value, distance: int) -> ir.Value:
    return b.gep(place, [index(distance)], source_etype=BYTE)


def _cost(frame: Frame, nest: Nest) -> int:
    """About how many operations there are."""
    size = nest.row.size
    for axis in nest.outer:
        size *= axis.size
    return size * sum(_LOOP_COST if term.kind is Kind.LOOP else 1 for term in frame.terms)
