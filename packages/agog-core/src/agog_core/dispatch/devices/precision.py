"""Precision: how much of each number a product of float32 matrices may use, on devices that are faster with less."""

from __future__ import annotations

from agog_core.dispatch.devices.lookup import clear_tables
from agog_core.errors import InvalidArgumentError

__all__ = ["matmul_precision", "set_matmul_precision"]

_PRECISIONS = ("float32", "tf32", "bf16")
# What `set_matmul_precision` chose, for the whole process.
_precision = "float32"


def matmul_precision() -> str:
    """How precise products of float32 matrices have to be at least.

    Returns:
        ``"float32"``, ``"tf32"`` or ``"bf16"``; see `set_matmul_precision`.

    >>> matmul_precision()
    'float32'
    """
    return _precision


def set_matmul_precision(precision: str) -> None:
    """Choose how precise products of float32 matrices have to be at least, for the whole process.

    It is about what matrices are multiplied for: `matmul`, `einsum`, convolutions and recurrent layers. Sums are kept
    in float32 whatever is chosen. A device that gains nothing by less precision, such as the CPU, stays as it is.

    Args:
        precision: ``"float32"``, which is the default, uses all 24 bits of each factor. ``"tf32"`` lets a device round
            factors to 11 bits, and ``"bf16"`` to 8.

    Raises:
        InvalidArgumentError: the precision is none of these.

    >>> set_matmul_precision("tf32")
    >>> matmul_precision()
    'tf32'
    >>> set_matmul_precision("float32")
    """
    global _precision
    if precision not in _PRECISIONS:
        raise InvalidArgumentError(
            f"set_matmul_precision: precision must be 'float32', 'tf32' or 'bf16'; got {precision!r}."
        )
    _precision = precision
    clear_tables()  # backends ask for it when kernels are bound
