"""Filter transpose: the filter of an input gradient, whose window is turned around and whose inputs are its outputs.

Squares of numbers are transposed in registers: NumPy reads one number of each row at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from agog_cpu_llvm.team import run
from agog_cpu_llvm.tiles import Lanes, compiled, entry, transposed

LEAST = 1 << 14
"""Numbers from which on compiled code is faster."""


def transpose(filter: Any, places: tuple[slice, ...], groups: int) -> Any:
    """A new array of the places of a filter's window, with inputs and outputs of each group exchanged."""
    *window, inputs, outputs = filter.shape
    if groups == 1 and filter.size >= LEAST and filter.dtype in (np.float32, np.float64) and filter.flags.c_contiguous:
        begins = np.arange(0, filter.size, inputs * outputs, dtype=np.int64).reshape(window)
        table = np.ascontiguousarray(begins[places])
        result = np.empty((*table.shape, outputs, inputs), filter.dtype)
        words = filter.ctypes.data, result.ctypes.data, table.ctypes.data, table.size, inputs, outputs
        run(compiled("filter transpose", write, filter.dtype.name)["transpose"], words, most=table.size)
        return result
    parts = filter[places]
    parts = parts.reshape(*parts.shape[:-1], groups, outputs // groups)
    return np.ascontiguousarray(np.swapaxes(parts, -1, -3)).reshape(*parts.shape[:-3], outputs // groups, -1)


def write(module: ir.Module, dtype: str, lanes: Lanes) -> None:
    """Write the entry ``transpose``; a turn is a place of the window."""
    arrays = {"filter": f"*{dtype}", "out": f"*{dtype}", "table": "*int64"}
    sizes = dict.fromkeys(("places", "inputs", "outputs"), "index")
    with (
        entry(module, "transpose", {**arrays, **sizes}) as (code, words, _),
        code.turns(words.counter, words.places) as place,
    ):
        source = words.filter + (words.table + place).integer()
        target = words.out + place * words.inputs * words.outputs
        with (
            code.loop(0, words.inputs, lanes.count) as row,
            code.loop(0, words.outputs, lanes.count) as column,
        ):
            mask = lanes.first(words.outputs - column.index)
            places = [
                source + ((row.index + n).least(words.inputs - 1) * words.outputs + column.index)
                for n in range(lanes.count)
            ]
            there = target + (column.index * words.inputs + row.index)
            for n, vector in enumerate(transposed([lanes.load(each, mask) for each in places])):
                is_inside = words.outputs > column.index + n
                lanes.store(vector, there, lanes.first(is_inside.select(words.inputs - row.index, code.number(0))))
                there = there + words.inputs
