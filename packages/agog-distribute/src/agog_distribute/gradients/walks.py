"""Walks: gradients that are averaged while a tape still walks back, eagerly or traced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core import IndexedSlices, Tensor, Variable, convert_to_tensor, int64
from agog_core.errors import AbortedError
from agog_core.recording import tapes_of_context
from agog_core.tensors.tensor import wrap
from agog_core.tracers import Tracer, present_recorder
from agog_distribute.faults.place import line_of_program
from agog_distribute.gradients.averages import averaged
from agog_distribute.gradients.buckets import Layout, forms_of
from agog_distribute.gradients.kinds import DENSE, KINDS, NONE, ROWS, common_kind, kind_of
from agog_distribute.gradients.rows import rows_only
from agog_distribute.gradients.settings import Settings
from agog_distribute.gradients.transfers import Averaging, averager_of, is_on_host
from agog_distribute.processes.groups import Group


def walk_of(sources: Sequence[Any], settings: Settings) -> Walk | None:
    """What averages the gradients of some sources while a tape walks back; None where it has to be done by ops,
    since other tapes record them or the memory is not the host's."""
    values = [source._current() if isinstance(source, Variable) else source for source in sources]
    if any(tape.is_open for tape in tapes_of_context()) or not all(map(is_on_host, values)):
        return None
    recorder = present_recorder()
    if recorder is None:
        return _EagerWalk(sources, values, settings)
    return _TracedWalk(sources, values, settings, recorder)


class Walk:
    """The averages of one walk back.

    Args:
        sources: what the gradients are of.
        values: their present values.
        settings: how the gradients of the processes become one.
    """

    def __init__(self, sources: Sequence[Any], values: Sequence[Tensor], settings: Settings) -> None:
        self.sources, self.values, self.settings = sources, values, settings
        self.place = line_of_program()
        self.taken: set[int] = set()

    def tell(self, position: int, gradient: Any) -> None:
        """Take the gradient of a source, which is final."""
        if position not in self.taken:
            self.taken.add(position)
            self.take(position, gradient)

    def take(self, position: int, gradient: Any) -> None:
        """Take the gradient of a source for the first time."""
        raise NotImplementedError

    def finish(self, gradients: Sequence[Any]) -> list[Any]:
        """The averages, when the walk is at its end."""
        raise NotImplementedError

    def give_up(self) -> None:
        """The walk has raised an error."""

    def dense(self, position: int, gradient: Any) -> Any:
        """A gradient as a tensor, or None."""
        if type(gradient) is IndexedSlices and gradient._shape is None:
            gradient = IndexedSlices(gradient.values, gradient.indices, self.values[position]._shape)
        return convert_to_tensor(gradient) if type(gradient) is IndexedSlices else gradient


class _EagerWalk(Walk):
    """Buckets of the variables whose gradients were tensors the last time; all others follow when the walk is done."""

    def __init__(self, sources: Sequence[Any], values: Sequence[Tensor], settings: Settings) -> None:
        super().__init__(sources, values, settings)
        self.averager = averager_of(settings.group)
        dense = self.averager.dense
        self.sent = [n for n, source in enumerate(sources) if isinstance(source, Variable) and source in dense]
        self.numbers = {position: number for number, position in enumerate(self.sent)}
        forms = forms_of([values[position] for position in self.sent])
        owners = [sources[position] for position in self.sent]
        self.averaging = self.averager.begin(settings, forms, owners, self.place) if forms else None

    def take(self, position: int, gradient: Any) -> None:
        number = self.numbers.get(position)
        if number is not None and self.averaging is not None:
            tensor = self.dense(position, gradient)
            self.averaging.take(number, None if tensor is None else tensor._table.device.to_host(tensor._array))

    def finish(self, gradients: Sequence[Any]) -> list[Any]:
        found: list[Any] = list(gradients)
        if self.averaging is not None:
            for position in self.sent:
                self.tell(position, gradients[position])
            kinds = _agreed_kinds(self.averaging, [kind_of(gradients[position]) for position in self.sent])
            for position, kind, array in zip(self.sent, kinds, self.averaging.averages(), strict=True):
                like = self.values[position]
                found[position] = None if kind == NONE else wrap(array, like._table, like._shape)
                if kind == ROWS:
                    found[position] = rows_only(found[position], gradients[position], self.settings.group)
                if kind != DENSE:
                    self.averager.dense.discard(self.sources[position])
        rest = [n for n in range(len(found)) if n not in self.numbers]
        if rest:
            owners = [self.sources[n] for n in rest]
            given = [gradients[n] for n in rest]
            averages = averaged(given, owners, self.settings)
            for position, average in zip(rest, averages, strict=True):
                found[position] = average
                if isinstance(average, Tensor) and isinstance(self.sources[position], Variable):
                    self.averager.dense.add(self.sources[position])
        return found

    def give_up(self) -> None:
        if self.averaging is not None:
            self.averaging.give_up()


