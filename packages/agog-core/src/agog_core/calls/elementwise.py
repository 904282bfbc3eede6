"""Elementwise: factories of elementwise ops, with the fastest path of a call in plain Python.

`unary` and `binary` turn a signature with a docstring into an op. What they generate is what everybody would write by
hand: look up the kernel, call it, wrap the result, record. Each op gets a copy of the code object with its own name and
parameter names. So keywords work, profiles are readable, and the interpreter specialises each op's code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any

from agog_core import dtypes as kinds
from agog_core.calls.broadcasting import sum_to
from agog_core.calls.docstrings import inputs_of, write_arguments
from agog_core.dispatch.devices.lookup import device, scopes
from agog_core.dispatch.edge import Vjp
from agog_core.dispatch.kernels.failure import note_failure
from agog_core.dispatch.kernels.resolution import resolve, run_next
from agog_core.dispatch.op import Op
from agog_core.dtypes import DType
from agog_core.recording import active, lined, next_id, note_break, record, record_unary, tapes_of_context
from agog_core.shapes import Shape, broadcast_shapes
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor
from agog_core.tensors.operand import check_same_dtype, operand
from agog_core.tensors.placement import on_host, place
from agog_core.variables.variable import Variable

UnaryFunction = Callable[..., Tensor]
BinaryFunction = Callable[..., Tensor]
_new = object.__new__


def unary(
    vjp: Vjp | None = None,
    *,
    dtypes: frozenset[DType] = kinds.NUMERIC,
    dtype: DType | Callable[[DType], DType] | None = None,
) -> Callable[[UnaryFunction], UnaryFunction]:
    """Make an elementwise op of one input out of a signature with a docstring.

    The docstring may leave its Args to the dtypes.

    Args:
        vjp: ``vjp(g, ...)``, which may name the input, ``out``, or both.
        dtypes: the dtypes that the op is defined for.
        dtype: the output's dtype, or a function of the input's; None for the input's.

    Returns:
        A decorator for a function of ``(input, name=None)``.
    """

    def decorate(public: UnaryFunction) -> UnaryFunction:
        op_name = public.__name__
        input_name = public.__code__.co_varnames[0]
        write_arguments(public, inputs_of([input_name], dtypes))
        op = Op(
            op_name,
            public,
            inputs=[input_name],
            shape=_same_shape,
            dtype=dtype,
            dtypes=dtypes,
            vjp={} if vjp is None else {input_name: vjp},
            elementwise=True,
        )
        saves = op.edges[0].saves if op.edges else ()
        saves_input, saves_out = saves == (input_name,), saves == ("out",)
        is_simple = saves_input or saves_out or saves == ()

        def function(x: TensorLike, name: str | None = None) -> Tensor:
            if type(x) is not Tensor:
                x = convert_to_tensor(x)
            if scopes:
                (x,) = place(op_name, (x,))
            table = x._table
            try:
                kernel = (table.kernels if x._shape else table.scalar_kernels)[op_name]
            except KeyError:
                if (moved := on_host(op, (x,), {})) is not None:
                    with device(None):
                        return op.function(*moved)  # type: ignore[no-any-return]  # it is this function
                kernel = resolve(op, table, (x._shape,))
            try:
                array = kernel(x._array)
            except Exception as error:
                note_failure(error, op, table, (x._array,))
                raise
            if type(array) is not table.array_type:
                if array is NotImplemented:
                    array = run_next(op, table, (x._array,), {})
                else:
                    try:
                        array = table.as_array(array)
                    except TypeError:
                        table.refuse(op_name, array)
            out = _new(Tensor)
            out._array = array
            out._table = table if dtype is None else table.results.get(op_name) or table.result(op)
            out._shape = x._shape
            out._watch = None
            if active and x._watch is not None:
                if vjp is None:
                    if lined:
                        note_break(op_name, (x,))
                elif is_simple:
                    record_unary(out, x, vjp, (x,) if saves_input else (out,) if saves_out else ())
                else:
                    record(op, out, (x,), {})
            return out

        op.function = _named_like(function, public)
        return op.function

    return decorate


def binary(
    x: Vjp | None = None,
    y: Vjp | None = None,
    *,
    dtypes: frozenset[DType] = kinds.NUMERIC,
    dtype: DType | None = None,
    may_fail: bool | frozenset[DType] = False,
) -> Callable[[BinaryFunction], BinaryFunction]:
    """Make an elementwise op of two inputs, which broadcast, out of a signature with a docstring.

    The docstring may leave its Args to the dtypes.

    Args:
        x: the vjp for the first input; it may name the inputs (``x`` and ``y``) and ``out``. What it returns may have
            the broadcast shape: the sum over repeated axes is added here.
        y: the vjp for the second input.
        dtypes: the dtypes that the op is defined for.
        dtype: the output's dtype; None for the inputs'.
        may_fail: as `Op` takes it.

    Returns:
        A decorator for a function of ``(x, y, name=None)``.
    """
    vjp_x, vjp_y = x, y

    def decorate(public: BinaryFunction) -> BinaryFunction:
        op_name = public.__name__
        names = public.__code__.co_varnames[:2]
        write_arguments(public, inputs_of(names, dtypes))
        op = Op(
            op_name,
            public,
            inputs=names,
            shape=lambda x, y: broadcast_shapes(op_name, x, y),
            dtype=dtype,
            dtypes=dtypes,
            vjp={name: vjp for name, vjp in zip(names, (vjp_x, vjp_y), strict=True) if vjp is not None},
            elementwise=True,
            may_fail=may_fail,
        )
        record_binary = _recorder(op)

        def function(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
            if type(x) is not Tensor or type(y) is not Tensor or x._table is not y._table or scopes:
                x, y = operands(op_name, names, x, y)
            table = x._table
            shape = x._shape
            if shape is not y._shape and y._shape:  # what is beside a scalar keeps its shape
                shape = broadcast_shapes(op_name, shape, y._shape)
            try:
                kernel = (table.kernels if shape else table.scalar_kernels)[op_name]
            except KeyError:
                if (moved := on_host(op, (x, y), {})) is not None:
                    with device(None):
                        return op.function(*moved)  # type: ignore[no-any-return]  # it is this function
                kernel = resolve(op, table, (x._shape, y._shape))
            try:
                array = kernel(x._array, y._array)
            except Exception as error:
                note_failure(error, op, table, (x._array, y._array))
                raise
            if type(array) is not table.array_type:
                if array is NotImplemented:
                    array = run_next(op, table, (x._array, y._array), {})
                else:
                    try:
                        array = table.as_array(array)
                    except TypeError:
                        table.refuse(op_name, array)
            out = _new(Tensor)
            out._array = array
            out._table = table if dtype is None else table.results.get(op_name) or table.result(op)
            out._shape = shape
            out._watch = None
            if active and (x._watch is not None or y._watch is not None):
                if record_binary is None:
                    if lined:
                        note_break(op_name, (x, y))
                else:
                    record_binary(out, x, y)
            return out

        op.function = _named_like(function, public)
        return op.function

    return decorate


def operands(op: str, names: tuple[str, ...], x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    """Bring two operands to one device and check that they are of one dtype; numbers and arrays take the tensor's."""
    if type(x) is Variable:
        x = x.value()
    kind = type(y)
    if (kind is float or kind is int) and type(x) is Tensor and not scopes:  # the most frequent case
        known = x._table.scalars.get((kind, y or repr(y)))
        if known is not None:
            return x, known
    elif kind is Variable:
        y = y.value()
    if type(x) is Tensor and type(y) is Tensor and x._table is y._table and not scopes:
        return x, y
    first, second = names
    x_is_tensor = type(x) is Tensor or hasattr(type(x), "__tensor__")
    y_is_tensor = type(y) is Tensor or hasattr(type(y), "__tensor__")
    if x_is_tensor:
        x = convert_to_tensor(x)
        y = convert_to_tensor(y) if y_is_tensor else operand(op, y, x._table, second, first)
    elif y_is_tensor:
        y = convert_to_tensor(y)
        x = operand(op, x, y._table, first, second)
    else:
        given_x, given_y = x, y
        x, y = convert_to_tensor(x), convert_to_tensor(y)
        if x._table.dtype.is_integer and y._table.dtype.is_floating:  # two Python values: an int gives way to a float
            x = operand(op, x.numpy(), y._table, first, second)
        elif y._table.dtype.is_integer and x._table.dtype.is_floating:
            y = operand(op, y.numpy(), x._table, second, first)
        elif type(given_x) in (int, float):
            x = operand(op, given_x, y._table, first, second)
        elif type(given_y) in (int, float):
            y = operand(op, given_y, x._table, second, first)
    if scopes or x._table.device is not y._table.device:
        x, y = place(op, (x, y))
    if x._table is not y._table:
        check_same_dtype(op, names, (x, y))
    return x, y


