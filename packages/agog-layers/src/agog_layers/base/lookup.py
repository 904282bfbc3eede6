"""Lookup: functions and objects by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agog_layers.base.arguments import shown
from agog_layers.base.custom_objects import custom_object

__all__ = ["Lookup"]


class Lookup:
    """What is known by name, of one kind, which errors name: functions, and classes of objects with `get_config`.

    >>> numbers = Lookup("number", {"abs": abs}, ())
    >>> numbers.get("abs")(-3)
    3
    >>> numbers.serialize(abs)
    'abs'
    """

    def __init__(self, kind: str, functions: Mapping[str, Any], classes: tuple[type, ...]) -> None:
        self.kind = kind
        self.functions = functions
        self.classes = {cls.__name__: cls for cls in classes}

    def get(self, identifier: Any) -> Any:
        """What a name, a function or object, or what `serialize` returned stands for; None for None."""
        if identifier is None or (callable(identifier) and not isinstance(identifier, type)):
            return identifier
        if not isinstance(identifier, (str, Mapping)):
            raise TypeError(
                f"A {self.kind} is a name, a function, or what serialize returned; got {shown(identifier)}."
            )
        return self.deserialize(identifier)

    def serialize(self, value: Any) -> Any:
        """Describe a function by its name, and an object by a dict with its ``class_name`` and its ``config``."""
        if hasattr(value, "get_config"):
            return {"class_name": type(value).__name__, "config": value.get_config()}
        if not hasattr(value, "__name__"):
            raise ValueError(
                f"A {self.kind} that can be serialized is a function, or has get_config; got {value!r} of type "
                f"{type(value).__name__}."
            )
        return value.__name__

    def deserialize(self, data: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """The function, or a new object, that `serialize` described; the program's own are custom objects."""
        if isinstance(data, Mapping):
            cls = self._named(data["class_name"], custom_objects, self.classes)
            return cls.from_config(data["config"]) if hasattr(cls, "from_config") else cls(**data["config"])
        return self._named(data, custom_objects, self.functions)

    def _named(self, name: str, custom_objects: Mapping[str, Any] | None, known: Mapping[str, Any]) -> Any:
        found = (custom_objects or {}).get(name) or custom_object(name) or known.get(name)
        if found is None:
            raise ValueError(f"Unknown {self.kind} {name!r}; the names are {', '.join(sorted(known))}.")
        return found
