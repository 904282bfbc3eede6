"""Scope: the source of a block so far, and the tensors that its next statement may use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import numpy as np

T = TypeVar("T")


class Known(NamedTuple):
    """A tensor in a program.

    Args:
        name: of the Python variable.
        shape: the sizes along its axes.
        dtype: the dtype's name.
        changed: whether it depends on a variable that the function has changed, so that few branches test it.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"
    changed: bool = False

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape))

    @property
    def is_float(self) -> bool:
        """Whether its dtype is one of floating-point numbers."""
        return "float" in self.dtype


class Held(NamedTuple):
    """A variable of a program: its name and shape."""

    name: str
    shape: tuple[int, ...]


class Draw:
    """The random choices of a program, all from its number."""

    def __init__(self, number: int) -> None:
        self._random = np.random.RandomState(number % (1 << 32))

    def below(self, limit: int) -> int:
        """A number from 0 to one less than the limit."""
        return int(self._random.randint(0, limit))

    def chance(self, probability: float) -> bool:
        """True as often as the probability says."""
        return bool(self._random.random_sample() < probability)

    def one(self, choices: Sequence[T]) -> T:
        """One of some choices."""
        return choices[self.below(len(choices))]

    def weighted(self, choices: Sequence[tuple[int, T]]) -> T:
        """One of some choices, each as often as its weight says."""
        place = self.below(sum(weight for weight, _ in choices))
        for weight, choice in choices:
            place -= weight
            if place < 0:
                return choice
        raise AssertionError("the weights are positive")

    def some(self, choices: Sequence[T], most: int) -> list[T]:
        """One or more of some choices, in their order, each once."""
        count = 1 + self.below(max(1, min(most, len(choices))))
        places = sorted(self._random.permutation(len(choices))[:count].tolist())
        return [choices[place] for place in places]

    def order(self, count: int) -> list[int]:
        """The numbers below a count in another order."""
        return [int(each) for each in self._random.permutation(count)]

    def number(self) -> int:
        """A number for `data`."""
        return self.below(1 << 20)

    def factor(self) -> float:
        """A Python number of a few digits."""
        return round(float(self._random.uniform(-2.0, 2.0)), 3) or 1.0


class Scope:
    """A block of source.

    Attributes: ``pool``, the tensors that are there; ``variables`` that may be read and written; ``changed``, the names
    of those that were written; ``asks_changed``, whether branches may ask what depends on these; ``helpers``, names of
    functions of one tensor by their kinds.
    """

    def __init__(self, draw: Draw, sizes: tuple[int, int], indent: int = 0) -> None:
        self.draw, self.sizes = draw, sizes
        self.lines: list[str] = []
        self.pool: list[Known] = []
        self.variables: list[Held] = []
        self.changed: set[str] = set()
        self.asks_changed = draw.chance(0.05)  # seldom: such a function runs eagerly from the second call on
        self.helpers: dict[str, list[str]] = {}
        self.numbers: list[str] = []
        self.can_write = True
        self.can_draw = True
        self._indent = indent
        self._counts: dict[str, int] = {}

    def add(self, line: str) -> None:
        """A line of source."""
        self.lines.append("    " * self._indent + line)

    @property
    def depth(self) -> int:
        """How many blocks the next line lies in."""
        return self._indent

    def fresh(self, prefix: str) -> str:
        """A name that is not there yet."""
        self._counts[prefix] = self._counts.get(prefix, -1) + 1
        return f"{prefix}{self._counts[prefix]}"

    @contextmanager
    def block(self, head: str, keeps: bool = False) -> Iterator[None]:
        """A block below a line; what it defines is not there behind it, unless it is kept."""
        self.add(head)
        self._indent += 1
        pool, count = list(self.pool), len(self.lines)
        try:
            yield
        finally:
            if len(self.lines) == count:
                self.add("pass")
            self._indent -= 1
            self.pool = self.pool if keeps else pool

    def name(self, code: str, shape: Sequence[int], dtype: str = "float32", changed: bool = False) -> Known:
        """A statement that gives a tensor a name."""
        known = Known(self.fresh("t"), tuple(shape), dtype, changed)
        self.add(f"{known.name} = {code}")
        self.pool.append(known)
        return known

    def floats(self, rank: int | None = None, least: int = 0, unchanged: bool = False) -> list[Known]:
        """The tensors of floating-point numbers, those made last more often."""
        hides_changed = unchanged and not self.asks_changed
        found = [
            x
            for x in self.pool
            if x.is_float and x.rank >= least and (rank is None or x.rank == rank) and not (hides_changed and x.changed)
        ]
        return found + found[-3:]

    def any_float(self, **which: Any) -> Known | None:
        """One of `floats`, if there are any."""
        found = self.floats(**which)
        return self.draw.one(found) if found else None


def shape_of(letters: str, sizes: tuple[int, int]) -> tuple[int, ...]:
    """The shape that letters say."""
    return tuple({"A": sizes[0], "B": sizes[1]}.get(each) or int(each) for each in letters)
