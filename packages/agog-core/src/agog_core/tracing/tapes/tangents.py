"""Tangents: those that forward accumulators have for the arguments of a traced function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from agog_core.recording import Recording
from agog_core.tensors.tensor import Tensor
from agog_core.tracing.state.leaves import key_of_tensor

if TYPE_CHECKING:
    from agog_core.tracing.tapes.calls import Call


class Tangent(NamedTuple):
    """The tangent of a tensor that a function may use.

    Args:
        tape: the place of the accumulator among the tapes.
        kind: "argument", "inherited" from the call whose records are walked back, or "variable".
        of: a place among such tensors, or the variable.
        tensor: the tangent.
    """

    tape: int
    kind: str
    of: Any
    tensor: Tensor


def tangents_of(tapes: Sequence[Recording], tensors: Sequence[Tensor], before: Call | None = None) -> list[Tangent]:
    """The tangents that the accumulators among tapes have of arguments, of variables, and of what a call has kept; and
    those of tangents, which are arguments too."""
    found: list[Tangent] = []
    given = list(tensors)

    def look(tape: Recording, kind: str, of: Any, x: Tensor) -> None:
        accumulator: Any = tape
        tangent = accumulator._tangent(x)
        if tangent is not None:
            found.append(Tangent(tapes.index(tape), kind, of, tangent))
            given.append(tangent)

    forward = [tape for tape in tapes if tape.is_forward]
    for tape in forward:
        for variable, _ in tape.variables.values():
            look(tape, "variable", variable, variable._current())
        if before is not None and before.twin(tape) is None:  # else its twin has them
            for place, x in enumerate(before.kept):
                look(tape, "inherited", place, x)
    seen: set[int] = set()
    for place, x in enumerate(given):  # which grows
        for tape in forward if id(x) not in seen else ():
            look(tape, "argument", place, x)
        seen.add(id(x))
    return found


def key_of_tangents(tangents: Sequence[Tangent]) -> tuple[Any, ...]:
    """What of tangents decides which trace is run."""
    return tuple([(t.tape, t.kind, t.of if type(t.of) is int else id(t.of), key_of_tensor(t.tensor)) for t in tangents])
