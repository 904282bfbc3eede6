"""Gathering: facts about the ops of agog_core.ops.indexing.gathering."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.values import (
    Rng,
    invalid,
    large,
    uniform,
)


def _positions(rng: Rng, size: int, shape: tuple[int, ...], dtype: str = "int32") -> Array:
    return np.asarray(rng.integers(0, max(size, 1), shape)).astype(dtype)


def _gather_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for params, indices, axis, kind in (
        ((1,), (), 0, "int32"),
        ((3,), (5,), 0, "int64"),
        ((4, 2), (2, 3), 0, "int32"),
        ((3, 4), (), 1, "int64"),
        ((2, 3, 4), (2,), -1, "int32"),
        ((2, 3, 2), (2, 1), 1, "int32"),
        ((3, 2), (0,), 0, "int32"),
        ((0, 2), (0, 3), 0, "int64"),
        ((3, 0), (4,), 0, "int32"),
        ((67,), (70,), 0, "int64"),
    ):
        at = _positions(rng, params[axis], indices, kind)
        yield Sample(f"{kind} {indices} of {params}, axis {axis}", (uniform(dtype, rng, params), at), {"axis": axis})


def _gather_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    for params, indices in (
        ((5,), (size,)),
        ((size,), (3,)),
        ((4, size), (3,)),
        ((4, 2), (size,)),
        ((size, 2), (1, 3)),
    ):
        at = _positions(rng, params[0], indices)
        yield Sample(f"{indices} of {params}", (large(dtype, rng, params), at))


def _gather(params: Array, indices: Array, axis: int = 0) -> Array:
    """One slice after the other."""
    axis %= params.ndim
    slices = [np.moveaxis(params, axis, 0)[int(n)] for n in indices.reshape(-1)]
    rest = (*params.shape[:axis], *params.shape[axis + 1 :])
    rows = np.array(slices, params.dtype).reshape((*indices.shape, *rest))
    return np.moveaxis(rows, range(indices.ndim), range(axis, axis + indices.ndim))


_THREE = np.ones(3, np.float32)
_GATHER_ERRORS = (
    invalid(
        (_THREE, np.array(7, np.int32)),
        "gather: indices = 7 is not in [0, 3): params has shape (3,), and the axis is 0.",
    ),
    invalid(
        (np.ones((2, 3), np.float32), np.array([[0, 1], [2, -1]], np.int64)),
        "gather: indices[1, 1] = -1 is not in [0, 3): params has shape (2, 3), and the axis is 1.",
        axis=1,
    ),
    invalid(
        (_THREE, np.array([1.0], np.float32)),
        "gather: indices must be int32 or int64; got dtype float32 and shape (1,). Cast it with tf.cast.",
    ),
    invalid(
        (np.array(1, np.float32), np.array([0], np.int32)),
        "gather: axis 0 is out of range for a tensor of rank 0; it has no axes.",
    ),
    invalid(
        (_THREE, np.array([0], np.int32)), "gather: axis 1 is out of range for a tensor of rank 1; use -1 to 0.", axis=1
    ),
)


def _gather_nd_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for params, indices, kind in (
        ((3,), (1,), "int32"),
        ((3,), (5, 1), "int64"),
        ((4, 2), (3, 1), "int32"),
        ((4, 3), (2, 3, 2), "int32"),
        ((2, 3, 2), (4, 2), "int64"),
        ((2, 2), (3, 0), "int32"),
        ((), (2, 0), "int32"),
        ((3, 2), (0, 2), "int32"),
        ((0, 2), (0, 1), "int32"),
        ((67,), (70, 1), "int64"),
    ):
        at = [_positions(rng, size, indices[:-1], kind) for size in params[: indices[-1]]]
        stacked = np.stack(at, -1) if at else np.zeros(indices, kind)
        yield Sample(f"{kind} {indices} of {params}", (uniform(dtype, rng, params), stacked))


def _gather_nd(params: Array, indices: Array) -> Array:
    depth = indices.shape[-1]
    rows = [params[tuple(row)] for row in indices.reshape(int(np.prod(indices.shape[:-1])), depth).tolist()]
    return np.array(rows, params.dtype).reshape((*indices.shape[:-1], *params.shape[depth:]))


_GATHER_ND_ERRORS = (
    invalid(
        (np.ones((2, 3), np.float32), np.array([[0, 0], [1, 3]], np.int32)),
        "gather_nd: indices[1] = [1, 3] does not index into params of shape (2, 3).",
    ),
    invalid((_THREE, np.array([-1], np.int32)), "gather_nd: indices = [-1] does not index into params of shape (3,)."),
    invalid(
        (_THREE, np.array([[0, 0]], np.int32)),
        "gather_nd: indices of shape (1, 2) do not index params of shape (3,); the last axis of indices must be "
        "there, and of a size up to 1.",
    ),
)


INFOS = (
    OpInfo("gather", _gather_samples, _gather, sized=_gather_sized, signed_zeros=True, errors=_GATHER_ERRORS),
    OpInfo(name="gather_nd", samples=_gather_nd_samples, reference=_gather_nd, errors=_GATHER_ND_ERRORS),
)
