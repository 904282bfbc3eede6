"""Recurrent: `lstm`, `gru` and their gradients, all times of some examples in one turn."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op."""
    kernel: Callable[..., Any] = getattr(import_module(f"{__name__}.{op.partition('_')[0]}"), op)
    return kernel
