"""Kinds: what a gradient is in one process, and in all."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from agog_core import IndexedSlices

NONE, DENSE, ROWS = KINDS = ("none", "dense", "rows")


def kind_of(gradient: Any) -> str:
    """What a gradient is in this process."""
    return NONE if gradient is None else ROWS if type(gradient) is IndexedSlices else DENSE


def common_kind(kinds: Collection[str]) -> str:
    """What a gradient is in all processes: rows only where it is dense in none of them."""
    return DENSE if DENSE in kinds else ROWS if ROWS in kinds else NONE
