"""Inspection: the records of a tape as tables and pictures, and breaks in a chain of gradients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os.path import basename
from typing import Any, NamedTuple

from agog_core.dispatch.op import registry
from agog_core.nest import flatten
from agog_core.observers import drawing
from agog_core.recording import Id, Record, Recording, Section, source_line
from agog_core.tensors.tensor import Tensor
from agog_core.variables.variable import Variable

__all__ = ["why_none"]


class Step(NamedTuple):
    """One op on a tape.

    Args:
        op: the op's name.
        outs: the ids of its outputs.
        sources: the ids of the inputs that get a gradient.
        line: the line of the program, or None if the tape does not keep lines.
    """

    op: str
    outs: tuple[Id, ...]
    sources: tuple[Id, ...]
    line: str | None = None


class LinedRecords(list[Record]):
    """Records with the lines that they come from. The steps stay when the records are used up; they hold no arrays."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []

    def append(self, record: Record) -> None:
        """Append a record, and note the line."""
        super().append(record)
        self.steps.append(_step(record, source_line()))

    def clear(self) -> None:
        """Drop the records; the steps stay."""
        super().clear()


def _step(record: Record, line: str | None) -> Step:
    out, source, vjp, saved = record
    if out is None:
        outs, sources = saved[:2]
        ids = outs if isinstance(outs, tuple) else (outs,)
        return Step(op_of(vjp, saved), ids, tuple(i for i in sources if i is not None), line)
    return Step(op_of(vjp, saved), (out,), (source,) if source is not None else (), line)


def op_of(vjp: Any, saved: tuple[Any, ...]) -> str:
    """The name of the op, or of the function with a gradient of its own, that a record's vjp belongs to."""
    if vjp.__name__ == "_vjp_summed":
        vjp = saved[0]
    if isinstance(vjp, Section):
        return vjp.__name__
    for op in registry.values():
        if any(edge.vjp is vjp for edge in op.edges):
            return op.name
    return "copy" if vjp.__name__ == "copy_to_device" else f"{vjp.__module__}.{vjp.__qualname__}".split(".<locals>")[0]


def _steps(tape: Recording) -> list[Step]:
    """The steps of a tape: all recorded ones if it keeps lines, else those of the current records."""
    if isinstance(tape.records, LinedRecords):
        return tape.records.steps
    return [_step(record, None) for record in tape.records]


def _calls(steps: Iterable[Step]) -> list[Step]:
    """One step per call of an op: the records of its inputs lie side by side."""
    calls: list[Step] = []
    for step in steps:
        if calls and calls[-1].outs == step.outs:
            last = calls.pop()
            step = Step(last.op, last.outs, (*last.sources, *step.sources), last.line)
        calls.append(step)
    return calls


def calls_of(tape: Recording) -> list[Step]:
    """The calls of ops that a tape holds."""
    return _calls(_steps(tape))


def summary(tape: Recording) -> str:
    """A table of a tape's records; see `GradientTape.summary`.

    Args:
        tape: the tape.

    Returns:
        The table.
    """
    kept: dict[tuple[Id, ...], dict[int, int]] = {}
    for record in tape.records:
        kept.setdefault(_step(record, None).outs, {}).update(_arrays(record))
    names = _variable_names(tape)
    calls = [call for call in calls_of(tape) if call.outs in kept]
    rows = [("op", "from", "to", "bytes", "line")]
    for call in calls:
        sources = ", ".join(names.get(i, str(i)) for i in call.sources)
        outs = ", ".join(map(str, call.outs))
        rows.append((call.op, sources, outs, f"{sum(kept[call.outs].values()):,}", call.line or ""))
    arrays = {array: size for sizes in kept.values() for array, size in sizes.items()}
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:<{widths[2]}}  {row[3]:>{widths[3]}}  {row[4]}".rstrip()
        for row in rows
    ]
    counts = [f"{n} {noun}{'' if n == 1 else 's'}" for n, noun in ((len(calls), "record"), (len(arrays), "array"))]
    return "\n".join([*lines, f"{counts[0]}, {sum(arrays.values()):,} bytes in {counts[1]}"])


def _arrays(record: Record) -> dict[int, int]:
    """The arrays that a record keeps: identity to bytes."""
    tensors = [value for value in flatten(list(record[3])) if type(value) is Tensor]
    return {id(x._array): x.dtype.size * (x.shape.num_elements() or 0) for x in tensors}


def _variable_names(tape: Recording) -> dict[Id, str]:
    return {i: variable.name for variable, ids in tape.variables.values() for i in ids}


def draw(tape: Recording, path: Any = None, format: str | None = None) -> str:
    """The picture of a tape; see `GradientTape.draw`."""
    return drawing.draw("GradientTape.draw", picture_of(tape), path, format)


def svg_of_tape(tape: Recording) -> str | None:
    """The picture of a tape for notebooks; None if it has no records, or more than can be looked at."""
    return drawing.svg_of(picture_of(tape))


