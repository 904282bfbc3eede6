"""Lookup: functions and objects by name, and the data that describe them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agog_layers.arguments.checks import shown
from agog_layers.serialization.custom_objects import custom_object, custom_object_scope, get_registered_name
from agog_layers.serialization.registry import class_name, find_class

__all__ = ["Lookup"]


class Lookup:
    """What is known by name, of one kind: ``get``, ``serialize`` and ``deserialize`` of ``tf.keras.losses``.

    Args:
        kind: what errors call it, such as ``"loss"``.
        functions: names to functions, which are used as they are.
        makers: names to classes and functions that make an object without arguments.
        aliases: further names of makers, which errors do not list.
        classes: names to the classes that descriptions may name; None for those in the registry.
        default: what None stands for.
        describes_own: whether functions of the program are described by their names.

    >>> numbers = Lookup("number", {"abs": abs})
    >>> numbers.get("abs")(-3)
    3
    >>> numbers.serialize(abs)
    'abs'
    """

    def __init__(
        self,
        kind: str,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        makers: Mapping[str, Callable[[], Any]] | None = None,
        aliases: Mapping[str, Callable[[], Any]] | None = None,
        classes: Mapping[str, type] | None = None,
        default: Any = None,
        describes_own: bool = False,
    ) -> None:
        self.kind, self.functions, self.makers, self.aliases = kind, functions or {}, makers or {}, aliases or {}
        self.classes, self.default, self.describes_own = classes, default, describes_own

    def get(self, identifier: Any) -> Any:
        """What an argument stands for.

        Args:
            identifier: a name, a function or object, what `serialize` returned, or None for the default. Where objects
                are made by name, their classes too.

        Returns:
            The function, or an object.

        Raises:
            ValueError: the name is unknown.
            TypeError: the argument is none of these.

        >>> from agog_layers.losses.lookup import LOSSES
        >>> print(LOSSES.get("mse")([[0.0, 1.0]], [[2.0, 1.0]]))
        tf.Tensor([2.], shape=(1,), dtype=float32)
        """
        if identifier is None and self.default is not ...:
            return self.default
        if isinstance(identifier, str):
            return self._by_name(identifier)
        if isinstance(identifier, Mapping) and {"class_name", "registered_name"} & set(identifier):
            return self._by_description(identifier)
        if isinstance(identifier, type) and self.makers:
            return identifier()
        if isinstance(identifier, type) or not self.fits(identifier):
            raise TypeError(f"{self._a_kind()} is {self._what()}; got {shown(identifier)}.")
        return identifier

    def serialize(self, value: Any) -> Any:
        """Describe a function by its name, and an object by data.

        Args:
            value: the function or object; None and names stay as they are.

        Returns:
            The function's name; of objects a dict with ``class_name`` and ``config``.

        Raises:
            ValueError: it has no description.

        >>> from agog_layers.losses.lookup import LOSSES
        >>> LOSSES.serialize(LOSSES.get("mse"))
        'mean_squared_error'
        """
        if value is None or isinstance(value, str):
            return value
        if hasattr(value, "get_config"):
            return {"class_name": class_name(type(value)), "config": value.get_config()}
        name = get_registered_name(value) if hasattr(value, "__name__") else ""
        if name and (self.describes_own or self.functions.get(name) is value or custom_object(name) is value):
            return name
        is_known = "is a function" if self.describes_own else "is known by name"
        raise ValueError(
            f"{self._a_kind()} that can be serialized {is_known}, or has get_config; got {value!r} of type "
            f"{type(value).__name__}."
        )

    def deserialize(self, config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """The function, or a new object, that `serialize` described.

        Args:
            config: what `serialize` returned.
            custom_objects: names to functions and classes of the program.

        Returns:
            The function, or a new object.

        Raises:
            ValueError: a name is unknown.

        >>> from agog_layers.losses.lookup import LOSSES
        >>> LOSSES.deserialize({"class_name": "Huber", "config": {"delta": 2.0}}).delta
        2.0
        """
        with custom_object_scope(custom_objects or {}):
            return self.get(config)

    def fits(self, value: Any) -> bool:
        """Whether an object is of the kind, as far as that can be seen."""
        return callable(value)

    def _by_name(self, name: str) -> Any:
        found = custom_object(name)
        if found is not None:
            return found() if isinstance(found, type) else found
        if name in self.functions:
            return self.functions[name]
        make = self.makers.get(name) or self.aliases.get(name)
        if make is None:
            raise self._unknown(name, [*self.functions, *self.makers])
        return make()

    def _by_description(self, data: Mapping[str, Any]) -> Any:
        if "class_name" not in data:
            return self._by_name(data["registered_name"])
        name = data["class_name"]
        kind: Any = self._class(name)
        config = data["config"]
        return kind.from_config(config) if hasattr(kind, "from_config") else kind(**config)

    def _class(self, name: str) -> Any:
        """The class that a description names."""
        if self.classes is None:
            return find_class(name, self.kind)
        kind = custom_object(name) or self.classes.get(name)
        if kind is None:
            raise self._unknown(name, self.classes)
        return kind

    def _unknown(self, name: str, names: Any) -> ValueError:
        return ValueError(f"Unknown {self.kind} {name!r}; the names are {', '.join(sorted(names))}.")

    def _a_kind(self) -> str:
        return f"{'An' if self.kind[0] in 'aeiou' else 'A'} {self.kind}"

    def _what(self) -> str:
        return "a name, a function, or what serialize returned"
