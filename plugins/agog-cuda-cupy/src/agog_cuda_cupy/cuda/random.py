"""Random numbers: the kernels of philox.cu, with the bits of the device "cpu"."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from agog_core.plugin import as_dtype
from agog_cuda_cupy.cuda.modules import INDEXES, Modules, element
from agog_cuda_cupy.cuda.transpose import contiguous

Array = Any
Key = tuple[int, int, int]

_INTEGERS = {**INDEXES, "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64"}


def bits(modules: Modules, key: Key, count: int) -> Array:
    """``count`` uint64 values, as `numpy.random.Philox` makes them."""
    out = modules.xp.empty(count, "uint64")
    modules.launch(modules.kernel("philox", "bits"), -(-count // 4), out, count, *_words(key))
    return out


def random_uniform(modules: Modules, *, shape: tuple[int, ...], key: Key, dtype: Any, index: int) -> Array:
    """Floats in [0, 1)."""
    return _drawn(modules, "uniform", shape, key, dtype, 4 if as_dtype(dtype).size == 8 else 8)


def random_normal(modules: Modules, *, shape: tuple[int, ...], key: Key, dtype: Any, index: int) -> Array:
    """Standard normals."""
    return _drawn(modules, "normal", shape, key, dtype, 8)


def truncated_normal(modules: Modules, *, shape: tuple[int, ...], key: Key, dtype: Any, index: int) -> Array:
    """Standard normals between -2 and 2."""
    return _drawn(modules, "truncated_normal", shape, key, dtype, 8)


def random_integers(
    modules: Modules, *, shape: tuple[int, ...], key: Key, low: int, high: int, dtype: Any, index: int
) -> Array:
    """Integers in [low, high)."""
    out = modules.xp.empty(shape, as_dtype(dtype).numpy_dtype)
    integer = _INTEGERS.get(out.dtype.name)
    if integer is None or not -(1 << 63) <= low < 1 << 63:
        return NotImplemented
    kernel = modules.kernel("philox", "integers", AGOG_INTEGER=integer)
    modules.launch(kernel, -(-out.size // 4), out, out.size, *_words(key), int(low), np.uint64(high - low))
    return out


def dropout(modules: Modules, x: Array, *, key: Key, keep: float) -> Any:
    kind = element(x.dtype)
    if kind is None:
        return NotImplemented
    x = contiguous(modules, x)
    y, mask = modules.xp.empty(x.shape, x.dtype), modules.xp.empty(x.shape, "bool")
    kernel = modules.kernel("philox", "dropout", AGOG_NUMBER=kind)
    modules.launch(kernel, -(-x.size // (4 if kind == "double" else 8)), x, y, mask, x.size, *_words(key), float(keep))
    return y, mask


def dropout_grad(modules: Modules, gradients: Array, mask: Array, *, keep: float) -> Any:
    kind = element(gradients.dtype)
    if kind is None:
        return NotImplemented
    g, kept = contiguous(modules, gradients), contiguous(modules, mask)
    y = modules.xp.empty(g.shape, g.dtype)
    kernel = modules.kernel("philox", "dropout_grad", AGOG_NUMBER=kind)
    modules.launch(kernel, g.size, g, kept, y, g.size, float(keep))
    return y


def _drawn(modules: Modules, name: str, shape: tuple[int, ...], key: Key, dtype: Any, per_thread: int) -> Array:
    out = modules.xp.empty(shape, as_dtype(dtype).numpy_dtype)
    kind = element(out.dtype)
    if kind is None:
        return NotImplemented
    count = math.prod(shape)
    modules.launch(modules.kernel("philox", name, AGOG_NUMBER=kind), -(-count // per_thread), out, count, *_words(key))
    return out


def _words(key: Key) -> tuple[np.uint64, ...]:
    return tuple(np.uint64(word) for word in key)
