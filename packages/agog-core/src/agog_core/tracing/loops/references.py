"""References: the tensors that records of tapes refer to: found, compared, and replaced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

from agog_core.tensors.tensor import Tensor


class Hole:
    """The place of a tensor in records that are kept without it."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


class Holder:
    """An object that holds tensors in records, beside lists, functions and the like."""

    __slots__ = ()

    def replaced(self, replace: Replacing) -> Any:
        """One like it, with what is put in the place of its tensors; itself, where that is nothing else."""
        raise NotImplementedError

    def is_like(self, other: Any, is_same: Callable[[Any, Any], bool]) -> bool:
        """Whether another one of its type does the same with tensors that ``is_same`` takes for the same."""
        raise NotImplementedError


class Replacing:
    """Puts something else in the place of tensors, and of holes, in what holds them.

    Args:
        find: what is put in the place of a tensor or a hole: itself, where that is to stay.
    """

    def __init__(self, find: Callable[[Any], Any]) -> None:
        self._find = find
        self._made: dict[int, tuple[Any, Any]] = {}  # by the ids of what was replaced, which is held here

    def __call__(self, held: Any) -> Any:
        """What stands in the place of something: itself, where nothing in it is replaced."""
        kind = type(held)
        if kind is Tensor or kind is Hole:
            return self._find(held)
        if kind not in _MAKERS and not isinstance(held, (Holder, tuple)):
            return held
        known = self._made.get(id(held))
        if known is None:
            self._made[id(held)] = held, held  # what holds itself
            made = held.replaced(self) if isinstance(held, Holder) else _MAKERS.get(kind, _named)(held, self)
            known = self._made[id(held)] = held, made
        return known[1]

    def all(self, held: Sequence[Any]) -> list[Any] | None:
        """What stands in the places of several things; None where all of them stay."""
        made = list(map(self, held))
        return made if any(x is not y for x, y in zip(made, held, strict=True)) else None


def _named(held: Any, replace: Replacing) -> Any:
    made = replace.all(held)
    return held if made is None else type(held)(*made)


def _listed(held: Any, replace: Replacing) -> Any:
    made = replace.all(held)
    return held if made is None else type(held)(made)


def _mapped(held: dict[Any, Any], replace: Replacing) -> Any:
    made = replace.all(list(held.values()))
    return held if made is None else dict(zip(held, made, strict=True))


def _cell(held: CellType, replace: Replacing) -> Any:
    try:
        contents = held.cell_contents
    except ValueError:  # it is empty
        return held
    made = replace(contents)
    return held if made is contents else CellType(made)


def _function(held: FunctionType, replace: Replacing) -> Any:
    given = held.__closure__ or (), held.__defaults__ or (), held.__kwdefaults__ or {}
    made = replace.all(given)
    if made is None:
        return held
    copy = FunctionType(held.__code__, held.__globals__, held.__name__, made[1] or None, made[0] or None)
    copy.__kwdefaults__ = made[2] or None
    copy.__dict__.update(held.__dict__)
    copy.__qualname__, copy.__module__ = held.__qualname__, held.__module__
    return copy


def _method(held: MethodType, replace: Replacing) -> Any:
    function = replace(held.__func__)
    return held if function is held.__func__ else MethodType(function, held.__self__)


def _partial(held: partial[Any], replace: Replacing) -> Any:
    made = replace.all([held.func, held.args, held.keywords])
    return held if made is None else partial(made[0], *made[1], **made[2])


_MAKERS: dict[type, Callable[[Any, Replacing], Any]] = {
    **{tuple: _listed, list: _listed, dict: _mapped},
    **{CellType: _cell, FunctionType: _function, MethodType: _method, partial: _partial},
}


def tensors_in(held: Any) -> list[Tensor]:
    """The tensors that something holds, in an order that is the same for things that are alike."""
    found: list[Tensor] = []

    def note(tensor: Any) -> Any:
        if type(tensor) is Tensor:
            found.append(tensor)
        return tensor

    Replacing(note)(held)
    return found


class Comparing:
    """Compares what holds tensors.

    Args:
        is_same: whether two tensors are the same.
        is_equal: whether two other things are equal.
    """

    def __init__(self, is_same: Callable[[Tensor, Tensor], bool], is_equal: Callable[[Any, Any], bool]) -> None:
        self._is_same, self._is_equal = is_same, is_equal
        self._seen: dict[tuple[int, int], Any] = {}

    def __call__(self, one: Any, other: Any) -> bool:
        """Whether two things do the same with tensors that are the same."""
        kind = type(one)
        if kind is not type(other):
            return False
        if kind is Tensor:
            return self._is_same(one, other)
        if kind is Hole:
            return bool(one.number == other.number)
        if kind not in _PARTS and not isinstance(one, (Holder, tuple)):
            return self._is_equal(one, other)
        if (id(one), id(other)) in self._seen:
            return True
        self._seen[id(one), id(other)] = one, other
        if isinstance(one, Holder):
            return one.is_like(other, self)
        mine, theirs = (_PARTS.get(kind, list)(each) for each in (one, other))
        return len(mine) == len(theirs) and all(map(self, mine, theirs))


def _contents(cell: CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:  # it is empty
        return []


_PARTS: dict[type, Callable[[Any], list[Any]]] = {
    **{tuple: list, list: list, dict: lambda held: [list(held), list(held.values())]},
    CellType: _contents,
    FunctionType: lambda held: [held.__code__, held.__closure__, held.__defaults__, held.__kwdefaults__],
    MethodType: lambda held: [held.__func__, held.__self__],
    partial: lambda held: [held.func, held.args, held.keywords],
}
