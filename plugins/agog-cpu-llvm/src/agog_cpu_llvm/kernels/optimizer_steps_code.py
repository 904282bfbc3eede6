"""Optimizer steps code: a function for each step, of a table with a row for each variable.

A row has the turn behind the variable's last, its first turn, its size, and the objects of its arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from llvmlite import ir

from agog_cpu_llvm.kernels.optimizer_steps import BLOCK
from agog_cpu_llvm.kernels.rows import each
from agog_cpu_llvm.tiles import Code, Index, Lanes, Mask, Vector, Words, entry

_HEAD = 3  # words of a row before its arrays

Values = Sequence[Vector]


class Step(NamedTuple):
    """What an optimizer does to one element.

    Args:
        arrays: how many there are: the variable, its slots, and the gradient.
        numbers: how many are the same for all elements.
        formula: ``formula(arrays, numbers)`` gives the new variable and slots.
    """

    arrays: int
    numbers: int
    formula: Callable[[Values, Values], Values]


def _momentum(arrays: Values, numbers: Values) -> Values:
    (w, a, g), (rate, share) = arrays, numbers
    a = a * share + g
    return w - a * rate, a


def _nesterov_momentum(arrays: Values, numbers: Values) -> Values:
    (w, a, g), (rate, share) = arrays, numbers
    a = a * share + g
    return w - (a * share + g) * rate, a


def _adam(arrays: Values, numbers: Values, is_nesterov: bool = False) -> Values:
    (w, m, v, g), (rate, epsilon, beta1, rest1, rest2, kept) = arrays, numbers
    m = m + (g - m) * rest1
    v = v + (g * g - v) * rest2
    direction = m * beta1 + g * rest1 if is_nesterov else m
    return w * kept - direction / (v.root() + epsilon) * rate, m, v


def _nesterov_adam(arrays: Values, numbers: Values) -> Values:
    return _adam(arrays, numbers, is_nesterov=True)


STEPS = {
    "apply_adam": Step(4, 6, _adam),
    "apply_adam_nesterov": Step(4, 6, _nesterov_adam),
    "apply_momentum": Step(3, 2, _momentum),
    "apply_momentum_nesterov": Step(3, 2, _nesterov_momentum),
}
"""By op, and by whether it ``use_nesterov``."""


def write(module: ir.Module, dtype: str, lanes: Lanes) -> None:
    """The functions of all steps."""
    for name, step in STEPS.items():
        numbers = [f"number{n}" for n in range(step.numbers)]
        kinds = {"table": "*int64", "groups": "index", "all": "index", **dict.fromkeys(numbers, "float64")}
        with entry(module, name, kinds, flushes=False) as (code, words, _):
            values = [lanes.splat(code, lanes.converted(words[number])) for number in numbers]
            with code.turns(words.counter, words["all"]) as turn:
                _write_turn(code, words, lanes, dtype, turn, step, values)


def _write_turn(code: Code, words: Words, lanes: Lanes, dtype: str, turn: Index, step: Step, numbers: Values) -> None:
    """The block of a turn."""
    width = _HEAD + step.arrays
    zero, one = code.number(0), code.number(1)
    with code.loop(0, words.groups, 1, [zero]) as loop:
        (before,) = loop.carried
        end = (words.table + loop.index * width).integer()
        loop.carry(before + (end <= turn).select(one, zero))
    (before,) = loop.results
    row = words.table + before * width
    start = (turn - (row + 1).integer()) * BLOCK
    size = ((row + 2).integer() - start).least(BLOCK)
    places = [(row + _HEAD + n).elements(dtype) + start for n in range(step.arrays)]

    def put(at: Index, mask: Mask | None) -> None:
        new = step.formula([lanes.load(place + at, mask) for place in places], numbers)
        for value, place in zip(new, places, strict=False):
            lanes.store(value, place + at, mask)

    each(code, lanes, size, put)
