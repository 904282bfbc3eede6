"""Slices: facts about the op of agog_core.ops.updates.slices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agog_testing.opinfo.indexing.scattering import FUNCTIONS, operations_for
from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import Rng, invalid, uniform


def _slice_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    operations = [operation for operation in ("update", "add", "subtract") if operation in operations_for(dtype)]
    for name, whole, key, part in (
        ("one element", (3,), 1, ()),
        ("a range", (5,), slice(1, 4), (3,)),
        ("every third, backwards", (7,), slice(None, None, -3), (3,)),
        ("a row", (4, 3), -1, (3,)),
        ("a column", (4, 3), (..., 0), (4,)),
        ("a new axis", (4, 3), (None, slice(1, 3)), (1, 2, 3)),
        ("a scalar", (), (), ()),
        ("nothing", (5,), slice(2, 2), (0,)),
        ("long", (67,), slice(0, 66), (66,)),
    ):
        for operation in operations:
            values = (uniform(dtype, rng, whole), uniform(dtype, rng, part))
            yield Sample(f"{name} of {whole}, {operation}", (*values, key, operation))


def _slice(variable: Array, value: Array, key: Any, operation: str) -> Array:
    whole = variable.copy()
    whole[key] = FUNCTIONS[operation](whole[key], value)
    return whole


_SLICE_ERRORS = (
    invalid(
        (np.ones(3, np.float32), np.ones(3, np.float32), slice(1, None)),
        "assign_slice: the slice of a variable of shape (3,) has shape (2,); the value has shape (3,), and both must "
        "agree.",
    ),
    invalid(
        (np.ones(3, np.float32), np.array(1, np.float32), 3),
        "slice index 3 of dimension 0 out of bounds: its size is 3, so use -3 to 2.",
    ),
    invalid(
        (np.array([b"a"], object), np.array(b"a", object), 0, "add"),
        "assign_slice: add is not defined for variable 'Variable:0' of dtype string.",
        "string",
    ),
)


INFOS = (OpInfo("assign_slice", _slice_samples, _slice, differentiable=False, errors=_SLICE_ERRORS),)
