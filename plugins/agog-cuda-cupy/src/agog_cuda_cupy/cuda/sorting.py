"""Sorting: the largest elements of rows, and searching in sorted rows, by the kernels of sorting.cu."""

from __future__ import annotations

import math
from typing import Any

from agog_core.plugin import as_dtype
from agog_cuda_cupy.cuda.modules import THREADS, Modules, number
from agog_cuda_cupy.cuda.transpose import contiguous

Array = Any

# A block goes through its row for each element: more of them, or of a longer row, are found faster by sorting.
_MOST, _LONGEST = 64, 1 << 16


def top_k(modules: Modules, x: Array, *, k: int) -> Any:
    kind = number(x.dtype)
    if kind is None or not 0 < k <= _MOST or not 0 < x.shape[-1] <= _LONGEST or not x.size:
        return NotImplemented
    xp, width = modules.xp, x.shape[-1]
    values, positions = (xp.empty((*x.shape[:-1], k), dtype) for dtype in (x.dtype, "int32"))
    kernel = modules.kernel("sorting", "top_k", AGOG_NUMBER=kind)
    kernel((x.size // width,), (THREADS,), (contiguous(modules, x), values, positions, width, int(k)))
    return values, positions


def searchsorted(modules: Modules, sequence: Array, values: Array, *, side: str, dtype: Any) -> Any:
    kind, index = number(values.dtype), as_dtype(dtype)
    if kind is None or sequence.dtype != values.dtype or index.name not in ("int32", "int64"):
        return NotImplemented
    positions = modules.xp.empty(values.shape, index.numpy_dtype)
    rows = math.prod(values.shape[:-1])
    arrays = contiguous(modules, sequence), contiguous(modules, values), positions
    sizes = rows, sequence.shape[-1], values.shape[-1]
    kernel = modules.kernel("sorting", "searchsorted", AGOG_NUMBER=kind)
    modules.launch(kernel, positions.size, *arrays, *sizes, side == "right", index.size == 4)
    return positions
