"""Decorators that find what a test leaves behind."""

from __future__ import annotations

import gc

import pytest

import agog_core as ag
from agog_compat.testing.leaks import (
    assert_no_garbage_created,
    assert_no_new_pyobjects_executing_eagerly,
    assert_no_new_tensors,
)
from agog_core.tensors.tensor import Tensor
from agog_testing import says


def test_tensors_that_stay_are_found() -> None:
    kept: list[Tensor] = []

    @assert_no_new_tensors
    def run(self: None, keeps: bool) -> None:
        tensor = ag.constant(2.0) * 5.0 + 7.0  # whose numbers operators keep
        if keeps:
            kept.append(tensor)

    run(None, False)
    with pytest.raises(AssertionError, match=r"^1 Tensors not deallocated after test: \[<tf.Tensor: id=\d+, shape"):
        run(None, True)


def test_cycles_are_found() -> None:
    @assert_no_garbage_created
    def run(self: None, in_cycle: bool) -> None:
        holder: list[object] = [1]
        if in_cycle:
            holder.append(holder)

    flags = gc.get_debug()
    run(None, False)
    with says(AssertionError, "The test leaves 1 objects in reference cycles, of types list."):
        run(None, True)
    assert (gc.get_debug(), gc.isenabled()) == (flags, True)


def test_objects_that_add_up_are_found() -> None:
    kept: list[object] = []
    cache: dict[str, object] = {}

    @assert_no_new_pyobjects_executing_eagerly
    def run(self: None, keeps: bool) -> None:
        cache.setdefault("first", [])
        if keeps:
            kept.append([])

    run(None, False)
    with says(AssertionError, "There are 3 more objects after three further runs of the test."):
        run(None, True)


def test_objects_of_other_threads_are_no_leak() -> None:
    made_once: list[list[object]] = []

    @assert_no_new_pyobjects_executing_eagerly
    def run(self: None) -> None:
        if len(made_once) < 4:  # after two runs that fill caches and two of the first three that are counted
            made_once.append([])

    run(None)
