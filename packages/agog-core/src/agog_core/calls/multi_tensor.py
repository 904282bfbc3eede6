"""Multi-tensor: in-place updates of many variables, in one launch if their device has a kernel for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from agog_core.calls.call import fitting, update
from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.kernels.failure import note_failure
from agog_core.dispatch.kernels.several import resolve_several
from agog_core.dispatch.op import Op
from agog_core.errors import InternalError
from agog_core.tensors.tensor import Tensor
from agog_core.variables.memory import give_back, take, updating
from agog_core.variables.variable import Variable

Step = tuple[Sequence[Variable], Sequence[Tensor]]


def update_several(op: Op, steps: Iterable[Step], **attributes: Any) -> None:
    """Run an op that updates variables once for each step, as `update` does for one; the result is the same.

    Steps of one device and dtype are taken at once where the kernel for them has `Kernel.several`.
    """
    together: dict[KernelTable, list[Step]] = {}
    for step in steps:
        table = step[0][0]._current()._table
        if table in together:
            together[table].append(step)
        elif takes_several(op, step[0][0]):
            together[table] = [step]
        else:
            update(op, *step, **attributes)
    for table, alike in together.items():
        if _is_distinct(alike) and _run_at_once(op, table, alike, attributes):
            continue
        for step in alike:
            update(op, *step, **attributes)


def takes_several(op: Op, variable: Variable) -> bool:
    """Whether the kernel for a variable's device and dtype takes several at once; whether it has, tables remember."""
    table = variable._current()._table
    if table.traces:  # each is recorded by itself
        return False
    try:
        return table.several[op.name] is not None
    except KeyError:
        return resolve_several(op, table) is not None


def _is_distinct(steps: Sequence[Step]) -> bool:
    """Whether all variables differ; the second step of a duplicate would need the result of the first."""
    names = [id(variable) for variables, _ in steps for variable in variables]
    return len(set(names)) == len(names)


def _run_at_once(op: Op, table: KernelTable, steps: Sequence[Step], attributes: dict[str, Any]) -> bool:
    """Run all steps by one call of a kernel; False if it declines them, before anything has changed."""
    kernel = table.several[op.name]
    assert kernel is not None
    inputs = [_placed(op, table, *step) for step in steps]
    groups: list[tuple[Any, ...]] = []
    updated: Sequence[Any] = [None] * len(steps)
    with updating:  # see `agog_core.calls.call`
        try:
            for (variables, _), given in zip(steps, inputs, strict=True):
                groups.append((*take(variables), *[x._array for x in given]))
            try:
                result = kernel(groups, **attributes)
                if result is NotImplemented:
                    return False
                if result is not None or not table.device.backend.writable:
                    updated = _new_arrays(op, table, result, len(steps))
                return True
            except Exception as error:
                note_failure(error, op, table, [array for group in groups for array in group], kernel)
                raise
        finally:
            for (variables, _), arrays in zip(steps, updated, strict=True):
                give_back(variables, arrays)


def _placed(op: Op, table: KernelTable, variables: Sequence[Variable], inputs: Sequence[Tensor]) -> Sequence[Tensor]:
    """The inputs of a step on the variables' device; an error where dtypes or shapes do not fit."""
    shape = variables[0]._current()._shape
    for x in inputs:
        if x._table is not table or x._shape is not shape:
            return fitting(op, variables, inputs, table, shape)
    for variable in variables:
        value = variable._current()
        if value._table is not table or value._shape is not shape:
            return fitting(op, variables, inputs, table, shape)
    return inputs


def _new_arrays(op: Op, table: KernelTable, result: Any, count: int) -> list[tuple[Any, ...]]:
    """The arrays that a kernel returned for each step, instead of updating its arguments."""
    groups: list[Any] = result if isinstance(result, list) and len(result) == count else [None]
    if all(isinstance(arrays, tuple) and len(arrays) == len(op.updates) for arrays in groups):
        return [tuple(table.adopt(op.name, array) for array in arrays) for arrays in groups]
    raise InternalError(
        f"{op.name}: `several` of the kernel on device {table.device.type!r} returned {type(result).__name__}; it "
        f"updates the first arrays of each group and returns None, or a list of {count} tuples of {len(op.updates)} "
        "new arrays."
    )
