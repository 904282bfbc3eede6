"""Filter transpose: the filter of an input gradient, whose window is turned around and whose inputs are its outputs.

Large ones are transposed in compiled code: NumPy reads one number of each row at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_cpu_llvm.team import run
from agog_cpu_llvm.units import compiled

LEAST = 1 << 14
"""Numbers from which on compiled code is faster."""


def transpose(filter: Any, places: tuple[slice, ...], groups: int) -> Any:
    """A new array of the places of a filter's window, with inputs and outputs of each group exchanged."""
    *window, inputs, outputs = filter.shape
    if groups == 1 and filter.size >= LEAST and filter.dtype in (np.float32, np.float64) and filter.flags.c_contiguous:
        begins = np.arange(0, filter.size, inputs * outputs, dtype=np.int64).reshape(window)
        table = np.ascontiguousarray(begins[places])
        result = np.empty((*table.shape, outputs, inputs), filter.dtype)
        words = filter.ctypes.data, result.ctypes.data, table.ctypes.data, table.size, inputs, outputs
        run(compiled("filter_transpose", filter.dtype.name)["transpose"], words, most=table.size)
        return result
    parts = filter[places]
    parts = parts.reshape(*parts.shape[:-1], groups, outputs // groups)
    return np.ascontiguousarray(np.swapaxes(parts, -1, -3)).reshape(*parts.shape[:-3], outputs // groups, -1)
