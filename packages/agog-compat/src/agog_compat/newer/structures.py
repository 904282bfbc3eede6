"""Structures: ``tf.nest``, nested tuples, lists and dicts of values."""

from __future__ import annotations

from typing import Any

from agog_core import nest

__all__ = ["assert_same_structure", "map_structure", "pack_sequence_as"]


def map_structure(func: Any, *structure: Any, expand_composites: bool = False, check_types: bool = True) -> Any:
    """Apply a function to corresponding leaves.

    Args:
        func: takes one leaf of each structure.
        *structure: structures of one form.
        check_types: whether a list and a tuple in one place are an error.

    Returns:
        A structure of that form that holds the results.

    Raises:
        ValueError: the structures differ in form.
        TypeError: they differ in types.

    >>> map_structure(lambda x, y: x + y, (1, [2]), (10, [20]))
    (11, [22])
    """
    if not callable(func):
        raise TypeError(f"map_structure: func must be callable; got {func!r} of type {type(func).__name__}.")
    if not structure:
        raise ValueError("map_structure: give at least one structure.")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    return nest.map_structure(func, *structure)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Put leaves into the form of a structure; the inverse of `flatten`.

    Args:
        structure: the structure.
        flat_sequence: the leaves, in the order of `flatten`.

    Returns:
        A structure of that form.

    Raises:
        ValueError: there are more or fewer leaves.

    >>> pack_sequence_as({"b": (1, 2), "a": [3]}, ["x", "y", "z"])
    {'b': ('y', 'z'), 'a': ['x']}
    """
    return nest.pack(structure, list(flat_sequence))


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raise where two structures differ in form.

    Args:
        nest1: a structure.
        nest2: another one.
        check_types: whether a list and a tuple in one place are an error.

    Raises:
        ValueError: a part has other keys, or another number of parts.
        TypeError: a part has another type.

    >>> assert_same_structure([1, (2,)], ["a", ("b",)])
    """
    _compare(nest1, nest2, check_types, "")


def _compare(one: Any, other: Any, check_types: bool, path: str) -> None:
    where = f" at {path}" if path else ""
    if nest.is_nested(one) != nest.is_nested(other):
        raise ValueError(f"The structures differ{where}: one has {one!r}, the other {other!r}.")
    if not nest.is_nested(one):
        return
    if check_types and type(one) is not type(other):
        kinds = f"{type(one).__name__}, the other a {type(other).__name__}"
        raise TypeError(f"The structures differ{where}: one has a {kinds}.")
    keys, others = _keys(one), _keys(other)
    if keys != others:
        raise ValueError(f"The structures differ{where}: one has the parts {keys}, the other {others}.")
    for key in keys:
        _compare(one[key], other[key], check_types, f"{path}[{key!r}]")


def _keys(structure: Any) -> list[Any]:
    return sorted(structure) if nest.is_mapping(structure) else list(range(len(structure)))
