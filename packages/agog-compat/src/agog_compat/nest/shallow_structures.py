"""Shallow structures: the upper levels of structures, and the paths of leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from agog_compat.nest.structures import map_structure, pack_sequence_as
from agog_core.calls.docstrings import documented_like
from agog_core.nest import flatten, is_mapping, is_nested

__all__ = [
    "assert_shallow_structure",
    "flatten",
    "flatten_dict_items",
    "flatten_up_to",
    "flatten_with_joined_string_paths",
    "get_traverse_shallow_structure",
    "is_nested",
    "is_sequence",
    "map_structure_up_to",
    "map_structure_with_paths",
    "yield_flat_paths",
]

is_sequence = is_nested


def assert_shallow_structure(shallow_tree: Any, input_tree: Any, check_types: bool = True) -> None:
    """Raise if a structure does not begin with a shallow structure.

    Args:
        shallow_tree: the form.
        input_tree: the structure.
        check_types: whether a list and a tuple in one place are an error.

    Raises:
        ValueError: a part has another length, or other keys.
        TypeError: a part has another type, or is no structure.

    >>> assert_shallow_structure([0, [0]], [(1, 2), ["a"]])
    """
    if not is_nested(shallow_tree):
        return
    if not is_nested(input_tree):
        raise TypeError(
            f"If shallow structure is a sequence, input must also be a sequence. Input has type: {type(input_tree)}."
        )
    if check_types and not _fits(shallow_tree, input_tree):
        raise TypeError(
            f"The two structures don't have the same sequence type. Input structure has type {type(input_tree)}, "
            f"while shallow structure has type {type(shallow_tree)}."
        )
    if len(shallow_tree) != len(input_tree):
        raise ValueError(
            f"The two structures don't have the same sequence length. Input structure has length {len(input_tree)}, "
            f"while shallow structure has length {len(shallow_tree)}."
        )
    keys, others = ([key for key, _ in _parts(tree)] for tree in (shallow_tree, input_tree))
    if is_mapping(shallow_tree) and keys != others:
        raise ValueError(
            f"The two structures don't have the same keys. Input structure has keys {others}, while shallow structure "
            f"has keys {keys}."
        )
    for (_, shallow), (_, deep) in zip(_parts(shallow_tree), _parts(input_tree), strict=True):
        assert_shallow_structure(shallow, deep, check_types)


def _fits(one: Any, other: Any) -> bool:
    if is_mapping(one) and is_mapping(other):
        return True
    fields = getattr(one, "_fields", None)
    if fields is not None and type(one).__name__ == type(other).__name__:
        return bool(fields == getattr(other, "_fields", None))
    return isinstance(other, type(one))


def _parts(structure: Any) -> list[tuple[Any, Any]]:
    """The keys, names or numbers of a structure's parts, and the parts."""
    if is_mapping(structure):
        return [(key, structure[key]) for key in sorted(structure)]
    return list(zip(getattr(structure, "_fields", range(len(structure))), structure, strict=True))


@documented_like(assert_shallow_structure)
def flatten_up_to(shallow_tree: Any, input_tree: Any, check_types: bool = True) -> list[Any]:
    """List the parts of a structure at the leaves of a shallow one.

    Returns:
        The parts.

    Raises:
        ValueError, TypeError: as `assert_shallow_structure` does.

    >>> flatten_up_to([0, [0]], [(1, 2), ["a"]])
    [(1, 2), 'a']
    """
    assert_shallow_structure(shallow_tree, input_tree, check_types)
    return list(_up_to(shallow_tree, input_tree))


def _up_to(shallow: Any, deep: Any) -> Iterator[Any]:
    if not is_nested(shallow):
        yield deep
        return
    for (_, form), (_, part) in zip(_parts(shallow), _parts(deep), strict=True):
        yield from _up_to(form, part)


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, check_types: bool = True) -> Any:
    """Apply a function to the parts of structures at the leaves of a shallow one.

    Args:
        shallow_tree: the form.
        func: takes one part of each structure.
        *inputs: the structures.
        check_types: whether a list and a tuple in one place are an error.

    Returns:
        A structure of the form of ``shallow_tree`` that holds the results.

    Raises:
        ValueError: there is no structure; or as `assert_shallow_structure` does.
        TypeError: as `assert_shallow_structure` does.

    >>> map_structure_up_to([0, [0]], len, [(1, 2), ["abc"]])
    [2, [3]]
    """
    if not inputs:
        raise ValueError("map_structure_up_to: Cannot map over no sequences; give at least one structure.")
    flat = [flatten_up_to(shallow_tree, each, check_types) for each in inputs]
    return pack_sequence_as(shallow_tree, [func(*parts) for parts in zip(*flat, strict=True)])


