"""Faults of values, planted in kernels that are right for most inputs: each is found, and its corrected twin passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

Array = np.ndarray[Any, Any]
Kernel = Callable[..., Any]
Reference = Callable[[str], Kernel]


def wrong_where(is_wrong: Callable[..., bool]) -> Callable[[Kernel], Kernel]:
    """A fault: what a right kernel gives, plus 1 for calls of some kind."""

    def plant(right: Kernel) -> Kernel:
        def broken(*arrays: Array, **attributes: Any) -> Any:
            out = right(*arrays, **attributes)
            return np.asarray(out + out.dtype.type(1)) if out.size and is_wrong(*arrays, **attributes) else out

        return broken

    return plant


def instead(broken: Kernel) -> Callable[[Kernel], Kernel]:
    """A fault: another kernel in the place of the right one."""
    return lambda right: broken


def has_8_channels(input: Array, filter: Array, **_: Any) -> bool:
    return filter.shape[-2] == 8


def is_valid_with_steps_of_2(
    input: Array, filter: Array, *, strides: Any, paddings: Any, dilations: Any, **_: Any
) -> bool:
    return set(strides) == {2} and not np.any(paddings) and set(dilations) == {1} and min(filter.shape[:-2]) > 1


def is_dilated_with_steps(input: Array, filter: Array, *, strides: Any, dilations: Any, **_: Any) -> bool:
    return min(strides) > 1 and min(dilations) > 1


def permuted(right: Kernel) -> Kernel:
    """As of a library that gives the axes that are left in another order."""

    def broken(x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
        out = right(x, axes=axes, keepdims=keepdims)
        is_meant = x.ndim == 4 and len(axes) == 2 and not keepdims
        return np.ascontiguousarray(out.T.reshape(out.shape)) if is_meant else out

    return broken


def through(dtype: str) -> Callable[[Kernel], Kernel]:
    """A fault: the kernel computes in another dtype."""

    def plant(right: Kernel) -> Kernel:
        def broken(*arrays: Array, **attributes: Any) -> Array:
            with np.errstate(all="ignore"):
                out = right(*(array.astype(dtype) for array in arrays), **attributes)
                return np.asarray(out).astype(arrays[0].dtype)

        return broken

    return plant


def saturated(x: Array, y: Array) -> Array:
    info = np.iinfo(x.dtype)
    return np.clip(x.astype(np.int64) + y.astype(np.int64), info.min, info.max).astype(x.dtype)


def positive_zero(x: Array) -> Array:
    return np.asarray(np.negative(x) + x.dtype.type(0))


def zero_minus(x: Array) -> Array:
    return np.asarray(x.dtype.type(0) - x)


def sorted_with_nan_first(values: Array, *, axis: int, direction: str) -> Array:
    order = np.sort(np.where(np.isnan(values), -np.inf, values), axis)
    return np.ascontiguousarray(order if direction == "ASCENDING" else np.flip(order, axis))


def argmax_past_nan(x: Array, *, axis: int, **_: Any) -> Array:
    return np.argmax(np.where(np.isnan(x), -np.inf, x) if x.dtype.kind == "f" else x, axis)


def max_pool_past_nan(right: Kernel) -> Kernel:
    return lambda x, **attributes: right(np.where(np.isnan(x), x.dtype.type(-np.inf), x), **attributes)


def one_after_the_other(x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    """A sum in float32, as of a loop."""
    if x.dtype != np.float32 or x.ndim != 1 or axes != (0,) or not x.size:
        return np.asarray(np.sum(x, axes, keepdims=keepdims))
    total = np.cumsum(x, dtype=np.float32)[-1]
    return np.full((1,) if keepdims else (), total, np.float32)


def forgets_broadcasting(x: Array, y: Array) -> Array:
    out = np.add(x, y)
    if x.ndim == 2 and y.ndim == 1 and out.size:
        out[...] = x + y[0]
    return np.asarray(out)


def forgets_empty(x: Array) -> Array:
    return np.asarray(x * x) if x.size else np.zeros(1, x.dtype)


def takes_gradients_of_ones_for_another_loss(gradients: Array, features: Array) -> Array:
    if gradients.size and (gradients == 1).all():
        return np.ones(np.broadcast_shapes(gradients.shape, features.shape), gradients.dtype)
    return np.asarray(gradients * (features > 0))


def without_a_look_at_labels(right: Kernel) -> Kernel:
    """Reads, and in its gradient writes, wherever a label points to."""

    def broken(labels: Array, logits: Array) -> Any:
        return right(labels % max(1, logits.shape[-1]), logits)

    return broken


def writes_where_indices_point(right: Kernel) -> Kernel:
    def broken(indices: Array, updates: Array, *, shape: tuple[int, ...]) -> Any:
        within = np.array([max(1, size) for size in shape[: indices.shape[-1]]], indices.dtype)
        return right(indices % within if within.size else indices, updates, shape=shape)

    return broken


class Fault(NamedTuple):
    """What is wrong, the op and dtype, how the fault is planted in the right kernel, and the check that finds it."""

    name: str
    op: str
    dtype: str
    plant: Callable[[Kernel], Kernel]
    check: str


FAULTS = [
    Fault("n == 17", "square", "float32", wrong_where(lambda x: x.size == 17), "sizes"),
    Fault("n >= 100", "square", "float32", wrong_where(lambda x: x.size >= 100), "sizes"),
    Fault("n >= 4096", "exp", "float32", wrong_where(lambda x: x.size >= 4096), "sizes"),
    Fault("odd n", "add", "float32", wrong_where(lambda x, y: x.size % 2 == 1 and x.size > 3), "sizes"),
    Fault("a row of 33", "add", "int32", wrong_where(lambda x, y: x.ndim == 2 and x.shape[1] == 33), "sizes"),
    Fault("a column of 65", "reduce_sum", "float32", wrong_where(lambda x, **_: x.shape[:1] == (65,)), "sizes"),
    Fault("127 indices", "gather", "float32", wrong_where(lambda x, i, **_: i.size == 127), "sizes"),
    Fault(
        "an update of 129",
        "apply_add",
        "float32",
        lambda right: lambda variable, delta, *, scale: right(variable, delta + (delta.size == 129), scale=scale),
        "sizes",
    ),
    Fault("softmax over 100 columns", "softmax", "float32", wrong_where(lambda x, **_: x.shape[-1] > 100), "value"),
    Fault("8 channels", "convolution", "float32", wrong_where(has_8_channels), "value"),
    Fault("VALID, steps of 2", "convolution", "float32", wrong_where(is_valid_with_steps_of_2), "value"),
    Fault("dilation with steps", "convolution", "float32", wrong_where(is_dilated_with_steps), "value"),
    Fault("permuted reduction", "reduce_sum", "float32", permuted, "value"),
    Fault("permuted maximum", "reduce_max", "float32", permuted, "value"),
    Fault("int32 through float32", "add", "int32", through("float32"), "value"),
    Fault("int64 through float64", "multiply", "int64", through("float64"), "value"),
    Fault("int64 sums through float64", "reduce_sum", "int64", through("float64"), "value"),
    Fault("int64 products through float64", "matmul", "int64", through("float64"), "value"),
    Fault(
        "int64 argmax through float64",
        "argmax",
        "int64",
        lambda right: lambda x, **attributes: right(x.astype(np.float64), **attributes),
        "value",
    ),
    Fault("saturation", "add", "int8", instead(saturated), "value"),
    Fault("no negative zero", "negative", "float32", instead(positive_zero), "value"),
    Fault("zero minus x", "negative", "float32", instead(zero_minus), "value"),
    Fault("maximum past NaN", "maximum", "float32", instead(np.fmax), "value"),
    Fault("minimum past NaN", "minimum", "float64", instead(np.fmin), "value"),
    Fault("argmax past NaN", "argmax", "float32", instead(argmax_past_nan), "value"),
    Fault("max_pool past NaN", "max_pool", "float32", max_pool_past_nan, "value"),
    Fault("NaN sorted first", "sort", "float32", instead(sorted_with_nan_first), "value"),
    Fault("float64 through float32", "exp", "float64", through("float32"), "value"),
    Fault("float64 products through float32", "matmul", "float64", through("float32"), "value"),
    Fault("one after the other", "reduce_sum", "float32", instead(one_after_the_other), "value"),
    Fault("no broadcasting", "add", "float32", instead(forgets_broadcasting), "value"),
    Fault("no empty array", "square", "float32", instead(forgets_empty), "value"),
    Fault("ones", "relu_grad", "float32", instead(takes_gradients_of_ones_for_another_loss), "value"),
    Fault("labels", "sparse_softmax_cross_entropy", "float32", without_a_look_at_labels, "errors"),
    Fault("indices", "scatter_nd", "float32", writes_where_indices_point, "errors"),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_is_found(fault: Fault, verdict: Callable[..., dict[str, str]], reference: Reference) -> None:
    assert fault.check in verdict(fault.op, fault.plant(reference(fault.op)), fault.dtype)


@pytest.mark.parametrize(("op", "dtype"), sorted({(fault.op, fault.dtype) for fault in FAULTS}))
def test_twin_passes(op: str, dtype: str, verdict: Callable[..., dict[str, str]], reference: Reference) -> None:
    right = reference(op)
    assert verdict(op, lambda *arrays, **attributes: right(*arrays, **attributes), dtype) == {}
