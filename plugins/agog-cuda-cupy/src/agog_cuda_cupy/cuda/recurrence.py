"""Recurrence: shared parts of the launchers of `lstm` and `gru`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agog_cuda_cupy.cuda.modules import Modules, element

Array = Any

_ACTIVATIONS = {"linear": 0, "tanh": 1, "sigmoid": 2, "hard_sigmoid": 3, "relu": 4}


def is_served(x: Array, *activations: str) -> bool:
    """Whether the kernels have an array's dtype and the activations."""
    return element(x.dtype) is not None and _ACTIVATIONS.keys() >= set(activations)


def widening(modules: Modules, x: Array) -> Callable[[Array], Array]:
    """What makes arrays contiguous, and those of half precision float32."""
    dtype = "float32" if x.dtype.itemsize == 2 else x.dtype
    return lambda array: modules.xp.ascontiguousarray(array.astype(dtype, copy=False))


def codes(*activations: str) -> tuple[np.int32, ...]:
    """The numbers of activations in gates.cuh."""
    return tuple([np.int32(_ACTIVATIONS[activation]) for activation in activations])
