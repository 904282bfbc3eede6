"""Distributions: numbers with parameters by the kernels of distributions.cu, with the bits of the device "cpu"."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from agog_core.plugin import as_dtype
from agog_cuda_cupy.cuda.modules import Modules
from agog_cuda_cupy.cuda.transpose import contiguous

Array = Any
Key = tuple[int, int, int]


def random_gamma(modules: Modules, alpha: Array, *, shape: tuple[int, ...], key: Key, rounds: int) -> Array:
    return _drawn(modules, "gamma_numbers", alpha, shape, key, rounds).astype(alpha.dtype, copy=False)


def random_poisson(modules: Modules, lam: Array, *, shape: tuple[int, ...], key: Key, rounds: int, dtype: Any) -> Array:
    kind = as_dtype(dtype)
    invalid = 0.0 if kind.is_integer else math.nan
    return _drawn(modules, "poisson_numbers", lam, shape, key, rounds, invalid).astype(kind.numpy_dtype, copy=False)


def _drawn(
    modules: Modules, name: str, parameters: Array, shape: tuple[int, ...], key: Key, rounds: int, *more: float
) -> Array:
    """Numbers in float64: one for each parameter, and that for each element of a shape."""
    out = modules.xp.empty((*shape, *parameters.shape), "float64")
    given = contiguous(modules, parameters).astype("float64", copy=False)
    words = [np.uint64(word) for word in key]
    kernel = modules.kernel("distributions", name)
    modules.launch(kernel, out.size, given, out, out.size, parameters.size, *words, np.int32(rounds), *more)
    return out
