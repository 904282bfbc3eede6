"""Loops: run the graphs of a condition and a body repeatedly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from agog_core.dispatch.devices.lookup import forgotten
from agog_core.random import generator
from agog_core.tracing.errors import OtherWayError, is_undone, undone
from agog_core.tracing.graphs.graph import Effect, Graph, RandomKey, Value

# What loops of this run have drawn of random streams.
_drawn: ContextVar[list[RandomKey] | None] = ContextVar("agog_drawn", default=None)


class Part:
    """A subgraph that loops and branches run; it writes no variables."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.draws = any(type(late) is RandomKey for late in graph.lates) or any(node.draws for node in graph.nodes)
        for late in graph.lates:
            if type(late) is RandomKey:
                note_draws(late)
        self._guards = [node for node in graph.nodes if node.effect is Effect.GUARD]
        self._run: Callable[..., Any]
        self._version = -1
        self._has_parted = False
        self._is_hot = False

    @property
    def has_guards(self) -> bool:
        """Whether a run may leave the trace for another way."""
        return any(node.may_part for node in self.graph.nodes)

    def __call__(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The arrays of the outputs.

        Raises:
            OtherWayError: a guard fails.
        """
        run = self._run if self._version == forgotten[0] else self._compiled()
        try:
            found = run(arrays, ())
        except Exception as error:
            if is_undone(error):
                undone(error, False)  # who runs the whole knows what was done before
            raise
        if type(found) is int:
            before, self._has_parted = self._has_parted, True
            raise OtherWayError(self._guards[found].line, is_first=not before)
        return found[0]  # type: ignore[no-any-return]

    def _compiled(self) -> Callable[..., Any]:
        from agog_core.tracing.execution.executors import executable  # which need this module
        from agog_core.tracing.execution.hotness import compiled, warming

        version = forgotten[0]
        run = None if self._is_hot else warming(self.graph, self._heat)
        self._run = compiled(self.graph, executable) if run is None else run
        self._version = version
        return self._run

    def _heat(self) -> None:
        """Let the next run be compiled."""
        self._is_hot, self._version = True, -1


class Stack:
    """The residuals of iterations, the last one's on top. To a graph it is a scalar array."""

    __slots__ = ("items",)

    shape: tuple[int, ...] = ()
    dtype = np.dtype(np.int32)

    def __init__(self, items: list[tuple[Any, ...]]) -> None:
        self.items = items


class Loop:
    """A loop: its condition and its body, and how the values of an iteration become those of the next one.

    Both parts take the values that each iteration changes, and behind them those that none does.

    Args:
        condition: gives a scalar of bool.
        body: gives new values.
        following: where each value of the next iteration is found among what the body gives, what it takes, and the
            constants.
        constants: arrays.
        shared: the places of values that the body gives and that share memory with what it takes, or are it.
        limit: how many iterations there are at most; None for any number.
        kept: where what each iteration leaves for the walk back is found, and the places among what the parts take
            whose memory that shares in the first one; None where nothing is left.
    """

    def __init__(
        self,
        condition: Part,
        body: Part,
        following: Sequence[int],
        constants: Sequence[Any],
        shared: Sequence[int],
        limit: int | None,
        kept: tuple[Sequence[int], Sequence[int]] | None = None,
    ) -> None:
        self.kept = kept
        self.condition, self.body, self.limit = condition, body, limit
        self.following, self.constants, self.shared = tuple(following), tuple(constants), tuple(shared)
        self.draws = condition.draws or body.draws

    @property
    def has_guards(self) -> bool:
        """Whether a run may leave the trace for another way."""
        return self.condition.has_guards or self.body.has_guards

    def copied(self, copied: Callable[[Part], Part]) -> Loop:
        """A copy, with copies of its parts."""
        parts = copied(self.condition), copied(self.body)
        return Loop(*parts, self.following, self.constants, self.shared, self.limit, self.kept)

    def taking(self, count: int) -> tuple[int, ...]:
        """``following`` for parts with so many more loop-invariant inputs."""
        first = len(self.body.graph.outputs) + len(self.body.graph.inputs)
        return tuple([place + count if place >= first else place for place in self.following])

    def function(self, outputs: Sequence[Value], is_exact: bool) -> Callable[..., list[Any]]:
        """The function that runs it on arrays; its results share no memory with its arguments."""
        self.condition.graph.exact = self.body.graph.exact = is_exact
        condition, body, following, constants, limit = (
            *(self.condition, self.body, self.following, self.constants),
            self.limit,
        )
        count, taken = len(following), len(condition.graph.inputs)
        to_host = condition.graph.outputs[0].table.device.to_host
        copies = [value.table.device.copy for value in outputs[:count]]
        kept, held = ((), ()) if self.kept is None else self.kept
        leaves, last = self.kept is not None, None if self.kept is None else -1
        given_copies = [(place, condition.graph.inputs[place].table.device.copy) for place in held]
        counter = [value.table.device for value in outputs[count:last]]

        def run(*arrays: Any) -> list[Any]:
            given, number = list(arrays[:taken]), 0
            items: list[tuple[Any, ...]] = []
            for place, copy in given_copies:
                given[place] = copy(given[place])
            while limit is None or number < limit:
                if not to_host(condition(given)[0]).reshape(())[()]:
                    break
                pool = (*body(given), *given, *constants)
                given[:count] = [pool[place] for place in following]
                if leaves:
                    items.append(tuple([pool[place] for place in kept]))
                number += 1
            shared = range(count) if not number else self.shared
            for place in shared:
                given[place] = copies[place](given[place])
            counts = [numbered(device, number) for device in counter]
            return [*given[:count], *counts, *([Stack(items)] if leaves else [])]

        return run


class Rows:
    """A function that is mapped over rows.

    It takes what each iteration hands on, first values and variables, then a row, and what no iteration changes.

    Args:
        body: gives the results, and new values of variables.
        following: where each of these is found; see `Loop`.
        constants: arrays.
        shared: the places of those that share memory with what the body takes, or are it.
        count: how many of them are results.
        sizes: how many results are handed on and how many variables; how many rows there are, and of how many arrays.
        kept: what each row leaves for its gradient; see `Loop`.
    """

    def __init__(
        self,
        body: Part,
        following: Sequence[int],
        constants: Sequence[Any],
        shared: Sequence[int],
        count: int,
        sizes: tuple[int, int, int, int],
        kept: tuple[Sequence[int], Sequence[int]] | None = None,
    ) -> None:
        self.body, self.count, self.sizes, self.kept = body, count, sizes, kept
        self.following, self.constants, self.shared = tuple(following), tuple(constants), tuple(shared)
        self.has_guards, self.draws = body.has_guards, body.draws

    def function(self, outputs: Sequence[Value], is_exact: bool) -> Callable[..., list[Any]]:
        """See `Loop.function`."""
        self.body.graph.exact = is_exact
        body, following, constants = self.body, self.following, self.constants
        carried, variables, length, width = self.sizes
        first, count = carried + variables, self.count
        last = first + length * width
        end = last + len(body.graph.inputs) - first - width
        made = len(following) - count
        kinds = [*outputs[:count], *outputs[length * count : length * count + made]]
        copies = [(place, kinds[place].table.device.copy) for place in self.shared]
        kept, held = ((), ()) if self.kept is None else self.kept
        leaves, stop = self.kept is not None, None if self.kept is None else -1
        given_copies = [(place, body.graph.inputs[place].table.device.copy) for place in held]
        counter = [value.table.device for value in outputs[length * count + made : stop]]

        def run(*arrays: Any) -> list[Any]:
            handed, found, rest = list(arrays[:first]), [], arrays[last:end]
            items: list[tuple[Any, ...]] = []
            for start in range(first, last, width):
                given = [*handed, *arrays[start : start + width], *rest]
                for place, copy in given_copies:
                    given[place] = copy(given[place])
                pool = (*body(given), *given, *constants)
                new = [pool[place] for place in following]
                for place, copy in copies:
                    new[place] = copy(new[place])
                found += new[:count]
                handed = [*new[:carried], *new[count:]]
                if leaves:
                    items.append(tuple([pool[place] for place in kept]))
            counts = [numbered(device, length) for device in counter]
            return [*found, *handed[carried:], *counts, *([Stack(items)] if leaves else [])]

        return run


def numbered(device: Any, number: int) -> Any:
    """A number as an array of a device."""
    return device.from_host(np.array(number, np.int32))


def note_draws(key: RandomKey) -> None:
    """Let a run note that it has drawn a key, to put it back where it comes to nothing."""
    function = key.function

    def draw(*arrays: Any) -> Any:
        found = function(*arrays)
        drawn = _drawn.get()
        if drawn is not None:
            drawn.append(key)
        return found

    key.function = draw


def putting_back(run: Callable[..., Any]) -> Callable[..., Any]:
    """A run that puts back what its loops have drawn of random streams, where it comes to nothing."""

    def drawing(inputs: Sequence[Any], variables: Sequence[Any]) -> Any:
        keys: list[RandomKey] = []
        whole = _drawn.get()
        token = _drawn.set(keys)
        try:
            found = run(inputs, variables)
            if type(found) is int:
                _put_back(keys)
            elif whole is not None:
                whole += keys
            return found
        except Exception as error:
            if is_undone(error):
                _put_back(keys)
            raise
        finally:
            _drawn.reset(token)

    return drawing


def _put_back(keys: Sequence[RandomKey]) -> None:
    for key in reversed(keys):
        generator().put_back(key.op_seed, key.values)
