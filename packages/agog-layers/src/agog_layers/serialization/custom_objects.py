"""Custom objects: a registry of the program's classes and functions for descriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from agog_core.settings import Same, Setting

__all__ = [
    "custom_object_scope",
    "get_custom_objects",
    "get_registered_name",
    "get_registered_object",
    "register_keras_serializable",
]

T = TypeVar("T")

# The classes of `custom_object_scope` in this thread or task.
scoped: Setting[Mapping[str, Any]] = Setting(
    "agog_custom_objects", {}, key=lambda objects: tuple([(name, Same(each)) for name, each in objects.items()])
)

# The classes and functions that a program has registered for all descriptions, by package and name.
registered: dict[str, Any] = {}


@contextmanager
def custom_object_scope(*objects: Mapping[str, Any]) -> Iterator[None]:
    """Let descriptions name classes and functions of the program.

    Args:
        *objects: names to classes and functions.

    Yields:
        Nothing.

    >>> from agog_layers.serialization.description import Configured, revive
    >>> class Answer(Configured):
    ...     def __init__(self, value):
    ...         self.value = value
    >>> with custom_object_scope({"Answer": Answer}):
    ...     revive({"class_name": "Answer", "config": {"value": 42}}).value
    42
    """
    known = dict(scoped.get())
    for each in objects:
        known |= each
    token = scoped.set(known)
    try:
        yield
    finally:
        scoped.reset(token)


def get_custom_objects() -> dict[str, Any]:
    """The classes and functions of the program that all descriptions may name.

    Returns:
        The dict of names to them, which a program may change.

    >>> get_custom_objects()["largest"] = max
    >>> custom_object("largest")
    <built-in function max>
    >>> del get_custom_objects()["largest"]
    """
    return registered


def custom_object(name: str) -> Any:
    """The class or function that the innermost `custom_object_scope` calls by a name; None if there is none.

    >>> with custom_object_scope({"largest": max}):
    ...     custom_object("largest")
    <built-in function max>
    """
    return scoped.get().get(name) or _registered_as(name)


def _registered_as(name: str) -> Any:
    """The latest object registered under a name, with or without its package. None if there is none."""
    ends = (thing for known, thing in reversed(registered.items()) if known.endswith(f">{name}"))
    return registered.get(name) or next(ends, None)


def register_keras_serializable(package: str = "Custom", name: str | None = None) -> Callable[[T], T]:
    """Let descriptions name a class or function of the program, so that saved models find it without being told.

    Args:
        package: what the name begins with, so that it is the program's own.
        name: its name in descriptions; None for the class's or function's own.

    Returns:
        A decorator, which returns what it is given.

    >>> @register_keras_serializable(package="mine")
    ... def cube(x):
    ...     return x * x * x
    >>> get_registered_name(cube), get_registered_object("mine>cube") is cube
    ('mine>cube', True)
    """

    def register(thing: T) -> T:
        own: Any = thing
        registered[f"{package}>{name or own.__name__}"] = thing
        return thing

    return register


def get_registered_name(obj: Any) -> str:
    """The name of a class or function in descriptions.

    Args:
        obj: the class or function.

    Returns:
        The package and the name that `register_keras_serializable` was told, or its own name.
    """
    found = next((name for name, known in registered.items() if known is obj), None)
    own: str = obj.__name__
    return found or own


def get_registered_object(name: str, custom_objects: Any = None, module_objects: Any = None) -> Any:
    """The class or function that descriptions call by a name.

    Args:
        name: the name.
        custom_objects: names to classes and functions that are looked at first.
        module_objects: the same, looked at last.

    Returns:
        The class or function; None if there is none.
    """
    return (custom_objects or {}).get(name) or custom_object(name) or (module_objects or {}).get(name)
