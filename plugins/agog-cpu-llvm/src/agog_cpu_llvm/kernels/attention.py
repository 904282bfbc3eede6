"""Attention: softmax of scaled products of queries and keys, times values, and its gradient.

No more scores are in memory at once than a block of queries has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from agog_core.plugin import load_reference, threads
from agog_cpu_llvm.kernels import attention_layout as layout
from agog_cpu_llvm.registers import register
from agog_cpu_llvm.team import run
from agog_cpu_llvm.units import bits, compiled

LEAST = 1 << 13
"""Scores from which on calls are taken."""

_BLOCK = 1 << 19  # bytes of a block's scores, which are read again from the cache
_HIGHEST = 64  # rows of a block
_CHUNK = 256  # queries that share a copy of keys and values, at least
_TURNS = 4  # for each thread: one that is interrupted leaves more of them to the others

Layout = tuple[tuple[int, ...], tuple[int, ...]]
"""The shape of an array and its strides, in bytes."""


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op, which runs small calls by the reference: to decline them takes longer than some take."""
    reference = load_reference(f"agog_cpu_numpy.kernels:{op}")

    def attention(query: Any, key: Any, value: Any, bias: Any, *, factor: float, is_causal: bool) -> Any:
        if _is_taken(query, key, value):
            found = _attention(dtype, query, key, value, bias, factor, is_causal)
            if found is not None:
                return found
        return reference(query, key, value, bias, factor=factor, is_causal=is_causal)

    def gradient(
        gradients: Any,
        query: Any,
        key: Any,
        value: Any,
        bias: Any,
        *,
        factor: float,
        is_causal: bool,
        sources: tuple[str, ...],
    ) -> Any:
        if _is_taken(query, key, value):
            found = _gradient(dtype, (gradients, query, key, value, bias), factor, is_causal, sources)
            if found is not None:
                return found
        return reference(gradients, query, key, value, bias, factor=factor, is_causal=is_causal, sources=sources)

    return gradient if op.endswith("_grad") else attention


def _is_taken(query: Any, key: Any, value: Any) -> bool:
    scores = math.prod(query.shape[:-1]) * key.shape[-2]
    return bool(scores >= LEAST and query.ndim <= 4 and query.size > 0 and value.size > 0)


def _attention(dtype: str, query: Any, key: Any, value: Any, bias: Any, factor: float, is_causal: bool) -> Any:
    arrays = [*map(_dense, (query, key, value)), _bias(bias, key.shape[-2])]
    layouts = [(array.shape, array.strides) for array in arrays]
    plan = _plan("attention", dtype, query.itemsize, *layouts, is_causal, threads.count())
    if plan is None:
        return None
    out = _like(query, value.shape[-1])
    ways = [_way(each.shape, each.strides, query.shape, query.itemsize) for each in (*arrays, out)]
    addresses = [_address(array) for array in (*arrays, out)]
    run(plan.function, (*addresses, bits(factor), *sum(ways, ()), *plan.words), plan.scratch, plan.turns)
    return out


def _gradient(dtype: str, given: Sequence[Any], factor: float, is_causal: bool, sources: tuple[str, ...]) -> Any:
    query, key, value = given[1:4]
    arrays = [*map(_dense, given[:4]), _bias(given[4], key.shape[-2])]
    layouts = [(array.shape, array.strides) for array in arrays[1:]]
    plan = _plan("attention_grad", dtype, query.itemsize, *layouts, is_causal, threads.count())
    if plan is None:
        return None
    asked = zip(("query", "key", "value"), (query, key, value), strict=True)
    found = {name: _like(array, array.shape[-1]) for name, array in asked if name in sources}
    none = np.empty((1, 1, 0), query.dtype)
    outs = [found.get(name, none) for name in ("query", "key", "value")]
    ways = [_way(each.shape, each.strides, query.shape, query.itemsize) for each in (*arrays, *outs)]
    addresses = [_address(array) for array in (*arrays, *outs)]
    run(plan.function, (*addresses, bits(factor), *sum(ways, ()), *plan.words), plan.scratch, plan.turns)
    return tuple([found[name] for name in sources])


def _dense(array: Any) -> Any:
    """An array whose rows have their elements side by side, and begin at elements."""
    is_so = array.strides[-1] == array.itemsize or array.shape[-1] == 1
    return array if is_so and not any(step % array.itemsize for step in array.strides) else np.ascontiguousarray(array)


def _bias(bias: Any, keys: int) -> Any:
    """What is added to scores, with a number for each key."""
    if not bias.size or bias.shape[-1] == keys:
        return _dense(bias)
    return np.ascontiguousarray(np.broadcast_to(bias, (*bias.shape[:-1], keys)))


def _address(array: Any) -> int:
    return array.ctypes.data if array.size else 0


def _like(array: Any, columns: int) -> Any:
    """Memory for rows of some columns that lie in the order of an array's, such as those of several heads do."""
    empty = load_reference("agog_cpu_numpy.allocator:empty")
    shape = (*array.shape[:-1], columns)
    if array.ndim == 4 and array.strides[1] < array.strides[2]:
        batch, heads, rows, _ = shape
        return empty((batch, rows, heads, columns), array.dtype).transpose(0, 2, 1, 3)
    return empty(shape, array.dtype)


def _way(shape: tuple[int, ...], strides: tuple[int, ...], full: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """How an array lies: elements from one batch, head and row to the next; 0 where it is repeated."""
    steps = [0 if size == 1 else step // itemsize for size, step in zip(shape, strides, strict=True)][:-1]
    return tuple(([0] * 3 + steps)[-3:])


class _Plan(NamedTuple):
    """What `run` is given, behind the addresses and how the arrays lie."""

    function: int
    words: tuple[int, ...]
    scratch: int
    turns: int


@lru_cache(maxsize=1024)
def _plan(
    entry: str,
    dtype: str,
    itemsize: int,
    query: Layout,
    key: Layout,
    value: Layout,
    bias: Layout,
    is_causal: bool,
    threads: int,
) -> _Plan | None:
    wide = register(dtype)
    height, _ = layout.tile(wide)
    *batch, queries, depth = query[0]
    keys, width = value[0][-2:]
    heads, sizes = math.prod(batch), layout.Sizes(queries, keys, depth, width)
    pitches = layout.pitches(wide, sizes)
    rows = max(height, min(_HIGHEST, _BLOCK // (wide.itemsize * pitches[0])) // height * height)
    rows = min(rows, -(-queries // height) * height)
    chunk = queries
    if entry == "attention":  # gradients of keys and values are sums over all queries
        while heads * -(-queries // chunk) < _TURNS * threads and chunk >= 2 * _CHUNK:
            chunk = -(-chunk // (2 * rows)) * rows
    chunks = -(-queries // chunk)
    places, scratch = layout.places(wide, entry, sizes, rows)
    words = (batch[-1] if batch else 1, *sizes, rows, chunk, chunks, heads * chunks, int(is_causal))
    return _Plan(compiled("attention", dtype)[entry], (*words, *pitches, *places), scratch, heads * chunks)
