"""Convolution: forward convolutions of one to three axes, with a bias and an activation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from agog_core.plugin import load_reference, threads
from agog_cpu_llvm.kernels import convolution_plan, depthwise
from agog_cpu_llvm.kernels.convolution_plan import Pairs, Plan, Shape, plan, steps
from agog_cpu_llvm.registers import BYTES, computed, register
from agog_cpu_llvm.team import run
from agog_cpu_llvm.units import bits, compiled

_INFINITY, _LOWEST = bits(math.inf), bits(-math.inf)
# What an activation is to the compiled code: between which numbers it keeps its inputs, and which curve it is.
_ACTIVATIONS = {
    "linear": (_LOWEST, _INFINITY, 0),
    "relu": (bits(0.0), _INFINITY, 0),
    "relu6": (bits(0.0), bits(6.0), 0),
    "sigmoid": (_LOWEST, _INFINITY, 1),
    "tanh": (_LOWEST, _INFINITY, 2),
}


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op, which returns a new array or fills ``out``; it runs small calls by the reference at once."""
    reference = load_reference(f"agog_cpu_numpy.kernels:{op}")

    def convolution(input: Any, filter: Any, *, out: Any = None, **form: Any) -> Any:
        if input.size * filter.size < convolution_plan.LEAST:
            return reference(input, filter, **form) if out is None else NotImplemented
        if form["groups"] > 1 and filter.shape[-2] == 1:
            return depthwise.convolution(dtype, input, filter, out=out, **form)
        return convolve(dtype, input, filter, None, out, "linear", **form)

    def convolution_bias(input: Any, filter: Any, bias: Any, *, activation: str, out: Any = None, **form: Any) -> Any:
        if input.size * filter.size < convolution_plan.LEAST:
            return reference(input, filter, bias, activation=activation, **form) if out is None else NotImplemented
        if form["groups"] > 1 and filter.shape[-2] == 1:
            return _depthwise_bias(dtype, input, filter, bias, activation, out, form)
        return convolve(dtype, input, filter, bias, out, activation, **form)

    return convolution if op == "convolution" else convolution_bias


def _depthwise_bias(
    dtype: str, input: Any, filter: Any, bias: Any, activation: str, out: Any, form: dict[str, Any]
) -> Any:
    result = depthwise.convolution(dtype, input, filter, out=out, **form)
    if result is NotImplemented:
        return NotImplemented
    sums = result if out is None else out
    sums += bias
    if activation != "linear":
        sums[...] = load_reference(f"agog_cpu_numpy.kernels:{activation}")(sums)
    return result


def convolve(
    dtype: str,
    input: Any,
    filter: Any,
    bias: Any,
    out: Any,
    activation: str,
    strides: Shape,
    paddings: Pairs,
    dilations: Shape,
    groups: int,
) -> Any:
    """A convolution as a new array, or in the array ``out``, and then None; NotImplemented where it is not taken."""
    apart = steps(out)
    if apart is None:
        return NotImplemented
    way = plan(dtype, input.shape, filter.shape, strides, paddings, dilations, groups, threads.count(), apart)
    if way is None:
        return NotImplemented
    source = np.ascontiguousarray(input)  # also of channels first; the reference copies each window of them
    result = np.empty(way.shape, input.dtype) if out is None else out
    weights = _packed(filter, dtype, way) if way.packing else _aligned(filter)
    kind = computed(dtype)
    added = np.zeros(way.shape[-1], kind) if bias is None else np.ascontiguousarray(bias, kind)
    addresses = [array.ctypes.data for array in (source, weights, added, result)]
    run(
        _entries(dtype, *way.tile)["forward"],
        (*addresses, *way.sizes, *_ACTIVATIONS[activation]),
        way.scratch,
        way.turns,
    )
    return result if out is None else None


def _packed(filter: Any, dtype: str, way: Plan) -> Any:
    """The filter with each block of columns behind the other."""
    rows, _columns, groups, blocks = way.packing
    packed = _memory(groups * blocks * rows * way.tile[1] * register(dtype).count, computed(dtype))
    filter = np.ascontiguousarray(filter)
    words = filter.ctypes.data, packed.ctypes.data, *way.packing
    run(_entries(dtype, *way.tile)["pack"], words, most=groups * blocks)
    return packed


def _aligned(array: Any) -> Any:
    """An array as it lies, or a copy that begins at a cache line."""
    if array.flags.c_contiguous and array.ctypes.data % 64 == 0:
        return array
    copy = _memory(array.size, array.dtype.name).reshape(array.shape)
    copy[...] = array
    return copy


def _memory(size: int, dtype: str) -> Any:
    """An array that begins at a cache line."""
    count = size * BYTES[dtype]
    memory = np.empty(count + 64, np.uint8)
    first = -memory.ctypes.data % 64
    return memory[first : first + count].view(dtype)


@cache
def _entries(dtype: str, pixels: int, vectors: int) -> Mapping[str, int]:
    """The addresses of the compiled code with tiles of a size."""
    return compiled("convolution", dtype, pixels=pixels, vectors=vectors)
