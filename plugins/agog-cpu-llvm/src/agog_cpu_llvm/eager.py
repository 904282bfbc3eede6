"""Eager: large calls of single ops, compiled from the reference kernels, with their bits."""

from __future__ import annotations

from agog_core.compiler import SingleOp

LEAST = 1 << 16
"""Elements from which on fewer ways through memory outweigh the way to the compiled loop."""


def make(op: str, dtype: str, device: str) -> SingleOp:
    """The kernel of an op."""
    return SingleOp(op, dtype, device, least=LEAST)
