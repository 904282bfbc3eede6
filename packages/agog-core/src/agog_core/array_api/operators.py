"""Operators: Python's operators with the standard's meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.array_api import elementwise, products
from agog_core.tensors.tensor import Tensor

__all__ = ["enable_operators"]

_ARITHMETIC: dict[str, Callable[..., Tensor]] = {
    "add": elementwise.add,
    "sub": elementwise.subtract,
    "mul": elementwise.multiply,
    "truediv": elementwise.divide,
    "floordiv": elementwise.floor_divide,
    "mod": elementwise.remainder,
    "pow": elementwise.pow,
    "matmul": products.matmul,
    "and": elementwise.bitwise_and,
    "or": elementwise.bitwise_or,
    "xor": elementwise.bitwise_xor,
    "lshift": elementwise.bitwise_left_shift,
    "rshift": elementwise.bitwise_right_shift,
}
_COMPARISONS: dict[str, Callable[..., Tensor]] = {
    "eq": elementwise.equal,
    "ne": elementwise.not_equal,
    "lt": elementwise.less,
    "le": elementwise.less_equal,
    "gt": elementwise.greater,
    "ge": elementwise.greater_equal,
}


def enable_operators() -> None:
    """Give tensors the standard's operators, from now on and in the whole program.

    TensorFlow's ``x == y`` tells whether both are the same object, and ``x + y`` raises where the dtypes differ. After
    this call, ``==`` and ``!=`` compare elements, and operators promote as the functions of this namespace do. Tensors
    stay hashable by identity, so they remain keys of dictionaries; ``x in list`` compares elements: avoid it.

    >>> import agog_core.array_api as xp  # doctest: +SKIP
    >>> xp.enable_operators()  # doctest: +SKIP
    >>> xp.asarray([1, 2]) == xp.asarray([1.0, 3.0])  # doctest: +SKIP
    """
    for name, function in (_ARITHMETIC | _COMPARISONS).items():
        setattr(Tensor, f"__{name}__", _operator(function))
    for name, function in _ARITHMETIC.items():
        setattr(Tensor, f"__r{name}__", _reflected(function))


def _operator(function: Callable[..., Tensor]) -> Callable[[Tensor, Any], Any]:
    def operator(self: Tensor, other: Any, /) -> Any:
        return NotImplemented if other is None else function(self, other)

    return operator


def _reflected(function: Callable[..., Tensor]) -> Callable[[Tensor, Any], Any]:
    def operator(self: Tensor, other: Any, /) -> Any:
        return NotImplemented if other is None else function(other, self)

    return operator
