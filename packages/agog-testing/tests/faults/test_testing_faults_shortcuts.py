"""Faults of kernels that take a shortcut: for zeros, denormal numbers, memory that is given, and several variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from planting import Fault, kernel, planted

Array = np.ndarray[Any, Any]
Kernel = Callable[..., Any]

ZERO = np.zeros((), np.float32)
MEMORY: dict[Any, Array] = {}

NO_INPUT = "a result shares no memory with an input unless the op is a view"
NO_RESULT = "a result shares no memory with another one"
DENORMAL = "a kernel computes with denormal numbers, and takes none for zero"
FILLED = "a kernel's `out` fills an array with what the kernel returns"
EACH = "a kernel gives for several variables at once what it gives for each"


def square(x: Array) -> Array:
    return np.asarray(x * x)


def matmul(a: Array, b: Array, *, transpose_a: bool, transpose_b: bool) -> Array:
    left = np.swapaxes(a, -1, -2) if transpose_a else a
    right = np.swapaxes(b, -1, -2) if transpose_b else b
    return np.asarray(np.matmul(left, right))


def reduce_sum(x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    return np.asarray(np.sum(x, axes, keepdims=keepdims, dtype=np.float64)).astype(x.dtype)


def gather(params: Array, indices: Array, *, axis: int) -> Any:
    is_simple = indices.ndim and indices.size and indices.min() >= 0 and indices.max() < params.shape[axis]
    return np.take(params, indices, axis) if is_simple else NotImplemented


def cumsum(x: Array, *, axis: int, exclusive: bool, reverse: bool) -> Any:
    return NotImplemented if exclusive or reverse else np.cumsum(x, axis, dtype=x.dtype)


def setdiff1d(x: Array, y: Array, *, dtype: Any) -> tuple[Array, Array]:
    positions = np.flatnonzero(~np.isin(x, y))
    return x[positions], positions.astype(dtype)


def relu(x: Array) -> Array:
    return np.asarray(np.maximum(x, x.dtype.type(0)))


def relu_grad(gradients: Array, features: Array) -> Array:
    return np.asarray(np.where(features > 0, gradients, gradients.dtype.type(0)))


def keeps_result_of_zeros(x: Array) -> Array:
    return square(x) if x.any() else MEMORY.setdefault(x.shape, square(x))


def keeps_result_of_equal_values(x: Array) -> Array:
    return MEMORY.setdefault((x.shape, x.tobytes()), square(x))


def one_zero_for_all(x: Array, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    out = reduce_sum(x, axes=axes, keepdims=keepdims)
    return ZERO if not out.ndim and not out.any() else out


def flushed(right: Kernel) -> Kernel:
    """Takes denormal inputs for zero, as a processor does if it is told to."""

    def broken(*arrays: Array, **attributes: Any) -> Any:
        return right(*map(_flush, arrays), **attributes)

    return broken


def flushing(right: Kernel) -> Kernel:
    """Takes denormal results for zero."""

    def broken(*arrays: Array, **attributes: Any) -> Any:
        result = right(*arrays, **attributes)
        return NotImplemented if result is NotImplemented else _flush(result)

    return broken


def _flush(array: Array) -> Array:
    if array.dtype.kind != "f":
        return array
    is_denormal = np.abs(array) < np.finfo(array.dtype).smallest_normal
    return np.asarray(np.where(is_denormal, np.copysign(array.dtype.type(0), array), array))


def fills(right: Kernel) -> Kernel:
    def out(*arrays: Array, out: Array, **attributes: Any) -> None:
        out[...] = right(*arrays, **attributes)

    return out


def adds_to_nothing(right: Kernel) -> Kernel:
    """As BLAS with a beta of 0, which some libraries multiply by."""

    def out(*arrays: Array, out: Array, **attributes: Any) -> None:
        out *= 0
        out += right(*arrays, **attributes)

    return out


def keeps_what_is_large(right: Kernel) -> Kernel:
    def out(*arrays: Array, out: Array, **attributes: Any) -> None:
        np.copyto(out, right(*arrays, **attributes), where=out < 1000)

    return out


def leaves_zeros_out(right: Kernel) -> Kernel:
    """Writes where there is something to write, into memory that it takes for clean."""

    def out(*arrays: Array, out: Array, **attributes: Any) -> None:
        result = right(*arrays, **attributes)
        np.copyto(out, result, where=(result != 0) | (out == 1) | (out == 0))
        np.copyto(out, 0, where=(result == 0) & ((out == 1) | (out == 0)))

    return out


def descends(variable: Array, gradient: Array, *, learning_rate: float) -> None:
    variable -= (learning_rate * gradient).astype(variable.dtype)


def descend_each(groups: list[tuple[Array, ...]], *, learning_rate: float) -> None:
    for arrays in groups:
        descends(*arrays, learning_rate=learning_rate)


def one_gradient_for_a_shape(groups: list[tuple[Array, ...]], *, learning_rate: float) -> None:
    gradients: dict[tuple[int, ...], Array] = {}
    for variable, gradient in groups:
        descends(variable, gradients.setdefault(variable.shape, gradient), learning_rate=learning_rate)


def last_gradient_of_a_shape(groups: list[tuple[Array, ...]], *, learning_rate: float) -> None:
    gradients = {variable.shape: gradient for variable, gradient in groups}
    for variable, _ in groups:
        descends(variable, gradients[variable.shape], learning_rate=learning_rate)


def stacks_in_another_order(groups: list[tuple[Array, ...]], *, learning_rate: float) -> None:
    """Stacks what has one shape, the gradients from the other end."""
    for shape in {variable.shape for variable, _ in groups}:
        alike = [pair for pair in groups if pair[0].shape == shape]
        for (variable, _), (_, gradient) in zip(alike, reversed(alike), strict=True):
            descends(variable, gradient, learning_rate=learning_rate)


def shortcut(name: str, op: str, broken: Kernel, right: Kernel, says: str, dtype: str = "float32") -> Fault:
    return _fault(name, op, "shortcuts", broken, right, says, dtype)


def denormal(name: str, op: str, broken: Kernel, right: Kernel, dtype: str = "float32") -> Fault:
    return _fault(name, op, "denormals", broken, right, DENORMAL, dtype)


def _fault(name: str, op: str, check: str, broken: Kernel, right: Kernel, says: str, dtype: str) -> Fault:
    plants = [kernel(op, fn, dtype) for fn in (broken, right)]
    return Fault(name=name, op=op, dtype=dtype, check=check, says=f"rule: {says}", broken=plants[0], twin=plants[1])


def out(name: str, op: str, broken: Callable[[Kernel], Kernel], right: Kernel, dtype: str = "float32") -> Fault:
    plants = [kernel(op, right, dtype, out=fill(right)) for fill in (broken, fills)]
    says = f"rule: {FILLED}"
    return Fault(name=name, op=op, dtype=dtype, check="out", says=says, broken=plants[0], twin=plants[1])


def several(name: str, broken: Kernel) -> Fault:
    op, says = "apply_gradient_descent", f"rule: {EACH}"
    plants = [kernel(op, descends, several=each) for each in (broken, descend_each)]
    return Fault(name=name, op=op, check="several", says=says, broken=plants[0], twin=plants[1])


FAULTS = [
    shortcut("zeros are their square", "square", lambda x: square(x) if x.any() else x, square, NO_INPUT),
    shortcut("a view of zeros", "square", lambda x: square(x) if x.any() else x[...], square, NO_INPUT),
    shortcut(
        "the sums of zeros",
        "cumsum",
        lambda x, **a: cumsum(x, **a) if x.any() or cumsum(x, **a) is NotImplemented else x,
        cumsum,
        NO_INPUT,
    ),
    shortcut("no gradients", "relu_grad", lambda g, x: relu_grad(g, x) if g.any() else g, relu_grad, NO_INPUT),
    shortcut("all gradients", "relu_grad", lambda g, x: relu_grad(g, x) if (x != 1).any() else g, relu_grad, NO_INPUT),
    shortcut("one result for all zeros", "square", keeps_result_of_zeros, square, NO_RESULT),
    shortcut("one result for equal values", "square", keeps_result_of_equal_values, square, NO_RESULT),
    shortcut("one zero for all sums", "reduce_sum", one_zero_for_all, reduce_sum, NO_RESULT),
    denormal("denormals added as zeros", "add", flushed(np.add), np.add),
    denormal("denormals multiplied as zeros", "multiply", flushed(np.multiply), np.multiply),
    denormal("the root of a denormal", "sqrt", flushed(np.sqrt), np.sqrt),
    denormal("the logarithm of a denormal", "log", flushed(np.log), np.log),
    denormal("a denormal that is negated", "negative", flushing(np.negative), np.negative, "float64"),
    denormal("a denormal of half precision", "abs", flushing(np.abs), np.abs, "float16"),
    denormal("sums of denormals", "reduce_sum", flushed(reduce_sum), reduce_sum),
    denormal("products with denormals", "matmul", flushed(matmul), matmul),
    denormal("denormals that are only moved", "gather", flushing(gather), gather),
    denormal("denormal gradients", "relu_grad", flushed(relu_grad), relu_grad),
    denormal("denormals that are equal", "setdiff1d", flushed(setdiff1d), setdiff1d),
    denormal("relu of denormals", "relu", flushing(relu), relu),
    out("0 times NaN", "square", adds_to_nothing, square),
    out("a product with beta = 0", "matmul", adds_to_nothing, matmul),
    out("what is large stays", "square", keeps_what_is_large, square, "int32"),
    out("only what is not zero", "relu", leaves_zeros_out, relu),
    several("one gradient for a shape", one_gradient_for_a_shape),
    several("the last gradient of a shape", last_gradient_of_a_shape),
    several("another order of gradients", stacks_in_another_order),
]

test_fault_is_found, test_twin_passes = planted(FAULTS)
