"""Twins: what tapes record of a function while it is traced, apart from their own records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agog_core.interrupts import begins_in_peace
from agog_core.recording import Id, Record, Recording, active, stack
from agog_core.tensors.tensor import Tensor
from agog_core.tracing.execution.source import Source
from agog_core.tracing.state.leaves import equals
from agog_core.variables.variable import Variable


class Records(list[Record]):
    """The records of a twin, which know whether somebody has walked them back."""

    is_walked = False

    def copy(self) -> list[Record]:
        """A copy, as a persistent tape takes it to walk back."""
        self.is_walked = True
        return super().copy()


class Read(NamedTuple):
    """A value of a variable that a twin watches: that on entry, that at the end, or one in between."""

    variable: Variable
    kind: str  # "entry", "final" or "between"
    id: Id


class Twin:
    """What one tape records of a trace.

    Args:
        tape: the tape.
        before: its twin in the trace that this one goes on with, whose serial number traced tensors carry already.
    """

    def __init__(self, tape: Recording, before: Twin | None = None) -> None:
        self.recording = Recording()
        self.recording.go_on_as(tape if before is None else before.recording)
        self.is_forward = tape.is_forward
        # Of an accumulator: the tangents of traced tensors, by their ids.
        self.tangents: dict[Id, Tensor] = {} if before is None else dict(before.tangents)
        self.records = Records()
        self.variables = {id(variable): (variable, list[Id]()) for variable, _ in tape.variables.values()}
        self.ids: set[Id] = set()  # of all that the records know
        self.outs: set[Id] = set()  # of what they have made
        self.sources: list[Id] = []  # of what they take and have not made
        self.reads: list[Read] = []
        self.watched: list[int] = []  # the places of the arguments that the function itself lets the tape watch
        self.results: list[tuple[int, Id]] = []  # the places and ids of what the function returns

    def watches(self, tensor: Tensor) -> bool:
        """Whether a traced tensor is watched."""
        return self.recording.watches(tensor)

    def settle(self, inputs: Mapping[int, Tensor], results: Mapping[int, Tensor], reads: Mapping[Id, str]) -> None:
        """Note what later calls repeat, once the function has returned.

        Args:
            inputs: the traced tensors of the arguments that the tape did not watch, by their places.
            results: the traced tensors that the function returns and that are none of these, by their places.
            reads: which values of variables have these ids: "entry" or "final".
        """
        taken: dict[Id, None] = {}
        for out, source, _, saved in self.records:
            outs, sources = (out, [source]) if out is not None else saved[:2]
            taken.update(dict.fromkeys(i for i in sources if i is not None))
            self.outs.update(outs if isinstance(outs, tuple) else (outs,))
        self.sources = [i for i in taken if i not in self.outs]
        self.ids = self.outs | taken.keys()
        self.watched = [place for place, x in inputs.items() if self.watches(x)]
        self.results = [(place, x._id) for place, x in results.items() if self.watches(x)]
        pairs = [(variable, i) for variable, ids in self.variables.values() for i in ids]
        self.reads = [Read(variable, reads.get(i, "between"), i) for variable, i in pairs]


class Acting:
    """A ``with`` block in which tapes write to their twins, and which sees where they are used for something else.

    Args:
        tapes: the tapes of this thread or task, the outermost first.
        twins: the twin of each.
    """

    def __init__(self, tapes: Sequence[Recording], twins: Sequence[Twin]) -> None:
        self._tapes, self._twins = tapes, twins
        self._before = [_state(tape) for tape in tapes]
        self._stack = stack.get()
        pairs = [(tape, twin) for tape, twin in zip(tapes, twins, strict=True) if tape.is_recording]
        # With its twin's serial number a tape does not know what it watches outside; these see whether that is used.
        self._spies = [_spy(tape) for tape, twin in pairs if tape.serial != twin.recording.serial]
        self.is_beyond = False

    def __enter__(self) -> None:
        try:
            for tape, twin in zip(self._tapes, self._twins, strict=True):
                tape.serial, tape.watching = twin.recording.serial, twin.recording.watching
                tape.records, tape.variables, tape.breaks = twin.records, twin.variables, None
                if tape.is_forward:
                    accumulator: Any = tape
                    accumulator._tangents, accumulator._followed, accumulator._dead = twin.tangents, {}, []
            stack.set(tuple(self._tapes))
            for spy in self._spies:
                spy.start()
        except BaseException:  # a Ctrl-C: nobody will leave the block
            self._leave()
            raise

    @begins_in_peace
    def __exit__(self, *error: object) -> None:
        try:
            self._leave()
        except BaseException:  # a Ctrl-C
            self._leave()
            raise

    def _leave(self) -> None:
        for spy in self._spies:
            spy.stop()
        for tape, twin, before in zip(self._tapes, self._twins, self._before, strict=True):
            is_other = tape.serial != twin.recording.serial and tape.serial != before["serial"]
            is_walked = not tape.is_forward and (tape.records is not twin.records or twin.records.is_walked)
            flags = ("is_open", "is_recording", "_used")
            self.is_beyond |= is_other or is_walked or any(getattr(tape, f, None) != before[f] for f in flags)
            for name, value in before.items():
                if hasattr(tape, name):
                    setattr(tape, name, value)
            if tape not in active:
                active.append(tape)
        self.is_beyond |= any(spy.records for spy in self._spies)
        stack.set(self._stack)


_STATE = (
    *("serial", "watching", "records", "variables", "breaks", "has_functions", "is_open", "is_recording", "_used"),
    *("_tangents", "_followed", "_dead"),
)


def _state(tape: Recording) -> dict[str, Any]:
    return {name: getattr(tape, name, None) for name in _STATE}


def _spy(tape: Recording) -> Recording:
    spy = Recording(watch_accessed_variables=False)
    spy.go_on_as(tape)
    return spy


def key_of_tapes(tapes: Sequence[Recording], tensors: Sequence[Tensor]) -> tuple[Any, ...]:
    """What of tapes decides what they record of a function of some tensors."""
    same = equals(tensors) if len(tensors) > 1 else None
    return same, *[
        (tape.is_recording, tape.watch_accessed_variables, _chosen(tape), *map(tape.watches, tensors)) for tape in tapes
    ]


def add_check(tapes: Sequence[Recording], source: Source, tensors: Sequence[Tensor], names: Sequence[str]) -> None:
    """Add lines that return None where the tapes of a call have another key than some of now.

    Args:
        tapes: those that are open.
        source: of a function that has its ``tapes`` among its parameters.
        tensors: the arguments.
        names: what the function calls these.
    """
    source.scope["chosen"] = _chosen
    source.add(f"if len(tapes) != {len(tapes)}: return None")
    for n, tape in enumerate(tapes):
        source.add(f"tape = tapes[{n}]")
        flags = [tape.is_recording, tape.watch_accessed_variables, True, False]
        found = ("tape.is_recording", "tape.watch_accessed_variables", "tape.is_open", "tape.is_forward")
        wrong = [f"{'not ' if expected else ''}{each}" for each, expected in zip(found, flags, strict=True)]
        source.add(f"if {' or '.join(wrong)}: return None")
        has_some = "" if (chosen := _chosen(tape)) else "tape.variables and "
        source.add(f"if {has_some}chosen(tape) != {source.constant(chosen)}: return None")
        for x, name in zip(tensors, names, strict=True):
            watched = f"{name}._watch is not None and tape.serial in {name}._watch"
            source.add(f"if {'not (' if tape.watches(x) else '('}{watched}): return None")


def _chosen(tape: Recording) -> tuple[int, ...]:
    """The variables that a tape watches for another reason than that they are trainable and were read."""
    if not tape.variables:
        return ()
    known = [variable for variable, _ in tape.variables.values()]
    return tuple([id(v) for v in known if not (v.trainable and tape.watch_accessed_variables)])
