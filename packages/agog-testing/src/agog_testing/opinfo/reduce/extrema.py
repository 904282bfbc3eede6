"""Extrema: facts about the ops of agog_core.ops.reduce.extrema."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.reduce.reduction import FORMS, axis_errors, fold, samples
from agog_testing.opinfo.values import (
    ORDERED,
    Rng,
    constant,
    invalid,
    is_float,
    large,
    of_size,
    rejected,
    ties,
    uniform,
)


def _extremum(choose: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    return lambda values: np.nan if any(value != value for value in values) else choose(values)


def _empty_error(op: str) -> ErrorSample:
    text = f"{op}: no elements to choose from: shape (0, 3) is empty along axes (0,)."
    return invalid((np.ones((0, 3), np.float32), 0), text)


def _bool_error(op: str) -> ErrorSample:
    return rejected(op, "bool", ORDERED, (np.ones((2, 3), np.bool_), 0))


def _grad_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, axes in (
        *(((), ()), ((5,), (0,)), ((2, 3), (0, 1)), ((2, 3), (0,)), ((2, 3, 4), (0, 2)), ((4, 1, 5), (1,))),
        *(((67,), (0,)), ((3,), ()), ((2, 0), (0,))),
    ):
        for name, values in (("ordinary", uniform), ("ties", ties)):
            x = values(dtype, rng, shape)
            out = np.max(x, axis=axes)
            g = uniform(dtype, rng, out.shape)
            yield Sample(f"shape {shape}, axes {axes}, {name}", (g, x, out, axes))
    g, x = constant(dtype, [2.0, 3.0]), constant(dtype, [[1.0, np.nan], [np.inf, np.inf]])
    yield Sample("NaN and infinities", (g, x, constant(dtype, [np.nan, np.inf]), (1,)), smooth=False)


def _shares(g: Array, x: Array, out: Array, axes: tuple[int, ...]) -> Array:
    result = np.zeros(x.shape)
    for position in np.ndindex(*g.shape):
        left = iter(position)
        key = tuple(slice(None) if n in axes else next(left) for n in range(x.ndim))
        hits = x[key] == out[position]
        share = g[position] / np.float64(np.count_nonzero(hits))
        result[key] = np.where(hits, share, 0 * share)  # NaN where nothing equals the extremum, which is NaN
    return result


def _position_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, axis in (((5,), None), ((1,), 0), ((2, 3), 0), ((2, 3), -1), ((2, 3, 4), 1), ((67,), 0), ((2, 0), 0)):
        yield Sample(f"shape {shape}, axis {axis}", (uniform(dtype, rng, shape, -50, 50), axis))
    yield Sample("ties", (ties(dtype, rng, (4, 5)), 1))
    yield Sample("int32", (uniform(dtype, rng, (4, 5)), 1), {"output_type": "int32"})
    if as_dtype(dtype).is_integer:
        greatest = np.iinfo(as_dtype(dtype).numpy_dtype).max
        near = np.array([[greatest - 1, greatest], [greatest - 2, greatest - 1]], as_dtype(dtype).numpy_dtype)
        yield Sample("large neighbours", (near, 1))
    if is_float(dtype):
        yield Sample("infinities", (constant(dtype, [[-np.inf, np.inf], [-np.inf, -np.inf]]), 1))
        special = constant(dtype, [[1.0, np.nan, 3.0, np.nan], [np.inf, 2.0, np.nan, -np.inf], [np.nan] * 4])
        yield Sample("NaN", (special, 1))


def _position(choose: Callable[[list[Any]], Any]) -> Callable[..., Array]:
    return lambda x, axis, output_type="int64": _positions(choose, x, axis)


def _positions(choose: Callable[[list[Any]], Any], x: Array, axis: int | None) -> Array:
    rows = np.moveaxis(x, axis or 0, -1)
    out = np.empty(rows.shape[:-1], np.int64)
    for position in np.ndindex(*out.shape):
        row = rows[position].tolist()
        nan = [at for at, value in enumerate(row) if value != value]
        out[position] = nan[0] if nan else row.index(choose(row))
    return out


def _position_info(name: str, choose: Callable[[list[Any]], Any]) -> OpInfo:
    text = f"{name}: axis 2 is out of range for a tensor of rank 2; use -2 to 1."
    return OpInfo(
        name=name,
        samples=_position_samples,
        sized=of_size(large, ((None,), {"axis": 0}), ((2, None), {"axis": 1}), ((None, 3), {"axis": 0})),
        reference=_position(choose),
        differentiable=False,
        errors=(invalid((np.ones((2, 3), np.float32), 2), text), _empty_error(name), _bool_error(name)),
    )


INFOS = (
    OpInfo(
        name="reduce_max",
        samples=samples(empty=False),
        sized=of_size(uniform, *FORMS),
        reference=fold(_extremum(max)),
        errors=(*axis_errors("reduce_max"), _empty_error("reduce_max"), _bool_error("reduce_max")),
    ),
    OpInfo(
        name="reduce_min",
        samples=samples(empty=False),
        sized=of_size(uniform, *FORMS),
        reference=fold(_extremum(min)),
        errors=(*axis_errors("reduce_min"), _empty_error("reduce_min"), _bool_error("reduce_min")),
    ),
    OpInfo(
        name="reduce_extremum_grad",
        samples=_grad_samples,
        reference=_shares,
        errors=(
            invalid(
                (np.ones(2, np.float32), np.ones((2, 3), np.float32), np.ones(3, np.float32), (0,)),
                "reduce_extremum_grad: gradients and output must have shape (3,) or (1, 3), those of shape (2, 3) "
                "reduced over axes (0,); got (2,) and (3,).",
            ),
        ),
    ),
    _position_info("argmax", max),
    _position_info("argmin", min),
)
