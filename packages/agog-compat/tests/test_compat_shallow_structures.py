"""Nested structures: forms that end above the leaves, paths, and errors."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

import pytest

from agog_compat import nest
from agog_testing import says

Point = namedtuple("Point", "x y")


def test_parts_down_to_a_form() -> None:
    tree = {"a": Point([0, 1], 2), "b": {"c": 3}, "d": [4, (5, 6)]}
    assert nest.flatten_up_to({"d": [0, 0], "a": 0, "b": 0}, tree) == [Point([0, 1], 2), {"c": 3}, 4, (5, 6)]
    assert nest.flatten_up_to({"a": Point(0, 0), "b": {"c": 0}, "d": 0}, tree) == [[0, 1], 2, 3, [4, (5, 6)]]
    assert nest.flatten_up_to("leaf", [1, 2]) == [[1, 2]]
    assert nest.map_structure_up_to([0, (0,)], lambda x, y: (x, len(y)), [1, (2,)], [[7], ([8, 9],)]) == [
        (1, 1),
        ((2, 2),),
    ]
    nest.assert_shallow_structure([[0]], [((0, 1),)], check_types=False)
    nest.assert_shallow_structure(OrderedDict(b=0, a=0), {"a": [1], "b": 2})


def test_forms_by_a_function() -> None:
    tree = [3, (1, 2, [0]), [5, 6], {"a": (7,)}, []]
    down_to_tuples = nest.get_traverse_shallow_structure(lambda part: not isinstance(part, tuple), tree)
    assert down_to_tuples == [True, False, [True, True], {"a": False}, []]
    first_only = nest.get_traverse_shallow_structure(
        lambda part: type(part)(*(True, False)) if isinstance(part, Point) else True, [Point([1], [2])]
    )
    assert first_only == [Point([True], False)]


def test_paths() -> None:
    tree = {"b": Point(1, [2]), "a": ()}
    assert list(nest.yield_flat_paths(tree)) == [("b", "x"), ("b", "y", 0)]
    assert nest.flatten_with_joined_string_paths(tree, ".") == [("b.x", 1), ("b.y.0", 2)]
    assert nest.map_structure_with_paths(lambda path, *leaves: (path, sum(leaves)), (1, [2]), (3, [4])) == (
        ("0", 4),
        [("1/0", 6)],
    )
    assert nest.flatten_dict_items(OrderedDict({(4, (5, 6)): ("a", ("b", "c")), 7: [1]})) == {
        4: "a",
        5: "b",
        6: "c",
        7: [1],
    }
    assert nest.is_sequence([])
    assert not nest.is_sequence({1})


def call(name: str, *args: Any) -> Any:
    return getattr(nest, name)(*args)


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (
            ("flatten_up_to", [9], 0),
            TypeError,
            "If shallow structure is a sequence, input must also be a sequence. Input has type: <class 'int'>.",
        ),
        (
            ("assert_shallow_structure", [[1]], [(1,)]),
            TypeError,
            "The two structures don't have the same sequence type. Input structure has type <class 'tuple'>, while "
            "shallow structure has type <class 'list'>.",
        ),
        (
            ("assert_shallow_structure", [1, 2, 3], [1, 2]),
            ValueError,
            "The two structures don't have the same sequence length. Input structure has length 2, while shallow "
            "structure has length 3.",
        ),
        (
            ("assert_shallow_structure", {"a": {"d": 1}}, {"a": {"c": 1}}),
            ValueError,
            "The two structures don't have the same keys. Input structure has keys ['c'], while shallow structure has "
            "keys ['d'].",
        ),
        (
            ("map_structure_up_to", [1], len),
            ValueError,
            "map_structure_up_to: Cannot map over no sequences; give at least one structure.",
        ),
        (
            ("get_traverse_shallow_structure", lambda part: [True], 0),
            TypeError,
            "get_traverse_shallow_structure: traverse_fn returned structure [True] for a leaf.",
        ),
        (
            ("get_traverse_shallow_structure", lambda part: 1, [1]),
            TypeError,
            "get_traverse_shallow_structure: traverse_fn returned a non-bool scalar: 1 for [1].",
        ),
        (
            ("get_traverse_shallow_structure", lambda part: [1], [1]),
            TypeError,
            "get_traverse_shallow_structure: traverse_fn didn't return a depth=1 structure of bools; got [1] for [1].",
        ),
        (("map_structure_with_paths", len), ValueError, "map_structure_with_paths: give at least one structure."),
        (
            ("flatten_dict_items", 4),
            TypeError,
            "flatten_dict_items: input must be a dictionary; got 4 of type int.",
        ),
        (
            ("flatten_dict_items", {(1, (2, 1)): (3, (4, 5))}),
            ValueError,
            "flatten_dict_items: key 1 is not unique; it stands in (1, (2, 1)) again.",
        ),
        (
            ("flatten_dict_items", {(1, 2): (3, (4, 5))}),
            ValueError,
            "flatten_dict_items: Key had 2 elements, but value had 3 elements: (1, 2) and (3, (4, 5)).",
        ),
    ],
)
def test_errors(given: tuple[Any, ...], error: type[Exception], text: str) -> None:
    with says(error, text):
        call(*given)
