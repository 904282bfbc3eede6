"""Back: the way of a recurrent layer back through time, with the sums of its weights' gradients on that way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from agog_cpu_llvm import team
from agog_cpu_llvm.kernels.recurrent.arrays import in_order, set_times, step_words
from agog_cpu_llvm.kernels.recurrent.sizes import Sizes

Array = Any
Entry = tuple[int, Sequence[str]]
"""The address of compiled code, and the names of its words."""


def walk_back(
    step: Entry,
    weigh: Entry,
    words: dict[str, Any],
    shared: dict[str, Any],
    sizes: Sizes,
    x: Array,
    weights: Mapping[str, Array],
    parts: Iterable[tuple[int, int]],
    scratch: int,
) -> dict[str, Array]:
    """Go through parts of the times, from the last on, and give the gradients of weights, while the errors are cached.

    Args:
        step: writes the errors of a part, and the gradients of what the layer began with.
        weigh: adds what the errors of a part say of the weights.
        words, shared: those of ``step``, which have the shared ones too.
        weights: the kernel, the recurrent kernel and the bias, as far as their gradients are wanted.
        scratch: bytes of it that ``step`` wants.
    """
    found = {name: np.zeros(array.shape, x.dtype) for name, array in weights.items()}
    sums = {
        **step_words("x", x),
        "to_kernel": found.get("kernel"),
        "to_recurrent": found.get("recurrent_kernel"),
        "to_bias": found.get("bias"),
        "one": np.ones(1, x.dtype),
        **sizes.sum_words(),
        **shared,
    }
    (back, back_names), (add, add_names) = step, weigh
    back_words, add_words = in_order(back_names, words), in_order(add_names, sums)
    for start, count in parts:
        set_times(back_names, back_words, start, count)
        team.run(back, back_words, scratch, words["chunks"])
        if found:
            set_times(add_names, add_words, start, count)
            team.run(add, add_words, 0, sums["spans"])
    return found
