"""Named: objects given by name, class, description, or themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agog_layers.base.custom_objects import custom_object_scope
from agog_layers.base.description import describe, revive

__all__ = ["object_of", "reader", "serialize"]


def object_of(kind: str, identifier: Any, names: Mapping[str, Callable[[], Any]], others: Mapping[str, Any]) -> Any:
    """The object that an argument stands for: a name, a description, a class, or an object that can be called.

    ``names`` say what makes the object, and ``others`` are further names, such as those of the classes; ``kind`` is for
    errors: a ValueError for unknown names, and a TypeError for what is none of these.
    """
    article = "an" if kind[0] in "aeiou" else "a"
    found = revive(identifier, kind) if isinstance(identifier, (str, Mapping)) else identifier
    if isinstance(found, str):
        make = names.get(found) or others.get(found)
        if make is None:
            raise ValueError(f"Unknown {kind} {found!r}; the names are {', '.join(names)}, or pass {article} {kind}.")
        return make()
    if isinstance(found, type):
        return found()
    if not callable(found):
        raise TypeError(
            f"{article.capitalize()} {kind} is a name or a function; got {found!r} of type {type(found).__name__}."
        )
    return found


def serialize(value: Any) -> Any:
    """Describe an object by data.

    Args:
        value: an initializer, regularizer, constraint or activation.

    Returns:
        A dict with ``class_name`` and ``config``, or a name, which JSON can hold.

    Raises:
        TypeError: the object has no description.

    >>> from agog_layers.weights.initializers import Ones
    >>> serialize(Ones())
    {'class_name': 'Ones', 'config': {'dtype': 'float32'}}
    """
    return describe(value)


def reader(get: Callable[[Any], Any]) -> Callable[..., Any]:
    """Make a function `deserialize` from a function that finds an object by its description."""

    def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """Make an object from what `serialize` returned.

        Args:
            config: the description.
            custom_objects: names to classes and functions of the program.

        Returns:
            The object.

        Raises:
            ValueError: a name is unknown.
        """
        with custom_object_scope(custom_objects or {}):
            return get(config)

    return deserialize
