"""Checks of arguments: integers per axis, choices among strings, unknown names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from typing import Any

__all__ = [
    "Sizes",
    "checked_rate",
    "choice",
    "handed_on",
    "integer",
    "integers",
    "number",
    "one_for_each",
    "refuse_unknown",
    "shown",
    "whole",
]

Sizes = tuple[int, ...]


def integer(layer: str, argument: str, value: Any) -> int:
    """Read an argument of a layer that must be an integer above 0: a TypeError if it is none, a ValueError if it is not
    above 0. A float without a fraction counts, since quotients are such.

    >>> integer("Dense", "units", 6 / 2)
    3
    """
    number = whole(value)
    if number is None:
        raise TypeError(f"{layer}: {argument} must be an integer; got {value!r} of type {type(value).__name__}.")
    if number <= 0:
        raise ValueError(f"{layer}: {argument} must be above 0; got {value}.")
    return number


def integers(layer: str, argument: str, value: Any) -> Sizes:
    """Read an argument of a layer that must be a list of integers; a TypeError if it is something else.

    >>> integers("Reshape", "target_shape", [2, -1])
    (2, -1)
    """
    listed = [whole(each) for each in value] if isinstance(value, Iterable) else [None]
    if None in listed:
        raise TypeError(f"{layer}: {argument} must be integers; got {value!r}.")
    return tuple(each for each in listed if each is not None)


def number(layer: str, argument: str, value: Any) -> float:
    """Read an argument of a layer that must be a number: a TypeError if it is something else, as texts are.

    >>> number("LeakyReLU", "alpha", 1)
    1.0
    """
    if isinstance(value, (str, type)) or not hasattr(value, "__float__"):
        raise TypeError(f"{layer}: {argument} must be a number; got {shown(value)}.")
    return float(value)


def whole(value: Any) -> int | None:
    """The integer that a value is; None if it is none, as texts are, and numbers with a fraction.

    >>> whole(2.0), whole(2.5), whole("2")
    (2, None, None)
    """
    try:
        return index(value)
    except TypeError:
        is_integer = getattr(value, "is_integer", None)
        return int(value) if is_integer is not None and is_integer() else None


def shown(value: Any) -> str:
    """A value of a wrong kind, for errors: a class is told from what is made of it.

    >>> shown(0.5), shown(dict)
    ('0.5 of type float', 'the class dict: make one of it, dict(...)')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}: make one of it, {value.__name__}(...)"
    return f"{value!r} of type {type(value).__name__}"


def one_for_each(layer: str, argument: str, value: Any, axes: int, least: int = 1) -> Sizes:
    """Read an argument of a layer: an integer for all axes, or one for each; a ValueError if it is something else.

    >>> one_for_each("Conv2D", "strides", 2, 2)
    (2, 2)
    """
    listed = [whole(each) for each in value] if isinstance(value, Iterable) else [whole(value)] * axes
    sizes = tuple(size for size in listed if size is not None and size >= least)
    if not len(sizes) == len(listed) == axes:
        many = f"an integer of at least {least}" + (f", or {axes} of them" if axes > 1 else "")
        raise ValueError(f"{layer}: {argument} must be {many}; got {value!r}.")
    return sizes


def checked_rate(layer: str, rate: float) -> float:
    """Read the share that a layer drops: a TypeError if it is no number, a ValueError if it is not in [0, 1).

    >>> checked_rate("Dropout", 0.5)
    0.5
    """
    if not hasattr(rate, "__float__"):
        raise TypeError(f"{layer}: rate must be a number; got {shown(rate)}.")
    if not 0 <= rate < 1:
        raise ValueError(f"{layer}: rate must be in [0, 1), since it is the share that is dropped; got {rate}.")
    return rate


def choice(layer: str, argument: str, value: str | None, allowed: tuple[str, ...]) -> str:
    """Read an argument that is one of a few strings, in small or capital letters; None is the first of them.

    >>> choice("Conv2D", "padding", "SAME", ("valid", "same"))
    'same'
    """
    chosen = value.lower() if isinstance(value, str) else allowed[0] if value is None else value
    if chosen not in allowed:
        raise ValueError(f"{layer}: {argument} must be {' or '.join(map(repr, allowed))}; got {value!r}.")
    return chosen


def handed_on(given: Mapping[str, Any], *own: str) -> dict[str, Any]:
    """The arguments that a constructor passes on, from its ``locals()``: all but its own, and ``**kwargs``.

    >>> class Base:
    ...     def __init__(self, units, name=None):
    ...         self.units, self.name = units, name
    >>> class Derived(Base):
    ...     def __init__(self, units, rate, **kwargs):
    ...         super().__init__(**handed_on(locals(), "rate"))
    >>> Derived(3, 0.5, name="mine").name
    'mine'
    """
    others = ("self", "__class__", "kwargs", *own)
    return {name: value for name, value in given.items() if name not in others} | dict(given["kwargs"])


def refuse_unknown(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise a TypeError with the nearest name for an unknown argument of a function.

    >>> refuse_unknown("Dense", ["unit"], ["units", "activation"])
    Traceback (most recent call last):
    TypeError: Dense has no argument 'unit'; did you mean 'units'?
    """
    names = list(known)
    for name in given:
        if name not in names:
            from difflib import get_close_matches  # here, because only errors need it

            nearest = get_close_matches(name, names, 1)
            hint = f"did you mean {nearest[0]!r}?" if nearest else f"its arguments are {', '.join(names)}."
            raise TypeError(f"{function} has no argument {name!r}; {hint}")
