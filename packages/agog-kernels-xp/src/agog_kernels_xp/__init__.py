"""Kernels for NumPy, CuPy and similar libraries: ``f(xp, *arrays, **attributes)``, where xp is the array library.

Importing this package imports no array library, so that a plugin can list the names and load the kernels later. `bind`
makes the kernels of one library.
"""

from agog_kernels_xp import (
    array,
    control,
    conv,
    image,
    indexing,
    linalg,
    math,
    nn,
    random,
    reduce,
    signal,
    sorting,
    strings,
    updates,
)
from agog_kernels_xp.binding import bind

__all__ = ["COMPOSED", "ELEMENTWISE", "NAMES", "bind"]

ELEMENTWISE = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "add": "add",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor",
    "ceil": "ceil",
    "conj": "conjugate",
    "cos": "cos",
    "cosh": "cosh",
    "equal": "equal",
    "exp": "exp",
    "expm1": "expm1",
    "floor": "floor",
    "greater": "greater",
    "greater_equal": "greater_equal",
    "invert": "invert",
    "is_finite": "isfinite",
    "is_inf": "isinf",
    "is_nan": "isnan",
    "less": "less",
    "less_equal": "less_equal",
    "log": "log",
    "log1p": "log1p",
    "logical_and": "logical_and",
    "logical_not": "logical_not",
    "logical_or": "logical_or",
    "logical_xor": "logical_xor",
    "maximum": "maximum",
    "minimum": "minimum",
    "multiply": "multiply",
    "negative": "negative",
    "not_equal": "not_equal",
    "realdiv": "true_divide",
    "rint": "rint",
    "sign": "sign",
    "sin": "sin",
    "sinh": "sinh",
    "sqrt": "sqrt",
    "square": "square",
    "subtract": "subtract",
    "tan": "tan",
    "tanh": "tanh",
}
"""Op name to the name of the array library's function that is its kernel as it stands."""

_ROOMS = (array, control, conv, image, indexing, linalg, math, nn, random, reduce, signal, sorting, strings, updates)

COMPOSED = {
    f"{room.__name__.rpartition('.')[2]}.{family}": ops for room in _ROOMS for family, ops in room.KERNELS.items()
}
"""Module of this package, such as ``"linalg.matmul"``, to the ops whose kernels it holds, under the ops' names."""

NAMES = (*ELEMENTWISE, *(name for names in COMPOSED.values() for name in names))
"""All ops that have a kernel here."""
