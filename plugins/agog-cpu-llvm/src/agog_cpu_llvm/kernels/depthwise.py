"""Depthwise: convolutions of one to three axes whose groups have one channel each."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from agog_cpu_llvm.kernels.convolution_plan import Pairs, Shape, over_three_axes, packed_steps, steps
from agog_cpu_llvm.registers import computed
from agog_cpu_llvm.team import run
from agog_cpu_llvm.units import compiled

_TURNS = 16  # into which a few images are divided at least


def convolution(
    dtype: str,
    input: Any,
    filter: Any,
    *,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    groups: int,
    out: Any = None,
) -> Any:
    """A convolution as a new array, or in the array ``out``, and then None; NotImplemented where it is not taken."""
    if len(input.shape) > 5 or 0 in (*input.shape, *filter.shape):
        return NotImplemented
    kind = computed(dtype)
    apart = steps(out)
    is_direct = apart is not None and out is not None and out.dtype == kind
    plan = _plan(input.shape, filter.shape, strides, paddings, dilations, (apart or ()) if is_direct else ())
    if plan is None:
        return NotImplemented
    sizes, turns, shape = plan
    x, weights = repeated(input, filter.shape[-1], kind), np.ascontiguousarray(filter, kind)
    result = out if is_direct else np.empty(shape, kind)
    addresses = [array.ctypes.data for array in (x, weights, result)]
    run(compiled("depthwise", kind)["depthwise"], (*addresses, *sizes), most=turns)
    if out is None:
        return result.astype(dtype, copy=False)
    if not is_direct:
        out[...] = result
    return None


def repeated(input: Any, channels: int, dtype: str) -> Any:
    """The input in a dtype, C-contiguous, with each of its channels as often as it is a source."""
    if input.shape[-1] < channels:
        input = np.repeat(input, channels // input.shape[-1], -1)
    return np.ascontiguousarray(input, dtype)


@lru_cache(maxsize=1024)
def _plan(
    input: Shape, filter: Shape, strides: Shape, paddings: Pairs, dilations: Shape, steps: Shape
) -> tuple[Shape, int, Shape] | None:
    """The sizes as words, the number of turns and the shape of the result; None where there is nothing to compute."""
    axes = list(zip(input[1:-1], filter, strides, paddings, dilations, strict=False))
    places = [(size + low + high - (n - 1) * rate - 1) // step + 1 for size, n, step, (low, high), rate in axes]
    if min(places) < 1:
        return None
    ones = (1,) * (3 - len(axes))
    planes, rows, columns = *ones, *places
    depth, height, width = *ones, *input[1:-1]
    before = [*(0 for _ in ones), *(low for low, _ in paddings)]
    step, reach = strides[-1], (filter[-3] - 1) * dilations[-1]
    first = min(columns, -(-before[2] // step))
    end = max(first, min(columns, (width - 1 - reach + before[2]) // step + 1))
    images = input[0] * planes
    bands = min(rows, max(1, _TURNS // images))
    band = -(-rows // bands)
    bands = -(-rows // band)
    sizes = (
        *(images * bands, planes, rows, columns, bands, band, depth, height, width, filter[-1]),
        *(*ones, *filter[:-2], *ones, *strides, *ones, *dilations, *before, first, end),
        *over_three_axes(steps or packed_steps(tuple(places), filter[-1])),
    )
    return sizes, images * bands, (input[0], *places, filter[-1])
