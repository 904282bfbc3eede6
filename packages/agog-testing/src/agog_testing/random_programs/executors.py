"""Executors: those, and compilers, that run the traced functions of programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from agog_core.dispatch.kernels.observation import observe, unobserve
from agog_core.tracing.execution.hotness import _at_once
from agog_testing.compilers.scope import compilers_in_use

WAYS = ("compilers", "nodes", "numpy", "portable")


@contextmanager
def running(way: str) -> Iterator[None]:
    """A block in which traced functions are run in a way.

    Args:
        way: "compilers", which are those that are installed; "nodes", which is node by node until it pays to
            compile them; "numpy" for the device's executor without compilers; "portable" for kernel by kernel.
    """
    if way == "portable":
        observe(_look)
        try:
            yield
        finally:
            unobserve(_look)
        return
    reasons = list(_at_once)
    _at_once[:] = [] if way == "nodes" else [way]
    try:
        with compilers_in_use() if way == "numpy" else nullcontext():
            yield
    finally:
        _at_once[:] = reasons


def _look(call: object) -> None:
    """Look at a call; that somebody does lets kernels be called one by one."""
