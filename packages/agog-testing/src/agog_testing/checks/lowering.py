"""Lowering: a kernel taken apart by `Kernel.lower`, and run by executors and compilers, gives the kernel's own bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from agog_core.compiler import Compiler, Graph
from agog_core.dispatch.plugins.ranking import ranked
from agog_core.dtypes import as_dtype
from agog_core.plugin import load_reference
from agog_core.tracing.execution.portable import portable
from agog_testing.checks.recording import is_host_memory, kernel_calls, on_device
from agog_testing.compilers.agreement import Call, Run
from agog_testing.compilers.calls import Way
from agog_testing.subject import Subject

# So many calls are compared with inputs column by column as well.
_MOST_BY_COLUMNS = 4
# Executors run all dtypes of a kernel. Without them, and with compilers, these stand for the others.
_DTYPES = {"bool", "float32", "int32"}


def ways(device: str) -> Iterator[tuple[str, Way]]:
    """Kernel by kernel; each executor for a device type that can be used here, alone; the first with each compiler."""
    yield "portable", Way(_by_kernels)
    executors = [each.what for each in ranked("executors", device) if each.why is None]
    for executor in executors:
        yield executor.name, Way(load_reference(executor.prepare))
    for each in ranked("compilers", device) if executors else ():
        if each.why is None:
            yield each.what.name, Way(load_reference(executors[0].prepare), [each.what])


def _by_kernels(graph: Graph, compilers: Sequence[Compiler]) -> Run:
    return portable(graph)


def lowering_checks(subject: Subject) -> dict[str, Callable[[Subject], None]]:
    """A check for each way to run traced functions on the device, by name."""
    is_usual = subject.dtype in _DTYPES or not _DTYPES & set(subject.dtypes or subject.info.dtypes)
    return {
        f"lowered_by_{name}": partial(check_lowering, way=way)
        for name, way in ways(subject.device.type)
        if is_usual or (way.prepare is not _by_kernels and not way.compilers)
    }


def check_lowering(subject: Subject, way: Way) -> None:
    """Compare each call, run in one of the ways, with the kernel; or with the next one in rank, where that declines."""
    assert subject.leading is not None
    op, table = subject.info.op, subject.device.table(as_dtype(subject.dtype))
    recorded = list(kernel_calls(subject))
    runs: dict[Any, Run | None] = {}
    by_columns = 0
    with subject.leading():
        for sample, seen in recorded:
            call = Call(op, table, tuple(on_device(subject, seen.before)), seen.attributes)
            forms = {sample.name: call}
            if by_columns < _MOST_BY_COLUMNS and _has_columns(subject, call):
                columns = tuple(map(np.asfortranarray, call.arrays))
                forms[f"{sample.name}, column by column"] = call._replace(arrays=columns)
                by_columns += 1
            for name, form in forms.items():
                way.check(form, name, runs)


def _has_columns(subject: Subject, call: Call) -> bool:
    has_axes = any(array.ndim > 1 and array.size for array in call.arrays)
    return has_axes and not call.op.updates and is_host_memory(subject, call.arrays)
