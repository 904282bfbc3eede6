"""Registry: the classes and functions for descriptions, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_layers.serialization.custom_objects import custom_object

__all__ = ["class_name", "classes", "find_class", "functions", "register"]

# The classes of this and the other packages, by kind and name; what a program derives, it names in a
# `custom_object_scope`. Where no kind is asked for, that of layers comes first.
classes: dict[str, dict[str, Any]] = {"layer": {}}

# The functions that descriptions name: activations add themselves, once, when they are imported.
functions: dict[str, Callable[..., Any]] = {}


def register(kind: str, cls: type) -> None:
    """Let descriptions name a class; of several of one name the first counts, so tf.layers come after tf.keras's."""
    classes.setdefault(kind, {}).setdefault(cls.__name__, cls)


def class_name(cls: type) -> str:
    """The name of a class in descriptions; cells of ``tf.nn.rnn_cell`` stand where layers of their names stand too."""
    kind, name = getattr(cls, "described_kind", None), cls.__name__
    return f"{kind}>{name}" if kind == "rnn_cell" and name in classes["layer"] else name


def find_class(name: str, kind: str | None = None) -> Any:
    """The class of a name, of a `custom_object_scope` or of these packages; a ValueError if there is none."""
    of_kind, _, base = name.rpartition(">")
    kind, name = (of_kind, base) if of_kind in classes else (kind, name)
    known = next((each[name] for each in (classes.get(kind or "", {}), *classes.values()) if name in each), None)
    found = custom_object(name)
    # The program's class of that name may be of another kind than what is asked for.
    if found is None or (known is not None and kind not in (None, getattr(found, "described_kind", kind))):
        found = known
    if found is None:
        every = sorted({name for each in classes.values() for name in each})
        raise ValueError(
            f"Unknown class {name!r}; a class of the program must be named: custom_objects={{{name!r}: {name}}}. Known "
            f"are {', '.join(every)}."
        )
    return found
