"""Replay: the few records of a short function, given to tapes as its ops would give them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from agog_core.dtypes import DType
from agog_core.recording import Id, Record, Recording, next_id, watch_output
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracing.execution.source import Source
from agog_core.tracing.state.device import TracedArray, untraced
from agog_core.tracing.state.leaves import written
from agog_core.tracing.tapes.twins import Twin
from agog_core.variables.variable import Variable

if TYPE_CHECKING:
    from agog_core.tracing.tapes.calls import Origin, Taped

# To walk so few records back op by op takes no longer than to find and run a trace of that, while arrays are small: as
# many elements for each record.
_MOST_RECORDS, _MOST_ELEMENTS = 12, 1 << 15
_PLAIN = frozenset((int, float, bool, str, type(None), DType))

# ``replay(tensors, arrays, entries, tapes)``: the result of a call, of its arguments, of what its graph has returned
# and of the values that variables had; the tapes get the records.
Replay = Callable[[Sequence[Tensor], Sequence[Any], Mapping[Variable, Tensor], Sequence[Recording]], Any]


def replay(taped: Taped) -> Replay | None:
    """A function that is written for a traced one; None where records are many, large, or not of ops alone."""
    tensors = [] if taped.template is None else taped.template.tensors
    most = max((len(twin.records) for twin in taped.twins), default=0)
    is_short = 0 < most <= _MOST_RECORDS and all(math.prod(x._shape) * most <= _MOST_ELEMENTS for x in tensors)
    is_forward = any(twin.is_forward for twin in taped.twins)
    if not is_short or is_forward or taped.graph.lates or len(taped.kept) > len(tensors):
        return None
    try:
        return _Source(taped, tensors).finish()
    except _UnfitError:
        return None


class _UnfitError(Exception):
    """Something that only a section does."""


class _Source(Source):
    """The lines of such a function."""

    def __init__(self, taped: Taped, tensors: Sequence[Tensor]) -> None:
        names = {
            "new": object.__new__,
            "Tensor": Tensor,
            "wrap": wrap,
            "next_id": next_id,
            "watch_output": watch_output,
        }
        super().__init__("replay(tensors, arrays, entries, tapes)", names)
        self.taped, self.tensors = taped, tensors
        self.known: dict[Origin, str] = {}
        self.names: dict[Id, str] = {}  # of traced tensors
        self.is_watched: dict[str, bool] = {}  # of tensors that are made here: whether a tape watches them by now

    def finish(self) -> Replay:
        """The function."""
        taped = self.taped
        results = [self.tensor(origin) for origin in taped.results]
        kept = {id(x): self.tensor(origin) for x, origin in zip(self.tensors, taped.kept, strict=True)}
        self.names = {i: f"tensors[{place}]._id" for place, i in taped.inputs}
        for n, twin in enumerate(taped.twins):
            self.watch(twin, f"tapes[{n}]", results, kept)
        for n, twin in enumerate(taped.twins):
            made = [self.record(record, kept) for record in twin.records]
            if made:
                self.add(f"add = tapes[{n}].records.append")
            for each in made:
                self.add(f"add({each})")
        self.add(f"return {written(taped.pack, results[: taped.count], self)}")
        return self.function()

    def tensor(self, origin: Origin) -> str:
        """The name of a tensor of a call, with the lines that take or make it."""
        if origin in self.known:
            return self.known[origin]
        if origin.kind == "constant":
            return self.constant(origin.of)
        if origin.kind in ("result", "output"):
            name = self.made(f"arrays[{origin.of}]", self.taped.graph.outputs[origin.of])
            self.is_watched[name] = False
        elif origin.kind in ("argument", "entry"):
            name = self.name()
            of = f"tensors[{origin.of}]" if origin.kind == "argument" else f"entries[{self.constant(origin.of)}]"
            self.add(f"{name} = {of}")
            if not origin.is_own:
                self.add(f"{name} = wrap({name}._array, {name}._table, {name}._shape)")
        else:
            raise _UnfitError
        if origin.is_own:
            self.known[origin] = name
        return name

    def watch(self, twin: Twin, tape: str, results: Sequence[str], kept: Mapping[int, str]) -> None:
        """Add the lines that let a tape watch what its twin watches."""
        self.lines += [f"{tape}.watch_tensor(tensors[{place}])" for place in twin.watched]
        for variable, kind, i in twin.reads:
            if kind != "entry":
                raise _UnfitError
            read = self.names[i] = f"entries[{self.constant(variable)}]"
            self.add(f"{tape}.watch_variable({self.constant(variable)}, {read})")
            self.names[i] += "._id"
        known = {i for _, i in self.taped.inputs} | {read.id for read in twin.reads}
        made = {x._id: kept[id(x)] for x in self.tensors if twin.watches(x) and x._id not in known}
        made |= {i: results[place] for place, i in twin.results}
        for name in dict.fromkeys(made.values()):
            is_watched = self.is_watched.get(name)
            if is_watched is None:
                self.add(f"watch_output({name}, {tape})")
                continue
            self.add(f"{name}._watch {'|=' if is_watched else '='} {tape}.watching")
            if not is_watched:
                self.add(f"{name}._id = next_id()")
                self.is_watched[name] = True
        self.names |= {i: f"{name}._id" for i, name in made.items()}

    def record(self, record: Record, kept: Mapping[int, str]) -> str:
        """The text of a record; see `agog_core.recording.Record` for its two forms."""
        out, source, vjp, saved = record
        ids = ""
        if out is None:
            outs, sources, *saved = saved  # type: ignore[assignment]  # a list does as well
            ids = f"{self.id_of(outs)}, [{', '.join(map(self.id_of, sources))}], "
        items = "".join(f"{self.saved(each, kept)}, " for each in saved)
        return f"({self.id_of(out)}, {self.id_of(source)}, {self.kept_constant(vjp)}, ({ids}{items}))"

    def saved(self, value: Any, kept: Mapping[int, str]) -> str:
        """The text of what a record keeps: a tensor of a call, a constant, or a tuple of both."""
        if id(value) in kept:
            return kept[id(value)]
        if type(value) is tuple and not _is_plain(value):
            return f"({''.join(f'{self.saved(each, kept)}, ' for each in value)})"
        return self.kept_constant(value)

    def id_of(self, traced: Id | tuple[Id, ...] | None) -> str:
        """The id that a tensor of the trace has in a call, or several."""
        if traced is None:
            return "None"
        if isinstance(traced, tuple):
            return f"({''.join(f'{self.id_of(each)}, ' for each in traced)})"
        if traced not in self.names:
            if traced < self.taped.start:
                raise _UnfitError
            self.names[traced] = name = f"i{len(self.names)}"
            self.add(f"{name} = next_id()")
        return self.names[traced]

    def kept_constant(self, value: Any) -> str:
        """The name of what the records of all calls have in common."""
        if type(value) is Tensor and (type(value._array) is not TracedArray or value._array.tracer is None):
            return self.constant(untraced(value))
        if isinstance(value, Variable) or _is_plain(value):
            return self.constant(value)
        raise _UnfitError  # such as the vjp of a function with a gradient of its own


def _is_plain(value: Any) -> bool:
    """Whether something holds no tensors."""
    if type(value) is tuple:
        return all(map(_is_plain, value))
    return type(value) in _PLAIN or (type(value) is FunctionType and value.__closure__ is None)