class _TracedWalk(Walk):
    """Nodes of a traced function: one where the walk begins, one for each bucket, and one that waits for all."""

    def __init__(self, sources: Sequence[Any], values: Sequence[Tensor], settings: Settings, recorder: Tracer) -> None:
        super().__init__(sources, values, settings)
        forms, place = forms_of(values), self.place
        layout = Layout(forms, settings.bucket_bytes)
        self.recorder, self.buckets_of, self.left, self.next = recorder, layout.buckets_of, list(layout.counts), 0
        self.waiting: list[tuple[int, Tensor | None]] = []

        def begin() -> list[Any]:
            averager = averager_of(settings.group)
            if averager.present is not None:  # a run before has raised an error
                averager.present.give_up()
            averager.present = averager.begin(settings, forms, sources, place)
            return []

        recorder.python(begin, [], [])

    def take(self, position: int, gradient: Any) -> None:
        self.waiting.append((position, self.dense(position, gradient)))
        for number in self.buckets_of[position]:
            self.left[number] -= 1
        begin = self.next
        while self.next < len(self.left) and not self.left[self.next]:
            self.next += 1
        if self.next > begin:
            self._start()

    def _start(self) -> None:
        """Fill what is there by now, of which a bucket at least is full."""
        group, positions = self.settings.group, [position for position, _ in self.waiting]
        given = [position for position, tensor in self.waiting if tensor is not None]
        tensors = [tensor for _, tensor in self.waiting if tensor is not None]
        self.waiting = []

        def fill(*arrays: Any) -> list[Any]:
            present, known = _present(group), dict(zip(given, arrays, strict=True))
            for position in positions:
                present.take(position, known.get(position))
            return []

        self.recorder.python(fill, tensors, [])

    def finish(self, gradients: Sequence[Any]) -> list[Any]:
        for position, gradient in enumerate(gradients):
            self.tell(position, gradient)
        self._start()  # those without elements
        group = self.settings.group
        own = [kind_of(g) for g in gradients]

        def agreed() -> list[Any]:
            return [[KINDS.index(kind) for kind in _agreed_kinds(_present(group), own)]]

        (codes,) = self.recorder.python(agreed, [], [int64])
        known = [KINDS[code] for code in self.recorder.known(codes)._host()]
        kept = [n for n, kind in enumerate(known) if kind != NONE]

        def wait(codes: Any) -> list[Any]:
            if [KINDS[code] for code in codes] != known:
                raise AbortedError(
                    "DistributedGradientTape.gradient: other processes have gradients of other variables than when the "
                    "function was traced; let all of them use the same variables."
                )
            arrays = _present(group).averages()
            averager_of(group).present = None
            return [arrays[position] for position in kept]

        tensors = self.recorder.python(wait, [codes], [self.values[position].dtype for position in kept])
        found: list[Any] = [None] * len(gradients)
        for position, tensor in zip(kept, tensors, strict=True):
            is_rows = known[position] == ROWS
            found[position] = rows_only(tensor, gradients[position], group) if is_rows else tensor
        return found


def _present(group: Group) -> Averaging:
    present = averager_of(group).present
    assert present is not None
    return present


def _agreed_kinds(averaging: Averaging, own: Sequence[str]) -> list[str]:
    """What each gradient is in all processes, at the end: rows only where it is dense in none of them."""
    texts = averaging.finish(" ".join(own))
    return list(map(common_kind, zip(*map(str.split, texts), strict=True)))
