"""Branches: run one of two graphs, by a condition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agog_core.dispatch.devices.device import Device
from agog_core.tracing.errors import OtherWayError
from agog_core.tracing.execution.loops import Part, Stack, numbered
from agog_core.tracing.graphs.graph import Value


@dataclass(eq=False, slots=True)
class Branch:
    """One function of a branch.

    Args:
        part: its graph.
        places: where what it takes is found among what the node takes behind the condition.
        following: where each result is found among what the graph gives, what the branch takes, and the constants.
        constants: arrays.
        shared: the places of results that share memory with what it takes, or are it, or with what it leaves.
        kept: where what it leaves for its gradient is found, as for ``following``; None where nothing is left.
        copied: the places of what the branch takes whose memory that shares.
    """

    part: Part
    places: tuple[int, ...]
    following: tuple[int, ...]
    constants: tuple[Any, ...]
    shared: tuple[int, ...]
    kept: tuple[int, ...] | None = None
    copied: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Handed:
    """The results of a function without ops: values from before the branch.

    Args:
        values: these.
        form: see `Choice`.
        is_gradient: whether they are gradients, which another function would change.
    """

    values: tuple[Value, ...]
    form: Any
    is_gradient: bool = False


class Choice:
    """A branch: its traced functions, by the condition. An untraced one is another way.

    Args:
        branches: one function, or both.
        home: the device of the condition.
        line: of the program.
        form: of the results; see `agog_core.tracing.state.leaves.key_of_structure`.
        shares: whether results may be what it takes, or views of that.
    """

    def __init__(self, branches: dict[bool, Branch], home: Device, line: str, form: Any, shares: bool = False) -> None:
        self.branches, self.home, self.line, self.form, self.shares = branches, home, line, form, shares
        self._has_parted = False

    @property
    def has_guards(self) -> bool:
        """Whether a run may leave the trace for another way."""
        return len(self.branches) < 2 or any(each.part.has_guards for each in self.branches.values())

    @property
    def draws(self) -> bool:
        """Whether it draws random numbers."""
        return any(each.part.draws for each in self.branches.values())

    def function(self, outputs: Sequence[Value], is_exact: bool) -> Callable[..., list[Any]]:
        """The function that runs it on arrays; see `agog_core.tracing.execution.loops.Loop.function`."""
        branches, to_host = self.branches, self.home.to_host
        for branch in branches.values():
            branch.part.graph.exact = is_exact
        first = next(iter(branches.values()))
        count, leaves = len(first.following), first.kept is not None
        copies = [value.table.device.copy for value in outputs[:count]]
        counter = [value.table.device for value in outputs[count + leaves :]]
        inputs = {outcome: branch.part.graph.inputs for outcome, branch in branches.items()}
        held = {x: [(n, inputs[x][n].table.device.copy) for n in each.copied] for x, each in branches.items()}

        def run(flag: Any, *arrays: Any) -> list[Any]:
            outcome = bool(to_host(flag).reshape(())[()])
            branch = branches.get(outcome)
            if branch is None:
                before, self._has_parted = self._has_parted, True
                raise OtherWayError(self.line, is_first=not before, is_cond=True)
            given = [arrays[place] for place in branch.places]
            for place, copy in held[outcome]:
                given[place] = copy(given[place])
            pool = (*branch.part(given), *given, *branch.constants)
            found = [pool[place] for place in branch.following]
            for place in branch.shared:
                found[place] = copies[place](found[place])
            left = [Stack([tuple([pool[place] for place in branch.kept])])] if branch.kept is not None else []
            return [*found, *left, *[numbered(device, 0) for device in counter]]

        return run
