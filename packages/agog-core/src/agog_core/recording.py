"""What the active tapes see: which tensors they watch, and a record for each op on those."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agog_core.op import Op
    from agog_core.tensor import Tensor
    from agog_core.variable import Variable

Id = int
# How a gradient goes from an output to an input: (output's id, input's id, vjp, what the vjp takes beside the gradient).
# An op with several outputs, or one vjp for several inputs, has a tuple of ids there.
Record = tuple[Id | tuple[Id, ...], Id | tuple[Id | None, ...], Callable[..., Any], tuple[Any, ...]]

# The tapes that record in this thread or task, the outermost first.
stack: ContextVar[tuple[Recording, ...]] = ContextVar("agog_tapes", default=())
# All tapes that record in any thread. Ops look at the context variable only while this is not empty.
active: list[Recording] = []

next_id = itertools.count(1).__next__
_next_serial = itertools.count(1).__next__
_alive: set[int] = set()
_lock = threading.Lock()


class Recording:
    """The recording half of a tape.

    A tensor that a tape watches carries the tape's serial number in its ``_watch``. Serial numbers are never used again, so a tensor
    that outlives its tape counts as watched by no other; and a number keeps no tape alive.

    Args:
        watch_accessed_variables: whether a trainable variable is watched as soon as it is read.
    """

    __slots__ = ("__weakref__", "append", "records", "serial", "variables", "watch_accessed_variables", "watching")

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        self.watch_accessed_variables = watch_accessed_variables
        self.serial = _next_serial()
        self.watching = frozenset((self.serial,))
        self.clear()
        _alive.add(self.serial)

    def __del__(self) -> None:
        _alive.discard(self.serial)

    def clear(self) -> None:
        """Forget every record and every variable that was read."""
        self.records: list[Record] = []
        self.append = self.records.append
        self.variables: dict[int, tuple[Variable, list[Id]]] = {}

    def start(self) -> None:
        """Record the ops of this thread or task from now on."""
        active.append(self)
        stack.set((*stack.get(), self))

    def stop(self) -> None:
        """Record no more."""
        active.remove(self)
        stack.set(tuple(tape for tape in stack.get() if tape is not self))

    def is_recording(self) -> bool:
        """Whether the ops of this thread or task are recorded.

        Returns:
            True between `start` and `stop`.
        """
        return any(tape is self for tape in stack.get())

    def watches(self, tensor: Tensor) -> bool:
        """Whether gradients with respect to a tensor can be computed by this tape.

        Args:
            tensor: a tensor.

        Returns:
            True when it is watched, or is the result of a recorded op.
        """
        return tensor._watch is not None and self.serial in tensor._watch

    def watch_tensor(self, tensor: Tensor) -> None:
        """Record the ops on a tensor from now on. A tensor of integers has no gradient, so nothing happens.

        Args:
            tensor: a tensor.
        """
        if not tensor._table.dtype.is_differentiable:
            return
        with _lock:  # another thread's tape may start to watch the same tensor
            if tensor._watch is None:
                _identify(tensor)
                tensor._watch = self.watching
            elif self.serial not in tensor._watch:
                others = frozenset(serial for serial in tensor._watch if serial in _alive)
                tensor._watch = self.watching | others if others else self.watching

    def watch_variable(self, variable: Variable, tensor: Tensor) -> None:
        """Watch a variable's present value, and remember that it is the variable's.

        Args:
            variable: the variable.
            tensor: its value.
        """
        if not tensor._table.dtype.is_differentiable:
            return
        self.watch_tensor(tensor)
        ids = self.variables.setdefault(id(variable), (variable, []))[1]
        if tensor._id not in ids:
            ids.append(tensor._id)


def identify(tensor: Tensor) -> Id:
    """The number that stands for a tensor on tapes and in its repr; it grows with time and is never used again.

    Args:
        tensor: a tensor.

    Returns:
        The number.
    """
    with _lock:
        return _identify(tensor)


def _identify(tensor: Tensor) -> Id:
    try:
        return tensor._id
    except AttributeError:
        tensor._id = next_id()
        return tensor._id


def variable_read(variable: Variable, tensor: Tensor) -> None:
    """Let the tapes of this thread or task watch a trainable variable that is read.

    Args:
        variable: the variable.
        tensor: its present value.
    """
    for tape in stack.get():
        if tape.watch_accessed_variables and not (tensor._watch is tape.watching and id(variable) in tape.variables):
            tape.watch_variable(variable, tensor)


def record_unary(out: Tensor, x: Tensor, vjp: Callable[..., Any], saved: tuple[Any, ...]) -> None:
    """Append the record of an op with one input to the tapes that watch it.

    Args:
        out: the output, not seen by anybody yet.
        x: the input; some tape watches it.
        vjp: the op's vjp.
        saved: what the vjp takes beside the gradient.
    """
    watch = x._watch
    for tape in stack.get():
        if watch is tape.watching or tape.serial in watch:  # type: ignore[operator]  # the caller has seen that it is not None
            if out._watch is None:
                out._id = next_id()
                out._watch = tape.watching
            else:
                out._watch |= tape.watching
            tape.append((out._id, x._id, vjp, saved))


def record(op: Op, outs: Tensor | tuple[Tensor, ...], inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> None:
    """Append the records of an op with any number of inputs, outputs and attributes.

    Args:
        op: the op.
        outs: the output or outputs, not seen by anybody yet.
        inputs: the inputs.
        attributes: the attributes.
    """
    for tape in stack.get():
        if not any(tape.watches(x) for x in inputs):
            continue
        if op.variadic:
            edges = [(tuple(x._id if tape.watches(x) else None for x in inputs), next(iter(op.vjps.items())))] if op.vjps else []
        else:
            named = dict(zip(op.inputs, inputs, strict=True))
            edges = []
            for names, vjp in op.vjps.items():
                ids = tuple(named[name]._id if tape.watches(named[name]) else None for name in names)
                if any(ids):
                    edges.append((ids, (names, vjp)))
        for ids, (names, vjp) in edges:
            out_ids = _mark(outs, tape)
            if out_ids is not None:
                saved = tuple(_saved(name, op, outs, inputs, attributes) for name in op.saves[names])
                tape.append((out_ids, ids[0] if len(ids) == 1 and not op.variadic else ids, vjp, saved))


def record_function(outs: tuple[Tensor, ...], inputs: Sequence[Tensor | None], vjp: Callable[..., Any]) -> None:
    """Append the record of a function with a gradient of its own.

    Args:
        outs: the outputs, not seen by anybody yet.
        inputs: the inputs; None for arguments that have no gradient.
        vjp: takes a list with the outputs' gradients (None for those that have none) and returns the inputs' gradients.
    """
    for tape in stack.get():
        ids = tuple(x._id if x is not None and tape.watches(x) else None for x in inputs)
        if any(ids):
            for out in outs:
                _watch_output(out, tape)
            tape.append((tuple(identify(out) for out in outs), ids, vjp, ()))


def _mark(outs: Tensor | tuple[Tensor, ...], tape: Recording) -> Id | tuple[Id, ...] | None:
    """Let the tape watch the outputs; their ids, or None when they have no gradient."""
    if not isinstance(outs, tuple):
        return outs._id if _watch_output(outs, tape) else None
    differentiable = [_watch_output(out, tape) for out in outs]
    return tuple(identify(out) for out in outs) if any(differentiable) else None


def _watch_output(out: Tensor, tape: Recording) -> bool:
    if not out._table.dtype.is_differentiable:
        return False
    if out._watch is None:
        out._id = next_id()
        out._watch = tape.watching
    else:
        out._watch |= tape.watching
    return True


def _saved(name: str, op: Op, outs: Any, inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> Any:
    if name == "out":
        return outs
    if op.variadic:
        if name == op.inputs[0]:
            return tuple(inputs)
        if name == "shapes":
            return tuple(x._shape for x in inputs)
        return attributes[name]
    if name in op.inputs:
        return inputs[op.inputs.index(name)]
    if name.endswith("_shape") and name[:-6] in op.inputs:
        return inputs[op.inputs.index(name[:-6])]._shape
    if name.endswith("_dtype") and name[:-6] in op.inputs:
        return inputs[op.inputs.index(name[:-6])]._table.dtype
    return attributes[name]
