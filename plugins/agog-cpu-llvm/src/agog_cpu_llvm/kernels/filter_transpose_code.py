"""Filter transpose code: squares of numbers are transposed in registers."""

from __future__ import annotations

from llvmlite import ir

from agog_cpu_llvm.tiles import Lanes, entry, transposed


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
