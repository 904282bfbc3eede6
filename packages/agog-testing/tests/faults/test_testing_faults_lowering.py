"""Faults of lowerings, planted beside right kernels: traced functions are wrong where eager calls are right."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from planting import Fault, Plant, failures, kernel, planted

from agog_core.compiler import SingleOp
from agog_core.plugin import load_reference
from agog_testing.conformance import DEFAULT_SEED
from agog_testing.opinfo import table

Array = np.ndarray[Any, Any]
reduce_sum, softmax, leaky_relu = (  # as they are lowered
    load_reference(f"agog_cpu_numpy.lowering:{name}") for name in ("reduce_sum", "softmax", "leaky_relu")
)

BITS = "rule: a traced function gives the bits, shapes, dtypes and strides that eager calls give\n"


def square(x: Any) -> Any:
    return x * x


def add(x: Any, y: Any) -> Any:
    return x + y


def subtract(x: Any, y: Any) -> Any:
    return x - y


def negative(x: Any) -> Any:
    return -x


def maximum(x: Any, y: Any) -> Any:
    return x.__array_namespace__().maximum(x, y)


def less(x: Any, y: Any) -> Any:
    return x < y


def descend(variable: Any, gradient: Any, *, learning_rate: float) -> None:
    variable -= learning_rate * gradient


def apply_add(variable: Any, delta: Any, *, scale: float) -> None:
    variable += scale * delta


def array(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function as a kernel, which returns no numbers."""

    def run(*arrays: Array, **attributes: Any) -> Any:
        result = fn(*arrays, **attributes)
        return None if result is None else np.asarray(result)

    return run


def of_1125(x: Any) -> Any:
    return x * x * x.dtype.type(1.125)


def powers_without_the_maximum(logits: Any, *, axis: int) -> Any:
    powers = logits.__array_namespace__().exp(logits)
    return powers / powers.sum(axis=axis, keepdims=True)


def axis_by_axis(x: Any, *, axes: tuple[int, ...], keepdims: bool) -> Any:
    for axis in sorted(axes, reverse=True):
        x = x.sum(axis=axis, keepdims=keepdims)
    return x


def mean(x: Any, *, axes: tuple[int, ...], keepdims: bool) -> Any:
    count = int(np.prod([x.shape[axis] for axis in axes]))
    return x.sum(axis=axes, keepdims=keepdims) / x.dtype.type(max(count, 1))


def wrong_for_scalars(x: Any) -> Any:
    return x * x if x.ndim else x


def wrong_for_empty_axes(x: Any, *, axes: tuple[int, ...], keepdims: bool) -> Any:
    return (
        x.sum(axis=axes, keepdims=keepdims) + x.dtype.type(1)
        if not x.size
        else reduce_sum(x, axes=axes, keepdims=keepdims)
    )


def forgets_broadcasting(x: Any, y: Any) -> Any:
    return x + (y[:1] if x.ndim == 2 and y.ndim == 1 and len(y) > 1 else y)


def square_of_another_row(x: Any) -> Any:
    return x * x[::-1] if x.ndim == 2 else x * x


def in_half(x: Any) -> Any:
    return (x.astype(np.float16) * x.astype(np.float16)).astype(x.dtype)


def ignores_alpha(features: Any, *, alpha: float) -> Any:
    return leaky_relu(features, alpha=type(alpha)(0.2))


ALPHAS: list[float] = []


def keeps_the_first_alpha(features: Any, *, alpha: float) -> Any:
    ALPHAS.append(alpha)
    return leaky_relu(features, alpha=ALPHAS[0])


def relu_by_where(features: Any) -> Any:
    xp = features.__array_namespace__()
    return xp.where(features > 0, features, features.dtype.type(0))


def relu(features: Any) -> Any:
    return features.__array_namespace__().maximum(features, features.dtype.type(0))


def fmax(x: Any, y: Any) -> Any:
    return x.__array_namespace__().where(x >= y, x, y)


def ascend(variable: Any, gradient: Any, *, learning_rate: float) -> None:
    variable += learning_rate * gradient


def one_where_late(variable: Any, delta: Any, *, scale: float) -> None:
    variable += (scale if isinstance(scale, float) else 1.0) * delta


def updates_twice(variable: Any, delta: Any, *, scale: float) -> None:
    variable += scale * delta
    variable += scale * delta


def forgets_the_update(variable: Any, gradient: Any, *, learning_rate: float) -> None:
    variable = variable - learning_rate * gradient


def rows_only(x: Array) -> Any:
    return np.asarray(x * x) if x.ndim == 1 else NotImplemented


def of_rows_or_zero(x: Any) -> Any:
    return x * x if x.ndim == 1 else x * x.dtype.type(0)


def lower_of_rows_only(x: Any) -> Any:
    return x * x if x.ndim == 1 else NotImplemented


def splits_in_another_order(x: Any, *, sizes: tuple[int, ...], axis: int) -> Any:
    parts = split(x, sizes=sizes, axis=axis)
    return tuple(reversed(parts)) if len(set(sizes)) == 1 else parts


