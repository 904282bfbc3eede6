"""Scans: facts about the ops of agog_core.ops.reduce.scans."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import (
    NUMERIC,
    SUMS,
    Rng,
    constant,
    invalid,
    is_float,
    of_size,
    rejected,
    ties,
    uniform,
    units,
)

_CALLS: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (
    ((1,), {}),
    ((5,), {}),
    ((2, 3), {"axis": 1}),
    ((4, 3), {"axis": -2, "exclusive": True}),
    ((3, 4), {"axis": 1, "reverse": True}),
    ((2, 4, 3), {"axis": 1, "exclusive": True, "reverse": True}),
    ((67,), {}),
    ((0,), {}),
    ((0, 3), {"axis": 1, "exclusive": True}),
    ((2, 0), {"axis": 1, "reverse": True}),
)


def _samples(low: float, high: float) -> Callable[[str, Rng], Iterator[Sample]]:
    def found(dtype: str, rng: Rng) -> Iterator[Sample]:
        for shape, kwargs in _CALLS:
            yield Sample(f"shape {shape}, {kwargs}", (uniform(dtype, rng, shape, low, high),), kwargs)
        for kwargs in ({}, {"exclusive": True}, {"reverse": True}, {"exclusive": True, "reverse": True}):
            yield Sample(f"zeros, {kwargs}", (constant(dtype, [2, 0, 3, 0, 2]),), kwargs)
        if is_float(dtype):
            special = constant(dtype, [[1.0, np.inf, 2.0, -np.inf], [0.0, np.nan, 1.0, 2.0]])
            yield Sample("NaN and infinities", (special,), {"axis": 1}, smooth=False)

    return found


_FORMS: tuple[tuple[tuple[int | None, ...], dict[str, Any]], ...] = (
    ((None,), {}),
    ((2, None), {"axis": 1, "reverse": True}),
    ((None, 2), {"axis": 0, "exclusive": True}),
)


def _scan(first: int, step: Callable[[Any, Any], Any]) -> Callable[..., Array]:
    """A reference that goes from element to element."""

    def reference(x: Array, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Array:
        out = np.empty_like(x)
        lines, results = np.moveaxis(x, axis, -1), np.moveaxis(out, axis, -1)
        for position in np.ndindex(*lines.shape[:-1]):
            total = lines.dtype.type(first)
            order = range(lines.shape[-1])
            for n in reversed(order) if reverse else order:
                before = total
                total = step(total, lines[position][n])
                results[position][n] = before if exclusive else total
        return out

    return reference


def _recurrence_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, axis, reverse in (
        *(((1,), 0, False), ((5,), 0, True), ((2, 3), 1, False), ((4, 3), -2, True), ((67,), 0, False)),
        *(((2, 4, 3), 1, False), ((0,), 0, False), ((0, 3), 1, True), ((2, 0), 1, False)),
    ):
        pair = uniform(dtype, rng, shape, -1, 1), uniform(dtype, rng, shape)
        yield Sample(f"shape {shape}, axis {axis}, reverse {reverse}", pair, {"axis": axis, "reverse": reverse})
    pair = constant(dtype, [2.0, 0.0, 3.0, 0.0, 2.0]), uniform(dtype, rng, (5,))
    yield Sample("zeros", pair)


def _recurrence_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for shape, axis in (((size,), 0), ((2, size), 1), ((3, size), 0)):
        pair = uniform(dtype, rng, shape, -1, 1), uniform(dtype, rng, shape)
        yield Sample(f"shape {shape}", pair, {"axis": axis})


def _recurrence(factors: Array, terms: Array, axis: int = 0, reverse: bool = False) -> Array:
    out = np.empty_like(terms)
    a, b, results = (np.moveaxis(x, axis, -1) for x in (factors, terms, out))
    for position in np.ndindex(*a.shape[:-1]):
        y = 0.0
        order = range(a.shape[-1])
        for n in reversed(order) if reverse else order:
            y = b[position][n] + a[position][n] * y
            results[position][n] = y
    return out


def _axis_error(op: str, *args: Array) -> ErrorSample:
    text = f"{op}: axis 2 is out of range for a tensor of rank 2; use -2 to 1."
    return invalid((*args, 2), text)


_TWO = np.ones((2, 3), np.float32)

INFOS = (
    OpInfo(
        name="cumsum",
        samples=_samples(-3, 3),
        sized=of_size(ties, *_FORMS),
        reference=_scan(0, lambda total, value: total + value),
        errors=(
            _axis_error("cumsum", _TWO),
            rejected("cumsum", "bool", NUMERIC, (np.ones(2, np.bool_),)),
            invalid(
                (np.ones((), np.float32),), "cumsum: axis 0 is out of range for a tensor of rank 0; it has no axes."
            ),
        ),
        tolerances={**SUMS, "complex64": (2e-6, 1e-5), "complex128": (1e-13, 1e-12)},
    ),
    OpInfo(
        name="cumprod",
        samples=_samples(0, 1),
        sized=of_size(units, *_FORMS),
        reference=_scan(1, lambda total, value: total * value),
        errors=(_axis_error("cumprod", _TWO), rejected("cumprod", "bool", NUMERIC, (np.ones(2, np.bool_),))),
        # Each factor may round once.
        tolerances={"float32": (2e-5, 2e-6), "complex64": (2e-5, 2e-6), "float64": (1e-13, 1e-13)},
    ),
    OpInfo(
        name="linear_recurrence",
        samples=_recurrence_samples,
        sized=_recurrence_sized,
        reference=_recurrence,
        errors=(
            _axis_error("linear_recurrence", _TWO, _TWO),
            invalid(
                (_TWO, np.ones(3, np.float32)),
                "linear_recurrence: factors and terms must be of one shape; got (2, 3) and (3,).",
            ),
        ),
        tolerances={**SUMS, "complex64": (2e-6, 1e-5), "complex128": (1e-13, 1e-12)},
    ),
)
