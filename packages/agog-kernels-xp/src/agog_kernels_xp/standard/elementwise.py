"""Elementwise: NumPy's functions of single elements, with its promotion of dtypes, ``out``, ``reduce`` and ``at``."""

from __future__ import annotations

from typing import Any

from agog_kernels_xp.parts.accumulation import in_turns
from agog_kernels_xp.standard.array import Array

UNARY = {
    **{name: name for name in ("ceil", "cos", "cosh", "exp", "expm1", "floor", "isfinite", "isinf", "isnan", "log")},
    **{name: name for name in ("log1p", "log2", "logical_not", "negative", "sign", "sin", "sinh", "sqrt", "square")},
    **{name: name for name in ("tan", "tanh")},
    **{"abs": "abs", "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh"},
    **{"arctan": "atan", "arctanh": "atanh", "conjugate": "conj", "invert": "bitwise_invert", "rint": "round"},
}
"""Functions of one array: NumPy's name to the standard's."""

BINARY = {
    **{name: name for name in ("add", "bitwise_and", "bitwise_or", "bitwise_xor", "divide", "equal", "floor_divide")},
    **{name: name for name in ("greater", "greater_equal", "less", "less_equal", "logaddexp", "logical_and")},
    **{name: name for name in ("logical_or", "logical_xor", "maximum", "minimum", "multiply", "not_equal")},
    **{name: name for name in ("remainder", "subtract")},
    **{"arctan2": "atan2", "left_shift": "bitwise_left_shift", "power": "pow", "right_shift": "bitwise_right_shift"},
    **{"true_divide": "divide"},
}
"""Functions of two arrays: NumPy's name to the standard's."""

_OF_FLOATS = {
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "divide", "exp", "expm1", "log"),
    *("log1p", "log2", "logaddexp", "sin", "sinh", "sqrt", "tan", "tanh"),
}
_OF_BOOLS = {"logical_and", "logical_not", "logical_or", "logical_xor"}
# What NumPy computes with bools.
_FOR_BOOLS = {"add": "logical_or", "maximum": "logical_or", "minimum": "logical_and", "multiply": "logical_and"}
_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}


class Elementwise:
    """One function, which is called as NumPy's is; ``name`` is the standard's."""

    def __init__(self, face: Any, name: str, count: int) -> None:
        self.face = face
        self.name = name
        self.count = count

    def __call__(self, *arguments: Any, out: Array | None = None, dtype: Any = None) -> Any:
        operands = self.face.promoted(arguments[: self.count], dtype)
        kind, name = operands[0].dtype.kind, self.name
        if self.name in _OF_BOOLS and kind != "b":
            operands = [x != 0 for x in operands]
        elif self.name in _OF_FLOATS and kind in "biu":
            operands = [x.astype("float64") for x in operands]
        elif self.name == "conj" and kind != "c":
            return operands[0].copy()
        elif kind == "b":
            name = _FOR_BOOLS.get(name, name)
        result = Array(self.face, getattr(self.face.xp, name)(*[x.native for x in operands]))
        target = arguments[self.count] if len(arguments) > self.count else out
        if target is None:
            return result
        target[...] = result
        return target

    def reduce(
        self,
        x: Array,
        axis: Any = 0,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: float | None = None,
    ) -> Any:
        """The function between all elements along axes."""
        axes = axis if isinstance(axis, tuple) else (axis,)
        if self.name == "logaddexp":
            highest = x.max(axis, keepdims=True)
            offset = self.face.where(self.face.isfinite(highest), highest, 0)
            total = self.face.log(self.face.exp(x - offset).sum(axis, keepdims=True)) + offset
            return total if keepdims else self.face.squeeze(total, axis)
        if initial is not None and 0 in [x.shape[each] for each in axes]:
            sizes = [1 if n in [each % x.ndim for each in axes] else size for n, size in enumerate(x.shape)]
            return self.face.full(sizes, initial, x.dtype)
        reduced = getattr(self.face, _REDUCTIONS[self.name])(x, axis=axis, dtype=dtype, keepdims=keepdims)
        return reduced

    def at(self, target: Array, positions: Array, updates: Array) -> None:
        """Combine updates with the elements of a vector at positions, in place."""
        if positions.size:
            in_turns(self.face, self.name, target, positions, self.face.broadcast_to(updates, positions.shape))
