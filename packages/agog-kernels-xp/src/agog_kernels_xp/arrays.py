"""Arrays: the types of what kernels take; an array is of whichever library runs them."""

from __future__ import annotations

from typing import Any

Array = Any
Sizes = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]
Key = tuple[int, int, int]
