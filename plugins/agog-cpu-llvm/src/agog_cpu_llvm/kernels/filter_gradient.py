"""Filter gradient: the gradient of a convolution with respect to its filter, over one to three axes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from agog_cpu_llvm.kernels.depthwise import repeated
from agog_cpu_llvm.kernels.filter_gradient_plan import Pairs, Shape, plan
from agog_cpu_llvm.registers import computed
from agog_cpu_llvm.team import run
from agog_cpu_llvm.units import compiled


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of the op, which returns a new array, or fills the array ``out``."""
    return partial(_filter_gradient, dtype)


def _filter_gradient(
    dtype: str,
    input: Any,
    gradient: Any,
    *,
    filter_shape: Shape,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    groups: int,
    out: Any = None,
) -> Any:
    if groups > 1 and filter_shape[-2] == 1:
        input = repeated(input, filter_shape[-1], input.dtype)
    way = plan(dtype, input.shape, gradient.shape, filter_shape, strides, paddings, dilations, groups)
    if way is None:
        return NotImplemented
    kind = computed(dtype)
    x, g = np.ascontiguousarray(input, kind), np.ascontiguousarray(gradient, kind)
    a, b = (g, x) if way.is_swapped else (x, g)
    is_direct = out is not None and way.parts == 1 and out.dtype == kind and not way.is_swapped
    sums = out if is_direct else np.empty((way.parts, *filter_shape), kind)
    addresses = [array.ctypes.data for array in (a, b, sums, way.table)]
    run(_entry(kind, way.shared, way.vectors), (*addresses, *way.sizes), way.scratch, way.turns)
    if is_direct:
        return None
    total = sums[0] if way.parts == 1 else np.add.reduce(sums, 0)
    if way.is_swapped:
        total = total.reshape(*filter_shape[:-2], *filter_shape[:-3:-1]).swapaxes(-1, -2)
    if out is None:
        return np.ascontiguousarray(total, dtype)
    out[...] = total
    return None


@cache
def _entry(dtype: str, shared: int, vectors: int) -> int:
    """The address of the compiled code."""
    return compiled("filter_gradient", dtype, shared=shared, vectors=vectors)["filter_gradient"]
