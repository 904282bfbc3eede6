"""Explanation: which kernel runs an op on each device, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from agog_core.dispatch.devices.backends import device_types
from agog_core.dispatch.kernels.candidates import Candidate, candidates, candidates_of_all_ops, rank
from agog_core.dispatch.kernels.unresolved import ambiguous, missing
from agog_core.dispatch.op import all_ops
from agog_core.dtypes import as_dtype
from agog_core.errors import InvalidArgumentError

__all__ = ["explain"]


def explain(op: str, device: str | None = None, dtype: Any = None) -> str:
    """Say which kernel runs an op, and why.

    Args:
        op: the op's name.
        device: a device type; None for every one that has a kernel or is present.
        dtype: a dtype; None for float32, or the op's first dtype where it has no float32.

    Returns:
        The report, one candidate a line.

    Raises:
        ValueError: there is no such op.

    >>> print(explain("matmul", device="cpu", dtype="float32").splitlines()[0])
    matmul on device 'cpu' with dtype float32:
    """
    return "\n".join(report.text for report in reports(op, device, dtype))


class Report(NamedTuple):
    """What is said of an op on a device, whether it runs there, and the kernels, the usable ones best first."""

    op: str
    device: str
    dtype: str
    text: str
    runs: bool = False
    usable: Sequence[Candidate] = ()
    rejected: Sequence[tuple[Candidate, str]] = ()


def reports(op: str, device: str | None = None, dtype: Any = None) -> list[Report]:
    """What `explain`, which documents the arguments, says of each device."""
    known = candidates_of_all_ops().get(op, [])  # first, because plugins bring ops too
    if op not in all_ops():
        from difflib import get_close_matches

        close = get_close_matches(op, all_ops(), 3)
        raise ValueError(f"explain: there is no op {op!r}" + (f"; did you mean {', '.join(close)}?" if close else "."))
    if dtype is None:
        dtype = (
            "float32"
            if "float32" in {d.name for d in all_ops()[op].dtypes}
            else min(d.name for d in all_ops()[op].dtypes)
        )
    name = as_dtype(dtype).name
    types = [device] if device else sorted({c.kernel.device for c in known} | set(device_types()))
    return [_report(op, device_type, name) for device_type in types]


def _report(op: str, device: str, dtype: str) -> Report:
    try:
        all_ops()[op].check_dtype(as_dtype(dtype))
    except InvalidArgumentError as error:
        return Report(op, device, dtype, str(error))
    usable, rejected = candidates(op, device, dtype)
    if not usable:
        return Report(op, device, dtype, missing(op, device, dtype, (), rejected), False, usable, rejected)
    best = [c for c in usable if rank(c) == rank(usable[0])]
    if len(best) > 1:
        return Report(op, device, dtype, ambiguous(op, device, dtype, best), False, usable, rejected)
    lines = [
        f"{op} on device {device!r} with dtype {dtype}:",
        f"  chosen: {usable[0]}{' (preferred)' if rank(usable[0])[0] else ''}",
    ]
    lines += [f"  next: {candidate}" for candidate in usable[1:]]
    lines += [f"  rejected: {candidate}: {why}" for candidate, why in rejected]
    return Report(op, device, dtype, "\n".join(lines), True, usable, rejected)
