"""Decorators for tests that TensorFlow runs in a graph and eagerly; here they run eagerly."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from agog_core.tensors.tensor import Tensor

__all__ = ["run_all_tests_in_graph_and_eager_modes", "run_test_in_graph_and_eager_modes"]


def run_test_in_graph_and_eager_modes(
    func: Callable[..., Any] | None = None,
    config: Any = None,
    use_gpu: bool = True,
    reset_test: bool = True,
    assert_no_eager_garbage: bool = False,
) -> Any:
    """Run a test method once: there is no graph for a second time.

    Args:
        func: the test method; None to use this as a decorator with arguments.
        assert_no_eager_garbage: whether the test fails when it leaves tensors in reference cycles, which only the
            garbage collector frees.

    Returns:
        The decorated method, or a decorator.

    >>> @run_test_in_graph_and_eager_modes
    ... def test_sum(self):
    ...     return 1 + 1
    >>> test_sum(None)
    2
    """
    if func is None:
        return partial(run_test_in_graph_and_eager_modes, assert_no_eager_garbage=assert_no_eager_garbage)
    method = func

    @wraps(method)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        call = partial(method, *args, **kwargs)
        return _without_garbage(call) if assert_no_eager_garbage else call()

    return decorated


def run_all_tests_in_graph_and_eager_modes(cls: type) -> type:
    """Run the tests of a class once: there is no graph for a second time.

    Args:
        cls: the class.

    Returns:
        The class.

    >>> run_all_tests_in_graph_and_eager_modes(int)
    <class 'int'>
    """
    return cls


def _without_garbage(call: Callable[[], Any]) -> Any:
    gc.collect()
    flags, before = gc.get_debug(), len(gc.garbage)
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        result = call()
        gc.collect()
        shapes = [str(found.shape) for found in gc.garbage[before:] if isinstance(found, Tensor)]
    finally:
        gc.set_debug(flags)
        del gc.garbage[before:]
    if shapes:
        raise AssertionError(
            f"The test leaves {len(shapes)} tensors in reference cycles, of shapes {', '.join(sorted(shapes))}; break "
            "the cycles, so that the memory is free at once."
        )
    return result
