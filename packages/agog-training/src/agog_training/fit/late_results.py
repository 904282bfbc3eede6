"""Late results: those of a batch on a device, which is waited for when somebody looks at them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import ref


class LateResults(dict[str, Any]):
    """Names to numbers, which are asked for once, at the first look.

    Args:
        names: the names; until then each has None, for code in C that sees a dict by its size.
        ask: gives the numbers.

    >>> late = LateResults(["loss"], lambda: {"loss": 0.5})
    >>> late.beside({"batch": 3})["loss"], dict(late)
    (0.5, {'loss': 0.5})
    """

    _ask: Callable[[], Mapping[str, Any]] | None = None
    _others: Callable[[], LateResults | None] | None = None

    def __init__(self, names: Iterable[str], ask: Callable[[], Mapping[str, Any]]) -> None:
        super().__init__(dict.fromkeys(names))
        self._ask = ask

    def look(self) -> None:
        """Ask for the numbers, unless somebody has."""
        if (ask := self._ask) is not None:
            self._ask = None
            super().update(ask())
        if self._others is not None and (others := self._others()) is not None:
            self._others = None
            others.look()

    def beside(self, known: Mapping[str, Any]) -> LateResults:
        """The same with others in front, which are known; asked for when these are."""
        both = LateResults([*known, *dict.keys(self)], lambda: {**known, **self})
        self._others = ref(both)
        return both

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def _looking(name: str) -> Callable[..., Any]:
    method = getattr(dict, name)

    def look_first(self: LateResults, *args: Any, **kwargs: Any) -> Any:
        self.look()
        return method(self, *args, **kwargs)

    look_first.__name__ = name
    return look_first


for _name in (
    *("__contains__", "__delitem__", "__eq__", "__getitem__", "__iter__", "__len__", "__ne__", "__or__", "__repr__"),
    *("__reversed__", "__ror__", "__setitem__", "clear", "copy", "get", "items", "keys", "pop", "popitem"),
    *("setdefault", "update", "values"),
):
    setattr(LateResults, _name, _looking(_name))
