"""Lookups of several rows per example where some have none, against sums in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import SparseTensor
from agog_core.ops.indexing.embedding import safe_embedding_lookup_sparse
from agog_testing import says

SEED = 8
TABLE = np.random.default_rng(SEED).normal(size=(5, 3))
PLACES = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 0], [1, 1, 1], [1, 2, 0]])
IDS = np.array([1, 4, -1, 2, 2, 3])
WEIGHTS = np.array([1.0, 2.0, 3.0, 0.5, -1.0, 0.0])
SHAPE = [2, 3, 2]


def expected(combiner: str, default: int | None, weighted: bool) -> np.ndarray:
    out = np.zeros((2, 3, 3))
    for place in np.ndindex(2, 3):
        rows, factors = [], []
        for at, number, weight in zip(PLACES, IDS, WEIGHTS, strict=True):
            if tuple(at[:2]) == place and number >= 0 and (not weighted or combiner == "sum" or weight > 0):
                rows.append(TABLE[number])
                factors.append(weight if weighted else 1.0)
        if not rows:
            out[place] = 0 if default is None else TABLE[default]
            continue
        w = np.array(factors)
        scale = {"sum": 1.0, "mean": w.sum(), "sqrtn": np.sqrt((w**2).sum())}[combiner]
        out[place] = w @ np.array(rows) / scale
    return out


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("default", [None, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_against_sums(combiner: str, default: int | None, weighted: bool) -> None:
    ids = SparseTensor(PLACES, IDS, SHAPE)
    weights = SparseTensor(PLACES, WEIGHTS, SHAPE) if weighted else None
    got = safe_embedding_lookup_sparse(TABLE, ids, weights, combiner, default)
    np.testing.assert_allclose(got.numpy(), expected(combiner, default, weighted), rtol=1e-12, atol=1e-15)


def test_gradients_of_tables_and_weights() -> None:
    weights = ag.constant(WEIGHTS)
    tables = [ag.Variable(TABLE[:3]), ag.Variable(TABLE[3:])]
    with ag.GradientTape() as tape:
        tape.watch(weights)
        found = safe_embedding_lookup_sparse(
            tables, SparseTensor(PLACES, IDS, SHAPE), SparseTensor(PLACES, weights, SHAPE), "sum"
        )
        loss = ag.reduce_sum(found)
    of_weights, of_first, of_second = tape.gradient(loss, [weights, *tables])
    np.testing.assert_allclose(of_weights.numpy(), np.where(IDS >= 0, TABLE[IDS].sum(1), 0), rtol=1e-12)
    factors = np.zeros(5)
    np.add.at(factors, IDS[IDS >= 0], WEIGHTS[IDS >= 0])
    whole = np.concatenate([of_first.numpy(), of_second.numpy()])
    np.testing.assert_allclose(whole, np.repeat(factors[:, None], 3, 1), atol=1e-12)


@pytest.mark.parametrize(
    ("ids", "weights", "error", "text"),
    [
        ([1], None, TypeError, "safe_embedding_lookup_sparse: sparse_ids must be a SparseTensor; got list."),
        (
            SparseTensor([[0, 0]], [1], [1, 1]),
            [1.0],
            TypeError,
            "safe_embedding_lookup_sparse: sp_weights must be None or a SparseTensor; got list.",
        ),
        (
            SparseTensor([[0, 0]], [1], [1, 2]),
            SparseTensor([[0, 1]], [1.0], [1, 2]),
            ValueError,
            "safe_embedding_lookup_sparse: sp_weights must have a weight at each place of sp_ids; the ids lie at "
            "[[0, 0]], the weights at [[0, 1]].",
        ),
    ],
)
def test_errors(ids: Any, weights: Any, error: type[Exception], text: str) -> None:
    with says(error, text):
        safe_embedding_lookup_sparse(TABLE, ids, weights)
