"""Attention: products of matrices around the kernels of softmax.cu for its weights, in float32 for half precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_cuda_cupy.cuda.modules import Modules, element
from agog_cuda_cupy.cuda.transpose import contiguous

Array = Any

_ROWS = 4  # of a block; each is one warp's


def dot_product_attention(
    modules: Modules, query: Array, key: Array, value: Array, bias: Array, *, factor: float, is_causal: bool
) -> Any:
    if not _is_served(query, key, value, bias):
        return NotImplemented
    weights = _weights(modules, _wide(query), _wide(key), bias, factor, is_causal)
    return modules.xp.matmul(weights, _wide(value)).astype(query.dtype, copy=False)


def dot_product_attention_grad(
    modules: Modules,
    gradients: Array,
    query: Array,
    key: Array,
    value: Array,
    bias: Array,
    *,
    factor: float,
    is_causal: bool,
    sources: tuple[str, ...],
) -> Any:
    if not _is_served(query, key, value, bias, gradients):
        return NotImplemented
    xp, g, q, k = modules.xp, _wide(gradients), _wide(query), _wide(key)
    weights = _weights(modules, q, k, bias, factor, is_causal)
    slopes = contiguous(modules, xp.matmul(g, _wide(value).swapaxes(-1, -2)))
    _launch(modules, "attention_slopes", slopes, slopes, weights, numbers=(float(factor),))
    found: dict[str, Callable[[], Array]] = {
        "query": lambda: xp.matmul(slopes, k),
        "key": lambda: xp.matmul(slopes.swapaxes(-1, -2), q),
        "value": lambda: xp.matmul(weights.swapaxes(-1, -2), g),
    }
    return tuple([found[source]().astype(query.dtype, copy=False) for source in sources])


def _is_served(query: Array, key: Array, *others: Array) -> bool:
    is_alike = all(array.dtype == query.dtype for array in (key, *others))
    return element(query.dtype) is not None and is_alike and bool(query.size) and bool(key.size)


def _wide(x: Array) -> Array:
    return x.astype("float32") if x.dtype.itemsize == 2 else x


def _weights(modules: Modules, query: Array, key: Array, bias: Array, factor: float, is_causal: bool) -> Array:
    scores = contiguous(modules, modules.xp.matmul(query, key.swapaxes(-1, -2)))
    if bias.size:
        scores *= scores.dtype.type(factor)
        scores += _wide(bias)
        factor = 1
    _launch(modules, "attention_weights", scores, scores, numbers=(query.shape[-2], float(factor), bool(is_causal)))
    return scores


def _launch(modules: Modules, name: str, like: Array, *arrays: Array, numbers: tuple[Any, ...]) -> None:
    """Launch a kernel with one warp for each row of an array."""
    width = like.shape[-1]
    rows = like.size // width
    kernel = modules.kernel("softmax", name, AGOG_NUMBER=element(like.dtype) or "")
    kernel((-(-rows // _ROWS),), (32, _ROWS), (*arrays, rows, width, *numbers))
