"""Recording: the part of the tapes that ops use: watched tensors, and a record for each op on them."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any
from weakref import ref

from agog_core.dispatch.edge import Edge
from agog_core.dispatch.op import Op
from agog_core.interrupts import begins_in_peace
from agog_core.locks import hold_while_forking
from agog_core.tracers import present_tracer, tracing

if TYPE_CHECKING:
    from agog_core.tensors.tensor import Tensor
    from agog_core.variables.variable import Variable

Id = int
# How a gradient goes from an output to an input: (output's id, input's id, vjp, what the vjp takes beside the
# gradient). The ids are None for an op with several outputs, a vjp of several inputs, or a vjp with IndexedSlices. The
# vjp's values then follow the outputs' ids (one, or a tuple) and the inputs' ids.
Record = tuple[Id | None, Id | None, Callable[..., Any], tuple[Any, ...]]

# The tapes that record in this thread or task, the outermost first.
stack: ContextVar[tuple[Recording, ...]] = ContextVar("agog_tapes", default=())
tapes_of_context = stack.get  # bound once: looking the method up takes longer than calling it
# All tapes that record in any thread. Ops look at the context variable only while this is not empty.
active: list[Recording] = []
# Those among them that keep source lines. Only while there is one are breaks in chains of gradients noted.
lined: list[Recording] = []

# The next number of a tensor.
next_id = itertools.count(1).__next__
# The next serial number of a tape.
next_serial = itertools.count(1).__next__
# The serial numbers of the tapes that exist. No `__del__` takes them out: Python swallows a Ctrl-C that comes in one.
_alive: dict[ref[Recording], int] = {}
# Held while a tensor gets its number or is watched.
_lock = hold_while_forking(threading.Lock())


class Recording:
    """The recording half of a tape.

    A tensor that a tape watches carries the tape's serial number in its ``_watch``. Serial numbers are never used
    again, so a tensor that outlives its tape counts as watched by no other; and a number keeps no tape alive.
    """

    __slots__ = (
        *("__weakref__", "breaks", "has_functions", "is_open", "is_recording", "records", "serial", "variables"),
        *("watch_accessed_variables", "watching"),
    )

    is_forward = False

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        self.watch_accessed_variables = watch_accessed_variables
        self.is_open = self.is_recording = False  # it is open, and sees ops, from `start` to `stop`
        self._begin()

    def _begin(self) -> None:
        self.serial = serial = next_serial()
        self.watching = frozenset((serial,))
        self.records: list[Record] = []
        self.has_functions = False  # whether some are of functions with gradients of their own
        # Where an op without a gradient, or Python, took a watched value: only a tape that keeps source lines notes it.
        self.breaks: list[tuple[Id, str, str]] | None = None
        self.variables: dict[int, tuple[Variable, list[Id]]] = {}
        _alive[ref(self, _alive.pop)] = serial

    def __repr__(self) -> str:
        names = [repr(variable.name) for variable, _ in self.variables.values()]
        seen = f" of variables {', '.join(names[:4])}{', ...' if names[4:] else ''}" if names else ""
        count = f"{len(self.records)} record{'' if len(self.records) == 1 else 's'}"
        return f"<{type(self).__name__}: {count}{seen}; {'records' if self.is_recording else 'stopped'}>"

    def _repr_svg_(self) -> str | None:
        # By name, because inspection stands on tapes.
        svg: str | None = import_module("agog_core.gradients.inspection").svg_of_tape(self)
        return svg

    def renew(self) -> None:
        """Forget all records, and watch nothing any more: what was watched carries the old serial number."""
        _alive.pop(ref(self), None)
        self._begin()

    def go_on_as(self, other: Recording) -> None:
        """Watch what another recording watches by now, which keeps its serial number in use."""
        self.serial, self.watching = other.serial, other.watching
        _alive[ref(self, _alive.pop)] = other.serial

    def start(self) -> None:
        """Record the ops of this thread or task from now on."""
        try:
            tapes = stack.get()
            if active or tapes:
                tapes = _drop_stopped()
            self.is_open = self.is_recording = True
            if tracing and (tracer := present_tracer()) is not None:
                tracer.note_tape()
            active.append(self)
            if self.breaks is not None:
                lined.append(self)
            stack.set((*tapes, self))
        except BaseException:  # a Ctrl-C: nobody will stop it
            self.stop()
            raise

    @begins_in_peace
    def stop(self) -> None:
        """Record no more. From its first instruction on the tape is ignored, whatever interrupts the rest."""
        self.is_open = self.is_recording = False
        if self in active:
            active.remove(self)
        if lined and self in lined:
            lined.remove(self)
        tapes = stack.get()
        stack.set(tapes[:-1] if tapes and tapes[-1] is self else tuple([tape for tape in tapes if tape is not self]))

    @begins_in_peace
    def __exit__(self, *error: object) -> None:
        if self.is_open:
            try:
                self.stop()
            except BaseException:  # a Ctrl-C
                self.stop()
                raise

    def follow(self, record: Callable[..., None], *call: Any) -> None:
        """The hook of an accumulator of tangents (``is_forward``) in place of recording."""
        raise NotImplementedError

    def watches(self, tensor: Tensor) -> bool:
        """Whether gradients with respect to a tensor can be computed by this tape."""
        return tensor._watch is not None and self.serial in tensor._watch

    def watch_tensor(self, tensor: Tensor) -> None:
        """Record the ops on a tensor from now on. A tensor of integers has no gradient, so nothing happens."""
        if not tensor._table.dtype.is_differentiable:
            return
        with _lock:  # another thread's tape may start to watch the same tensor
            if tensor._watch is None:
                if not hasattr(tensor, "_id"):  # an exception takes twice as long
                    tensor._id = next_id()
                tensor._watch = self.watching
            elif self.serial not in tensor._watch:
                others = tensor._watch.intersection(_alive.values())
                tensor._watch = self.watching | others if others else self.watching

    def watch_variable(self, variable: Variable, tensor: Tensor) -> None:
        """Watch a variable's present value, and remember that it is the variable's."""
        if not tensor._table.dtype.is_differentiable:
            return
        self.watch_tensor(tensor)
        known = self.variables.get(id(variable))
        if known is None:
            self.variables[id(variable)] = variable, [tensor._id]
        elif tensor._id not in known[1]:
            known[1].append(tensor._id)


def _drop_stopped() -> tuple[Recording, ...]:
    """Drop tapes that were stopped in another thread or task, or by an interrupted call; those that are left in this
    one.
    """
    for tapes in (active, lined):
        for tape in [tape for tape in tapes if not tape.is_open]:
            with suppress(ValueError):  # another thread has dropped it
                tapes.remove(tape)
    left = tuple([tape for tape in stack.get() if tape.is_open])
    stack.set(left)
    return left


def identify(tensor: Tensor) -> Id:
    """The number that stands for a tensor on tapes and in its repr; it grows with time and is never used again."""
    with _lock:
        return _identify(tensor)


def _identify(tensor: Tensor) -> Id:
    try:
        return tensor._id
    except AttributeError:
        tensor._id = next_id()
        return tensor._id


def variable_read(variable: Variable, tensor: Tensor) -> None:
    """Let the tapes of this thread or task watch a variable that is read, if it is trainable or they were told to."""
    for tape in tapes_of_context():
        if id(variable) in tape.variables:
            if tensor._watch is not tape.watching and tape.is_open:
                tape.watch_variable(variable, tensor)
        elif tape.is_open and variable._trainable and tape.watch_accessed_variables:
            tape.watch_variable(variable, tensor)


def is_recorded(inputs: Sequence[Tensor]) -> bool:
    """Whether a tape of this thread or task will walk an op on some tensors back."""
    return any(tape.is_recording and any(map(tape.watches, inputs)) for tape in tapes_of_context())


def record_unary(out: Tensor, x: Tensor, vjp: Callable[..., Any], saved: tuple[Any, ...]) -> None:
    """Append the record of an op with one input to the tapes that watch it."""
    watch = x._watch
    for tape in tapes_of_context():
        # A task may have taken over a context with a tape that has stopped since.
        if watch is tape.watching or tape.serial in watch:  # type: ignore[operator]  # not None
            if not tape.is_recording:
                if tape.is_forward and tape.is_open:
                    tape.follow(record_unary, out, x, vjp, saved)
                continue
            if out._watch is None:
                out._id = next_id()
                out._watch = tape.watching
            else:
                out._watch |= tape.watching
            tape.records.append((out._id, x._id, vjp, saved))


def record(op: Op, outs: Any, inputs: Sequence[Tensor], attributes: Mapping[str, Any]) -> None:
    """Append the records of an op with any number of inputs, outputs and attributes."""
    if op.plain is not None:  # what it keeps or takes is an attribute to the tape
        op, outs, inputs, attributes = _without_reserve(op.plain, outs, inputs, attributes)
    if op.only_source is not None and type(outs) is not tuple:
        x, edge = inputs[op.only_source], op.edges[0]
        if x._watch is not None and outs._table.dtype.is_differentiable:
            record_unary(outs, x, edge.vjp, edge.keep(outs, inputs, attributes, ()))
        if lined and len(inputs) > 1:
            note_break(op.name, [other for other in inputs if other is not x])
        return
    for tape in tapes_of_context():
        serial = tape.serial
        ids = [x._id if x._watch is not None and serial in x._watch else None for x in inputs]
        if not any(ids):
            continue
        if not tape.is_recording:
            if tape.is_forward and tape.is_open:
                tape.follow(record, op, outs, inputs, attributes)
            continue
        if tape.breaks is not None and not op.variadic:
            note_break(op.name, [x for name, x in zip(op.inputs, inputs, strict=True) if name not in op.sources])
        for edge in op.edges:
            positions = edge.positions
            sources = ids if positions is None else [ids[position] for position in positions]
            if not any(sources) or (out_ids := _watch_outputs(outs, tape)) is None:
                continue
            saved = edge.keep(outs, inputs, attributes, _needed(edge, sources) if edge.is_told else ())
            if positions is not None and len(sources) == 1 and type(out_ids) is int and not op.sparse:
                tape.records.append((out_ids, sources[0], edge.vjp, saved))
            else:
                tape.records.append((None, None, edge.vjp, (out_ids, sources, *saved)))


def _needed(edge: Edge, sources: Sequence[Id | None]) -> tuple[Any, ...]:
    """The inputs whose gradients somebody can ask for, as a vjp is told of them."""
    names: Any = edge.sources if edge.positions is not None else range(len(sources))
    if None not in sources:
        return tuple(names)
    return tuple([name for name, source in zip(names, sources, strict=True) if source is not None])


def _without_reserve(
    plain: Op, outs: Any, inputs: Sequence[Tensor], attributes: Mapping[str, Any]
) -> tuple[Op, Any, Sequence[Tensor], Mapping[str, Any]]:
    if plain.keeping is None:
        return plain, outs, inputs[:-1], {**attributes, "reserve": inputs[-1]}
    results, reserve = outs[:-1], outs[-1]
    return plain, results if len(results) > 1 else results[0], inputs, {**attributes, "reserve": reserve}


def note_break(what: str, inputs: Sequence[Tensor]) -> None:
    """Tell the tapes with source lines where an op without a gradient uses a watched value."""
    for tape in tapes_of_context():
        if tape.breaks is not None and tape.is_recording:
            tape.breaks += [(x._id, what, source_line()) for x in inputs if tape.watches(x)]


# Whether modules are agog's own, by their names.
_own_modules: dict[str, bool] = {}


def source_line() -> str:
    """Where the program is: the innermost line outside of agog, such as ``"train.py:12"``."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        is_own = _own_modules.get(name)
        if is_own is None:
            is_own = _own_modules[name] = f"{name}.".startswith(("agog.", "agog_"))
        if not is_own:
            break
        frame = frame.f_back
    return "unknown" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def record_function(outs: tuple[Tensor, ...], inputs: Sequence[Tensor | None], vjp: Callable[..., Any]) -> None:
    """Append the record of a function with a gradient of its own."""
    for tape in tapes_of_context():
        ids = tuple(x._id if x is not None and tape.watches(x) else None for x in inputs)
        if not tape.is_recording:
            if tape.is_forward and tape.is_open and any(ids):
                tape.follow(record_function, outs, inputs, vjp)
        elif any(ids):
            for out in outs:
                watch_output(out, tape)
            tape.records.append((None, None, vjp, (tuple(identify(out) for out in outs), ids)))
            tape.has_functions = True


class Section:
    """Records that a tape has as one, in the place of a vjp; what walks them back takes the gradients so far."""

    __slots__ = ()

    @property
    def __name__(self) -> str:
        """Its label in pictures and tables of tapes."""
        raise NotImplementedError

    def walk_back(self, gradients: dict[Id, Any], keep: set[Id]) -> None:
        """See `agog_core.gradients.backpropagation.backpropagate`."""
        raise NotImplementedError


def _watch_outputs(outs: Any, tape: Recording) -> Id | tuple[Id, ...] | None:
    """Let a tape watch what an op returned; the ids, or None when nothing of it has a gradient."""
    if type(outs) is not tuple:
        return watch_output(outs, tape)
    ids = [watch_output(out, tape) for out in outs]
    return tuple([identify(out) for out in outs]) if any(ids) else None


def watch_output(out: Tensor, tape: Recording) -> Id | None:
    """Let a tape watch what it has recorded the making of; its id, or None if it has no gradient."""
    if not out._table.dtype.is_differentiable:
        return None
    if out._watch is None:
        out._id = next_id()
        out._watch = tape.watching
    elif tape.serial not in out._watch:
        out._watch |= tape.watching
    return out._id
