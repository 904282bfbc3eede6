"""Rows: the code along a row: fused loops, inner loops of NumPy, and reductions in turn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
from llvmlite import ir

from agog_cpu_llvm.fusion import operations, tanh
from agog_cpu_llvm.fusion.axes import Nest
from agog_cpu_llvm.fusion.limits import LONGEST, NotTakenError
from agog_cpu_llvm.fusion.loops import BYTE, POINTER, Independent, counting, index
from agog_cpu_llvm.fusion.sums import SHORT, PairwiseSums, parts, short_sum
from agog_cpu_llvm.fusion.terms import BLOCKING, COMPUTED, SINGLE, Frame, Kind, Store, Strides, Term

BLOCK = 512
"""Elements that are computed before an inner loop of NumPy takes them, few enough for the first cache."""

# What takes the processor less time than to keep a number, and how many of these one after the other do.
_CHEAP = frozenset({"add", "subtract", "multiply", "square", "negative", "absolute", "copy", "cast", "where"})
_MOST_AGAIN = 3

_LOOP_TYPE = ir.FunctionType(ir.VoidType(), [POINTER, POINTER, POINTER, POINTER])

Place = tuple[int, int]  # a level and a stage


class Rows:
    """Writes what is done with each row of a frame.

    Args:
        b: stands in the first block of the function, where scratch memory is reserved.
        frame: what is computed.
        nest: the loops around it.
        parameters: addresses of arrays, and numbers where inputs have rank 0.
    """

    def __init__(self, b: ir.IRBuilder, frame: Frame, nest: Nest, parameters: list[ir.Value]) -> None:
        self.b, self.frame, self.nest, self.parameters = b, frame, nest, parameters
        self.independent = Independent(b.module, min(nest.row.steps) < 0)
        self.users: dict[Term, list[Term]] = {}
        for term in frame.terms:
            for operand in term.operands:
                self.users.setdefault(operand, []).append(term)
        self.last = max([self.after(term) for term in frame.terms if not term.is_row], default=(0, 0))
        self.places = [self.place_of(store) for store in frame.stores]
        self.levels = 1 + max([self.after(term)[0] for term in frame.terms], default=0)
        self.is_long = nest.row.size > LONGEST
        self.scratch: dict[Term, ir.Value] = {}
        self.single: dict[Term, ir.Value] = {}  # where numbers lie that inner loops of NumPy take
        self.whole: set[Term] = set()  # those whose scratch holds a row
        self.again: set[Term] = set()  # those that are computed wherever they are wanted
        self.sums: dict[int, PairwiseSums] = {}  # of long rows, by the level
        self.reserve()
        self.block = nest.row.size
        if any(not term.is_row for term in self.scratch):
            self.block = min(BLOCK, nest.row.size)
        self.operands, self.steps, self.count = [self.memory_for("int64", n) for n in (3, 3, 1)]
        self.numbers: dict[Term, ir.Value] = {}
        self.bases: list[ir.Value] = []

    def after(self, term: Term) -> Place:
        """When a term is there."""
        if term.kind is Kind.REDUCE:
            return term.level + 1, 0
        return term.level, term.stage + (term.kind is Kind.LOOP and not term.is_row)

    def place_of(self, store: Store) -> Place:
        """When an output is stored: last of all, where that may overwrite an input."""
        return self.last if store.overwrites else self.after(store.term)

    def reserve(self) -> None:
        """Scratch memory for what is not used at once, or by an inner loop of NumPy."""
        for term in self.frame.terms:
            if term.kind is Kind.LOOP:
                self.single |= {x: self.memory_for(x.dtype, 1) for x in term.operands if x.kind in SINGLE}
        stored: dict[Term, Place] = {}
        for store, place in zip(self.frame.stores, self.places, strict=True):
            stored[store.term] = max(place, stored.get(store.term, place))
        for term in self.frame.terms:
            users = self.users.get(term, [])
            if term.is_row:
                if term.kind in BLOCKING or any(user.kind is Kind.LOOP for user in users):
                    self.scratch[term] = self.memory_for(term.dtype, 1)
                if term.kind is Kind.REDUCE and self.is_long and not _is_pairwise(term):
                    raise NotTakenError("a long row that is not summed")
                continue
            if term.kind not in COMPUTED:
                continue
            if self.is_cheap(term):
                self.again.add(term)
                continue
            ends = [(user.level, user.stage) for user in users]
            ends += [stored[term]] if term in stored else []
            if (
                term.kind is Kind.LOOP
                or max(ends, default=(0, 0)) > (term.level, term.stage)
                or any(user.kind in BLOCKING for user in users)
            ):
                is_kept = max(ends)[0] > term.level
                if is_kept and self.is_long:
                    raise NotTakenError("a row too long to keep")
                is_whole = is_kept or (not self.is_long and any(user.kind is Kind.REDUCE for user in users))
                if is_whole:
                    self.whole.add(term)
                self.scratch[term] = self.memory_for(
                    term.dtype, self.nest.row.size if is_whole else min(BLOCK, self.nest.row.size)
                )

        if self.is_long:
            row = parts(self.nest.row.size, BLOCK)
            for level in range(self.levels):
                if reductions := self.reductions(level):
                    dtypes = [term.dtype for term in reductions]
                    self.sums[level] = PairwiseSums(self.b, self.memory_for, row, dtypes)

    def is_cheap(self, term: Term) -> bool:
        """Whether a term is computed of what is read in less time than it is kept and read itself."""
        if any(user.kind in BLOCKING for user in self.users.get(term, [])):
            return False
        steps, todo = {term}, [term]
        while todo:
            here = todo.pop()
            if here.kind is not Kind.NATIVE or here.name not in _CHEAP:
                return False
            for operand in here.operands:
                if operand.kind is Kind.LOAD and not operand.is_row:
                    step = self.nest.row.steps[self.at(operand.parameter, operand.strides)]
                    if step not in (0, operations.width(operand.dtype)):
                        return False
                elif not operand.is_row and operand.kind not in SINGLE and operand not in steps:
                    steps.add(operand)
                    todo.append(operand)
        return len(steps) <= _MOST_AGAIN

    def reductions(self, level: int) -> list[Term]:
        """The reductions of a level."""
        return [term for term in self.frame.terms if term.kind is Kind.REDUCE and term.level == level]

    def memory_for(self, dtype: str, count: int) -> ir.Value:
        memory = self.b.alloca(ir.ArrayType(operations.TYPES[dtype], count))
        memory.align = 64
        memory.type = POINTER  # not to an array of that type
        return memory

    def begin(self, bases: list[ir.Value], first: ir.Value, end: ir.Value) -> None:
        """Store what reductions of rows begin with, from one column to another; ``bases`` are where arrays begin."""
        for store in self.frame.stores:
            if store.reduction:
                number, dtype = self.at(store.parameter, store.strides), store.term.dtype
                if not self.nest.row.steps[number]:
                    raise NotTakenError("a row that is added up by the way")
                begin = ir.Constant(operations.TYPES[dtype], _plain(dtype, store.begin))
                ranges = [(axis, index(0), index(axis.size)) for axis in self.nest.outer if axis.steps[number]]
                with ExitStack() as loops:
                    pointer = bases[number]
                    for axis, start, stop in (*ranges, (self.nest.row, first, end)):
                        turn = loops.enter_context(counting(self.b, start, stop))
                        pointer = self.moved(pointer, turn, axis.steps[number])
                    self.put(begin, pointer, dtype)

    def write(self, bases: list[ir.Value], first: ir.Value, end: ir.Value) -> None:
        """A row, from one element to another; ``bases`` are where it begins in each array."""
        self.bases, self.numbers = bases, {}
        self.hoist()
        for level in range(self.levels):
            for term in self.frame.terms:
                if term.is_row and term.level == level and term.kind in COMPUTED:
                    self.row_number(term)
            self.blocks(level, first, end)
            if level not in self.sums:
                for term in self.reductions(level):
                    self.numbers[term] = self.reduced(term)
        for store in self.frame.stores:
            if store.term.is_row:
                self.put(self.number(store.term), self.bases[self.at(store.parameter, store.strides)], store.term.dtype)

    def hoist(self) -> None:
        """Read what is the same for all of a row."""
        for term in self.frame.terms:
            if term.kind is Kind.NUMBER:
                self.numbers[term] = self.parameters[term.parameter]
            elif term.kind is Kind.LOAD:
                number = self.at(term.parameter, term.strides)
                if term.is_row or (self.nest.row.size > 1 and not self.nest.row.steps[number]):
                    self.numbers[term] = self.get(self.bases[number], term.dtype)

    def row_number(self, term: Term) -> None:
        if term.kind is Kind.LOOP:
            for operand in term.operands:
                if operand.kind is not Kind.LOOP:
                    self.put(self.number(operand), self.scratch[operand], operand.dtype)
            self.call(term.name, term.dtype, [(self.scratch[x], 0) for x in (*term.operands, term)], index(1))
            self.numbers[term] = self.get(self.scratch[term], term.dtype)
        else:
            self.numbers[term] = self.native(term, [self.number(operand) for operand in term.operands])

    def number(self, term: Term) -> ir.Value:
        return _literal(term) if term.kind is Kind.CONSTANT else self.numbers[term]

    def blocks(self, level: int, first: ir.Value, end: ir.Value) -> None:
        """What a level does with each element."""
        if level in self.sums:
            self.long_sums(level)
            return
        if not any(True for _ in self.work(level)):
            return
        if self.block == self.nest.row.size:
            self.block_of(level, first, self.b.sub(end, first))
        else:
            with counting(self.b, first, end, self.block) as start:
                rest = self.b.sub(end, start)
                whole = self.b.icmp_signed("<", rest, index(self.block))
                self.block_of(level, start, self.b.select(whole, rest, index(self.block)))

    def work(self, level: int) -> Iterator[int]:
        """The stages of a level that leave something behind."""
        for stage in range(1 + max([term.stage + 1 for term in self.frame.terms], default=0)):
            place = (level, stage)
            kept = any((term.level, term.stage) == place for term in self.scratch if not term.is_row)
            if kept or any(
                at == place and not store.term.is_row for store, at in zip(self.frame.stores, self.places, strict=True)
            ):
                yield stage

    def block_of(self, level: int, start: ir.Value, count: ir.Value) -> None:
        for stage in self.work(level):
            here = [term for term in self.frame.terms if (term.level, term.stage) == (level, stage) and not term.is_row]
            stores = [
                store
                for store, place in zip(self.frame.stores, self.places, strict=True)
                if place == (level, stage) and not store.term.is_row
            ]
            if stores or any(term.kind is Kind.NATIVE and term in self.scratch for term in here):
                with self.independent.counting(self.b, count) as turn:
                    self.elements(here, stores, start, turn)
            for term in here:
                if term.kind is Kind.LOOP:
                    memory = [self.memory(each, start) for each in (*term.operands, term)]
                    self.call(term.name, term.dtype, memory, count)

    def element(self, term: Term, known: dict[Term, ir.Value], position: ir.Value, turn: ir.Value) -> ir.Value:
        """An operand in one turn of a fused loop."""
        if term.kind is Kind.CONSTANT:
            return _literal(term)
        if (value := self.numbers.get(term)) is not None:
            return value
        if (value := known.get(term)) is None:
            if term in self.again:
                operands = [self.element(each, known, position, turn) for each in term.operands]
                value = known[term] = self.native(term, operands)
                return value
            if term.kind is Kind.LOAD:
                number = self.at(term.parameter, term.strides)
                pointer = self.moved(self.bases[number], position, self.nest.row.steps[number])
            else:
                size = operations.width(term.dtype)
                pointer = self.moved(self.scratch[term], position if term in self.whole else turn, size)
            value = known[term] = self.get(pointer, term.dtype)
        return value

    def elements(self, here: list[Term], stores: list[Store], start: ir.Value, turn: ir.Value) -> None:
        """One turn of a fused loop."""
        position = self.b.add(start, turn, flags=["nsw"])
        known: dict[Term, ir.Value] = {}
        for term in here:
            if term.kind is Kind.NATIVE:
                known[term] = self.native(term, [self.element(each, known, position, turn) for each in term.operands])
        for term in here:
            if term.kind is Kind.NATIVE and term in self.scratch:
                size = operations.width(term.dtype)
                pointer = self.moved(self.scratch[term], position if term in self.whole else turn, size)
                self.put(known[term], pointer, term.dtype)
        values = [self.element(store.term, known, position, turn) for store in stores]
        for store, value in zip(stores, values, strict=True):
            number, dtype = self.at(store.parameter, store.strides), store.term.dtype
            pointer = self.moved(self.bases[number], position, self.nest.row.steps[number])
            if store.reduction:
                value = operations.build(self.b, store.reduction, dtype, [self.get(pointer, dtype), value])
            self.put(value, pointer, dtype)

    def native(self, term: Term, operands: list[ir.Value]) -> ir.Value:
        match term.name:
            case "copy":
                return operands[0]
            case "bits":
                return self.b.bitcast(operands[0], operations.TYPES[term.dtype])
            case "cast":
                return operations.cast(self.b, operands[0], term.of, term.dtype)
            case "where":
                return self.b.select(operations.is_true(self.b, "bool", operands[0]), operands[1], operands[2])
        return operations.build(self.b, term.name, term.of, operands)

    def long_sums(self, level: int) -> None:
        """The sums of a row that is not kept, part by part, and what else its level does."""
        reductions = self.reductions(level)

        def summed(start: ir.Value, size: ir.Value) -> list[ir.Value]:
            self.block_of(level, start, size)
            nothing = [
                ir.Constant(operations.TYPES[term.dtype], -0.0) for term in reductions
            ]  # to which all adds exactly
            return [self.reduce(term, start, size, zero) for term, zero in zip(reductions, nothing, strict=True)]

        for term, total in zip(reductions, self.sums[level].write(summed), strict=True):
            self.numbers[term] = self.b.fadd(_begin(term), total)

    def reduced(self, term: Term) -> ir.Value:
        """A reduction of the row."""
        size = self.nest.row.size
        if term.value is not None:
            return self.reduce(term, index(0), index(size), _begin(term))
        first = self.get(self.memory(term.operands[0], index(0))[0], term.dtype)
        return self.reduce(term, index(1), index(size - 1), first)  # so that equal zeros meet as in NumPy

    def reduce(self, term: Term, start: ir.Value, size: ir.Value, begin: ir.Value) -> ir.Value:
        """A reduction of a part of the row, by NumPy's inner loop."""
        total, source = self.scratch[term], self.memory(term.operands[0], start)
        count = self.nest.row.size
        if not self.is_long and _is_pairwise(term) and count in SHORT and source[1] == operations.width(term.dtype):
            return self.b.fadd(begin, short_sum(self.b, source[0], term.dtype, count))
        self.put(begin, total, term.dtype)
        self.call(term.name, term.dtype, [(total, 0), source, (total, 0)], size)
        return self.get(total, term.dtype)

    def memory(self, term: Term, start: ir.Value) -> tuple[ir.Value, int]:
        """Where a term's elements lie from an element of the row on, and by how many bytes they follow each other."""
        if term in self.single:
            self.put(self.number(term), self.single[term], term.dtype)
            return self.single[term], 0
        if term.kind is Kind.LOAD:
            number = self.at(term.parameter, term.strides)
            step = self.nest.row.steps[number]
            return self.moved(self.bases[number], start, step), step
        size = operations.width(term.dtype)
        return (self.moved(self.scratch[term], start, size) if term in self.whole else self.scratch[term]), size

    def call(self, name: str, dtype: str, operands: list[tuple[ir.Value, int]], count: ir.Value) -> None:
        """Call an inner loop of NumPy, or what stands for it."""
        b = self.b
        follow_each_other = {step for _, step in operands} == {4}
        if (name, dtype) == ("tanh", "float32") and follow_each_other and tanh.is_for(self.frame.shape):
            b.call(tanh.define(b.module), [*[pointer for pointer, _ in operands], count])
            return
        for number, (pointer, step) in enumerate(operands):
            b.store(pointer, self.moved(self.operands, index(number), 8))
            b.store(index(step), self.moved(self.steps, index(number), 8))
        b.store(count, self.count)
        symbol = f"numpy_{name}_{dtype}"
        function = b.module.globals.get(symbol) or ir.Function(b.module, _LOOP_TYPE, symbol)
        b.call(function, [self.operands, self.count, self.steps, ir.Constant(POINTER, None)])

    def at(self, parameter: int, strides: Strides) -> int:
        return self.nest.numbers[parameter, strides]

    def moved(self, pointer: ir.Value, position: ir.Value, step: int) -> ir.Value:
        offset = self.b.mul(position, index(step), flags=["nsw"])
        return self.b.gep(pointer, [offset], inbounds=True, source_etype=BYTE)

    def get(self, pointer: ir.Value, dtype: str) -> ir.Value:
        return self.b.load(pointer, typ=operations.TYPES[dtype], align=operations.width(dtype))

    def put(self, value: ir.Value, pointer: ir.Value, dtype: str) -> None:
        self.b.store(value, pointer, align=operations.width(dtype))


def _begin(term: Term) -> ir.Constant:
    """What a reduction begins with."""
    return ir.Constant(operations.TYPES[term.dtype], _plain(term.dtype, term.value))


def _is_pairwise(term: Term) -> bool:
    return term.name == "add" and term.dtype.startswith("float")


def _literal(term: Term) -> ir.Constant:
    return ir.Constant(operations.TYPES[term.dtype], _plain(term.dtype, term.value))


def _plain(dtype: str, value: Any) -> int | float:
    """A number as LLVM wants it."""
    if dtype == "bfloat16":
        return int(np.asarray(value, dtype).view(np.uint16))
    return float(np.dtype(dtype).type(value)) if dtype.startswith("float") else int(value)
