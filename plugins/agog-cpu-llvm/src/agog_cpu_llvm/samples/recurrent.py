"""Recurrent: calls with parts of a group of units, of one example, and of more than a turn or a block takes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from agog_testing.opinfo import Sample

# What is special, (time, batch, features, units), keyword arguments, whether there is a mask.
_CASES: tuple[tuple[str, tuple[int, int, int, int], dict[str, Any], bool], ...] = (
    ("a part of a group of units", (3, 5, 7, 17), {}, False),
    ("whole groups of units", (2, 3, 3, 32), {}, True),
    ("one example", (13, 1, 2, 16), {"recurrent_activation": "hard_sigmoid"}, True),
    ("more examples than a turn takes", (2, 50, 1, 6), {"activation": "relu"}, True),
    ("more examples than a block has", (1, 130, 2, 5), {"activation": "linear"}, False),
)


def _recurrent(gates: int, states: int, is_grad: bool, dtype: str, rng: np.random.Generator) -> Iterator[Sample]:
    for name, (times, batch, features, units), attributes, has_mask in _CASES:
        state = (batch, units)
        outputs = [(times, *state), *[state] * (states - 1)] if is_grad else []
        kernels = (features, gates * units), (units, gates * units), (gates * units,)
        shapes = [*outputs, (times, batch, features), *kernels, *[state] * states]
        arrays: list[Any] = [rng.uniform(-0.5, 0.5, shape).astype(dtype) for shape in shapes]
        if has_mask:
            arrays.append(rng.random((times, batch)) < 0.7)
        is_smooth = name.startswith("one") and not is_grad
        yield Sample(name, tuple(arrays), attributes, smooth=is_smooth)
        if gates == 3:
            arrays[-1 - states - has_mask] = rng.uniform(-0.5, 0.5, (2, 3 * units)).astype(dtype)
            yield Sample(f"{name}, reset after", tuple(arrays), {**attributes, "reset_after": True}, smooth=is_smooth)


SAMPLES = {
    "gru": partial(_recurrent, 3, 1, False),
    "gru_grad": partial(_recurrent, 3, 1, True),
    "lstm": partial(_recurrent, 4, 2, False),
    "lstm_grad": partial(_recurrent, 4, 2, True),
}