def _same_shape(x: Shape) -> Shape:
    return x


def _recorder(op: Op) -> Callable[[Tensor, Tensor, Tensor], None] | None:
    """A function that appends the records of a binary op, (output, x, y), to the tapes; None if it has no vjp."""
    if not op.edges:
        return None
    edges = {op.inputs[edge.positions[0]]: edge for edge in op.edges if edge.positions}
    vjps: list[Any] = [edges[name].vjp if name in edges else None for name in op.inputs]
    vjp_x, vjp_y = vjps
    first, second = op.inputs
    # One object each, so that the most frequent ones are told apart by identity.
    only_x: tuple[str, ...] = (first,)
    only_y: tuple[str, ...] = (second,)
    frequent = {only_x: only_x, only_y: only_y}
    saves: list[tuple[str, ...]] = [edges[name].saves if name in edges else () for name in op.inputs]
    saves_x, saves_y = (frequent.get(names, names) for names in saves)

    def pick(names: tuple[str, ...], out: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return tuple([x if name == first else y if name == second else out for name in names])

    def record_binary(out: Tensor, x: Tensor, y: Tensor) -> None:
        watch_x = None if vjp_x is None else x._watch
        watch_y = None if vjp_y is None else y._watch
        for tape in tapes_of_context():
            watching = tape.watching
            from_x = watch_x is watching or (watch_x is not None and tape.serial in watch_x)
            from_y = watch_y is watching or (watch_y is not None and tape.serial in watch_y)
            if not (from_x or from_y):
                continue
            if not tape.is_recording:
                if tape.is_forward and tape.is_open:
                    tape.follow(record_binary, out, x, y)
                continue
            if out._watch is None:
                out._id = out_id = next_id()
                out._watch = watching
            else:
                out_id = out._id
                out._watch |= watching
            shape = out._shape
            if from_x:
                if not saves_x:
                    saved: tuple[Tensor, ...] = ()
                elif saves_x is only_y:
                    saved = (y,)
                elif saves_x is only_x:
                    saved = (x,)
                else:
                    saved = pick(saves_x, out, x, y)
                if x._shape is shape or x._shape == shape:
                    tape.records.append((out_id, x._id, vjp_x, saved))
                else:
                    tape.records.append((out_id, x._id, _vjp_summed, (vjp_x, x._shape, *saved)))
            if from_y:
                if not saves_y:
                    saved = ()
                elif saves_y is only_x:
                    saved = (x,)
                elif saves_y is only_y:
                    saved = (y,)
                else:
                    saved = pick(saves_y, out, x, y)
                if y._shape is shape or y._shape == shape:
                    tape.records.append((out_id, y._id, vjp_y, saved))
                else:
                    tape.records.append((out_id, y._id, _vjp_summed, (vjp_y, y._shape, *saved)))

    return record_binary


def _vjp_summed(g: Tensor, vjp: Vjp, shape: Shape, *saved: Any) -> Tensor | None:
    """The vjp of an input that was broadcast: the gradient is summed over the repeated axes."""
    gradient: Tensor | None = vjp(g, *saved)
    if gradient is None or gradient._shape == shape:
        return gradient
    return sum_to(gradient, shape)


def _named_like(function: Callable[..., Tensor], public: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Give a generated function the name, parameter names and docstring of the public one.

    `unary` and `binary` generate all elementwise ops from two functions. A closure alone has three drawbacks, which a
    copied code object avoids:

    - keywords: ``tf.igamma(a=1.0, x=2.0)`` works since ``co_varnames`` begins with the public parameters' names. Local
      variables of the same names get an underscore in front, so that no name stands for two things.
    - profiles and tracebacks say ``igamma``, not ``function``, since they read ``co_name`` and ``co_qualname``.
    - CPython specialises bytecode in place, in the code object. Functions that share one spoil each other's
      specialisations (`exp` of float32 beside `equal` of strings), so each op gets a copy.

    Defaults and closure stay the generated function's own: the closure holds the op, its vjps and its name.
    """
    assert isinstance(function, FunctionType)
    assert isinstance(public, FunctionType)
    code, signature = function.__code__, public.__code__
    count = signature.co_argcount
    if count != code.co_argcount or signature.co_varnames[count - 1] != "name":
        raise TypeError(f"{public.__name__}: the signature of an elementwise op is its inputs and name=None.")
    local_names = tuple(f"_{n}" if n in signature.co_varnames[:count] else n for n in code.co_varnames[count:])
    renamed = code.replace(
        co_name=public.__name__,
        co_qualname=public.__qualname__,
        co_varnames=(*signature.co_varnames[:count], *local_names),
    )
    generated = FunctionType(
        renamed, function.__globals__, public.__name__, function.__defaults__, function.__closure__
    )
    update_wrapper(generated, public)
    return generated
