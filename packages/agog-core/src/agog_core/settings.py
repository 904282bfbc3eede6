"""Settings: module state of a thread or task that affects results, so it is in the keys of traces."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any, Generic, TypeVar

T = TypeVar("T")

# The settings that somebody has given another value than their default: while there are none, nobody asks.
used: list[Setting[Any]] = []
# What tells the values of those from others.
_asked: list[Callable[[], Any]] = []


class Setting(Generic[T]):
    """A context variable whose value decides what functions compute: a traced one has a trace for each value.

    Args:
        name: the context variable's name.
        default: what it is where nobody has set it.
        key: what of another value tells it from others, and has a hash; None for the value itself.

    >>> loud = Setting("loud", False)
    >>> token = loud.set(True)
    >>> loud.get()
    True
    >>> loud.reset(token)
    """

    def __init__(self, name: str, default: T, key: Callable[[T], Any] | None = None) -> None:
        self._variable: ContextVar[T] = ContextVar(name, default=default)
        self._default, self._key = default, key
        self.get = self._variable.get
        self.reset = self._variable.reset

    def set(self, value: T) -> Token[T]:
        """Give it another value in this thread or task; `reset` takes what this returns."""
        if value is not self._default and self not in used:
            _asked.append(self.get if self._key is None else self.key)
            used.append(self)
        return self._variable.set(value)

    def key(self) -> Any:
        """The current value in keys; None for the default."""
        value = self.get()
        if value is self._default:
            return None
        return value if self._key is None else self._key(value)


class Same:
    """Stands for an object in keys, which is equal to itself alone and may have no hash.

    >>> Same([]) == Same([])
    False
    """

    __slots__ = ("_of",)

    def __init__(self, of: Any) -> None:
        self._of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other._of is self._of

    def __hash__(self) -> int:
        return id(self._of)


def present() -> list[Any]:
    """The settings as they are now, to be compared with what they were."""
    return [ask() for ask in _asked]


def present_key() -> tuple[Any, ...]:
    """The settings with other values than their defaults, for the key of a trace."""
    return tuple([(setting, key) for setting in used if (key := setting.key()) is not None])