def split(x: Any, *, sizes: tuple[int, ...], axis: int) -> Any:
    ends = np.cumsum(sizes).tolist()
    before = (slice(None),) * (axis % x.ndim)
    return tuple(x[(*before, slice(end - size, end))] for size, end in zip(sizes, ends, strict=True))


def next_to_it(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """A kernel that says its bits are those of the next one."""
    return lambda x: np.nextafter(x * x, x.dtype.type(np.inf))


def single(op: str, dtype: str, device: str) -> SingleOp:
    return SingleOp(op, dtype, device, least=1)


def lowered(op: str, fn: Callable[..., Any], lower: Callable[..., Any]) -> Plant:
    return kernel(op, array(fn) if op != "split" else lambda *a, **k: tuple(x.copy() for x in fn(*a, **k)), lower=lower)


def fault(name: str, op: str, fn: Callable[..., Any], lower: Callable[..., Any]) -> Fault:
    """A wrong lowering of a right kernel, whose own function is the right one."""
    twin = lowered(op, fn, fn)
    return Fault(name=name, op=op, check="lowered_by_numpy", says=BITS, broken=lowered(op, fn, lower), twin=twin)


def elsewhere(way: str, of: Fault) -> Fault:
    """The same fault, as another way to run traced functions shows it."""
    return Fault(
        name=f"{of.name}, {way}",
        op=of.op,
        check=f"lowered_by_{way}",
        says=of.says,
        broken=of.broken,
        twin=of.twin,
    )


def beside_reference(name: str, op: str, lower: Callable[..., Any]) -> Fault:
    """A wrong lowering of the reference kernel."""
    fn, right = f"agog_cpu_numpy.kernels:{op}", f"agog_cpu_numpy.lowering:{op}"
    broken, twin = kernel(op, fn, lower=lower), kernel(op, fn, lower=right)
    return Fault(name=name, op=op, check="lowered_by_numpy", says=BITS, broken=broken, twin=twin)


FAULTS = [
    fault("2.25 for 2", "square", square, of_1125),
    fault("a difference for a sum", "add", add, subtract),
    fault("operands in another order", "subtract", subtract, lambda x, y: y - x),
    fault("zero minus x", "negative", negative, lambda x: x.dtype.type(0) - x),
    beside_reference("a mean for a sum", "reduce_sum", mean),
    beside_reference("sums axis by axis", "reduce_sum", axis_by_axis),
    beside_reference("1 for the empty sum", "reduce_sum", wrong_for_empty_axes),
    beside_reference("no maximum subtracted", "softmax", powers_without_the_maximum),
    beside_reference("another slope", "leaky_relu", ignores_alpha),
    beside_reference("the slope of the first call", "leaky_relu", keeps_the_first_alpha),
    fault("rank 0 as it is", "square", square, wrong_for_scalars),
    fault("no broadcasting", "add", add, forgets_broadcasting),
    fault("rows in another order", "square", square, square_of_another_row),
    fault("half precision", "square", square, in_half),
    fault("NaN as zero", "relu", relu, relu_by_where),
    fault("the maximum past NaN", "maximum", maximum, fmax),
    fault("equal as less", "less", less, lambda x, y: x <= y),
    fault("ascent for descent", "apply_gradient_descent", descend, ascend),
    fault("an update of a copy", "apply_gradient_descent", descend, forgets_the_update),
    fault("an update made twice", "apply_add", apply_add, updates_twice),
    fault("1 for numbers known late", "apply_add", apply_add, one_where_late),
    fault("parts in another order", "split", split, splits_in_another_order),
    Fault(
        name="zero for calls that the kernel declines",
        op="square",
        check="lowered_by_numpy",
        says=BITS,
        broken=kernel("square", rows_only, lower=of_rows_or_zero),
        twin=kernel("square", rows_only, lower=lower_of_rows_only),
    ),
    Fault(
        name="other bits than the next kernel's",
        op="square",
        check="lowered_by_numpy",
        says=BITS,
        broken=kernel("square", None, make=next_to_it, lower="next"),
        twin=kernel("square", None, make=single, lower="next"),
    ),
]
if find_spec("agog_cpu_llvm") is not None:  # agog-cpu-llvm's own tests plant a fault in any case
    FAULTS.append(elsewhere("llvm", FAULTS[0]))

test_fault_is_found, test_twin_passes = planted(FAULTS)


def test_whole_text() -> None:
    """The values are those of the op's first sample."""
    (x,) = next(iter(table["square"].samples("float32", np.random.default_rng(DEFAULT_SEED)))).args
    wanted, got = (f"float32 () of strides (): {np.asarray(each(x))!r}" for each in (square, of_1125))
    found = failures(FAULTS[0].broken, ["square"], ["float32"], "lowered_by_numpy")
    sample = "sample: shape (): square of float32 ()\n"
    assert found == {"lowered_by_numpy": f"{BITS}{sample}expected: {wanted}\ngot: {got}"}
