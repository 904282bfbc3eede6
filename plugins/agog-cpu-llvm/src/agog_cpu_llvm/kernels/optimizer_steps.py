"""Optimizer steps: those of all variables of a model by one call, with the bits of the reference.

A turn is a block of elements of one variable. The roundings are those of NumPy, operation by operation.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir

from agog_core.plugin import load_reference
from agog_cpu_llvm.kernels.rows import each
from agog_cpu_llvm.team import run
from agog_cpu_llvm.tiles import Code, Index, Lanes, Pointer, Vector, Words, bits, compiled, entry

PATIENCE = 8
"""Small calls that the reference runs before anything is compiled: programs of a few steps need no compiler."""

LARGE = 1 << 14
"""Elements of a call from which on it is compiled at once."""

SMALL = 1 << 10
"""Elements below which the reference is faster, for a single variable."""

_BLOCK = 1 << 13  # elements of a turn
_CONTENTS = 16  # where in an array's object the address of its elements is
_HEAD = 3  # words of a variable's row in the table before its arrays: the turn behind its last, its first, its size

Values = Sequence[Vector]
Attributes = Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """What an optimizer does to one element.

    Args:
        arrays: how many there are: the variable, its slots, and the gradient.
        numbers: what is computed of the attributes for all elements.
        formula: ``formula(arrays, numbers)`` gives the new variable and slots.
    """

    arrays: int
    numbers: Callable[[Attributes], tuple[float, ...]]
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


def _numbers_of_momentum(given: Attributes) -> tuple[float, ...]:
    return given["learning_rate"], given["momentum"]


def _numbers_of_adam(given: Attributes) -> tuple[float, ...]:
    beta1, kept = given["beta1"], 1 - given["weight_decay"]  # all of a variable, without a decay
    return given["learning_rate"], given["epsilon"], beta1, 1 - beta1, 1 - given["beta2"], kept


STEPS = {
    "apply_adam": Step(4, _numbers_of_adam, _adam),
    "apply_adam_nesterov": Step(4, _numbers_of_adam, _nesterov_adam),
    "apply_momentum": Step(3, _numbers_of_momentum, _momentum),
    "apply_momentum_nesterov": Step(3, _numbers_of_momentum, _nesterov_momentum),
}
"""By op, and by whether it ``use_nesterov``."""


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op for one variable."""
    reference, step = load_reference(f"agog_cpu_numpy.kernels:{op}"), make_several(op, dtype, device)

    def alone(*arrays: Any, **attributes: Any) -> None:
        if arrays[0].size < SMALL or step((arrays,), **attributes) is NotImplemented:
            reference(*arrays, **attributes)

    return alone


def make_several(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op for several variables: ``several(groups, **attributes)``."""
    patience = PATIENCE

    def several(groups: Sequence[tuple[Any, ...]], **attributes: Any) -> Any:
        nonlocal patience
        if patience and sum([arrays[0].size for arrays in groups]) < LARGE:
            patience -= 1
            return NotImplemented
        rows: list[int] = []
        turns, kept = 0, []
        for arrays in groups:
            gradient = arrays[-1]
            if not gradient.flags.c_contiguous:
                gradient = np.ascontiguousarray(gradient)
                kept.append(gradient)
            for slot in arrays[:-1]:
                if not slot.flags.c_contiguous:
                    return NotImplemented
            size, first = gradient.size, turns
            turns += -(-size // _BLOCK)
            rows += turns, first, size, *map(id, arrays[:-1]), id(gradient)
        table = array("q", rows)
        name = f"{op}_nesterov" if attributes.get("use_nesterov") else op
        numbers = STEPS[name].numbers(attributes)
        words = table.buffer_info()[0], len(groups), turns, *map(bits, numbers)
        run(compiled("optimizer_steps", write, dtype)[name], words, most=turns)
        return None

    return several


def write(module: ir.Module, dtype: str, lanes: Lanes) -> None:
    """The functions of all steps."""
    for name, step in STEPS.items():
        numbers = [f"number{n}" for n in range(len(step.numbers(_ANY)))]
        kinds = {"table": "*int64", "groups": "index", "all": "index", **dict.fromkeys(numbers, "float64")}
        with entry(module, name, kinds, flushes=False) as (code, words, _):
            values = [lanes.splat(code, lanes.converted(words[number])) for number in numbers]
            with code.turns(words.counter, words["all"]) as turn:
                _write_turn(code, words, lanes, dtype, turn, step, values)


_ANY = dict.fromkeys(("learning_rate", "momentum", "beta1", "beta2", "epsilon", "weight_decay"), 0.0)


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
    start = (turn - (row + 1).integer()) * _BLOCK
    size = ((row + 2).integer() - start).least(_BLOCK)
    places = [_elements(row + _HEAD + n, dtype) + start for n in range(step.arrays)]

    def put(at: Index, mask: Any = None) -> None:
        new = step.formula([lanes.load(place + at, mask) for place in places], numbers)
        for value, place in zip(new, places, strict=False):
            lanes.store(value, place + at, mask)

    each(code, lanes, size, put)


def _elements(place: Pointer, dtype: str) -> Pointer:
    """The elements of the array whose object's address is at a place."""
    return (place.pointer("uint8") + _CONTENTS).pointer(dtype)
