"""Test util: names of TensorFlow's ``python.framework.test_util`` that eager tests use."""

from __future__ import annotations

import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from types import SimpleNamespace
from typing import Any

from agog_compat.execution import num_gpus
from agog_compat.testing.decorators import (
    run_all_tests_in_graph_and_eager_modes as run_all_in_graph_and_eager_modes,
)
from agog_compat.testing.decorators import run_test_in_graph_and_eager_modes as run_in_graph_and_eager_modes
from agog_compat.testing.leaks import (
    assert_no_garbage_created,
    assert_no_new_pyobjects_executing_eagerly,
    assert_no_new_tensors,
)
from agog_compat.testing.test_case import TestCase as TensorFlowTestCase
from agog_core.dispatch.devices.lookup import device as device_scope

__all__ = [
    "CudaSupportsHalfMatMulAndConv",
    "IsGoogleCudaEnabled",
    "IsMklEnabled",
    "TensorFlowTestCase",
    "assert_no_garbage_created",
    "assert_no_new_pyobjects_executing_eagerly",
    "assert_no_new_tensors",
    "create_local_cluster",
    "device",
    "disable_control_flow_v2",
    "dismantle_polymorphic_function",
    "enable_c_shapes",
    "enable_control_flow_v2",
    "generate_combinations_with_testcase_name",
    "run_all_in_graph_and_eager_modes",
    "run_deprecated_v1",
    "run_in_graph_and_eager_modes",
    "run_v1_only",
    "skip_if",
    "with_c_shapes",
    "with_control_flow_v2",
]


@contextmanager
def device(use_gpu: bool) -> Iterator[None]:
    """Run a block on the first GPU, where it is asked for and there is one, and on the CPU otherwise."""
    with device_scope("/device:GPU:0" if use_gpu and num_gpus() else "/device:CPU:0"):
        yield


def skip_if(condition: bool | Callable[[], bool]) -> Callable[..., Any]:
    """Skip a test where a condition, or what a function returns, is true.

    Args:
        condition: the condition.

    Returns:
        A decorator.
    """

    def decorator(f: Callable[..., Any]) -> Callable[..., Any]:
        def decorated(self: Any, *args: Any, **kwargs: Any) -> None:
            if condition() if callable(condition) else condition:
                raise unittest.SkipTest("The condition of skip_if is true.")
            f(self, *args, **kwargs)

        return decorated

    return decorator


def run_v1_only(reason: str = "", func: Callable[..., Any] | None = None) -> Any:
    """Skip a test that needs graphs.

    Args:
        reason: why it needs them.
        func: the test; None to use this as a decorator with arguments.

    Returns:
        The decorated test, or a decorator.
    """
    skip = unittest.skip(f"It needs graphs, which agog has not. {reason}".strip())
    return skip if func is None else skip(func)


def run_deprecated_v1(func: Callable[..., Any]) -> Any:
    """Skip a test that needs graphs.

    Args:
        func: the test.

    Returns:
        The decorated test.
    """
    return run_v1_only(func=func)


def with_c_shapes(cls: Any) -> Any:
    """The class as it is: there is one way to infer shapes."""
    return cls


enable_c_shapes = enable_control_flow_v2 = with_control_flow_v2 = with_c_shapes


def disable_control_flow_v2(unused_msg: str) -> Callable[[Any], Any]:
    """A decorator that leaves the test as it is: there is one way of control flow."""
    return with_c_shapes


def create_local_cluster(num_workers: int, num_ps: int, *args: Any, **kwargs: Any) -> tuple[list[Any], list[Any]]:
    """No servers, but what has their addresses: tests that need some run graphs on them.

    Returns:
        Two lists of objects whose ``target`` is empty.
    """
    return [SimpleNamespace(target="") for _ in range(num_workers)], [SimpleNamespace(target="") for _ in range(num_ps)]


def dismantle_polymorphic_function(func: Any) -> None:
    """Let a function of `tfe.defun` forget its graphs, which may hold what holds the function.

    Args:
        func: the function.
    """
    func._memory.traces.clear()
    func._memories = type(func._memories)()


def generate_combinations_with_testcase_name(**kwargs: Any) -> list[dict[str, Any]]:
    """All combinations of arguments, each with a name for a parameterized test.

    Args:
        **kwargs: a list of values for each argument, or one value.

    Returns:
        A dict for each combination.

    >>> generate_combinations_with_testcase_name(a=[1, 2])
    [{'a': 1, 'testcase_name': '_test_a_1'}, {'a': 2, 'testcase_name': '_test_a_2'}]
    """
    names = sorted(kwargs)
    lists = [kwargs[name] if isinstance(kwargs[name], list) else [kwargs[name]] for name in names]
    return [
        {**dict(zip(names, values, strict=True)), "testcase_name": f"_test{_described(names, values)}"}
        for values in product(*lists)
    ]


def _described(names: list[str], values: tuple[Any, ...]) -> str:
    return "".join(
        f"_{_alphanumeric(name)}_{_alphanumeric(str(value))}" for name, value in zip(names, values, strict=True)
    )


def _alphanumeric(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def IsGoogleCudaEnabled() -> bool:
    """Whether a GPU can be used here."""
    return num_gpus() > 0


def CudaSupportsHalfMatMulAndConv() -> bool:
    """Whether the GPU multiplies matrices of float16."""
    return num_gpus() > 0


def IsMklEnabled() -> bool:
    """Whether TensorFlow was built with oneDNN's forerunner, which agog never is."""
    return False
