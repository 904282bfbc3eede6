"""Einsum: contractions of pairs as matrix products, in opt_einsum's order."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

from agog_kernels_xp.arrays import Array


def einsum(xp: Any, *inputs: Array, equation: str) -> Array:
    """Sums of products; half precision is computed in float32."""
    given = inputs[0].dtype
    is_half = given.itemsize == 2 and given.kind not in "iu"
    left = [x.astype("float32") for x in inputs] if is_half else list(inputs)
    for positions, step in _steps(equation, tuple([x.shape for x in left])):
        operands = [left.pop(position) for position in positions]
        left.append(_pair(xp, step, *operands) if len(operands) == 2 else xp.einsum(step, *operands))
    (out,) = left
    if len(inputs) == 1:
        return xp.array(out, given)  # it may be a view
    return out.astype(given, copy=False)


@lru_cache(maxsize=1024)
def _steps(equation: str, shapes: tuple[tuple[int, ...], ...]) -> tuple[tuple[tuple[int, ...], str], ...]:
    """Which operands are taken off the list in which order, and the equation by which they are contracted."""
    if len(shapes) <= 2:
        return (((0,) * len(shapes), equation),)
    from opt_einsum import contract_path  # here, because few programs need it and its import takes long

    _, found = contract_path(equation, *shapes, shapes=True)
    return tuple([(tuple(positions), step) for positions, _, step, *_ in found.contraction_list])


class _Plan(NamedTuple):
    """How two operands become products of matrices. The axes of each are ordered: those that both and the output have,
    then its own, then those that are summed over (for the second operand those, then its own).
    """

    lost: tuple[tuple[int, ...], tuple[int, ...]]
    order: tuple[tuple[int, ...], tuple[int, ...]]
    counts: tuple[int, int, int]
    output: tuple[int, ...]


@lru_cache(maxsize=1024)
def _plan(equation: str) -> _Plan | None:
    """The plan for an equation of two operands; None where there are diagonals, or nothing but sums of squares."""
    given, _, output = equation.partition("->")
    x, y = given.split(",")
    if len(set(x)) < len(x) or len(set(y)) < len(y):
        return None
    shared = [c for c in x if c in y and c in output]
    summed = [c for c in x if c in y and c not in output]
    own_x, own_y = ([c for c in one if c not in other and c in output] for one, other in ((x, y), (y, x)))
    if shared and summed and not own_x and not own_y:
        return None
    lost = [tuple([n for n, c in enumerate(one) if c not in other + output]) for one, other in ((x, y), (y, x))]
    left_x, left_y = ([c for c in one if c in other + output] for one, other in ((x, y), (y, x)))
    return _Plan(
        (lost[0], lost[1]),
        (
            tuple([left_x.index(c) for c in [*shared, *own_x, *summed]]),
            tuple([left_y.index(c) for c in [*shared, *summed, *own_y]]),
        ),
        (len(shared), len(own_x), len(summed)),
        tuple([[*shared, *own_x, *own_y].index(c) for c in output]),
    )


def _pair(xp: Any, equation: str, x: Array, y: Array) -> Array:
    plan = _plan(equation)
    if plan is None:
        return xp.einsum(equation, x, y)
    x, y = (
        (xp.add.reduce(z, lost, z.dtype) if lost else z).transpose(order)
        for z, lost, order in zip((x, y), plan.lost, plan.order, strict=True)
    )
    shared, own, summed = plan.counts
    if not shared and own == summed == 1 and x.ndim == y.ndim == 2:
        return x.dot(y).transpose(plan.output)
    batch, rows, columns = x.shape[:shared], x.shape[shared : shared + own], y.shape[shared + summed :]
    inner = math.prod(y.shape[shared : shared + summed])
    x = x.reshape((*batch, math.prod(rows), inner))
    y = y.reshape((*batch, inner, math.prod(columns)))
    product = (xp.matmul(x, y) if batch else x.dot(y)) if summed else x * y
    return product.reshape((*batch, *rows, *columns)).transpose(plan.output)
