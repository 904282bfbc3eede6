"""Products: of matrices, of batches of them, and with a bias and an activation.

Small products and those of few rows or columns are the reference's, by BLAS, which begins sooner.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from agog_core.plugin import load_reference, threads
from agog_cpu_llvm.kernels import products_layout
from agog_cpu_llvm.registers import Register, height, register, widest
from agog_cpu_llvm.team import run
from agog_cpu_llvm.units import bits, compiled

# NumPy's products warn of no overflow here, as ops do not; NumPy in the user's program does.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"agog_cpu_llvm\b")

LEAST = 1 << 21
"""Multiplications from which on products are taken."""

FEWEST = 1024
"""Elements of the left operand from which on the size of a product is looked at."""

NARROWEST = 24
"""Rows and columns of a result that is taken: those of less are a matter of memory, not of arithmetic."""

_LIMITS = {
    name: (bits(floor), bits(ceiling))
    for name, floor, ceiling in (("linear", -math.inf, math.inf), ("relu", 0.0, math.inf), ("relu6", 0.0, 6.0))
}
_BLOCK = 512  # rows and columns at most, so that operands and sums stay in the second cache
_TURNS = 4  # for each thread: one that is interrupted leaves more of them to the others
_LARGE = 1 << 22  # multiplications of a turn, from which on it does not matter that operands are copied more often

Layout = tuple[tuple[int, ...], tuple[int, ...]]
"""The shape of an array and its strides, in bytes."""


def make(op: str, dtype: str, device: str) -> Callable[..., Any]:
    """The kernel of an op, which runs small products by the reference: to decline them takes longer than some take."""
    reference = load_reference(f"agog_cpu_numpy.kernels:{op}")

    def matmul(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
        if a.size < FEWEST:
            if a.ndim == 2 and b.ndim == 2:  # as the reference does it, without a call of it
                return (a.T if transpose_a else a).dot(b.T if transpose_b else b)
            return reference(a, b, transpose_a=transpose_a, transpose_b=transpose_b)
        left, right = a.swapaxes(-1, -2) if transpose_a else a, b.swapaxes(-1, -2) if transpose_b else b
        product = _product(dtype, left, right, None, "linear")
        return reference(a, b, transpose_a=transpose_a, transpose_b=transpose_b) if product is None else product

    def matmul_bias(a: Any, b: Any, bias: Any, *, activation: str) -> Any:
        if a.size < FEWEST or activation not in _LIMITS or bias.strides[0] != bias.itemsize:
            return reference(a, b, bias, activation=activation)
        product = _product(dtype, a, b, bias, activation)
        return reference(a, b, bias, activation=activation) if product is None else product

    return matmul if op == "matmul" else matmul_bias


def lower_matmul(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    """The steps of small products, as the reference has them; large ones stay calls of the kernel."""
    if is_taken(a.shape[::-1] if transpose_a else a.shape, b.shape[-2 if transpose_b else -1]):
        raise NotImplementedError("a product of this size has no steps")
    return load_reference("agog_cpu_numpy.lowering:matmul")(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


def lower_matmul_bias(a: Any, b: Any, bias: Any, *, activation: str) -> Any:
    """The same with a bias and an activation."""
    if is_taken(a.shape, b.shape[-1]):
        raise NotImplementedError("a product of this size has no steps")
    return load_reference("agog_cpu_numpy.lowering:matmul_bias")(a, b, bias, activation=activation)


def is_taken(left: tuple[int, ...], columns: int) -> bool:
    """Whether the size of a product is one that is taken."""
    size = math.prod(left)
    return size >= FEWEST and size * columns >= LEAST and left[-2] >= NARROWEST and columns >= NARROWEST


def _product(dtype: str, a: Any, b: Any, bias: Any, activation: str) -> Any:
    """activation(a @ b + bias), or None where BLAS computes it."""
    if a.size * b.shape[-1] < LEAST:
        return None
    plan = _plan(dtype, a.itemsize, (a.shape, a.strides), (b.shape, b.strides), threads.count())
    if plan is None:
        return None
    out = _empty(plan.shape, a.dtype)
    arrays = id(a), id(b), 0 if bias is None else id(bias), id(out)
    run(plan.function, (*arrays, *plan.words, *_LIMITS[activation]), plan.scratch, plan.turns)
    return out


def _empty(shape: tuple[int, ...], dtype: Any) -> Any:
    """Memory of the device's; this kernel has no `out`, as each small call would ask how large its result is."""
    return load_reference("agog_cpu_numpy.allocator:empty")(shape, dtype)


