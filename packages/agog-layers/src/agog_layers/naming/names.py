"""Names of layers, and of the variables inside them."""

from __future__ import annotations

import re
import threading
from collections.abc import Container
from contextvars import ContextVar

from agog_core.variables.name_scope import counters

__all__ = ["ScopeCounts", "UniqueNames", "entered_scopes", "layer_names", "scope", "snake_case", "weight_name"]

_WORD_STARTS = r"(?<=[a-z])(?=[A-Z])|(?<=.)(?=[A-Z][a-z0-9])"

# What the names of variables begin with that layers make now: "" or a path that ends with "/".
scope: ContextVar[str] = ContextVar("agog_layer_scope", default="")


# Held while a name is counted.
_lock = threading.Lock()


class UniqueNames:
    """Hands out names: ``dense``, then ``dense_1``, ``dense_2``.

    >>> names = UniqueNames()
    >>> names.unique("dense"), names.unique("dense"), names.unique("flatten")
    ('dense', 'dense_1', 'flatten')
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def unique(self, base: str, taken: Container[str] = (), first: int = 0) -> str:
        """``base``, or ``base`` with a number: a name that was not handed out before, and is not among those taken. The
        ``first`` number may be 1, so that none is without."""
        with _lock:
            while True:
                number = self._counts.get(base, 0) + first
                self._counts[base] = number + 1 - first
                name = f"{base}_{number}" if number else base
                if name not in taken:
                    return name

    def forget(self) -> None:
        """Begin anew."""
        with _lock:
            self._counts.clear()


class ScopeCounts:
    """How often the scope of a path, and those inside it, were entered.

    >>> counts = ScopeCounts()
    >>> counts.at("encoder/cell").number = 2
    >>> counts.at("encoder").inside["cell"].number
    2
    """

    __slots__ = ("inside", "number")

    def __init__(self) -> None:
        self.number = 0
        self.inside: dict[str, ScopeCounts] = {}

    def at(self, path: str) -> ScopeCounts:
        """The counts of the scope that a path leads to from here."""
        found = self
        for part in path.split("/") if path else ():  # no path is that of the root
            found = found.inside.setdefault(part, ScopeCounts())
        return found

    def copy(self) -> ScopeCounts:
        """Counts that go on by themselves."""
        made = ScopeCounts()
        made.number, made.inside = self.number, {part: each.copy() for part, each in self.inside.items()}
        return made


layer_names = UniqueNames()
# The paths of all variable scopes that were ever entered: no network gets such a name.
entered_scopes: set[str] = set()
counters.extend((layer_names.forget, entered_scopes.clear))


def snake_case(name: str) -> str:
    """The name of a class as layers are named after it: words in lower case, joined by underscores.

    >>> snake_case("MNISTModel"), snake_case("Conv2DTranspose"), snake_case("_Block")
    ('mnist_model', 'conv2d_transpose', 'private__block')
    """
    words = re.sub(_WORD_STARTS, "_", name).lower()
    return f"private{words}" if words.startswith("_") else words


def weight_name(title: str, name: object) -> str:
    """The name of a weight of the layer that errors call ``title``: ``variable`` for None."""
    if name is not None and not isinstance(name, str):
        raise TypeError(
            f"{title}: the name of a weight must be a string; got {name!r} of type {type(name).__name__}. By name, "
            f"shapes are given as add_weight(shape={name!r})."
        )
    return name or "variable"
