"""Optimizer steps: those of all variables of a model by one call, with the bits of the reference.

A turn is a block of elements of one variable. The roundings are those of NumPy, operation by operation.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from agog_core.plugin import load_reference
from agog_cpu_llvm.team import run
from agog_cpu_llvm.units import bits, compiled

PATIENCE = 8
"""Small calls that the reference runs before anything is compiled: programs of a few steps need no compiler."""

LARGE = 1 << 14
"""Elements of a call from which on it is compiled at once."""

SMALL = 1 << 10
"""Elements below which the reference is faster, for a single variable."""

BLOCK = 1 << 13
"""Elements of a turn."""

Attributes = Mapping[str, Any]


def _numbers_of_momentum(given: Attributes) -> tuple[float, ...]:
    return given["learning_rate"], given["momentum"]


def _numbers_of_adam(given: Attributes) -> tuple[float, ...]:
    beta1, kept = given["beta1"], 1 - given["weight_decay"]  # all of a variable, without a decay
    return given["learning_rate"], given["epsilon"], beta1, 1 - beta1, 1 - given["beta2"], kept


_NUMBERS: dict[str, Callable[[Attributes], tuple[float, ...]]] = {
    "apply_adam": _numbers_of_adam,
    "apply_momentum": _numbers_of_momentum,
}


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
            turns += -(-size // BLOCK)
            rows += turns, first, size, *map(id, arrays[:-1]), id(gradient)
        table = array("q", rows)
        name = f"{op}_nesterov" if attributes.get("use_nesterov") else op
        words = table.buffer_info()[0], len(groups), turns, *map(bits, _NUMBERS[op](attributes))
        run(compiled("optimizer_steps", dtype)[name], words, most=turns)
        return None

    return several
