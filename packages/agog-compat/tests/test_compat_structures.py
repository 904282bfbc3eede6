"""Structures: mapping, packing and comparing them."""

from __future__ import annotations

import re
from collections import OrderedDict, namedtuple
from typing import Any

import pytest

from agog_compat.nest import structures
from agog_testing import says


def test_structures() -> None:
    structure = {"b": (1, [2]), "a": 3}
    assert structures.map_structure(lambda x, y: x * y, structure, structure) == {"b": (1, [4]), "a": 9}
    assert structures.pack_sequence_as(structure, (7, 8, 9)) == {"b": (8, [9]), "a": 7}
    structures.assert_same_structure([1, (2,)], (1, [2]), check_types=False)


@pytest.mark.parametrize(
    ("one", "other", "kind", "text"),
    [
        ([1, 2], [1], ValueError, "number of elements|One has 2 elements, the other 1"),
        ([[], [2]], [[1], [2]], ValueError, "number of elements|One has 0 elements at [0], the other 1"),
        (
            {"a": [1]},
            {"a": 1},
            ValueError,
            'nested structure|Substructure "type=list str=[1]" is a sequence, while substructure "type=int str=1" '
            "is not",
        ),
        ([(1,)], [[1]], TypeError, "sequence type|One is a tuple at [0], the other a list"),
        ({"a": 1}, {"b": 1}, ValueError, "set of keys|One has the keys ['a'], the other ['b']"),
    ],
)
def test_structures_that_differ(one: Any, other: Any, kind: type[Exception], text: str) -> None:
    for function in (structures.assert_same_structure, lambda *given: structures.map_structure(print, *given)):
        what, found = text.split("|")
        with says(
            kind,
            f"The two structures don't have the same {what}.\n\n"
            f"First structure: type={type(one).__name__} str={one}\n\n"
            f"Second structure: type={type(other).__name__} str={other}\n\nMore specifically: {found}\n"
            f"Entire first structure:\n{dotted(one)}\nEntire second structure:\n{dotted(other)}",
        ):
            function(one, other)


def dotted(structure: Any) -> str:
    return re.sub(r"\d", ".", str(structure))


def test_structures_of_types_that_are_one() -> None:
    point, same, another = (namedtuple(name, "x y") for name in ("Point", "Point", "Vector"))
    structures.assert_same_structure(point(1, 2), same(3, 4))
    structures.assert_same_structure({"a": 1}, OrderedDict(a=2))
    with pytest.raises(TypeError, match="sequence type"):
        structures.assert_same_structure(point(1, 2), another(3, 4))


def test_what_map_structure_needs() -> None:
    with says(TypeError, "map_structure: func must be callable; got 3 of type int."):
        structures.map_structure(3, [1])
    with says(ValueError, "map_structure: give at least one structure."):
        structures.map_structure(len)
    with says(ValueError, "map_structure: Only valid keyword argument is check_types; got fn."):
        structures.map_structure(len, [[1]], fn=3)
    with says(TypeError, "pack_sequence_as: flat_sequence must be a sequence; got 'ab' of type str."):
        structures.pack_sequence_as([1, 2], "ab")
