"""Call: inputs to arrays, a kernel from the table, the result to a tensor, a record for the tapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.devices.lookup import current_device, device, scopes
from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.kernels.failure import note_failure
from agog_core.dispatch.kernels.reserves import is_kept
from agog_core.dispatch.kernels.resolution import resolve, run_next
from agog_core.dispatch.op import Op
from agog_core.dtypes import DType
from agog_core.errors import InternalError, InvalidArgumentError
from agog_core.recording import active, is_recorded, lined, note_break, record
from agog_core.shapes import Shape, TensorShape, intern_shape
from agog_core.tensors.operand import check_same_dtype
from agog_core.tensors.placement import copy_to_device, on_host, place
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracers import present_tracer, tracing
from agog_core.variables.memory import give_back, take, updating
from agog_core.variables.variable import Variable


def call(op: Op, *inputs: Tensor, **attributes: Any) -> Tensor:
    """Run an op that has one output; elementwise ops have faster functions, made by `agog_core.calls.elementwise`.

    Args:
        op: the op.
        *inputs: its input tensors.
        **attributes: its attributes, which the shape rule, the kernel and the vjps take as keywords.

    Returns:
        The output.

    Raises:
        InvalidArgumentError: dtypes or shapes do not fit.
        MissingKernelError: no kernel is there for the device and dtype.
    """
    if scopes or (len(inputs) > 1 and (len(inputs) > 2 or inputs[0]._table is not inputs[1]._table)):
        inputs = _together(op, inputs)
    first = inputs[0]
    table = first._table if len(inputs) == 1 else inputs[op.alike[0]]._table
    if len(inputs) == 1:  # written out for the most frequent numbers of inputs: a comprehension is a call
        shape = op.shape(first._shape, **attributes)
    elif len(inputs) == 2:
        shape = op.shape(first._shape, inputs[1]._shape, **attributes)
    else:
        shape = op.shape(*[x._shape for x in inputs], **attributes)
    try:
        kernel = table.kernels[op.name]
    except KeyError:
        if (moved := on_host(op, inputs, attributes)) is not None:
            with device(None):
                return call(op, *moved, **attributes)
        kernel = resolve(op, table, [x._shape for x in inputs])
    outs: Any
    if active and op.keeping is not None and is_kept(op, table) and is_recorded(inputs):
        outs = call_several(op.keeping, *inputs, **attributes)
        return outs[:-1] if len(outs) > 2 else outs[0]  # type: ignore[no-any-return]  # as below
    try:
        if len(inputs) == 1:
            result = kernel(first._array, **attributes)
        elif len(inputs) == 2:
            result = kernel(first._array, inputs[1]._array, **attributes)
        else:
            result = kernel(*[x._array for x in inputs], **attributes)
    except Exception as error:
        note_failure(error, op, table, [x._array for x in inputs])
        raise
    if op.dtype is None and type(shape) is tuple and result is not NotImplemented:  # the most frequent case
        if type(result) is not table.array_type:
            result = table.adopt(op.name, result)
        outs = wrap(result, table, shape if shape is first._shape else intern_shape(shape))
    else:
        if result is NotImplemented:
            result = run_next(op, table, [x._array for x in inputs], attributes)
        outs = _results(op, result, table, shape, attributes)
    if active:
        if op.edges:
            record(op, outs, inputs, attributes)
        elif lined:
            note_break(op.name, inputs)
    return outs  # type: ignore[no-any-return]  # the op has one output


def call_several(op: Op, *inputs: Tensor, **attributes: Any) -> tuple[Tensor, ...]:
    """Run an op that has several outputs.

    Args:
        op: the op.
        *inputs: its input tensors.
        **attributes: its attributes.

    Returns:
        The outputs.

    Raises:
        InvalidArgumentError: dtypes or shapes do not fit.
        MissingKernelError: no kernel is there for the device and dtype.
    """
    return call(op, *inputs, **attributes)  # type: ignore[return-value]  # the op has several outputs


def call_with(reserve: Tensor | None, op: Op, *inputs: Tensor, **attributes: Any) -> Tensor:
    """Run an op that may take a reserve of another one: the kernel that can read it runs, if there is one.

    Args:
        reserve: what a vjp has got by that name; None for none.
        op: the op.
        *inputs: its input tensors.
        **attributes: its attributes.

    Returns:
        The output.
    """
    if reserve is None or op.taking is None:
        return call(op, *inputs, **attributes)
    return call(op.taking, *inputs, reserve, **attributes)


def _together(op: Op, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Copy the inputs to one device, and check their common dtype."""
    device = inputs[0]._table.device
    if scopes:
        inputs = tuple(place(op.name, inputs))
    else:
        for x in inputs:
            if x._table.device is not device:
                inputs = tuple(place(op.name, inputs))
                break
    if op.variadic:
        table = inputs[0]._table
        for x in inputs:
            if x._table is not table:
                check_same_dtype(op.name, [f"{op.inputs[0]}[{n}]" for n in range(len(inputs))], inputs)
    else:
        table = inputs[op.alike[0]]._table
        for position in op.alike:
            if inputs[position]._table is not table:
                check_same_dtype(op.name, [op.inputs[n] for n in op.alike], [inputs[n] for n in op.alike])
    return inputs


