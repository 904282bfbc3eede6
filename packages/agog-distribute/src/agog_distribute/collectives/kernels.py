"""Kernels: the collective ops, by the collective that connects arrays of the device.

Where a call was traced, ``place`` is the line of the program that it was traced from.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from agog_distribute.faults.agreement import agree
from agog_distribute.faults.place import Place
from agog_distribute.processes.groups import Group


def all_reduce(x: Any, *, reduction: str, group: Group, place: Place | None = None, device: str = "cpu:0") -> Any:
    """Sums, means, maxima or minima over the processes."""
    agree(group, f"all_reduce (reduction={reduction!r})", x, place)
    return group.on(device).all_reduce(_contiguous(x), reduction)


def all_gather(x: Any, *, group: Group, place: Place | None = None, device: str = "cpu:0") -> Any:
    """The processes' arrays one behind the other."""
    agree(group, "all_gather", x, place)
    return group.on(device).all_gather(_contiguous(x))


def reduce_scatter(x: Any, *, reduction: str, group: Group, place: Place | None = None, device: str = "cpu:0") -> Any:
    """Each process's part of sums or means."""
    agree(group, f"reduce_scatter (reduction={reduction!r})", x, place)
    return group.on(device).reduce_scatter(_contiguous(x), reduction)


def broadcast(x: Any, *, root: int, group: Group, place: Place | None = None, device: str = "cpu:0") -> Any:
    """The array of one process."""
    agree(group, f"broadcast (root={root})", x, place)
    return group.on(device).broadcast(_contiguous(x), root)


def all_to_all(x: Any, *, group: Group, place: Place | None = None, device: str = "cpu:0") -> Any:
    """A part for each process, and one from each."""
    agree(group, "all_to_all", x, place)
    return group.on(device).all_to_all(_contiguous(x))


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op for a device; see `agog_core.plugin.Kernel`."""
    kernel: Callable[..., Any] = globals()[op.removeprefix("distribute_")]
    return partial(kernel, device=device)


def _contiguous(x: Any) -> Any:
    """As collectives take it; `ascontiguousarray` would give a scalar an axis."""
    return x if x.flags.c_contiguous else x.copy(order="C")
