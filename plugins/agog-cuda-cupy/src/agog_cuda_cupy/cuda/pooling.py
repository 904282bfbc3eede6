"""Pooling: maxima and means of windows, and their gradients, by the kernels of pooling.cu."""

from __future__ import annotations

from typing import Any

from agog_core.plugin import as_dtype
from agog_cuda_cupy.cuda.modules import Modules, element, number
from agog_cuda_cupy.cuda.sliding import Pairs, Sizes, Windows, windows
from agog_cuda_cupy.cuda.transpose import contiguous

Array = Any


def max_pool(
    modules: Modules, input: Array, *, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes
) -> Any:
    given = windows(input.shape, window, strides, paddings, dilations)
    if given is None or number(input.dtype) is None:
        return NotImplemented
    y = _output(modules, input, given)
    _launch(modules, "max_pool", y, input, given)
    return y


def max_pool_with_argmax(
    modules: Modules, input: Array, *, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes, dtype: Any
) -> Any:
    given, kind = windows(input.shape, window, strides, paddings, dilations), as_dtype(dtype)
    if given is None or number(input.dtype) is None or kind.name not in ("int32", "int64"):
        return NotImplemented
    y = _output(modules, input, given)
    positions = modules.xp.empty(y.shape, kind.numpy_dtype)
    kernel = modules.kernel("pooling", "max_pool_with_argmax", AGOG_NUMBER=number(input.dtype) or "")
    x, is_short = contiguous(modules, input), kind.size == 4
    modules.launch(kernel, y.size, x, y, positions, given.table(len(input)), is_short)
    return y, positions


def max_pool_grad(
    modules: Modules,
    gradient: Array,
    input: Array,
    maxima: Array,
    *,
    window: Sizes,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
) -> Any:
    """See `agog_kernels_xp.conv.pooling_ops`; first where each window's maximum is, then the sums."""
    given = windows(input.shape, window, strides, paddings, dilations)
    if given is None or not _are_alike(gradient, input, maxima):
        return NotImplemented
    xp = modules.xp
    y, taps = xp.empty(input.shape, input.dtype), xp.empty(maxima.shape, "int32")
    x, highest, g = (contiguous(modules, array) for array in (input, maxima, gradient))
    table, kind = given.table(len(input)), element(input.dtype) or ""
    find = modules.kernel("pooling", "first_taps", AGOG_NUMBER=kind)
    modules.launch(find, taps.size, x, highest, taps, table)
    modules.launch(modules.kernel("pooling", "max_pool_grad", AGOG_NUMBER=kind), y.size, g, taps, y, table)
    return y


def max_pool_grad_grad(
    modules: Modules,
    gradient: Array,
    input: Array,
    maxima: Array,
    *,
    window: Sizes,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
) -> Any:
    given = windows(input.shape, window, strides, paddings, dilations)
    if given is None or not _are_alike(gradient, input, maxima):
        return NotImplemented
    xp = modules.xp
    y = xp.empty(maxima.shape, maxima.dtype)
    arrays = [contiguous(modules, array) for array in (gradient, input, maxima)]
    kernel = modules.kernel("pooling", "max_pool_grad_grad", AGOG_NUMBER=element(input.dtype) or "")
    modules.launch(kernel, y.size, *arrays, y, given.table(len(input)))
    return y


def avg_pool(
    modules: Modules, input: Array, *, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes
) -> Any:
    given = windows(input.shape, window, strides, paddings, dilations)
    if given is None or element(input.dtype) is None:
        return NotImplemented
    y = _output(modules, input, given)
    _launch(modules, "avg_pool", y, input, given)
    return y


def avg_pool_grad(
    modules: Modules,
    gradient: Array,
    *,
    input_shape: Sizes,
    window: Sizes,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
) -> Any:
    given = windows(input_shape, window, strides, paddings, dilations)
    if given is None or element(gradient.dtype) is None:
        return NotImplemented
    y = modules.xp.empty(input_shape, gradient.dtype)
    kernel = modules.kernel("pooling", "avg_pool_grad", AGOG_NUMBER=element(gradient.dtype) or "")
    modules.launch(kernel, y.size, contiguous(modules, gradient), y, given.table(len(y)))
    return y


def _are_alike(gradient: Array, input: Array, maxima: Array) -> bool:
    return element(input.dtype) is not None and gradient.dtype == input.dtype == maxima.dtype


def _output(modules: Modules, input: Array, given: Windows) -> Array:
    return modules.xp.empty((len(input), *given.places, given.channels), input.dtype)


def _launch(modules: Modules, name: str, y: Array, input: Array, given: Windows) -> None:
    """Launch a kernel from an input to its output."""
    kernel = modules.kernel("pooling", name, AGOG_NUMBER=number(input.dtype) or "")
    modules.launch(kernel, y.size, contiguous(modules, input), y, given.table(len(input)))
