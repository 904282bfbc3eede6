"""NumPy's inner loops: the addresses of its functions for exponentials and the like.

They are called on blocks of a fused loop, so results have NumPy's bits. A ufunc's head is read only in releases of
NumPy whose layout is known, and `fault` compares what the addresses compute with what the ufuncs do.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

UNARY = (
    *("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "cos", "cosh", "exp", "exp2", "expm1"),
    *("log", "log10", "log1p", "log2", "sin", "sinh", "tan", "tanh"),
)
"""Functions of which a result depends on its own operand only, wherever that stands in a row; tests try it."""

BINARY = ("power",)
"""Functions of two operands, of which the second is one number: for some, NumPy takes another way than in its loop."""

REDUCTIONS = ("add", "maximum", "minimum")

# Offsets in the head of a ufunc, in bytes, as numpy/ufuncobject.h has them since 1.22.
_FUNCTIONS, _DATA, _COUNT, _TYPES = 32, 40, 48, 64
_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True, slots=True)
class InnerLoop:
    """A function ``(operands, count, strides, data)`` of C."""

    name: str
    dtype: str
    address: int
    data: int

    @property
    def symbol(self) -> str:
        """What compiled code calls it."""
        return f"numpy_{self.name}_{self.dtype}"


@cache
def find(name: str, dtype: str) -> InnerLoop | None:
    """The inner loop of a ufunc whose operands and result are of one dtype."""
    function = getattr(np, name)
    head = id(function)
    count = ctypes.c_int.from_address(head + _COUNT).value
    width = function.nargs
    types = ctypes.string_at(_pointer(head + _TYPES), count * width)
    wanted = bytes([np.dtype(dtype).num]) * width
    for number in range(count):
        if types[width * number : width * (number + 1)] == wanted:
            functions, data = _pointer(head + _FUNCTIONS), _pointer(head + _DATA)
            return InnerLoop(name, dtype, _pointer(functions + 8 * number), _pointer(data + 8 * number) if data else 0)
    return None


def call(loop: InnerLoop, arrays: list[np.ndarray], strides: list[int], count: int) -> None:
    """Run an inner loop over arrays, the last of which takes the results."""
    operands = _several(ctypes.c_void_p, len(arrays))(*[array.ctypes.data for array in arrays])
    dimensions, steps = _several(ctypes.c_int64, 1)(count), _several(ctypes.c_int64, len(arrays))(*strides)
    _SIGNATURE(loop.address)(operands, dimensions, steps, loop.data)


@cache  # a type refers to itself
def _several(kind: Any, count: int) -> Any:
    """The type of an array of numbers of C."""
    return kind * count


def fault() -> str | None:
    """What is wrong with the addresses: a sentence, or None."""
    for dtype in ("float32", "float64"):
        numbers = np.concatenate([np.linspace(-9, 9, 67), [0.0, -0.0, np.inf, -np.inf, np.nan]]).astype(dtype)
        results, size = np.empty_like(numbers), numbers.itemsize
        for name in (*UNARY, *BINARY, *REDUCTIONS):
            function, loop = getattr(np, name), find(name, dtype)
            if loop is None:
                return f"NumPy {np.__version__} has no inner loop of {name} for {dtype} where its releases keep it."
            with np.errstate(all="ignore"):
                if name in UNARY:
                    call(loop, [numbers, results], [size, size], len(numbers))
                    is_equal = np.array_equal(results, function(numbers), equal_nan=True)
                elif name in BINARY:
                    is_equal = True
                    for one in np.array([2, 3, -0.5, 0.3, -1], dtype):
                        call(loop, [numbers, one.reshape(1), results], [size, 0, size], len(numbers))
                        is_equal &= np.array_equal(results, function(numbers, one), equal_nan=True)
                else:
                    results[0] = 0
                    call(loop, [results, numbers, results], [0, size, 0], 67)
                    is_equal = results[0] == function.reduce(numbers[:67], initial=0)
            if not is_equal:
                does = "reduces by" if name in REDUCTIONS else "computes"
                way = "in another way than" if name in REDUCTIONS else "by another function than"
                return f"NumPy {np.__version__} {does} {name} of {dtype} {way} its inner loop."
    return None


def _pointer(address: int) -> int:
    return ctypes.c_void_p.from_address(address).value or 0
