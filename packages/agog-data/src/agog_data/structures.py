"""Structures that run parallel to elements, such as padded shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def flatten_up_to(form: Any, structure: Any, unlike: Callable[[str, Any], Exception]) -> list[Any]:
    """The parts of a structure at the components of a form, in the order of `map_components`.

    ``unlike`` makes the error if they do not fit, of what was expected and what came.

    >>> flatten_up_to((1, {"a": 2}), ((3, 4), {"a": [5]}), lambda expected, found: TypeError(expected))
    [(3, 4), [5]]
    """
    if isinstance(form, Mapping):
        if not isinstance(structure, Mapping) or structure.keys() != form.keys():
            raise unlike(f"a dict with the keys {sorted(form)}", structure)
        return [part for key in sorted(form) for part in flatten_up_to(form[key], structure[key], unlike)]
    if isinstance(form, tuple):
        if not isinstance(structure, tuple) or len(structure) != len(form):
            raise unlike(f"a tuple of {len(form)}", structure)
        return [part for pair in zip(form, structure, strict=True) for part in flatten_up_to(*pair, unlike)]
    return [structure]
