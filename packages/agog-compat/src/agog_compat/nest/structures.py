"""Structures: nested tuples, lists and dicts of values."""

from __future__ import annotations

from typing import Any

from agog_core import nest

__all__ = ["assert_same_structure", "map_structure", "pack_sequence_as"]


def map_structure(func: Any, *structure: Any, **check_types: bool) -> Any:
    """Apply a function to corresponding leaves.

    Args:
        func: takes one leaf of each structure.
        *structure: structures of one form.
        **check_types: ``check_types=False`` lets a list and a tuple stand in one place.

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
    given = check_types.pop("check_types", True)
    check_types.pop("expand_composites", None)
    if check_types:
        raise ValueError(f"map_structure: Only valid keyword argument is check_types; got {', '.join(check_types)}.")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, given)
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
        TypeError: the leaves are no list or tuple.

    >>> pack_sequence_as({"b": (1, 2), "a": [3]}, ["x", "y", "z"])
    {'b': ('y', 'z'), 'a': ['x']}
    """
    if not nest.is_nested(flat_sequence):
        kind = type(flat_sequence).__name__
        raise TypeError(f"pack_sequence_as: flat_sequence must be a sequence; got {flat_sequence!r} of type {kind}.")
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
    _compare(nest1, nest2, check_types, (nest1, nest2), "")


def _compare(one: Any, other: Any, check_types: bool, whole: tuple[Any, Any], path: str) -> None:
    where = f" at {path}" if path else ""
    if nest.is_nested(one) != nest.is_nested(other):
        sequence, leaf = (one, other) if nest.is_nested(one) else (other, one)
        found = f'Substructure "{_shown(sequence)}" is a sequence, while substructure "{_shown(leaf)}" is not'
        raise ValueError(_difference("nested structure", whole, found))
    if not nest.is_nested(one):
        return
    if check_types and not _are_of_one_type(one, other):
        found = f"One is a {type(one).__name__}{where}, the other a {type(other).__name__}"
        raise TypeError(_difference("sequence type", whole, found))
    keys, others = _keys(one), _keys(other)
    if nest.is_mapping(one) and keys != others:
        raise ValueError(_difference("set of keys", whole, f"One has the keys {keys}{where}, the other {others}"))
    for key, same in zip(keys, others, strict=False):
        _compare(one[key], other[same], check_types, whole, f"{path}[{key!r}]")
    if len(keys) != len(others):
        found = f"One has {len(keys)} elements{where}, the other {len(others)}"
        raise ValueError(_difference("number of elements", whole, found))


def _are_of_one_type(one: Any, other: Any) -> bool:
    """Whether two structures are of one type: mappings are, and namedtuples of one name with the same fields."""
    if nest.is_mapping(one) and nest.is_mapping(other):
        return True
    names = [(type(each).__name__, getattr(each, "_fields", None)) for each in (one, other)]
    return type(one) is type(other) or (names[0] == names[1] and names[0][1] is not None)


def _difference(what: str, whole: tuple[Any, Any], found: str) -> str:
    first, second = whole
    return (
        f"The two structures don't have the same {what}.\n\nFirst structure: {_shown(first)}\n\n"
        f"Second structure: {_shown(second)}\n\nMore specifically: {found}\n"
        f"Entire first structure:\n{_dots(first)}\nEntire second structure:\n{_dots(second)}"
    )


def _shown(structure: Any) -> str:
    return f"type={type(structure).__name__} str={structure}"


def _dots(structure: Any) -> str:
    """A structure with dots for its leaves."""
    return str(nest.map_structure(lambda leaf: _DOT, structure))


class _Dot:
    def __repr__(self) -> str:
        return "."


_DOT = _Dot()


def _keys(structure: Any) -> list[Any]:
    return sorted(structure) if nest.is_mapping(structure) else list(range(len(structure)))
