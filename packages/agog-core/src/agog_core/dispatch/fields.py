"""Fields: what those of the plugin contract's classes may be, so that a wrong value is refused by the field's name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from agog_core.errors import describe_value
from agog_core.named_tuple import Named


class Field(Named):
    """What a field may be: a test of its value, and the words for it."""

    accepts: Callable[[Any], bool]
    wanted: str


def check_fields(owner: str, fields: Mapping[str, Field], values: Mapping[str, Any]) -> None:
    """Refuse the first value that its field does not take."""
    for name, (accepts, wanted) in fields.items():
        if not accepts(value := values[name]):
            raise TypeError(f"{owner}: {name} must be {wanted}; got {describe_value(value)}.")


def is_reference(value: Any) -> bool:
    """Whether a value is a ``"module:attribute"`` string."""
    return isinstance(value, str) and [bool(part) for part in value.split(":")] == [True, True]


def optional(field: Field) -> Field:
    """A field that may be None, too; words do not say so, for who gives a value means one."""
    return Field(lambda value: value is None or field.accepts(value), field.wanted)


def each(field: Field, wanted: str) -> Field:
    """A tuple or another sequence, set or view of values, which is no single string."""

    def accepts(values: Any) -> bool:
        return isinstance(values, tuple | list | frozenset | set) and all(map(field.accepts, values))

    return Field(accepts, wanted)


def mapping(keys: Field, values: Field, wanted: str) -> Field:
    """A mapping of keys to values."""

    def accepts(items: Any) -> bool:
        return isinstance(items, Mapping) and all(keys.accepts(k) and values.accepts(v) for k, v in items.items())

    return Field(accepts, wanted)


BOOL = Field(lambda value: isinstance(value, bool), "True or False")
INT = Field(lambda value: isinstance(value, int) and not isinstance(value, bool), "an int")
TEXT = Field(lambda value: isinstance(value, str), "a string")
NAME = Field(lambda value: isinstance(value, str) and value != "", "a name")
FUNCTION = Field(callable, "a function")
REFERENCE = Field(lambda value: callable(value) or is_reference(value), "a function or a 'module:attribute' string")
REASON = Field(callable, "a function that returns a sentence or None")


def _is_tolerance(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 and math.isfinite(value)


TOLERANCES = mapping(
    NAME,
    Field(lambda pair: isinstance(pair, tuple) and len(pair) == 2 and all(map(_is_tolerance, pair)), "a pair"),
    "a mapping of names to pairs of numbers, rtol and atol",
)
