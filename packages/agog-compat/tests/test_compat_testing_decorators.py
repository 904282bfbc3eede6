"""Decorated tests run once, and may not leave tensors to the garbage collector where they say so."""

from __future__ import annotations

import gc

import agog_core as ag
from agog_compat.testing.decorators import run_all_tests_in_graph_and_eager_modes, run_test_in_graph_and_eager_modes
from agog_testing import says


def test_decorated_tests_run_once() -> None:
    runs = []

    @run_all_tests_in_graph_and_eager_modes
    class Example:
        @run_test_in_graph_and_eager_modes
        def test_plain(self) -> None:
            runs.append("plain")

        @run_test_in_graph_and_eager_modes(config=None, use_gpu=False)
        def test_with_arguments(self) -> None:
            runs.append("arguments")

    Example().test_plain()
    Example().test_with_arguments()
    assert runs == ["plain", "arguments"]
    assert Example.test_plain.__name__ == "test_plain"


def test_tensors_in_cycles_are_found() -> None:
    @run_test_in_graph_and_eager_modes(assert_no_eager_garbage=True)
    def leak(in_cycle: bool) -> int:
        holder = [ag.ones([2, 3])]
        if in_cycle:
            holder.append(holder)  # type: ignore[arg-type]  # what is tested
        return 7

    flags = gc.get_debug()
    assert leak(False) == 7
    with says(
        AssertionError,
        "The test leaves 1 tensors in reference cycles, of shapes (2, 3); break the cycles, so that the memory is free "
        "at once.",
    ):
        leak(True)
    assert gc.get_debug() == flags
    assert leak(False) == 7
