"""Input gradient: the gradient of a convolution with respect to its input, which is also a transposed convolution.

With a stride, every stride-th pixel along an axis has the same places of the window. These pixels, a phase, are a
convolution of the output's gradient with those places, turned around, and a stride of 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np

from agog_core.plugin import threads
from agog_cpu_llvm.kernels import convolution, depthwise
from agog_cpu_llvm.kernels.convolution_plan import Pairs, Shape, plan, steps
from agog_cpu_llvm.kernels.filter_transpose import transpose
from agog_cpu_llvm.registers import computed


@dataclass(frozen=True)
class _Phase:
    """The pixels of a phase, along one axis or several: a convolution of a part of the gradient.

    Args:
        pixels: which they are of the input.
        places: those of the window, turned around.
        taken: the part of the output's gradient.
    """

    pixels: tuple[slice, ...]
    places: tuple[slice, ...]
    taken: tuple[slice, ...]
    paddings: Pairs
    dilations: Shape


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of the op, which returns a new array, or fills the array ``out``."""
    return partial(_input_gradient, dtype)


def _input_gradient(
    dtype: str,
    gradient: Any,
    filter: Any,
    *,
    input_shape: Shape,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    groups: int,
    out: Any = None,
) -> Any:
    if len(input_shape) > 5 or 0 in (*gradient.shape, *filter.shape, *input_shape):
        return NotImplemented
    is_depthwise = groups > 1 and filter.shape[-2] == 1
    channels = gradient.shape[-1] if is_depthwise else input_shape[-1]  # some for each of the input's, if depthwise
    kept = gradient.dtype
    phases = _phases(input_shape[1:-1], gradient.shape[1:-1], filter.shape[:-2], strides, paddings, dilations)
    kind = computed(dtype) if channels > input_shape[-1] else dtype
    if kind != dtype:  # the outputs of a channel are added before they are rounded
        gradient, filter = gradient.astype(kind), filter.astype(kind)
    result = np.empty(input_shape, kept) if out is None else out
    calls = []
    for phase in phases:
        g = np.ascontiguousarray(gradient[(slice(None), *phase.taken)])
        weights = (
            np.ascontiguousarray(filter[phase.places]) if is_depthwise else transpose(filter, phase.places, groups)
        )
        pixels = result[(slice(None), *phase.pixels)]
        form = (1,) * len(strides), phase.paddings, phase.dilations, channels if is_depthwise else groups
        apart = steps(pixels)
        if apart is None:
            return NotImplemented
        if not is_depthwise and plan(kind, g.shape, weights.shape, *form, threads.count(), apart) is None:
            return NotImplemented
        attributes = dict(zip(("strides", "paddings", "dilations", "groups"), form, strict=True))
        calls.append((g, weights, pixels, attributes))
    if len(phases) < math.prod(map(min, strides, input_shape[1:-1])):
        result[...] = 0
    for g, weights, pixels, attributes in calls:
        if channels == input_shape[-1]:
            _forward(kind, g, weights, pixels, attributes)
        else:
            part = _forward(kind, g, weights, None, attributes)
            several = part.reshape(*part.shape[:-1], input_shape[-1], -1)
            pixels[...] = sum(several[..., n] for n in range(several.shape[-1]))  # NumPy's sum of a short axis is slow
    return result if out is None else None


def _forward(dtype: str, g: Any, weights: Any, out: Any, attributes: dict[str, Any]) -> Any:
    if attributes["groups"] > 1 and weights.shape[-2] == 1:
        return depthwise.convolution(dtype, g, weights, out=out, **attributes)
    return convolution.convolve(dtype, g, weights, None, out, "linear", **attributes)


@lru_cache(maxsize=1024)
def _phases(
    sizes: Shape, places: Shape, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape
) -> tuple[_Phase, ...]:
    """The phases of all axes together, without those that no window reaches."""
    axes = zip(sizes, places, window, strides, paddings, dilations, strict=True)
    along = [_phases_along(size, count, n, step, low, rate) for size, count, n, step, (low, _), rate in axes]
    phases = []
    for several in product(*along):
        fields = zip(*((p.pixels, p.places, p.taken, p.paddings, p.dilations) for p in several), strict=True)
        phases.append(_Phase(*(sum(field, ()) for field in fields)))
    return tuple(phases)


def _phases_along(size: int, count: int, window: int, stride: int, low: int, dilation: int) -> list[_Phase]:
    """The phases along one axis."""
    apart = stride // math.gcd(stride, dilation)  # places of the window that a phase has
    phases = []
    for pixel in range(min(stride, size)):
        first = next((n for n in range(min(apart, window)) if (pixel + low - n * dilation) % stride == 0), None)
        if first is None:
            continue
        taps, rate = -(-(window - first) // apart), apart * dilation // stride
        reach, pixels = (taps - 1) * rate, -(-(size - pixel) // stride)
        before = reach - (pixel + low - first * dilation) // stride
        after = pixels - count - before + reach
        begin, end = max(0, -before), count - max(0, -after)
        if begin >= end:
            continue
        turned = range(first, window, apart)[::-1]
        stop = turned[-1] - apart
        phases.append(
            _Phase(
                (slice(pixel, None, stride),),
                (slice(turned[0], stop if stop >= 0 else None, -apart),),
                (slice(begin, end),),
                ((max(0, before), max(0, after)),),
                (rate,),
            )
        )
    return phases
