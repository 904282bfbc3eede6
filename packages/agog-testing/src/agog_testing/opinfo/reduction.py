"""Facts about the ops of agog_core.ops.reduction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_core.errors import InvalidArgumentError
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import ORDERED, SUMS, Rng, constant, is_float, rejected, ties, uniform

_CALLS: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (
    ((), {}),
    ((5,), {}),
    ((2, 3), {}),
    ((2, 3), {"axis": 0}),
    ((2, 3), {"axis": -1, "keepdims": True}),
    ((2, 3, 4), {"axis": (0, 2)}),
    ((2, 3, 4), {"axis": [1, -1], "keepdims": True}),
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


def _samples(*, empty: bool) -> Callable[[str, Rng], Iterator[Sample]]:
    def samples(dtype: str, rng: Rng) -> Iterator[Sample]:
        for shape, kwargs in (*_CALLS, *(_EMPTY if empty else ()), *_STILL_EMPTY):
            yield Sample(f"shape {shape}, {kwargs}", (uniform(dtype, rng, shape),), kwargs)
        if is_float(dtype):
            # A sum in half precision would stop growing long before.
            yield Sample("4096 ones", (constant(dtype, np.ones(4096)),), smooth=False)
            special = constant(dtype, [[1.0, np.nan], [np.inf, 2.0], [-np.inf, np.inf]])
            yield Sample("NaN and infinities along 0", (special,), {"axis": 0}, smooth=False)
            yield Sample("NaN and infinities along 1", (special,), {"axis": 1}, smooth=False)

    return samples


def _mean_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    yield from _samples(empty=is_float(dtype))(dtype, rng)


def _axes(x: Array, axis: Any) -> tuple[int, ...]:
    given = range(x.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(sorted(one % x.ndim for one in given))


def _fold(function: Callable[[list[Any]], Any]) -> Callable[..., Array]:
    """A reference that reduces a list of Python numbers, element by element of the result."""

    def reference(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        axes = _axes(x, axis)
        kept = [1 if n in axes else size for n, size in enumerate(x.shape)]
        groups: dict[tuple[int, ...], list[Any]] = {position: [] for position in np.ndindex(*kept)}
        for position in np.ndindex(*x.shape):
            groups[tuple(0 if n in axes else i for n, i in enumerate(position))].append(x[position].item())
        flat = [function(group) for group in groups.values()]
        out = np.array(flat, None if flat else x.dtype).reshape(kept)
        return out if keepdims else out.reshape([size for n, size in enumerate(kept) if n not in axes])

    return reference


def _mean(values: list[Any]) -> Any:
    if not values:
        return np.nan
    mean = sum(values) / len(values)
    return mean if isinstance(values[0], float) else int(mean)


def _extremum(choose: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    return lambda values: np.nan if any(value != value for value in values) else choose(values)


def _axis_error(op: str, dtype: str = "float32") -> tuple[ErrorSample, ...]:
    x = np.ones((2, 3), dtype)
    return (
        ErrorSample(
            (x, 2),
            {},
            InvalidArgumentError,
            f"{op}: axis 2 is out of range for a tensor of rank 2; use -2 to 1.",
            dtype,
        ),
        ErrorSample(
            (x, (0, 0)),
            {},
            InvalidArgumentError,
            f"{op}: axis (0, 0) names an axis of a rank 2 tensor twice; name each once.",
            dtype,
        ),
    )


def _empty_error(op: str) -> ErrorSample:
    text = f"{op}: no elements to choose from: shape (0, 3) is empty along axes (0,)."
    return ErrorSample((np.ones((0, 3), np.float32), 0), {}, InvalidArgumentError, text)


def _bool_error(op: str) -> ErrorSample:
    return rejected(op, "bool", ORDERED, (np.ones((2, 3), np.bool_), 0))


def _argmax_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, axis in (((5,), None), ((1,), 0), ((2, 3), 0), ((2, 3), -1), ((2, 3, 4), 1), ((67,), 0), ((2, 0), 0)):
        yield Sample(f"shape {shape}, axis {axis}", (uniform(dtype, rng, shape, -50, 50), axis))
    yield Sample("ties", (ties(dtype, rng, (4, 5)), 1))
    yield Sample("int32", (uniform(dtype, rng, (4, 5)), 1), {"output_type": "int32"})
    if is_float(dtype):
        yield Sample("infinities", (constant(dtype, [[-np.inf, np.inf], [-np.inf, -np.inf]]), 1))


def _argmax(x: Array, axis: int | None, output_type: str = "int64") -> Array:
    rows = np.moveaxis(x, axis or 0, -1)
    out = np.empty(rows.shape[:-1], np.int64)
    for position in np.ndindex(*out.shape):
        row = rows[position].tolist()
        out[position] = row.index(max(row))
    return out


INFOS = (
    OpInfo(
        name="reduce_sum",
        samples=_samples(empty=True),
        reference=_fold(lambda values: sum(values)),
        errors=(*_axis_error("reduce_sum"), _bool_error("reduce_sum")),
        tolerances=SUMS,
    ),
    OpInfo(
        name="reduce_mean",
        samples=_mean_samples,
        reference=_fold(_mean),
        errors=(
            *_axis_error("reduce_mean"),
            _bool_error("reduce_mean"),
            ErrorSample(
                (np.ones((0, 3), np.int32), 0),
                {},
                InvalidArgumentError,
                "reduce_mean: integers of shape (0, 3) have no mean over no elements (axes (0,)).",
                "int32",
            ),
        ),
        tolerances=SUMS,
    ),
    OpInfo(
        name="reduce_max",
        samples=_samples(empty=False),
        reference=_fold(_extremum(max)),
        errors=(*_axis_error("reduce_max"), _empty_error("reduce_max"), _bool_error("reduce_max")),
    ),
    OpInfo(
        name="reduce_min",
        samples=_samples(empty=False),
        reference=_fold(_extremum(min)),
        errors=(*_axis_error("reduce_min"), _empty_error("reduce_min"), _bool_error("reduce_min")),
    ),
    OpInfo(
        name="reduce_all",
        samples=_samples(empty=True),
        reference=_fold(all),
        differentiable=False,
        errors=(
            *_axis_error("reduce_all", "bool"),
            rejected("reduce_all", "float32", "bool", (np.ones(2, np.float32),), "bool"),
        ),
    ),
    OpInfo(
        name="reduce_any",
        samples=_samples(empty=True),
        reference=_fold(any),
        differentiable=False,
        errors=(
            *_axis_error("reduce_any", "bool"),
            rejected("reduce_any", "float32", "bool", (np.ones(2, np.float32),), "bool"),
        ),
    ),
    OpInfo(
        name="argmax",
        samples=_argmax_samples,
        reference=_argmax,
        differentiable=False,
        errors=(
            ErrorSample(
                (np.ones((2, 3), np.float32), 2),
                {},
                InvalidArgumentError,
                "argmax: axis 2 is out of range for a tensor of rank 2; use -2 to 1.",
            ),
            _empty_error("argmax"),
            _bool_error("argmax"),
        ),
    ),
)
