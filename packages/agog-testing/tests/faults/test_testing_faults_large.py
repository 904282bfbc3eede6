"""Faults of size and form: of large calls, of filters, windows and channels, and of rows that are all equal."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from planting import Fault, Plant, kernel, planted

from agog_core.dispatch.plugins.loader import loader
from agog_core.plugin import load_reference

Array = np.ndarray[Any, Any]
Kernel = Callable[..., Any]

VALUE = "rule: a kernel's result is the reference's, within the tolerance"
BLOCK = 1 << 14


def reference(op: str) -> Kernel:
    """The reference kernel of the CPU."""

    def of_numpy(*arrays: Array, **attributes: Any) -> Any:
        (plugin,) = (plugin for plugin in loader().plugins if plugin.name == "cpu-numpy")
        found: Kernel = load_reference(next(kernel.fn for kernel in plugin.kernels if kernel.op == op))
        return found(*arrays, **attributes)

    return of_numpy


def wrong(kernel: Kernel, is_wrong: Callable[..., bool]) -> Kernel:
    """Adds one to the last element of a result, for calls of some kind."""

    def broken(*arrays: Array, **attributes: Any) -> Any:
        out = np.array(kernel(*arrays, **attributes))
        if out.size and is_wrong(*arrays, **attributes):
            out.reshape(-1)[-1] += out.dtype.type(1)
        return out

    return broken


def without_the_rest(kernel: Kernel) -> Kernel:
    """Computes whole blocks, and of a large array nothing else."""

    def broken(*arrays: Array, **attributes: Any) -> Any:
        out = np.array(kernel(*arrays, **attributes))
        if out.size > 2 * BLOCK:
            out.reshape(-1)[out.size // BLOCK * BLOCK :] = 0
        return out

    return broken


def in_two_halves(x: Array) -> Array:
    """As of two threads, the second of which begins one element too late."""
    out = np.array(np.square(x))
    if x.ndim == 1 and x.size > 50_000:
        middle = x.size // 2
        out[middle] = 0
    return out


def fault(name: str, op: str, check: str, broken: Kernel, dtype: str = "float32") -> Fault:
    plant = kernel(op, broken, dtype)
    return Fault(name=name, op=op, dtype=dtype, check=check, says=VALUE, broken=plant, twin=right(op, dtype))


@cache
def right(op: str, dtype: str) -> Plant:
    """The twin of all faults of an op."""
    return kernel(op, reference(op), dtype)


def large(op: str, dtype: str = "float32") -> Fault:
    """A kernel with another way for large arrays."""
    broken = wrong(reference(op), lambda x, *_, **__: x.size > 65_536)
    return fault(f"large {op}, {dtype}", op, "large", broken, dtype)


def of_form(name: str, op: str, is_wrong: Callable[..., bool]) -> Fault:
    return fault(name, op, "value", wrong(reference(op), is_wrong))


def has_filter(*window: int) -> Callable[..., bool]:
    return lambda x, filter, **_: filter.shape[:-2] == window


def has_window(*window: int) -> Callable[..., bool]:
    return lambda x, *_, **attributes: tuple(attributes["window"]) == window


def has_channels(least: int, count: int) -> Callable[..., bool]:
    return lambda x, *_, **__: x.ndim == 4 and x.shape[0] >= least and x.shape[-1] == count


def has_equal_rows(x: Array, **_: Any) -> bool:
    return x.ndim == 2 and x.shape[1] > 3 and bool((x == x[:, :1]).all())


FAULTS = [
    large("square"),
    large("add"),
    large("exp"),
    large("matmul"),
    large("reduce_max"),
    large("softmax"),
    large("cumsum"),
    large("add", "int32"),
    large("max_pool"),
    fault("the rest after whole blocks", "multiply", "large", without_the_rest(reference("multiply"))),
    fault("two halves", "square", "large", in_two_halves),
    fault("indices of 16 bits", "gather", "large", wrong(reference("gather"), lambda x, i, **_: i.size > 65_536)),
    of_form("a filter of 1 by 3", "convolution", has_filter(1, 3)),
    of_form("a filter of 7 by 1", "convolution", has_filter(7, 1)),
    of_form("a filter of 5 by 5", "convolution", has_filter(5, 5)),
    of_form("more than 8 images of 8 channels", "convolution", has_channels(9, 8)),
    of_form("images of 17 channels", "convolution", has_channels(2, 17)),
    of_form("images of 16 channels", "convolution", has_channels(2, 16)),
    of_form("a window of 5 by 5", "max_pool", has_window(5, 5)),
    of_form("a window of 7 by 1", "avg_pool", has_window(7, 1)),
    of_form("more than 8 images of 17 channels", "max_pool", has_channels(9, 17)),
    of_form("logits that are all equal", "softmax", has_equal_rows),
    of_form("logarithms of logits that are all equal", "log_softmax", has_equal_rows),
]

test_fault_is_found, test_twin_passes = planted(FAULTS)