def get_traverse_shallow_structure(traverse_fn: Callable[[Any], Any], structure: Any) -> Any:
    """Make the shallow structure at which a function stops the traversal.

    Args:
        traverse_fn: takes a part; returns whether to go into it, or a structure of bools that says so of its parts.
        structure: the structure.

    Returns:
        A form for `flatten_up_to`: True for leaves, False for parts that are not gone into.

    Raises:
        TypeError: the function returns neither.

    >>> get_traverse_shallow_structure(lambda part: not isinstance(part, tuple), [3, (1, 2), [4]])
    [True, False, [True]]
    """
    answer = traverse_fn(structure)
    if not is_nested(structure):
        if not isinstance(answer, bool):
            raise TypeError(f"get_traverse_shallow_structure: traverse_fn returned structure {answer!r} for a leaf.")
        return answer
    if answer is False:
        return False
    if not is_nested(answer) and answer is not True:
        raise TypeError(
            f"get_traverse_shallow_structure: traverse_fn returned a non-bool scalar: {answer!r} for {structure!r}."
        )
    if is_nested(answer):
        assert_shallow_structure(answer, structure)
    inside = [into for _, into in _parts(answer)] if is_nested(answer) else [True] * len(structure)
    if not all(isinstance(into, bool) for into in inside):
        raise TypeError(
            "get_traverse_shallow_structure: traverse_fn didn't return a depth=1 structure of bools; got "
            f"{answer!r} for {structure!r}."
        )
    parts = [part for _, part in _parts(structure)]
    return _like(
        structure,
        [into and get_traverse_shallow_structure(traverse_fn, part) for into, part in zip(inside, parts, strict=True)],
    )


def _like(structure: Any, parts: list[Any]) -> Any:
    """A structure of one's type with other parts."""
    if is_mapping(structure):
        by_key = dict(zip(sorted(structure), parts, strict=True))
        return type(structure)({key: by_key[key] for key in structure})
    return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)


def yield_flat_paths(nest: Any) -> Iterator[tuple[Any, ...]]:
    """List the paths of a structure's leaves, in the order of `flatten`.

    Args:
        nest: the structure.

    Returns:
        An iterator over tuples of keys, names of fields and numbers.

    >>> list(yield_flat_paths({"a": [1, 2]}))
    [('a', 0), ('a', 1)]
    """
    if not is_nested(nest):
        yield ()
        return
    for key, part in _parts(nest):
        yield from ((key, *rest) for rest in yield_flat_paths(part))


def flatten_with_joined_string_paths(structure: Any, separator: str = "/") -> list[tuple[str, Any]]:
    """List the leaves of a structure with their paths.

    Args:
        structure: the structure.
        separator: what stands between the parts of a path.

    Returns:
        Pairs of a path and a leaf, in the order of `flatten`.

    >>> flatten_with_joined_string_paths({"a": [3, 4]})
    [('a/0', 3), ('a/1', 4)]
    """
    paths = (separator.join(str(part) for part in path) for path in yield_flat_paths(structure))
    return list(zip(paths, flatten(structure), strict=True))


def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **check_types: bool) -> Any:
    """Apply a function to corresponding leaves and their path.

    Args:
        func: takes the path, with "/" between its parts, and one leaf of each structure.
        *structure: structures of one form.
        **check_types: ``check_types=False`` lets a list and a tuple stand in one place.

    Returns:
        A structure of that form that holds the results.

    Raises:
        ValueError: there is no structure, or they differ in form.
        TypeError: they differ in types.

    >>> map_structure_with_paths(lambda path, leaf: f"{path}={leaf}", {"a": [3, 4]})
    {'a': ['a/0=3', 'a/1=4']}
    """
    if not structure:
        raise ValueError("map_structure_with_paths: give at least one structure.")
    paths = [path for path, _ in flatten_with_joined_string_paths(structure[0])]
    return map_structure(func, pack_sequence_as(structure[0], paths), *structure, **check_types)


def flatten_dict_items(dictionary: Any) -> dict[Any, Any]:
    """Take the keys and values of a dict apart where both are structures of one form.

    Args:
        dictionary: a dict, whose keys may be nested tuples.

    Returns:
        A dict of the leaves.

    Raises:
        TypeError: it is no dict.
        ValueError: a key and its value differ in form, or a leaf comes twice among the keys.

    >>> flatten_dict_items({(1, (2, 3)): ("a", ("b", "c")), 4: "d"})
    {1: 'a', 2: 'b', 3: 'c', 4: 'd'}
    """
    if not is_mapping(dictionary):
        raise TypeError(
            f"flatten_dict_items: input must be a dictionary; got {dictionary!r} of type {type(dictionary).__name__}."
        )
    flat: dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys, values = flatten(key), flatten(value) if is_nested(key) else [value]
        if len(keys) != len(values):
            raise ValueError(
                f"flatten_dict_items: Key had {len(keys)} elements, but value had {len(values)} elements: {key!r} and "
                f"{value!r}."
            )
        for one, leaf in zip(keys, values, strict=True):
            if one in flat:
                raise ValueError(f"flatten_dict_items: key {one!r} is not unique; it stands in {key!r} again.")
            flat[one] = leaf
    return flat
