"""Rounding: facts about the ops of agog_core.ops.math.rounding."""

from __future__ import annotations

import numpy as np

from agog_testing.opinfo.info import Array
from agog_testing.opinfo.values import unary

_SPECIAL = (np.nan, np.inf, -np.inf, 0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 3.0)


def _rint(x: Array) -> Array:
    low = np.floor(x)
    rest = x - low
    return np.copysign(np.where((rest > 0.5) | ((rest == 0.5) & (low % 2 == 1)), low + 1, low), x)


INFOS = (
    unary("ceil", lambda x: -np.floor(-x), special=_SPECIAL, differentiable=False),
    unary("rint", _rint, special=_SPECIAL, differentiable=False),
)
