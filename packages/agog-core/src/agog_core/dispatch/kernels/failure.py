"""Failure: what is told of a kernel that raised: its name and plugin, the op, the device, and what it was given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from agog_core.dispatch.devices.table import KernelTable, describe
from agog_core.dispatch.op import Op
from agog_core.dtypes import as_dtype

if TYPE_CHECKING:
    from agog_core.dispatch.kernels.candidates import Candidate

_START = "in the kernel "


def note_failure(
    error: Exception,
    op: Op,
    table: KernelTable,
    arrays: Sequence[Any],
    kernel: Callable[..., Any] | None = None,
    candidate: Candidate | None = None,
) -> None:
    """Add to what a kernel raised which one it was, and what it was given; an error that says so already is left.

    Args:
        error: what it raised.
        op: the op.
        table: the table that the kernel was taken from.
        arrays: the input arrays.
        kernel: the kernel; None for the one in the table.
        candidate: where it comes from; None for where the one in the table does.
    """
    if any(note.startswith(_START) for note in getattr(error, "__notes__", ())):
        return
    if candidate is None and (chain := table.chains.get(op.name)) is not None and chain.head >= 0:
        candidate = chain.candidates[chain.head]
    text = named(op, table, candidate, table.kernels.get(op.name) if kernel is None else kernel)
    error.add_note(f"{_START}{text}, called with {given(arrays)}")


def named(op: Op, table: KernelTable, candidate: Candidate | None, kernel: Callable[..., Any] | None) -> str:
    """Name a kernel by its function, its plugin, its op, device and dtype."""
    plugin = "" if candidate is None else f" of plugin {candidate.plugin.name!r} ({candidate.plugin.distribution})"
    device = f"{table.device.type}:{table.device.index}"
    return f"{describe(kernel)}{plugin} for op {op.name!r} on device {device!r} with dtype {table.dtype.name}"


def given(arrays: Sequence[Any]) -> str:
    """Arrays as errors name them, such as ``float32 (2, 3), int32 ()``."""
    return ", ".join(map(_array, arrays)) or "no arrays"


def shape_of(array: Any) -> tuple[int, ...]:
    """The sizes of an array of a backend."""
    return tuple(array.shape)


def _array(array: Any) -> str:
    try:
        return f"{as_dtype(array.dtype).name} {shape_of(array)}"
    except Exception:  # a broken array type must not hide the error of its kernel
        return type(array).__name__
