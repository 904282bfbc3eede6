"""Reduction: facts about the ops of agog_core.ops.reduce.reduction."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import (
    FLOATING,
    NUMERIC,
    SUMS,
    Rng,
    constant,
    invalid,
    is_float,
    large,
    nonzero,
    of_size,
    rejected,
    uniform,
    units,
)

_CALLS: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (
    ((), {}),
    ((5,), {}),
    ((2, 3), {}),
    ((2, 3), {"axis": 0}),
    ((2, 3), {"axis": -1, "keepdims": True}),
    ((2, 3, 4), {"axis": (0, 2)}),
    ((2, 3, 4), {"axis": [1, -1], "keepdims": True}),
    ((2, 3, 4, 5), {"axis": (1, 3)}),
    ((2, 3, 4, 5), {"axis": (0, 2)}),
    ((2, 3, 4, 5), {"axis": (3, 0), "keepdims": True}),
    ((2, 3, 4, 5), {"axis": (1, 2)}),
    ((2, 3, 4), {"axis": (1, -2, 1)}),
    ((4, 1, 5), {"axis": 1}),
    ((3,), {"axis": ()}),
    ((67,), {"axis": 0}),
)
_EMPTY: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (
    ((0,), {}),
    ((0, 3), {"axis": 0}),
    ((2, 0), {"axis": -1, "keepdims": True}),
)
_STILL_EMPTY: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (((0, 3), {"axis": 1}), ((2, 0), {"axis": 0}))


def samples(*, empty: bool) -> Callable[[str, Rng], Iterator[Sample]]:
    """Samples of a reduction; ``empty`` tells whether axes without elements may be reduced."""

    def found(dtype: str, rng: Rng) -> Iterator[Sample]:
        for shape, kwargs in (*_CALLS, *(_EMPTY if empty else ()), *_STILL_EMPTY):
            yield Sample(f"shape {shape}, {kwargs}", (uniform(dtype, rng, shape),), kwargs)
        if as_dtype(dtype).is_integer:
            yield Sample("large integers", (large(dtype, rng, (3, 4)),), {"axis": 0})
        if is_float(dtype):
            # A sum in half precision would stop growing long before.
            yield Sample("4096 ones", (constant(dtype, np.ones(4096)),), smooth=False)
            special = constant(dtype, [[1.0, np.nan], [np.inf, 2.0], [-np.inf, np.inf]])
            yield Sample("NaN and infinities along 0", (special,), {"axis": 0}, smooth=False)
            yield Sample("NaN and infinities along 1", (special,), {"axis": 1}, smooth=False)

    return found


FORMS: tuple[tuple[tuple[int | None, ...], dict[str, Any]], ...] = (
    ((None,), {}),
    ((2, None), {"axis": 1}),
    ((None, 3), {"axis": 0}),
    ((3, None), {"axis": 0}),
)
"""The ways in which a reduction can be large."""


def _sum_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    yield from samples(empty=True)(dtype, rng)
    if dtype == "float32":
        # Each addition to a sum that is much larger rounds to the same side.
        tenths = constant(dtype, np.full((70_001, 2), 0.1))
        yield Sample("many tenths", (tenths[:, 0],), smooth=False)
        yield Sample("many tenths along 0", (tenths,), {"axis": 0}, smooth=False)


def _mean_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    yield from samples(empty=is_float(dtype))(dtype, rng)


def _axes(x: Array, axis: Any) -> tuple[int, ...]:
    given = range(x.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(sorted({one % x.ndim for one in given}))


def fold(function: Callable[[list[Any]], Any]) -> Callable[..., Array]:
    """A reference that reduces lists of Python numbers, element by element of the result."""

    def reference(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        axes = _axes(x, axis)
        others = [n for n in range(x.ndim) if n not in axes]
        sizes = [x.shape[n] for n in others]
        groups = x.transpose(*others, *axes).reshape(math.prod(sizes), math.prod(x.shape[n] for n in axes))
        flat = [*map(function, groups.tolist())]
        out = np.array(flat, None if flat else x.dtype).reshape(sizes)
        return np.expand_dims(out, axes) if keepdims else out

    return reference


def _mean(values: list[Any]) -> Any:
    if not values:
        return np.nan
    total = sum(values)
    if isinstance(total, int):  # cut off towards zero
        return abs(total) // len(values) * (1 if total > 0 else -1)
    return total / len(values)


def axis_errors(op: str, dtype: str = "float32") -> tuple[ErrorSample, ...]:
    """The errors of axes that a reduction does not have."""
    x = np.ones((2, 3), dtype)
    return (invalid((x, 2), f"{op}: axis 2 is out of range for a tensor of rank 2; use -2 to 1.", dtype),)


def _prod_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, kwargs in (*_CALLS, *_EMPTY, *_STILL_EMPTY):
        few = math.prod(shape) < 10
        values = nonzero(dtype, rng, shape) if few else uniform(dtype, rng, shape, 0, 1)
        yield Sample(f"shape {shape}, {kwargs}", (values,), kwargs)
    if as_dtype(dtype).is_differentiable:
        yield Sample("one zero", (constant(dtype, [[2.0, 0.0, 3.0], [1.5, 2.5, -2.0]]),), {"axis": 1})
        yield Sample("two zeros", (constant(dtype, [[0.0, 2.0, 0.0], [3.0, -1.5, 2.0]]),))
    if is_float(dtype):
        special = constant(dtype, [[1.0, np.nan], [np.inf, 2.0], [-np.inf, 0.0]])
        yield Sample("NaN and infinities along 0", (special,), {"axis": 0}, smooth=False)
        yield Sample("NaN and infinities along 1", (special,), {"axis": 1}, smooth=False)


def _logsumexp_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    yield from samples(empty=True)(dtype, rng)
    yield Sample("far from zero", (constant(dtype, [[1000.0, 1000.0], [-1000.0, -1001.0]]),), {"axis": 1})
    yield Sample("only -inf", (constant(dtype, [[-np.inf, -np.inf], [-np.inf, 1.0]]),), {"axis": 1}, smooth=False)


def _logsumexp(values: list[float]) -> float:
    if any(value != value for value in values):
        return math.nan
    highest = max(values, default=-math.inf)
    if math.isinf(highest):
        return highest
    return highest + math.log(math.fsum(math.exp(value - highest) for value in values))


def _grad_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, axes, keepdims in (
        *(((), (), False), ((5,), (0,), False), ((2, 3), (0, 1), False), ((2, 3), (0,), False), ((2, 3), (1,), True)),
        *(
            ((2, 3, 4), (0, 2), False),
            ((2, 3, 4), (0, 2), True),
            ((4, 1, 5), (1,), False),
            ((3,), (), False),
            ((2, 3, 4, 5), (1, 3), False),
        ),
        *(
            ((67,), (0,), False),
            ((2, 67), (0,), False),
            ((0, 3), (0,), False),
            ((0, 3), (1,), True),
        ),
    ):
        kept = [1 if n in axes else size for n, size in enumerate(shape)]
        given = kept if keepdims else [size for n, size in enumerate(shape) if n not in axes]
        arguments = {"shape": shape, "axes": axes, "keepdims": keepdims}
        yield Sample(f"{arguments}", (uniform(dtype, rng, tuple(given)),), arguments)


def _grad_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for shape, axes in (((size,), (0,)), ((2, size), (0,)), ((size, 3), (0,))):
        given = uniform(dtype, rng, shape[1:])
        yield Sample(f"shape {shape}", (given,), {"shape": shape, "axes": axes, "keepdims": False})


def _spread(g: Array, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> Array:
    kept = g.reshape([1 if n in axes else size for n, size in enumerate(shape)])
    return np.array(kept + np.zeros(shape, g.dtype))


def _shared(g: Array, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> Array:
    return _spread(g, shape, axes, keepdims) / max(math.prod(shape[axis] for axis in axes), 1)


def _grad_error(op: str) -> ErrorSample:
    return invalid(
        (np.ones(2, np.float32), (2, 3), (0,), True),
        f"{op}: gradients must have shape (1, 3), that of a reduction of shape (2, 3) over axes (0,) with "
        "keepdims=True; got (2,).",
    )


def _bool_error(op: str, allowed: str = NUMERIC) -> ErrorSample:
    return rejected(op, "bool", allowed, (np.ones((2, 3), np.bool_), 0))


def _question(name: str, answer: Callable[[list[Any]], bool]) -> OpInfo:
    return OpInfo(
        name=name,
        samples=samples(empty=True),
        sized=of_size(uniform, *FORMS),
        reference=fold(answer),
        differentiable=False,
        errors=(*axis_errors(name, "bool"), rejected(name, "float32", "bool", (np.ones(2, np.float32),), "bool")),
    )


INFOS = (
    OpInfo(
        name="reduce_sum",
        samples=_sum_samples,
        sized=of_size(uniform, *FORMS),
        reference=fold(lambda values: sum(values)),
        errors=(*axis_errors("reduce_sum"), _bool_error("reduce_sum")),
        tolerances=SUMS,
    ),
    OpInfo(
        name="reduce_mean",
        samples=_mean_samples,
        sized=of_size(uniform, *FORMS),
        reference=fold(_mean),
        errors=(
            *axis_errors("reduce_mean"),
            _bool_error("reduce_mean"),
            invalid(
                (np.ones((0, 3), np.int32), 0),
                "reduce_mean: integers of shape (0, 3) have no mean over no elements (axes (0,)).",
                "int32",
            ),
        ),
        tolerances=SUMS,
    ),
    OpInfo("reduce_sum_grad", _grad_samples, _spread, sized=_grad_sized, errors=(_grad_error("reduce_sum_grad"),)),
    OpInfo("reduce_mean_grad", _grad_samples, _shared, sized=_grad_sized, errors=(_grad_error("reduce_mean_grad"),)),
    OpInfo(
        name="reduce_prod",
        samples=_prod_samples,
        sized=of_size(units, *FORMS),
        reference=fold(lambda values: math.prod(values)),
        errors=(*axis_errors("reduce_prod"), _bool_error("reduce_prod")),
        # Each factor may round once.
        tolerances={**SUMS, "complex64": (2e-5, 2e-6)},
    ),
    OpInfo(
        name="reduce_logsumexp",
        samples=_logsumexp_samples,
        sized=of_size(uniform, *FORMS),
        reference=fold(_logsumexp),
        errors=(*axis_errors("reduce_logsumexp"), _bool_error("reduce_logsumexp", FLOATING)),
    ),
    _question("reduce_all", all),
    _question("reduce_any", any),
)