def picture_of(tape: Recording) -> drawing.Picture:
    """The picture of a tape: tensors and variables as boxes, ops as ellipses."""
    names = _variable_names(tape)
    nodes: list[tuple[str, str, str]] = []
    edges: list[tuple[str, str]] = []
    node_of: dict[Id, str] = {}
    for number, call in enumerate(calls_of(tape)):
        for source in call.sources:
            if source not in node_of:
                node_of[source] = f"x{source}"
                nodes.append((f"x{source}", names.get(source, f"tensor {source}"), "box"))
            edges.append((node_of[source], f"op{number}"))
        where = f"\n{basename(call.line)}" if call.line else ""
        nodes.append((f"op{number}", call.op + where, "ellipse"))
        node_of |= dict.fromkeys(call.outs, f"op{number}")
    return drawing.Picture("tape", nodes, list(dict.fromkeys(edges)))


def why_none(tape: Recording, target: Any, source: Any) -> str:
    """Say why a gradient is None: where the chain from a source to a target breaks.

    Args:
        tape: the tape; made with ``source_lines=True`` it tells the line of the program. One that is not persistent
            and keeps no lines must not have been used.
        target: a tensor or a variable.
        source: a tensor or a variable.

    Returns:
        The reason, or that there is a chain.

    Raises:
        TypeError: the target or the source is neither a tensor nor a variable.

    >>> import agog_core as ag
    >>> x = ag.constant([1.0, 2.0])
    >>> with ag.GradientTape() as tape:
    ...     y = x * x
    >>> why_none(tape, y, x)
    'The tape does not watch the source: call tape.watch(source) before it is used.'
    """
    for what, value in (("target", target), ("source", source)):
        if not isinstance(value, (Tensor, Variable)):
            raise TypeError(
                f"why_none: the {what} must be a tensor or a variable; got {value!r} of type {type(value).__name__}."
            )
        if not value.dtype.is_differentiable:
            return (
                f"The {what} has dtype {value.dtype.name}, and only floating and complex numbers have gradients; cast "
                "earlier, with tf.cast."
            )
    if isinstance(source, Variable) and id(source) not in tape.variables:
        if not source.trainable:
            return f"Variable {source.name!r} is not trainable; the tape watches it only if told to: tape.watch(v)."
        if not tape.watch_accessed_variables:
            return f"The tape does not watch variables unless told to: call tape.watch on variable {source.name!r}."
        return f"Variable {source.name!r} was not read while the tape recorded."
    if isinstance(source, Tensor) and not tape.watches(source):
        return "The tape does not watch the source: call tape.watch(source) before it is used."
    steps = _steps(tape)
    if not steps and getattr(tape, "_used", False) and not isinstance(tape.records, LinedRecords):
        return "The tape has been used and keeps no lines; make it with source_lines=True, or persistent=True."
    starts = set(tape.variables[id(source)][1]) if isinstance(source, Variable) else {source._id}
    ends = set(tape.variables.get(id(target), (None, []))[1]) if isinstance(target, Variable) else {_id_of(target)}
    reached = _downstream(steps, starts)
    if ends & reached:
        return (
            "There is a chain from the source to the target; a vjp on it may return None, or the gradient is not None."
        )
    return "\n".join(_explained(tape, steps, starts, ends, reached))


def _id_of(tensor: Tensor) -> Id | None:
    return getattr(tensor, "_id", None)


def _downstream(steps: list[Step], starts: set[Id]) -> set[Id]:
    """The ids of all that is computed from some tensors, and of these."""
    reached = set(starts)
    for step in steps:
        if reached.intersection(step.sources):
            reached.update(step.outs)
    return reached


def _explained(tape: Recording, steps: list[Step], starts: set[Id], ends: set[Any], reached: set[Id]) -> Iterator[str]:
    yield "No chain of recorded ops leads from the source to the target."
    breaks = [(what, line) for i, what, line in tape.breaks or () if i in reached]
    for what, line in dict.fromkeys(breaks):
        if what == "numpy":
            yield f"  {line}: a value that depends on the source was taken out by numpy() or a conversion to Python."
        else:
            yield f"  {line}: {what} took a value that depends on the source, and passes no gradient back to it."
    users = [step for step in _calls(steps) if reached.intersection(step.sources)]
    if not users and not breaks:  # an op that breaks the chain has used the source, and is not recorded
        yield "  No recorded op used the source."
    elif not breaks:
        last = users[-1]
        yield f"  {_at(last)}the last recorded op that depends on the source is {last.op}; what follows it does not."
    made = [step for step in _calls(steps) if ends.intersection(step.outs)]
    if made:
        yield f"  {_at(made[-1])}the target comes from {made[-1].op}, which does not depend on the source."
    elif not ends & starts:
        yield "  The tape has no record of the target."
    if tape.breaks is None:
        yield "  Make the tape with source_lines=True to see the lines."


def _at(step: Step) -> str:
    return f"{step.line}: " if step.line else ""