def create(op: Op, dtype: DType, *, device: Device | None = None, **attributes: Any) -> Tensor:
    """Run an op that has no input tensors; its kernel takes ``dtype`` (a name) and ``index`` (of the device) too."""
    table = (device or current_device()).table(dtype)
    if op.random and tracing and (tracer := present_tracer()) is not None:
        table = tracer.table(table)
    shape = op.shape(**attributes)
    try:
        kernel = table.kernels[op.name]
    except KeyError:
        kernel = resolve(op, table)
    index = table.device.index
    try:
        array = kernel(**attributes, dtype=dtype.name, index=index)
    except Exception as error:
        note_failure(error, op, table, ())
        raise
    if array is NotImplemented:
        array = run_next(op, table, (), {**attributes, "dtype": dtype.name, "index": index})
    return _results(op, array, table, shape, attributes)  # type: ignore[no-any-return]  # the op has one output


def _results(op: Op, result: Any, table: Any, shape: Any, attributes: dict[str, Any]) -> Any:
    dtype = op.result_dtype(table.dtype, attributes)
    if not isinstance(shape, list):
        return _wrap(op, result, table, shape, dtype)
    if not isinstance(result, tuple) or len(result) != len(shape):
        got = f"{len(result)} arrays" if isinstance(result, tuple) else type(result).__name__
        raise InternalError(
            f"{op.name}: the kernel on device {table.device.type!r} returned {got}; a tuple of {len(shape)} arrays is "
            "expected."
        )
    if isinstance(dtype, list):
        return tuple([_wrap(op, *each) for each in zip(result, [table] * len(shape), shape, dtype, strict=True)])
    return tuple([_wrap(op, array, table, size, dtype) for array, size in zip(result, shape, strict=True)])


def _wrap(op: Op, array: Any, table: Any, shape: Any, dtype: DType) -> Tensor:
    result = table if dtype is table.dtype else table.device.table(dtype)
    if type(array) is not result.array_type:
        array = table.adopt(op.name, array)
    if type(shape) is TensorShape:  # some sizes depend on values
        shape = tuple(array.shape)
    return wrap(array, result, intern_shape(shape))


def update(op: Op, variables: Sequence[Variable], inputs: Sequence[Tensor], **attributes: Any) -> None:
    """Run an op that updates variables, all of one device and dtype, in place. Tapes do not see it.

    Its kernel takes the variables' arrays, which it may write, then the inputs'; it returns None or new arrays.
    """
    value = variables[0]._current()
    table, shape = value._table, value._shape
    for x in inputs:
        if x._table is not table or x._shape is not shape:
            inputs = fitting(op, variables, inputs, table, shape)
            break
    else:
        for variable in variables[1:]:
            value = variable._current()
            if value._table is not table or value._shape is not shape:
                inputs = fitting(op, variables, inputs, table, shape)
                break
    del value  # a reference to a variable's tensor would make the update copy it
    _run_in_place(op, table, variables, inputs, [shape], attributes)


def fitting(
    op: Op, variables: Sequence[Variable], inputs: Sequence[Tensor], table: KernelTable, shape: Shape
) -> list[Tensor]:
    """The inputs of an update on the variables' device, if all are of one dtype and shape."""
    placed = [x if x._table.device is table.device else copy_to_device(x, table.device) for x in inputs]
    tensors = [*(variable._current() for variable in variables), *placed]
    if any(x._table is not table for x in tensors):
        check_same_dtype(op.name, op.inputs, tensors)
    for name, x in zip(op.inputs, tensors, strict=True):
        if x._shape != shape:
            raise InvalidArgumentError(
                f"{op.name}: {name} has shape {x._shape}; {op.inputs[0]} {variables[0].name!r} has shape {shape}."
            )
    return placed


def update_part(op: Op, variable: Variable, inputs: Sequence[Tensor], **attributes: Any) -> None:
    """Run an op that updates a part of a variable in place, with inputs of other shapes; see `update`."""
    table = variable._current()._table
    placed = [x if x._table.device is table.device else copy_to_device(x, table.device) for x in inputs]
    shapes = [variable._current()._shape, *[x._shape for x in placed]]
    op.shape(*shapes, **attributes)
    _run_in_place(op, table, [variable], placed, shapes, attributes)


def _run_in_place(
    op: Op,
    table: KernelTable,
    variables: Sequence[Variable],
    inputs: Sequence[Tensor],
    shapes: Sequence[Shape],
    attributes: dict[str, Any],
) -> None:
    try:
        kernel = table.kernels[op.name]
    except KeyError:
        if table.traces and (tracer := present_tracer()) is not None:
            tracer.update(op, variables, inputs, attributes)
            return
        kernel = resolve(op, table, shapes)
    updated: tuple[Any, ...] | None = None
    with updating:  # a Ctrl-C cannot come between this and its end; what it leaves taken is given back when it is read
        try:
            arrays = take(variables)
            for x in inputs:
                arrays.append(x._array)
            try:
                result = kernel(*arrays, **attributes)
                if result is not None:
                    updated = _new_arrays(op, table, result, arrays, attributes)
            except Exception as error:
                note_failure(error, op, table, arrays)
                raise
        finally:
            give_back(variables, updated)


def _new_arrays(
    op: Op, table: KernelTable, result: Any, arrays: list[Any], attributes: dict[str, Any]
) -> tuple[Any, ...] | None:
    """The arrays that a kernel returned instead of updating its arguments."""
    if result is NotImplemented:
        result = run_next(op, table, arrays, attributes)
        if result is None:
            return None
    if not isinstance(result, tuple) or len(result) != len(op.updates):
        got = f"{len(result)} arrays" if isinstance(result, tuple) else type(result).__name__
        raise InternalError(
            f"{op.name}: the kernel on device {table.device.type!r} returned {got}; it updates its first arrays and "
            f"returns None, or a tuple of {len(op.updates)} new arrays."
        )
    return tuple(table.adopt(op.name, array) for array in result)
