"""Structures: flatten, pack and map."""

from __future__ import annotations

from collections import OrderedDict, UserDict, defaultdict
from types import MappingProxyType
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from agog_core import nest
from agog_testing import says


class Point(NamedTuple):
    x: Any
    y: Any


STRUCTURES = st.recursive(
    st.integers() | st.text() | st.none(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner)
        | st.builds(Point, inner, inner)
    ),
    max_leaves=12,
)


def leaves_in_order(structure: Any) -> list[Any]:
    """An independent statement of the order of leaves."""
    if isinstance(structure, dict):
        return [leaf for key in sorted(structure) for leaf in leaves_in_order(structure[key])]
    if isinstance(structure, (list, tuple)):
        return [leaf for part in structure for leaf in leaves_in_order(part)]
    return [structure]


@settings(deadline=None)
@given(STRUCTURES)
def test_pack_is_the_inverse_of_flatten(structure: Any) -> None:
    leaves = nest.flatten(structure)
    assert leaves == leaves_in_order(structure)
    packed = nest.pack(structure, leaves)
    assert packed == structure
    assert repr(packed) == repr(structure)  # types and orders too


@settings(deadline=None)
@given(STRUCTURES)
def test_map_changes_leaves_only(structure: Any) -> None:
    marked = nest.map_structure(lambda leaf: ("leaf", repr(leaf)).__repr__(), structure)
    assert nest.flatten(marked) == [("leaf", repr(leaf)).__repr__() for leaf in nest.flatten(structure)]


def test_types_of_structures_are_kept() -> None:
    ordered = OrderedDict([("b", 1), ("a", 2)])
    packed = nest.map_structure(lambda n: n + 1, ordered)
    assert type(packed) is OrderedDict
    assert list(packed.items()) == [("b", 2), ("a", 3)]
    assert nest.map_structure(lambda n: n + 1, Point(1, [2])) == Point(2, [3])
    assert nest.map_structure(lambda n: n + 1, UserDict(a=1)) == UserDict(a=2)
    assert nest.map_structure(lambda n: n + 1, MappingProxyType({"a": 1})) == {"a": 2}
    counts = nest.map_structure(lambda n: n + 1, defaultdict(list, {"a": 1}))
    assert counts == {"a": 2}
    assert type(counts) is defaultdict
    assert counts.default_factory is list


def test_leaves() -> None:
    for leaf in (None, "abc", 1, {1, 2}, b"ab", range(3)):
        assert not nest.is_nested(leaf)
        assert nest.flatten(leaf) == [leaf]
        assert nest.pack(leaf, ["x"]) == "x"
    for structure in ([], (), {}, Point(1, 2)):
        assert nest.is_nested(structure)
    assert nest.flatten([[], (), {}]) == []


def test_several_structures() -> None:
    assert nest.map_structure(lambda x, y, z: (x, y, z), [1], [2], [3]) == [(1, 2, 3)]


def test_errors() -> None:
    with says(ValueError, "Structure had 2 elements, but flat_sequence had 1 elements."):
        nest.pack([1, [2]], [1])
    with says(ValueError, "Structure is a scalar, but flat_sequence had 2 elements."):
        nest.pack("leaf", [1, 2])
    with says(ValueError, "The structures have different numbers of leaves: 2, 1."):
        nest.map_structure(lambda x, y: x, [1, 2], [1])
