"""Walks: gradients of calls under tapes, each traced for what is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agog_core.dispatch.devices.lookup import scope, scopes
from agog_core.gradients.backpropagation import backpropagate
from agog_core.recording import Id, Recording, stack, tapes_of_context
from agog_core.settable import Reads
from agog_core.settings import present_key, used
from agog_core.tensors.tensor import Tensor
from agog_core.tracers import apart, present_tracer
from agog_core.tracing.errors import is_undone, limit
from agog_core.tracing.state.device import untraced
from agog_core.tracing.state.leaves import Packing, key_of_leaf, key_of_tensor
from agog_core.tracing.tapes.by_ops import by_ops
from agog_core.tracing.tapes.calls import Call, Taped
from agog_core.tracing.tapes.first_call import AGAIN, Function, trace_taped
from agog_core.tracing.tapes.tangents import key_of_tangents, tangents_of
from agog_core.tracing.tapes.twins import key_of_tapes


def walk(call: Call, index: int, given: dict[Id, Any], keep: frozenset[Id]) -> Mapping[Id, Any]:
    """Walk the records back that a call has left on a tape.

    Args:
        call: the call.
        index: which of its tapes it is.
        given: the gradients so far, by the ids of traced tensors.
        keep: the ids whose gradients the program has asked for.

    Returns:
        The gradients that are other ones now.
    """
    tracer = present_tracer()
    tapes = [tape for tape in tapes_of_context() if tape.is_open]
    if tracer is not None and tracer.records:
        return _by_ops(call, index, given, keep)
    return _Walk(call, index, given, keep, tapes).run()


class _Walk:
    """One walk back over the records of one call."""

    def __init__(
        self, call: Call, index: int, given: dict[Id, Any], keep: frozenset[Id], tapes: Sequence[Recording]
    ) -> None:
        self.call, self.index, self.given, self.keep, self.tapes = call, index, given, keep, tapes
        self.values = list(given.values())
        self.is_dense = {Tensor}.issuperset(map(type, self.values))
        self.tensors: list[Tensor] = self.values if self.is_dense else Packing(self.values).tensors
        self.tangents = tangents_of(tapes, self.tensors, call) if tapes else []
        if self.tangents:
            self.tensors = [*self.tensors, *(each.tensor for each in self.tangents)]

    def key(self) -> Any:
        """What decides which trace is run."""
        kinds = tuple(map(key_of_tensor if self.is_dense else key_of_leaf, self.values))
        where = self.index, tuple(self.given), kinds, self.keep, _surroundings()
        if not self.tapes:
            return where
        twins = [self.call.twin(tape) for tape in self.tapes]
        serials = tuple([None if twin is None else twin.recording.serial for twin in twins])
        watching = key_of_tapes(self.tapes, [*self.tensors, *self.call.kept])
        return where, serials, watching, key_of_tangents(self.tangents)

    def run(self) -> Mapping[Id, Any]:
        """The gradients that are other ones now."""
        known, place = self.call.taped.walks, self.key()
        while (found := known.get(place)) is not None and found.reads.hold():
            try:
                result = found.run(self.tensors, self.tapes, self.call)
            except Exception as error:
                if not is_undone(error):
                    raise
                return self.trace({}, None)  # Python may catch it
            if type(result) is not int:
                return result  # type: ignore[no-any-return]  # `_packed` makes it
            known, place = found.branches, result
        return self.trace(known, place)

    def trace(self, known: dict[Any, Any], place: Any) -> Mapping[Id, Any]:
        """Walk back, and record what that does."""
        name, exact = self.call.taped.name, self.call.taped.graph.exact
        function = Function(self._python, name, walk, may_create=False, exact=exact, pack=self._packed)
        reads = Reads()
        with self.call.taped.lock, reads.noted():
            found = trace_taped(function, [self.values], {}, self.tapes, self.call, self.tangents)
        if found is None:
            limit("beyond", self.call.taped.name)
        found.taped.reads = reads
        if found.failed is None and not found.captures:
            known[place] = found.taped
        return self.run() if found.result is AGAIN else found.result

    def _python(self, args: Any, kwargs: Any) -> list[Any]:
        twin = self.call.taped.twins[self.index]
        gradients = dict(zip(self.given, args[0], strict=True))
        before = dict(gradients)
        backpropagate(list(twin.records), gradients, set(self.keep))
        wanted = dict.fromkeys([*twin.sources, *self.keep])
        self._ids = [i for i in wanted if i in gradients and gradients[i] is not before.get(i)]
        return [gradients[i] for i in self._ids]

    def _packed(self, packing: Packing) -> Callable[[list[Tensor]], Mapping[Id, Any]]:
        ids = self._ids
        if packing.are_tensors:
            return lambda tensors: dict(zip(ids, tensors, strict=True))
        return lambda tensors: dict(zip(ids, packing(tensors), strict=True))


def _surroundings() -> Any:
    """What of the program decides how gradients are computed, beside tensors and attributes."""
    return scope() if scopes else None, present_key() if used else ()


def _by_ops(call: Call, index: int, given: dict[Id, Any], keep: frozenset[Id]) -> Mapping[Id, Any]:
    """Walk back by ops that what looks on sees one by one."""
    values = list(given.values())
    packing = Packing(values)
    before = stack.get()
    with apart():
        stack.set(())
        try:
            plain = packing([untraced(x) for x in packing.tensors])
            twin = _Walk(call, index, dict(zip(given, plain, strict=True)), keep, [])
            twin.run()
            found: Taped = call.taped.walks[twin.key()]
        finally:
            stack.set(before)
    return found.pack(by_ops(found.graph, [*packing.tensors, *call.kept]))  # type: ignore[no-any-return]  # as above
