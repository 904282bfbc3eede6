"""Scattering: facts about the ops of agog_core.ops.indexing.scattering and tensor_scatter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import NUMERIC, SUMS, Rng, constant, invalid, nonzero, rejected, uniform

_CASES = (
    ((3,), (1,), "int32"),
    ((3,), (5, 1), "int64"),
    ((4, 2), (3, 1), "int32"),
    ((4, 3), (2, 3, 2), "int32"),
    ((2, 3, 2), (4, 2), "int64"),
    ((2, 2), (3, 0), "int32"),
    ((3, 2), (0, 2), "int32"),
    ((0, 2), (0, 1), "int32"),
    ((67,), (70, 1), "int64"),
)


def _indices(rng: Rng, whole: tuple[int, ...], shape: tuple[int, ...], dtype: str) -> Array:
    at = [rng.integers(0, max(size, 1), shape[:-1]) for size in whole[: shape[-1]]]
    return np.stack(at, -1).astype(dtype) if at else np.zeros(shape, dtype)


def _distinct(rng: Rng, axes: tuple[int, ...], count: int, dtype: str) -> Array:
    """Up to so many positions on some axes, each once."""
    every = np.array(list(np.ndindex(*axes)), dtype).reshape(int(np.prod(axes)), len(axes))
    return rng.permutation(every)[:count]


def _scatter_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for whole, shape, kind in _CASES:
        updates = uniform(dtype, rng, (*shape[:-1], *whole[shape[-1] :]))
        yield Sample(f"{kind} {shape} into {whole}", (_indices(rng, whole, shape, kind), updates, whole))


def _scatter(indices: Array, updates: Array, shape: tuple[int, ...]) -> Array:
    whole = np.zeros(shape, updates.dtype)
    for place in np.ndindex(*indices.shape[:-1]):
        whole[tuple(indices[place].tolist())] += updates[place]
    return whole


_ONE = np.ones(1, np.float32)
_SCATTER_ERRORS = (
    invalid((np.array([[3]], np.int32), _ONE, (3,)), "scatter_nd: indices[0] = [3] does not index into shape (3,)."),
    invalid(
        (np.array([[0, 0]], np.int32), _ONE, (3,)),
        "scatter_nd: indices of shape (1, 2) do not index into shape (3,); the last axis of indices must be there, "
        "and of a size up to 1.",
    ),
    invalid(
        (np.array([[0], [1]], np.int32), _ONE, (3,)),
        "scatter_nd: indices of shape (2, 1) into shape (3,) need updates of shape (2,); got (1,).",
    ),
    rejected("scatter_nd", "string", NUMERIC, (np.array([[0]], np.int32), np.array([b"a"], object), (3,))),
)

FUNCTIONS: dict[str, Any] = {
    "update": lambda old, new: new,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "minimum": np.minimum,
    "maximum": np.maximum,
}


def operations_for(dtype: str) -> list[str]:
    """The operations whose results a reference of more bits gives too."""
    if dtype in ("bool", "string"):
        return ["update"]
    found = ["update", "add", "multiply"]
    if not dtype.startswith("u"):
        found.append("subtract")
    if not dtype.startswith("complex"):
        found += ["minimum", "maximum"]
    if "int" not in dtype:
        found.append("divide")
    return found


def _variable_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for whole, shape, kind in _CASES:
        variable, indices = uniform(dtype, rng, whole), _indices(rng, whole, shape, kind)
        for operation in operations_for(dtype):
            at = indices
            if operation == "update":  # which of several updates of one place is the last is not defined
                at = _distinct(rng, whole[: shape[-1]], int(np.prod(shape[:-1])), kind)
            part = (*at.shape[:-1], *whole[shape[-1] :])
            updates = nonzero(dtype, rng, part) if operation == "divide" else uniform(dtype, rng, part, -1, 1)
            yield Sample(f"{operation} {kind} {at.shape} of {whole}", (variable, at, updates, operation))
    rows = np.array([[1], [3]], np.int32)
    yield Sample("a scalar for all", (uniform(dtype, rng, (4, 2)), rows, constant(dtype, 1), "update"))


def _variable(variable: Array, indices: Array, updates: Array, operation: str) -> Array:
    whole = variable.copy()
    spread = np.broadcast_to(updates, (*indices.shape[:-1], *whole.shape[indices.shape[-1] :]))
    for place in np.ndindex(*indices.shape[:-1]):
        at = tuple(indices[place].tolist())
        whole[at] = FUNCTIONS[operation](whole[at], spread[place])
    return whole


_VARIABLE_ERRORS = (
    invalid(
        (np.ones(3, np.float32), np.array([[1], [-1]], np.int32), np.ones(2, np.float32), "add"),
        "scatter_variable: indices[1] = [-1] does not index into a variable of shape (3,).",
    ),
    invalid(
        (np.ones((3, 2), np.float32), np.array([[1]], np.int32), _ONE, "add"),
        "scatter_variable: indices of shape (1, 1) into a variable of shape (3, 2) need updates of shape (1, 2); got "
        "(1,).",
    ),
    invalid(
        (np.ones(3, np.float32), np.array([[1]], np.int32), np.ones(1), "add"),
        "scatter_variable: variable 'Variable:0' has dtype float32 and the value has dtype float64; cast it with "
        "tf.cast(value, tf.float32).",
    ),
    invalid(
        (np.ones(3, bool), np.array([[1]], np.int32), np.array([True]), "add"),
        "scatter_variable: add is not defined for variable 'Variable:0' of dtype bool.",
        "bool",
    ),
)
# Updates of one place round one after the other, those of half precision coarsely.
_ROUNDED = {
    **{"float16": (2e-2, 2e-2), "bfloat16": (1e-1, 1e-1), "float32": (1e-5, 1e-5), "complex64": (1e-5, 1e-5)},
    **{"float64": (1e-13, 1e-12), "complex128": (1e-12, 1e-12)},
}


def _tensor_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for whole, shape, kind in _CASES:
        at = _distinct(rng, whole[: shape[-1]], int(np.prod(shape[:-1])), kind)
        updates = uniform(dtype, rng, (*at.shape[:-1], *whole[shape[-1] :]))
        yield Sample(f"{kind} {at.shape} of {whole}", (uniform(dtype, rng, whole), at, updates))


def _tensor_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for whole in ((size,), (size, 2)):
        at = _distinct(rng, whole[:1], max(1, size // 2), "int32")
        updates = uniform(dtype, rng, (len(at), *whole[1:]))
        yield Sample(f"{at.shape} of {whole}", (uniform(dtype, rng, whole), at, updates))


def _variable_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for sample in _tensor_sized(dtype, rng, size):
        yield Sample(sample.name, (*sample.args, "update"))


def _replaced(tensor: Array, indices: Array, updates: Array) -> Array:
    return _variable(tensor, indices, updates, "update")


_TENSOR_ERRORS = (
    invalid(
        (np.zeros(3, np.float32), np.array([[3]], np.int32), _ONE),
        "tensor_scatter_update: indices[0] = [3] does not index into a tensor of shape (3,).",
    ),
    invalid(
        (np.zeros(3, np.float32), np.array([[0], [1]], np.int32), _ONE),
        "tensor_scatter_update: indices of shape (2, 1) into a tensor of shape (3,) need updates of shape (2,); got "
        "(1,).",
    ),
)

INFOS = (
    OpInfo("tensor_scatter_update", _tensor_samples, _replaced, sized=_tensor_sized, errors=_TENSOR_ERRORS),
    OpInfo(name="scatter_nd", samples=_scatter_samples, reference=_scatter, errors=_SCATTER_ERRORS, tolerances=SUMS),
    OpInfo(
        name="scatter_variable",
        samples=_variable_samples,
        sized=_variable_sized,
        reference=_variable,
        differentiable=False,
        errors=_VARIABLE_ERRORS,
        tolerances=_ROUNDED,
    ),
)
