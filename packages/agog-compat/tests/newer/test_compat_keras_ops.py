"""Keras's ops and random numbers, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_compat.newer import keras_ops, keras_random
from agog_compat.newer.keras_random import SeedGenerator

SEED = 71
X = np.random.default_rng(SEED).normal(size=(3, 4)).astype(np.float32)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_places(name: str, axis: int | None, keepdims: bool) -> None:
    found = getattr(keras_ops, name)(X, axis, keepdims)
    np.testing.assert_array_equal(found, getattr(np, name)(X, axis, keepdims=keepdims))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_elements_at_places(axis: int | None) -> None:
    np.testing.assert_array_equal(keras_ops.take(X, [[2, 0]], axis), np.take(X, [[2, 0]], axis))


@pytest.mark.parametrize(("where", "axis"), [(2, 1), (3, 0), ([1], 0), ([1, 3], 1)])
def test_parts(where: Any, axis: int) -> None:
    for found, expected in zip(keras_ops.split(X, where, axis), np.split(X, where, axis), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_shapes() -> None:
    x = ag.constant(X)
    assert (keras_ops.shape(x), keras_ops.ndim(x), keras_ops.size(x)) == ((3, 4), 2, 12)
    np.testing.assert_array_equal(keras_ops.concatenate([X, X], 1), np.concatenate([X, X], 1))
    np.testing.assert_array_equal(keras_ops.one_hot([1, 0], 3, axis=0), np.eye(3)[[1, 0]].T)
    with pytest.raises(NotImplementedError) as caught:
        keras_ops.one_hot([1], 2, sparse=True)
    assert str(caught.value) == "one_hot: sparse=True is not supported; leave it out."


@pytest.mark.parametrize("draw", ["normal", "truncated_normal", "uniform"])
def test_seeds_that_go_on(draw: str) -> None:
    function = getattr(keras_random, draw)
    ag.set_random_seed(SEED)
    generator = SeedGenerator(5)
    first, second = function([4], seed=generator).numpy(), function([4], seed=generator).numpy()
    assert not np.array_equal(first, second)
    ag.set_random_seed(SEED)
    np.testing.assert_array_equal(function([4], seed=5), first)


def test_what_is_drawn() -> None:
    ag.set_random_seed(SEED)
    assert set(keras_random.randint([200], 2, 5).numpy().tolist()) == {2, 3, 4}
    assert set(keras_random.categorical([[0.0, 0.0, -1e9]], 100).numpy().ravel().tolist()) == {0, 1}
    dropped = keras_random.dropout(ag.ones([1000]), 0.25).numpy()
    assert set(dropped.tolist()) == {0.0, np.float32(1 / 0.75)}
    assert 0.2 < (dropped == 0).mean() < 0.3
    columns = keras_random.shuffle(X, axis=1).numpy()
    np.testing.assert_array_equal(np.sort(columns, 1), np.sort(X, 1))
    assert sorted(columns[0].tolist()) == sorted(X[0].tolist())
