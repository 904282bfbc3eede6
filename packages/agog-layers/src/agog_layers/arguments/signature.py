"""Signature: the arguments of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["NOT_GIVEN", "accepts", "first_of", "needed_arguments", "takes", "takes_training"]

# The placeholder for a missing argument of a call.
NOT_GIVEN: Any = object()

# The names of functions' arguments; reading a signature takes as long as a small layer.
_names_of: WeakKeyDictionary[Callable[..., Any], frozenset[str]] = WeakKeyDictionary()


def takes(function: Callable[..., Any], argument: str) -> bool:
    """Whether a function can be called with an argument of that name, by its signature.

    >>> takes(lambda x, training=None: x, "training"), takes(lambda x: x, "training")
    (True, False)
    """
    plain = getattr(function, "__func__", function)
    try:
        names = _names_of.get(plain)
        if names is None:
            names = _names_of[plain] = _names(function)
    except TypeError:  # some callables have no weak references
        names = _names(function)
    return argument in names


def accepts(function: Callable[..., Any], argument: str) -> bool:
    """Whether a function takes an argument of that name, also by ``**kwargs``.

    >>> accepts(lambda x, **kwargs: x, "training"), accepts(lambda x: x, "training")
    (True, False)
    """
    return takes(function, argument) or takes(function, "**")


def _names(function: Callable[..., Any]) -> frozenset[str]:
    import inspect  # here, because its import takes milliseconds

    try:
        parameters = inspect.signature(function).parameters.values()
        return frozenset("**" if p.kind is p.VAR_KEYWORD else p.name for p in parameters)
    except (TypeError, ValueError):
        return frozenset()


def needed_arguments(function: Callable[..., Any]) -> list[str]:
    """The names of a function's arguments that have no defaults, in their order.

    >>> needed_arguments(lambda x, y, training=None: x)
    ['x', 'y']
    """
    import inspect  # here, because its import takes milliseconds

    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def first_of(title: str, call: Callable[..., Any], named: dict[str, Any]) -> list[Any]:
    """Take the first argument of a method out of those that are given by name; what errors call its layer is given.

    >>> arguments = {"y": 2, "x": 1}
    >>> first_of("Dense layer 'dense'", lambda x, y: x + y, arguments), arguments
    ([1], {'y': 2})
    """
    import inspect  # here, because its import takes milliseconds

    name = next(iter(inspect.signature(call).parameters), "inputs")
    if name not in named:
        given = f" got {', '.join(map(repr, named))} alone" if named else " got no argument"
        raise TypeError(
            f"{title} is called without its input:{given}. Give {name!r} too, in the first place or by name."
        )
    return [named.pop(name)]


def takes_training(function: Callable[..., Any]) -> bool:
    """Whether a function takes ``training``, by its signature or as the ``call`` of a functional model."""
    if getattr(getattr(function, "__self__", None), "_graph", None) is not None:
        return True
    return takes(function, "training")
