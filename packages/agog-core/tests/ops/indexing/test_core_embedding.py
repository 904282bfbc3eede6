"""Looking up rows of one table, and of a table that several variables share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_core.ops.indexing.embedding import embedding_lookup, embedding_lookup_sparse
from agog_testing import says
from agog_testing.gradcheck import gradcheck

SEED = 23
TABLE = np.random.default_rng(SEED).uniform(-1, 1, (7, 2))
IDS = np.array([[6, 0, 3], [3, 5, 1]])


def _shares(strategy: str, count: int) -> list[Any]:
    if strategy == "mod":
        return [TABLE[start::count] for start in range(count)]
    return np.array_split(TABLE, count)  # the first ones are longer, too


@pytest.mark.parametrize("ids", [IDS, IDS[0].astype(np.int32), np.int64(4), np.zeros((0,), np.int32)], ids=np.shape)
@pytest.mark.parametrize("count", [1, 2, 3, 7, 9])
@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_lookup(strategy: str, count: int, ids: Any) -> None:
    tables = [ag.Variable(share) for share in _shares(strategy, count)]
    got = embedding_lookup(tables, ids, strategy)
    assert got.shape == (*np.shape(ids), 2)
    assert np.array_equal(got.numpy(), TABLE[ids])


def test_one_table_needs_no_list() -> None:
    assert np.array_equal(embedding_lookup(TABLE, IDS).numpy(), TABLE[IDS])
    assert embedding_lookup([[1, 2], [3, 4]], [1]).numpy().tolist() == [[3, 4]]


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_gradients_are_sparse(strategy: str) -> None:
    tables = [ag.Variable(share) for share in _shares(strategy, 3)]
    with ag.GradientTape() as tape:
        rows = embedding_lookup(tables, IDS, strategy)
        loss = ag.reduce_sum(rows * rows)
    gradients = tape.gradient(loss, tables)
    assert all(type(gradient) is ag.IndexedSlices for gradient in gradients)
    expected = np.zeros_like(TABLE)
    np.add.at(expected, IDS, 2 * TABLE[IDS])
    shares = [expected[start::3] for start in range(3)] if strategy == "mod" else np.array_split(expected, 3)
    for gradient, share in zip(gradients, shares, strict=True):
        np.testing.assert_allclose(gradient.numpy(), share, rtol=1e-15)
    gradcheck(lambda *shares: embedding_lookup(list(shares), IDS, strategy), _shares(strategy, 3))


def test_long_rows_are_scaled_down() -> None:
    table = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]])
    got = embedding_lookup(table, [[0, 1], [2, 0]], max_norm=1.0)
    expected = np.array([[[0.6, 0.8], [0.3, 0.4]], [[0.0, 0.0], [0.6, 0.8]]])
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-15)
    v = ag.Variable(table)
    with ag.GradientTape() as tape:
        rows = embedding_lookup(v, [0, 2], max_norm=1.0)
    gradient = tape.gradient(rows, v)
    assert type(gradient) is ag.IndexedSlices
    # d(x / |x|) for the first, nothing is scaled for the last.
    expected = np.array([[4 * (4 - 3) / 125, 3 * (3 - 4) / 125], [0.0, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(gradient.numpy(), expected, atol=1e-15)


@pytest.mark.parametrize(
    ("params", "ids", "strategy", "kind", "text"),
    [
        ([], [0], "mod", ValueError, "embedding_lookup: params is an empty list; give at least one table."),
        (TABLE, [0], "hash", ValueError, "embedding_lookup: partition_strategy must be 'mod' or 'div'; got 'hash'."),
        (
            TABLE,
            [7],
            "mod",
            InvalidArgumentError,
            "gather: indices[0] = 7 is not in [0, 7): params has shape (7, 2), and the axis is 0.",
        ),
        (
            [TABLE, TABLE],
            [14],
            "div",
            InvalidArgumentError,
            "embedding_lookup: ids must be in [0, 14), the rows of all tables together.",
        ),
        (
            TABLE,
            [0.5],
            "mod",
            InvalidArgumentError,
            "embedding_lookup: ids must be int32 or int64; got dtype float32 and shape (1,). Cast it with tf.cast.",
        ),
    ],
)
def test_errors(params: Any, ids: Any, strategy: str, kind: type[Exception], text: str) -> None:
    with says(kind, text):
        embedding_lookup(params, ids, strategy).numpy()  # a device may tell when it is waited for


def test_norms_and_clipping_of_sparse_gradients() -> None:
    """The rows count as they are, also those that are named twice, as in TensorFlow."""
    rows = ag.IndexedSlices([[3.0], [4.0]], [1, 1], (3, 1))
    assert np.asarray(ag.global_norm([rows, ag.constant([12.0])])) == 13.0
    (clipped, dense), norm = ag.clip_by_global_norm([rows, ag.constant([12.0])], 6.5)
    assert type(clipped) is ag.IndexedSlices
    assert norm.numpy() == 13.0
    assert clipped.values.numpy().tolist() == [[1.5], [2.0]]
    assert clipped.numpy().tolist() == [[0.0], [3.5], [0.0]]
    assert dense.numpy().tolist() == [6.0]


EXAMPLES = ag.SparseTensor([[0, 0], [0, 4], [2, 1], [2, 2], [2, 3]], [6, 0, 3, 3, 5], [4, 5])
WEIGHTS = np.array([1.0, 2.0, 0.5, 3.0, 1.5])


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn", None])
def test_combined_lookups(combiner: str | None, count: int) -> None:
    ids, examples = EXAMPLES.values.numpy(), EXAMPLES.indices.numpy()[:, 0]
    plain, weighted = np.zeros((3, 2)), np.zeros((3, 2))
    for example in (0, 2):
        rows, weights = TABLE[ids[examples == example]], WEIGHTS[examples == example]
        divisors = {"sum": (1.0, 1.0), "sqrtn": (np.sqrt(len(rows)), np.sqrt(np.sum(weights**2)))}
        by_count, by_weight = divisors.get(combiner or "mean", (len(rows), np.sum(weights)))
        plain[example] = rows.sum(0) / by_count
        weighted[example] = (rows * weights[:, None]).sum(0) / by_weight
    tables = _shares("mod", count)
    got = embedding_lookup_sparse(tables, EXAMPLES, None, combiner=combiner)
    np.testing.assert_allclose(got.numpy(), plain, rtol=1e-14)
    sp_weights = ag.SparseTensor(EXAMPLES.indices, WEIGHTS, EXAMPLES.dense_shape)
    with np.errstate(invalid="ignore"):
        got = embedding_lookup_sparse(tables, EXAMPLES, sp_weights, combiner=combiner)
    np.testing.assert_allclose(got.numpy()[[0, 2]], weighted[[0, 2]], rtol=1e-14)
    # TensorFlow too divides 0 by the weights' sum, which is 0, for an example without numbers.
    assert np.array_equal(np.isnan(got.numpy()[1]), [combiner != "sum"] * 2)
    gradcheck(
        lambda table, w: embedding_lookup_sparse(
            table, EXAMPLES, ag.SparseTensor(EXAMPLES.indices, w, EXAMPLES.dense_shape), combiner="sum"
        ),
        [TABLE, WEIGHTS],
    )


@pytest.mark.parametrize(
    ("ids", "weights", "combiner", "kind", "text"),
    [
        ([1], None, "sum", TypeError, "embedding_lookup_sparse: sp_ids must be a SparseTensor; got list."),
        (
            EXAMPLES,
            1.0,
            "sum",
            TypeError,
            "embedding_lookup_sparse: sp_weights must be None or a SparseTensor; got float.",
        ),
        (
            EXAMPLES,
            None,
            "max",
            ValueError,
            "embedding_lookup_sparse: combiner must be 'sum', 'mean' or 'sqrtn'; got 'max'.",
        ),
        (
            ag.SparseTensor([[0, 1]], [1], [1, 2]),
            ag.SparseTensor([[0, 0]], [1.0], [1, 2]),
            "sum",
            ValueError,
            "embedding_lookup_sparse: sp_weights must have a weight at each place of sp_ids; the ids lie at [[0, 1]], "
            "the weights at [[0, 0]].",
        ),
    ],
)
def test_errors_of_combined_lookups(ids: Any, weights: Any, combiner: str, kind: type[Exception], text: str) -> None:
    with says(kind, text):
        embedding_lookup_sparse(TABLE, ids, weights, combiner=combiner)
