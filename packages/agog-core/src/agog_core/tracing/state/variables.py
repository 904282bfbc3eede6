"""Variables: the values that they have in a traced call, and what the call has done with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agog_core.recording import source_line
from agog_core.tensors.tensor import Tensor
from agog_core.tracers import Tracer
from agog_core.tracing.graphs.graph import Graph
from agog_core.tracing.state.device import untraced
from agog_core.tracing.state.handlers import may_be_caught
from agog_core.tracing.state.python_results import HandedOn
from agog_core.tracing.state.writes import Write, Writes
from agog_core.variables.variable import Variable


class Failure(NamedTuple):
    """Why a call is not run again, though it comes to its end; and whether no call of its kind is."""

    reason: str
    is_final: bool = False


class State(Tracer):
    """What a trace knows of variables. They have their new values when the call is over, or calls Python."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.initial: dict[Variable, Tensor] = {}  # the values of variables on entry
        self.state: dict[Variable, Tensor] = {}  # and by now, where they are known
        self.finals: dict[Variable, Tensor] = {}  # and those that were written last
        self.entries: dict[Variable, Tensor] = {}  # the values on entry, as the function has read them
        self.arguments: dict[int, Tensor] = {}  # the tensors that stand for arguments, by the ids of these
        self.temporaries: set[Variable] = set()
        self.made: set[Variable] = set()  # while the function was traced
        # Of variables that were read before Python was called last: their own tensors and those that stood for them.
        self.seen: dict[Variable, tuple[Tensor, Tensor]] | None = None
        self.before: dict[Variable, Tensor] = {}  # the values of variables since then, before the writes
        self.failures: list[Failure] = []
        self._writes = Writes()
        self.handed = HandedOn()

    def note_failure(self) -> None:
        self.failures.append(Failure(f"{source_line()}: an op failed, and the function caught the error"))

    def note_branch(self, line: str) -> None:
        """Note a branch on what the function has written: before such a branch another run may not write anything."""
        reason = f"{line}: a branch depends on a variable that the function has changed before"
        self.failures.append(Failure(reason, is_final=True))

    def note_risk(self, may_fail: bool, calls: bool = False) -> None:
        """Note that what is done now may fail, and the function go on. Once Python was called, such a call is not run
        again, since it would have to call Python twice."""
        if may_fail and (calls or self.seen is not None) and may_be_caught():
            reason = f"{source_line()}: Python is called, and then or in it something may fail in a try"
            self.failures.append(Failure(reason))

    def written(self) -> dict[Variable, Tensor]:
        """The values of variables that were written, by now."""
        return {variable: untraced(tensor) for variable, tensor in self.finals.items()}

    def note(self, variables: Sequence[Variable], write: Write) -> None:
        """Note how to do a write."""
        if self.temporaries.isdisjoint(variables):
            self._writes.note(variables, write)

    def commit(self, merges: bool = True) -> bool:
        """Give variables the values that they have by now; see `Writes.commit`."""
        return self._writes.commit(self.before, self.state, merges)

    def take_back(self) -> None:
        """Give variables the values that they had before the call."""
        self._writes.take_back()

    def renew(self, variable: Variable, tensor: Tensor) -> None:
        """Let a variable that the function has made be read anew, where a restore has given it its value since."""
        if variable in self.made and variable not in self.graph.finals and tensor is not self.before.get(variable):
            for known in (self.state, self.initial, self.graph.variables):
                known.pop(variable, None)

    def forget(self) -> None:
        """Let variables be read anew from here on: Python may have written them."""
        seen = {} if self.seen is None else self.seen
        kept = {variable: self.state[variable] for variable in self.temporaries if variable in self.state}
        seen.update({v: (self.before[v], each) for v, each in self.state.items() if v in self.before})
        self.seen, self.state = seen, kept
        self.before.clear()

    def release(self) -> None:
        """Let go of the tensors of the trace."""
        for tensors in (self.state, self.finals, self.entries, self.arguments):
            tensors.clear()
        self.seen, self._writes = None, Writes()
