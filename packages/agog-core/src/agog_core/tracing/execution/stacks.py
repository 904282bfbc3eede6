"""Stacks: what the iterations of a loop leave for its gradient, and the loop that walks them back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_core.tracing.execution.loops import Part, Stack
from agog_core.tracing.graphs.graph import Value


class Item:
    """Gives what one iteration has left.

    Args:
        place: which one it is: 0 and so on from the first, -1 and so on from the last.
    """

    has_guards = draws = False

    def __init__(self, place: int) -> None:
        self.place = place

    def is_like(self, other: Item) -> bool:
        """Whether another one gives the same."""
        return self.place == other.place

    def function(self, outputs: Sequence[Value], is_exact: bool) -> Callable[..., Sequence[Any]]:
        """See `agog_core.tracing.execution.loops.Loop.function`."""
        place = self.place

        def run(stack: Stack) -> Sequence[Any]:
            return stack.items[place]

        return run


class Length:
    """Tells whether so many iterations have left something.

    Args:
        count: how many.
        or_more: whether there may be more.
    """

    has_guards = draws = False

    def __init__(self, count: int, or_more: bool) -> None:
        self.count, self.or_more = count, or_more

    def is_like(self, other: Length) -> bool:
        """Whether another one tells the same."""
        return (self.count, self.or_more) == (other.count, other.or_more)

    def function(self, outputs: Sequence[Value], is_exact: bool) -> Callable[..., list[Any]]:
        """See `agog_core.tracing.execution.loops.Loop.function`."""
        device, count, or_more = outputs[0].table.device, self.count, self.or_more

        def run(stack: Stack) -> list[Any]:
            length = len(stack.items)
            return [device.from_host(np.array(length == count or (or_more and length > count)))]

        return run


class Back:
    """The walk back over iterations, from the last one to the first.

    It takes a stack, what each iteration hands on, and what none changes.

    Args:
        body: takes what is handed on, what the iteration has left, and what none changes; gives what is handed on.
        following: where each of these is found; see `agog_core.tracing.execution.loops.Loop`.
        constants: arrays.
        shared: the places of those that share memory with what the body takes, or are it.
        ends: how many iterations are left out at the end, and how many at the beginning.
    """

    def __init__(
        self,
        body: Part,
        following: Sequence[int],
        constants: Sequence[Any],
        shared: Sequence[int],
        ends: tuple[int, int],
    ) -> None:
        self.body, self.ends = body, ends
        self.following, self.constants, self.shared = tuple(following), tuple(constants), tuple(shared)
        self.has_guards, self.draws = body.has_guards, body.draws

    def function(self, outputs: Sequence[Value], is_exact: bool) -> Callable[..., list[Any]]:
        """See `agog_core.tracing.execution.loops.Loop.function`."""
        self.body.graph.exact = is_exact
        body, following, constants, (last, first) = self.body, self.following, self.constants, self.ends
        count, shared = len(following), self.shared
        copies = [value.table.device.copy for value in outputs]

        def run(stack: Stack, *arrays: Any) -> list[Any]:
            handed, rest = list(arrays[:count]), arrays[count:]
            length = len(stack.items)
            for number in range(length - last - 1, first - 1, -1):
                given = (*handed, *stack.items[number], *rest)
                pool = (*body(given), *given, *constants)
                handed = [pool[place] for place in following]
            for place in range(count) if length <= last + first else shared:
                handed[place] = copies[place](handed[place])
            return handed

        return run


class RowsBack:
    """The gradient of a function that is applied to row after row, from the last row to the first.

    It takes a stack, what each row hands on, then what each row takes, in the order of the walk, and what none changes.

    Args:
        body: takes what is handed on, what a row takes and has left, and what none changes.
        following: where what it hands on and gives is found; see `Back`.
        constants: arrays.
        shared: the places of those that share memory with what the body takes, or are it.
        sizes: how many values are handed on, and how many each row takes and gives.
        ends: how many rows are left out at the end, and how many at the beginning.
    """

    def __init__(
        self,
        body: Part,
        following: Sequence[int],
        constants: Sequence[Any],
        shared: Sequence[int],
        sizes: tuple[int, int, int],
        ends: tuple[int, int],
    ) -> None:
        self.body, self.sizes, self.ends = body, sizes, ends
        self.following, self.constants, self.shared = tuple(following), tuple(constants), tuple(shared)
        self.has_guards, self.draws = body.has_guards, body.draws

    def function(self, outputs: Sequence[Value], is_exact: bool) -> Callable[..., list[Any]]:
        """See `agog_core.tracing.execution.loops.Loop.function`."""
        self.body.graph.exact = is_exact
        body, following, constants, (last, first) = self.body, self.following, self.constants, self.ends
        count, width, _ = self.sizes
        copies = [(place, outputs[place].table.device.copy) for place in self.shared]

        def run(stack: Stack, *arrays: Any) -> list[Any]:
            items = stack.items[first : len(stack.items) - last][::-1]
            handed, end, found = list(arrays[:count]), count + len(items) * width, []
            for number, item in enumerate(items):
                start = count + number * width
                given = (*handed, *arrays[start : start + width], *item, *arrays[end:])
                pool = (*body(given), *given, *constants)
                new = [pool[place] for place in following]
                for place, copy in copies:
                    new[place] = copy(new[place])
                handed = new[:count]
                found += new[count:]
            return [*handed, *found]

        return run
