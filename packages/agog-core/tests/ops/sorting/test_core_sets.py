"""Sets on the last axis, against Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import SparseTensor
from agog_core.errors import InvalidArgumentError
from agog_core.ops.sorting import sets
from agog_testing import says

SEED = 4
RNG = np.random.default_rng(SEED)
A, B = RNG.integers(0, 6, (2, 3, 5)), RNG.integers(0, 6, (2, 3, 4))
ACTIONS: list[tuple[Callable[..., SparseTensor], Callable[[set[Any], set[Any]], set[Any]]]] = [
    (sets.set_intersection, set.intersection),
    (sets.set_union, set.union),
    (sets.set_difference, set.difference),
    (lambda a, b: sets.set_difference(b, a, aminusb=False), set.difference),
]


def sparse(x: np.ndarray) -> SparseTensor:
    places = np.argwhere(np.ones(x.shape, bool))
    return SparseTensor(places, x.reshape(-1), np.array(x.shape))


@pytest.mark.parametrize(("function", "python"), ACTIONS)
@pytest.mark.parametrize("form", [ag.constant, sparse])
def test_against_python(function: Any, python: Any, form: Any) -> None:
    got = function(form(A), form(B))
    expected = {place: sorted(python(set(A[place].tolist()), set(B[place].tolist()))) for place in np.ndindex(2, 3)}
    found: dict[tuple[int, ...], list[int]] = {place: [] for place in expected}
    for place, value in zip(got.indices.numpy().tolist(), got.values.numpy().tolist(), strict=True):
        assert place[-1] == len(found[tuple(place[:-1])])
        found[tuple(place[:-1])].append(value)
    assert found == expected, SEED
    assert got.dense_shape.numpy().tolist() == [2, 3, max(map(len, expected.values()))]
    assert sets.set_size(got).numpy().tolist() == [[len(expected[i, j]) for j in range(3)] for i in range(2)]


def test_strings_and_nothing() -> None:
    assert sets.set_union([["b", "a"]], [["c", "a"]]).values.numpy().tolist() == [b"a", b"b", b"c"]
    none = sets.set_intersection([[1]], [[2]])
    assert none.values.numpy().tolist() == []
    assert (none.indices.shape.as_list(), none.shape.as_list()) == ([0, 2], [1, 0])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: sets.set_union([[1]], [[1], [2]]),
            "set_union: the sets must be of one dtype and as many; got int32 in rows of shape (1,) and int32 in rows "
            "of shape (2,).",
        ),
        (
            lambda: sets.set_union([1], ["a"]),
            "set_union: the sets must be of one dtype and as many; got int32 in rows of shape () and string in rows of "
            "shape ().",
        ),
        (lambda: sets.set_union(1, [1]), "set_union: sets are on the last axis; got a scalar."),
    ],
)
def test_errors(call: Callable[[], Any], text: str) -> None:
    with says(InvalidArgumentError, text):
        call()
