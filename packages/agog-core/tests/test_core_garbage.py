"""Garbage that other tests have left is not collected in the midst of a test."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest


class Ring:
    """What only the collector frees."""

    def __init__(self) -> None:
        self.itself = self


def ring() -> weakref.ref[Any]:
    return weakref.ref(Ring())


@pytest.fixture(scope="module")
def left() -> weakref.ref[Any]:
    """What a test before this one has left."""
    gc.collect()
    return ring()


def test_only_garbage_of_the_test_itself_is_collected(left: Callable[[], Any]) -> None:
    own = ring()
    gc.collect()
    assert own() is None
    assert left() is not None
