"""Exports: the names of a package of star imports, and its lazy ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any, Protocol


class Room(Protocol):
    """A source of names: a module with an ``__all__``, or an object like one."""

    @property
    def __all__(self) -> Sequence[str]: ...


class Some:
    """Some names of a module, which is imported when one of them is asked for."""

    def __init__(self, module: str, *names: str) -> None:
        self._module = module
        self.__all__ = names

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._module), name)


def export(namespace: dict[str, Any], *modules: str) -> None:
    """Give a package its ``__all__``, which ``dir`` lists too: what star imports brought, and modules that it offers.

    Not by an assignment in the package: a type checker takes star imports as exports only where it sees no ``__all__``.
    """
    namespace["__all__"] = names = sorted([*exported(namespace), *modules])
    namespace["__dir__"] = lambda: names


def exported(namespace: Mapping[str, Any]) -> list[str]:
    """The public names of a namespace that are no modules: what its files have in their ``__all__``."""
    return sorted(
        name
        for name, value in namespace.items()
        if not (name.startswith("_") or name == "TYPE_CHECKING" or isinstance(value, ModuleType))
    )


def later(
    package: str, *, modules: Mapping[str, str] = MappingProxyType({}), rooms: Sequence[str | Room] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package of which parts are imported when a name of theirs is asked for.

    Args:
        package: the package's name.
        modules: names that the package has for modules, such as ``"keras"``, to the modules.
        rooms: what else the package offers; the names of modules, or rooms themselves, searched in this order.

    Returns:
        The two functions. ``__getattr__`` answers for ``__all__`` too, so a star import brings everything.
    """

    def entered(room: str | Room) -> Room:
        return import_module(room) if isinstance(room, str) else room

    def __getattr__(name: str) -> Any:
        if name == "__all__":
            return __dir__()
        if name in modules:
            return import_module(modules[name])
        if not name.startswith("_"):
            for room in map(entered, rooms):
                if name in room.__all__:
                    value = getattr(room, name)
                    setattr(sys.modules[package], name, value)
                    return value
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        own = exported(vars(sys.modules[package]))
        return sorted({*own, *modules, *(name for room in rooms for name in entered(room).__all__)})

    return __getattr__, __dir__
