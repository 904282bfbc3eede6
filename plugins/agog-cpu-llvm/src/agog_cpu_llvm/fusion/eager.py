"""Eager: large calls of single ops, compiled from the reference kernels, with their bits."""

from __future__ import annotations

from agog_core.compiler import SingleOp

LEAST = 1 << 14
"""Elements from which on fewer ways through memory outweigh the way to the compiled loop."""

LEAST_OF_ROWS = 1 << 16
"""The same for ops over rows, which gain less."""


def make(op: str, dtype: str, device: str) -> SingleOp:
    """The kernel of an elementwise op."""
    return SingleOp(op, dtype, device, least=LEAST)


def make_over_rows(op: str, dtype: str, device: str) -> SingleOp:
    """The kernel of an op over rows."""
    return SingleOp(op, dtype, device, least=LEAST_OF_ROWS)
