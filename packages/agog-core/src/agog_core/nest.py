"""Nest: structures of values: tuples, lists, namedtuples and dicts, nested to any depth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any


def is_nested(value: Any) -> bool:
    """Whether a value is a structure, not a leaf.

    Args:
        value: anything.

    Returns:
        True for tuples, lists, namedtuples and dicts.
    """
    return isinstance(value, (tuple, list)) or is_mapping(value)


def is_mapping(value: Any) -> bool:
    """Whether a value is a dict or another mapping."""
    # The test for a method keeps the slow test against an abstract class away from tensors.
    return isinstance(value, dict) or (hasattr(type(value), "keys") and isinstance(value, Mapping))


def flatten(structure: Any) -> list[Any]:
    """List the leaves of a structure: dicts by sorted key, sequences in order.

    Args:
        structure: a structure or a leaf.

    Returns:
        The leaves.

    >>> flatten({"b": (1, 2), "a": [3]})
    [3, 1, 2]
    """
    leaves: list[Any] = []
    _add_leaves(structure, leaves)
    return leaves


def _add_leaves(structure: Any, leaves: list[Any]) -> None:
    if isinstance(structure, (tuple, list)):
        for part in structure:
            _add_leaves(part, leaves)
    elif is_mapping(structure):
        for key in sorted(structure):
            _add_leaves(structure[key], leaves)
    else:
        leaves.append(structure)


def pack(structure: Any, leaves: list[Any]) -> Any:
    """Put leaves into the form of a structure; the inverse of `flatten`.

    >>> pack({"b": (1, 2), "a": [3]}, ["x", "y", "z"])
    {'b': ('y', 'z'), 'a': ['x']}
    """
    expected = len(flatten(structure))
    if expected != len(leaves):
        form = f"Structure had {expected} elements" if is_nested(structure) else "Structure is a scalar"
        raise ValueError(f"{form}, but flat_sequence had {len(leaves)} elements.")
    return _pack(structure, iter(leaves))


def map_structure(function: Callable[..., Any], *structures: Any) -> Any:
    """Apply a function to corresponding leaves.

    Args:
        function: takes one leaf of each structure.
        *structures: structures of one form.

    Returns:
        A structure of that form that holds the results.

    Raises:
        ValueError: the structures have different numbers of leaves.

    >>> map_structure(lambda x, y: x + y, (1, [2]), (10, [20]))
    (11, [22])
    """
    leaves = [flatten(structure) for structure in structures]
    if len({len(each) for each in leaves}) > 1:
        raise ValueError(
            f"The structures have different numbers of leaves: {', '.join(str(len(each)) for each in leaves)}."
        )
    return pack(structures[0], [function(*group) for group in zip(*leaves, strict=True)])


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    if is_mapping(structure):
        packed = {key: _pack(structure[key], leaves) for key in sorted(structure)}
        ordered = {key: packed[key] for key in structure}
        if type(structure) is dict:
            return ordered
        if isinstance(structure, dict):  # a copy keeps what the constructor needs beside the items, as in a defaultdict
            from copy import copy  # here, because its import takes half a millisecond

            filled = copy(structure)
            filled.update(ordered)
            return filled
        return type(structure)(ordered)
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(_pack(part, leaves) for part in structure))
    if isinstance(structure, (tuple, list)):
        parts = [_pack(part, leaves) for part in structure]
        return parts if isinstance(structure, list) else tuple(parts)
    return next(leaves)
