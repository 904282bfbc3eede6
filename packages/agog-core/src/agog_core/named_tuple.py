"""Named tuple: a tuple with names for its parts."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, Self


class Named(tuple[Any, ...]):
    """Base of classes that are tuples with names, as those of `typing.NamedTuple` are.

    Such a class is made in a tenth of the time, which shortens ``import agog``. Its annotations are the names of the
    parts, in their order.

    >>> class Pair(Named):
    ...     first: int
    ...     second: int
    >>> pair = Pair(1, 2)
    >>> pair, pair.second, pair == (1, 2)
    (Pair(first=1, second=2), 2, True)
    """

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(cls.__annotations__)
        for position, name in enumerate(cls._fields):
            setattr(cls, name, property(itemgetter(position)))

    def __new__(cls, *parts: Any, **named: Any) -> Self:
        """Make a tuple of its parts, in their order or by their names."""
        if named:
            parts = (*parts, *[named.pop(name) for name in cls._fields[len(parts) :] if name in named])
            if named:
                raise TypeError(f"{cls.__name__} has the parts {', '.join(cls._fields)}; got {', '.join(named)}.")
        if len(parts) != len(cls._fields):
            raise TypeError(
                f"{cls.__name__} takes {len(cls._fields)} parts ({', '.join(cls._fields)}); got {len(parts)}."
            )
        return tuple.__new__(cls, parts)

    @classmethod
    def _make(cls, parts: Iterable[Any]) -> Self:
        """Make a tuple of what an iterable gives."""
        return cls(*parts)

    def _asdict(self) -> dict[str, Any]:
        """The parts by their names."""
        return dict(zip(self._fields, self, strict=True))

    def _replace(self, **parts: Any) -> Self:
        """The tuple with other parts of these names. Raises ValueError if it has no part of a name."""
        for name in parts:
            if name not in self._fields:
                raise ValueError(f"{type(self).__name__} has the parts {', '.join(self._fields)}; got {name!r}.")
        return type(self)(*[parts.get(name, part) for name, part in zip(self._fields, self, strict=True)])

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={part!r}" for name, part in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({parts})"
