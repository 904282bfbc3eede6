"""Softmax: facts about the ops of agog_core.ops.nn.softmax."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.opinfo.info import Array, ErrorSample, OpInfo, Sample
from agog_testing.opinfo.values import FLOATING, Rng, constant, invalid, of_size, rejected, uniform

NAN, INF = np.nan, np.inf
LOGITS: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (
    ((3,), {}),
    ((1,), {}),
    ((2, 3), {}),
    ((2, 3), {"axis": 0}),
    ((2, 3, 4), {"axis": 1}),
    ((2, 3, 4), {"axis": -2}),
    ((0, 3), {}),
    ((2, 67), {}),
    ((3, 129), {}),
    ((2, 1000), {}),
    ((300, 3), {"axis": 0}),
)
FORMS: tuple[tuple[tuple[int | None, ...], dict[str, Any]], ...] = (
    ((2, None), {}),
    ((None, 3), {}),
    ((None, 2), {"axis": 0}),
)
"""The ways in which logits can be large."""


def _exact_sum(x: Array, axis: int) -> Array:
    return np.asarray(np.sum(x, axis=axis, keepdims=True))


def softmax(logits: Array, axis: int = -1) -> Array:
    shifted = np.exp(logits - _finite_maximum(logits, axis))
    return np.asarray(shifted / _exact_sum(shifted, axis))


def log_softmax(logits: Array, axis: int = -1) -> Array:
    shifted = logits - _finite_maximum(logits, axis)
    return np.asarray(shifted - np.log(_exact_sum(np.exp(shifted), axis)))


def _finite_maximum(logits: Array, axis: int) -> Array:
    highest = np.max(logits, axis=axis, keepdims=True, initial=-INF)
    return np.where(np.isfinite(highest), highest, 0)


def _softmax_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, kwargs in LOGITS:
        yield Sample(f"shape {shape}, {kwargs}", (uniform(dtype, rng, shape),), kwargs)
    yield Sample("no classes", (uniform(dtype, rng, (2, 0)),), smooth=False)
    yield Sample("many rows", (uniform(dtype, rng, (300, 20)),), smooth=False)
    yield Sample("equal logits", (constant(dtype, np.repeat([[2.5], [0.0], [-3.0]], 17, 1)),))
    large = constant(dtype, [[1000.0, 1001.0, 1002.0], [-1000.0, 0.0, 1000.0]])
    yield Sample("large logits", (large,), smooth=False)
    yield Sample("infinities and NaN", (constant(dtype, [[-INF, 0.0, 1.0], [NAN, 0.0, 1.0]]),), smooth=False)


def _softmax_errors(name: str) -> tuple[ErrorSample, ...]:
    text = f"{name}: axis 2 is out of range for a tensor of rank 2; use -2 to 1."
    return (
        invalid((np.ones((2, 3), np.float32),), text, axis=2),
        rejected(name, "int32", FLOATING, (np.ones((2, 3), np.int32),)),
    )


def _softmax_info(name: str, reference: Callable[..., Any]) -> OpInfo:
    tolerances = {"float16": (1e-2, 2e-3), "bfloat16": (6e-2, 3e-2), "float32": (5e-6, 2e-6)}
    return OpInfo(
        name=name,
        samples=_softmax_samples,
        sized=of_size(uniform, *FORMS),
        reference=reference,
        errors=_softmax_errors(name),
        tolerances=tolerances,
    )


def _gradient_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape, kwargs in LOGITS:
        arrays = (uniform(dtype, rng, shape), uniform(dtype, rng, shape, 0.1, 1))
        yield Sample(f"shape {shape}, {kwargs}", arrays, kwargs)
    yield Sample("no classes", (uniform(dtype, rng, (2, 0)), uniform(dtype, rng, (2, 0))), smooth=False)
    special = constant(dtype, [[NAN, 0.0], [0.0, 1.0]]), constant(dtype, [[0.5, 0.5], [1.0, NAN]])
    yield Sample("NaN", special, smooth=False)


def _gradient_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for shape in ((2, size), (size, 3)):
        outputs = softmax(uniform("float64", rng, shape)).astype(as_dtype(dtype).numpy_dtype)
        yield Sample(f"shape {shape}", (uniform(dtype, rng, shape), outputs))


def _softmax_grad(gradients: Array, softmax: Array, axis: int = -1) -> Array:
    return np.asarray(softmax * (gradients - _exact_sum(gradients * softmax, axis)))


def _log_softmax_grad(gradients: Array, log_softmax: Array, axis: int = -1) -> Array:
    return np.asarray(gradients - np.exp(log_softmax) * _exact_sum(gradients, axis))


def _gradient_info(name: str, reference: Callable[..., Any]) -> OpInfo:
    output = name.removesuffix("_grad")
    text = f"{name}: gradients and {output} must be of one shape; got (2, 3) and (3,)."
    wrong = (np.ones((2, 3), np.float32), np.ones(3, np.float32))
    return OpInfo(
        name=name,
        samples=_gradient_samples,
        sized=_gradient_sized,
        reference=reference,
        errors=(invalid(wrong, text),),
        tolerances={
            "float16": (2e-2, 1e-1),
            "bfloat16": (6e-2, 1e0),
            "float32": (1e-5, 1e-4),
            "float64": (1e-12, 1e-12),
        },
    )


INFOS = (
    _softmax_info("softmax", softmax),
    _gradient_info("softmax_grad", _softmax_grad),
    _softmax_info("log_softmax", log_softmax),
    _gradient_info("log_softmax_grad", _log_softmax_grad),
)
