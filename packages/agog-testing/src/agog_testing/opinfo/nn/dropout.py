"""Dropout: facts about the kept elements, on every backend, and the gradient."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import agog_core as ag
from agog_core.ops.nn.dropout import dropout_and_mask
from agog_testing.opinfo.info import Array, OpInfo, Sample
from agog_testing.opinfo.random.uniform_and_normal import words
from agog_testing.opinfo.values import FLOATING, Rng, invalid, rejected, uniform

_SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (2, 3), (0,), (67,))
_BITS = {"bfloat16": 8, "float16": 11, "float32": 24}


def _samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in _SHAPES:
        for graph_seed, seed, keep in ((1, None, 0.5), (2**63 + 5, 7, 0.9)):
            arguments = {"graph_seed": graph_seed, "seed": seed, "keep": keep, "kind": dtype}
            yield Sample(f"shape {shape}, {keep} kept", (uniform(dtype, rng, shape, -3, 3),), arguments)


def _sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    arguments = {"graph_seed": 3, "seed": None, "keep": 0.75, "kind": dtype}
    yield Sample(f"shape {(size,)}", (uniform(dtype, rng, (size,), -3, 3),), arguments)


def _seeded(x: Any, graph_seed: int, seed: int | None, keep: float, kind: str) -> Any:
    ag.set_random_seed(graph_seed)
    return dropout_and_mask(x, keep, seed)


def _reference(x: Array, graph_seed: int, seed: int | None, keep: float, kind: str) -> tuple[Array, Array]:
    if kind == "float64":
        noise = [(word >> 11) * 2.0**-53 for word in words(graph_seed, seed, 0, x.size).tolist()]
    else:
        drawn = words(graph_seed, seed, 0, -(-x.size // 2)).tolist()
        halves = [half for word in drawn for half in (word & 0xFFFFFFFF, word >> 32)][: x.size]
        noise = [(half >> (32 - _BITS[kind])) * 2.0 ** -_BITS[kind] for half in halves]
    dtype = ag.as_dtype(kind).numpy_dtype
    share = dtype.type(keep)
    mask = (np.array(noise, dtype) + share >= 1).reshape(x.shape)
    return x / float(share) * mask, mask


def _grad_samples(dtype: str, rng: Rng) -> Iterator[Sample]:
    for shape in _SHAPES:
        arguments = (uniform(dtype, rng, shape, -3, 3), np.asarray(rng.random(shape) < 0.5))
        yield Sample(f"shape {shape}", arguments, {"keep": 0.5})


def _grad_sized(dtype: str, rng: Rng, size: int) -> Iterator[Sample]:
    yield Sample(f"shape {(size,)}", (uniform(dtype, rng, (size,), -3, 3), rng.random(size) < 0.5), {"keep": 0.75})


_ONES = np.ones(3, np.float32)

INFOS = (
    OpInfo(
        name="dropout",
        samples=_samples,
        reference=_reference,
        function=_seeded,
        sized=_sized,
        errors=(
            rejected(
                "dropout", "int32", FLOATING, (np.ones(3, np.int32),), graph_seed=1, seed=None, keep=0.5, kind="int32"
            ),
        ),
    ),
    OpInfo(
        name="dropout_grad",
        samples=_grad_samples,
        reference=lambda gradients, mask, keep: np.where(mask, gradients / keep, 0.0),
        sized=_grad_sized,
        errors=(
            invalid(
                (_ONES, np.ones(2, np.bool_)),
                "dropout_grad: gradients have shape (3,), and mask has shape (2,); they must be equal.",
                keep=0.5,
            ),
        ),
    ),
)
