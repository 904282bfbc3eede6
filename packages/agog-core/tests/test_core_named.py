"""Tuples with names behave as those of the standard library."""

from __future__ import annotations

import copy
import pickle
from typing import Any, NamedTuple

import pytest

from agog_core import nest
from agog_core.named_tuple import Named
from agog_testing import says


class Ours(Named):
    """Two parts."""

    first: Any
    second: Any


class Theirs(NamedTuple):
    first: Any
    second: Any


def test_as_in_the_standard_library() -> None:
    ours, theirs = Ours(1, [2]), Theirs(1, [2])
    assert ours == theirs
    assert (ours._fields, ours.first, ours.second) == (theirs._fields, 1, [2])
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    for other in (pickle.loads(pickle.dumps(ours)), copy.copy(ours), copy.deepcopy(ours)):
        assert (type(other), other) == (Ours, ours)
    with pytest.raises(AttributeError):
        ours.first = 3
    with says(TypeError, "Ours takes 2 parts (first, second); got 1."):
        Ours(1)
    assert Ours(1, second=[2]) == Ours(second=[2], first=1) == theirs
    with says(TypeError, "Ours has the parts first, second; got third."):
        Ours(1, third=3)


def test_structures_keep_them() -> None:
    doubled = nest.map_structure(lambda x: x * 2, Ours(1, {"a": 2}))
    assert (type(doubled), doubled) == (Ours, (2, {"a": 4}))
