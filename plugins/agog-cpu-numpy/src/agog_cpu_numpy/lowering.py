"""Lowering: the kernels with the library that records them; ``"agog_cpu_numpy.lowering:matmul"`` names one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import agog_kernels_xp
from agog_cpu_numpy.backend import numpy_dtype


@cache
def __getattr__(op: str) -> Callable[..., Any]:
    if op not in agog_kernels_xp.NAMES:
        raise AttributeError(f"agog_kernels_xp has no kernel for op {op!r}.")

    def lower(*arrays: Any, **attributes: Any) -> Any:
        if not arrays:
            raise NotImplementedError("no array says which library records")
        return _bound(arrays[0].__array_namespace__())(op)(*arrays, **attributes)

    return lower


@cache
def _bound(library: Any) -> Callable[[str], Callable[..., Any]]:
    return agog_kernels_xp.bind(library, dtype=numpy_dtype)