class _Plan(NamedTuple):
    """How matrices of some layouts are multiplied: the shape of the result, and what `run` is given."""

    shape: tuple[int, ...]
    function: int
    words: tuple[int, ...]
    scratch: int
    turns: int


@lru_cache(maxsize=1024)
def _plan(dtype: str, itemsize: int, left: Layout, right: Layout, threads: int) -> _Plan | None:
    """The plan, or None for matrices that are narrow or lie askew."""
    rows, depth, columns = left[0][-2], left[0][-1], right[0][-1]
    batch = np.broadcast_shapes(left[0][:-2], right[0][:-2])
    shape, axes = (*batch, rows, columns), _axes(batch, (left, right))
    if not is_taken(left[0], columns):
        return None
    while axes and axes[-1][1:] == (rows * left[1][-2], 0):  # all matrices are multiplied by the same: they are one
        rows *= axes.pop()[0]
    if len(axes) > 2:
        return None
    sizes, *steps = zip(*[(1, 0, 0)] * (2 - len(axes)), *axes, strict=True)
    ways = [_way(layout, itemsize, along) for layout, along in zip((left, right), steps, strict=True)]
    if not all(ways):
        return None
    block = _block(register(dtype), (rows, columns), depth, math.prod(sizes), threads)
    blocks = -(-rows // block[0]), -(-columns // block[1])
    turns, parts = math.prod((*sizes, *blocks)), -(-depth // products_layout.DEPTH)
    words = (rows, columns, depth, *ways[0], *ways[1], sizes[1], *block, *blocks, -(-depth // parts), turns)
    function, scratch = compiled("products", dtype)["product"], products_layout.scratch_bytes(register(dtype), *block)
    return _Plan(shape, function, words, scratch, turns)


def _axes(batch: tuple[int, ...], layouts: Sequence[Layout]) -> list[tuple[int, ...]]:
    """The axes of a batch, as few as can be: the size of each, and the bytes from one matrix of each operand to the
    next."""
    axes: list[tuple[int, ...]] = []
    for axis, size in enumerate(batch, -len(batch)):
        steps = [
            strides[axis - 2] if len(shape) - 2 >= -axis and shape[axis - 2] > 1 else 0 for shape, strides in layouts
        ]
        if size > 1:
            if axes and all(outer == step * size for outer, step in zip(axes[-1][1:], steps, strict=True)):
                size *= axes.pop()[0]
            axes.append((size, *steps))
    return axes


def _way(layout: Layout, itemsize: int, steps: Sequence[int]) -> tuple[int, ...]:
    """How matrices lie, in elements: from a row, or column, to the next; whether it is columns; and from one matrix to
    the next along both axes. Nothing where neither rows nor columns have their elements side by side."""
    (rows, columns), (row, column) = layout[0][-2:], layout[1][-2:]
    if any(step % itemsize for step in (row, column, *steps)):
        return ()
    if column == itemsize or columns == 1:
        return row // itemsize, 0, *[step // itemsize for step in steps]
    if row == itemsize or rows == 1:
        return column // itemsize, 1, *[step // itemsize for step in steps]
    return ()


def _block(register: Register, sizes: tuple[int, int], depth: int, count: int, threads: int) -> tuple[int, int]:
    """The rows and columns of a block: as many as fit into the cache, but such that each thread gets some turns."""
    across = widest(register)
    units = height(register, across), across * register.count
    block = [_share(size, -(-size // _BLOCK), unit) for size, unit in zip(sizes, units, strict=True)]

    def turns() -> int:
        return count * math.prod([-(-size // share) for size, share in zip(sizes, block, strict=True)])

    while threads > 1 and turns() < threads * _TURNS:
        axis = int(block[1] >= block[0])
        half = _share(block[axis], 2, units[axis])
        if half == block[axis] or (turns() >= threads and math.prod(block) * depth < 2 * _LARGE):
            break
        block[axis] = half
    return block[0], block[1]


def _share(size: int, parts: int, unit: int) -> int:
    """The size of equal parts, in whole units."""
    return -(-size // (parts * unit)) * unit
