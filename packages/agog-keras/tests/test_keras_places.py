"""Keras's ops and random numbers, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_keras import random as keras_random
from agog_keras.ops import places, selection
from agog_keras.random import SeedGenerator
from agog_testing import says

SEED = 71
X = np.random.default_rng(SEED).normal(size=(3, 4)).astype(np.float32)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_places(name: str, axis: int | None, keepdims: bool) -> None:
    found = getattr(places, name)(X, axis, keepdims)
    np.testing.assert_array_equal(found, getattr(np, name)(X, axis, keepdims=keepdims))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_elements_at_places(axis: int | None) -> None:
    np.testing.assert_array_equal(selection.take(X, [[2, 0]], axis), np.take(X, [[2, 0]], axis))


@pytest.mark.parametrize(("where", "axis"), [(2, 1), (3, 0), ([1], 0), ([1, 3], 1)])
def test_parts(where: Any, axis: int) -> None:
    for found, expected in zip(places.split(X, where, axis), np.split(X, where, axis), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_shapes() -> None:
    x = ag.constant(X)
    assert (places.shape(x), places.ndim(x), places.size(x)) == ((3, 4), 2, 12)
    np.testing.assert_array_equal(places.concatenate([X, X], 1), np.concatenate([X, X], 1))
    np.testing.assert_array_equal(places.one_hot([1, 0], 3, axis=0), np.eye(3)[[1, 0]].T)
    with says(NotImplementedError, "one_hot: sparse=True is not supported; leave it out."):
        places.one_hot([1], 2, sparse=True)


DRAWS: dict[str, Any] = {
    "normal": lambda seed: keras_random.normal([4], seed=seed),
    "truncated_normal": lambda seed: keras_random.truncated_normal([4], seed=seed),
    "uniform": lambda seed: keras_random.uniform([4], seed=seed),
    "randint": lambda seed: keras_random.randint([4], 0, 2**30, seed=seed),
    "categorical": lambda seed: keras_random.categorical(ag.zeros([1, 1000]), 4, seed=seed),
    "dropout": lambda seed: keras_random.dropout(ag.ones([200]), 0.5, seed=seed),
    "shuffle": lambda seed: keras_random.shuffle(ag.range(100), seed=seed),
    "gamma": lambda seed: keras_random.gamma([4], 1.5, seed=seed),
    "beta": lambda seed: keras_random.beta([4], 1.5, 2.5, seed=seed),
    "binomial": lambda seed: keras_random.binomial([4], 1000, 0.5, seed=seed),
}


@pytest.mark.parametrize("name", DRAWS)
def test_integers_repeat_and_generators_go_on(name: str) -> None:
    draw = DRAWS[name]
    one, other = SeedGenerator(5), SeedGenerator(5)
    first, second = draw(one).numpy(), draw(one).numpy()
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(draw(5).numpy(), first)
    np.testing.assert_array_equal(draw(5).numpy(), first)
    np.testing.assert_array_equal(draw(other).numpy(), first)
    np.testing.assert_array_equal(draw(other).numpy(), second)
    assert not np.array_equal(draw(6).numpy(), first)


def test_no_seed_is_that_of_the_program() -> None:
    drawn = []
    for _ in range(2):
        ag.set_random_seed(SEED)
        drawn.append([keras_random.normal([2]).numpy(), keras_random.normal([2], seed=SeedGenerator()).numpy()])
    np.testing.assert_array_equal(*drawn)
    assert not np.array_equal(drawn[0][0], drawn[0][1])


def test_seeds_in_traced_functions() -> None:
    generator, other = SeedGenerator(5), SeedGenerator(5)

    @ag.function
    def traced() -> Any:
        return keras_random.normal([4], seed=generator), keras_random.normal([4], seed=7)

    for _ in range(3):
        goes_on, repeats = traced()
        np.testing.assert_array_equal(goes_on.numpy(), keras_random.normal([4], seed=other).numpy())
        np.testing.assert_array_equal(repeats.numpy(), keras_random.normal([4], seed=7).numpy())


def test_generators_are_made_again_and_go_on_from_their_state() -> None:
    generator = SeedGenerator(5)
    keras_random.uniform([3], seed=generator)
    again = SeedGenerator.from_config(generator.get_config())
    again.restore_checkpoint_state(generator.checkpoint_state())
    np.testing.assert_array_equal(
        keras_random.uniform([3], seed=again).numpy(), keras_random.uniform([3], seed=generator).numpy()
    )


def test_seeds_that_are_none() -> None:
    with says(ValueError, "A seed must be an integer, a SeedGenerator or None; got 1.5 of type float."):
        keras_random.normal([2], seed=1.5)  # type: ignore[arg-type]
    with says(ValueError, "SeedGenerator: seed must be an integer of 0 or more; got -1."):
        SeedGenerator(-1)


def test_moments() -> None:
    # Five standard errors of 20000 numbers.
    gammas = keras_random.gamma([20000], [2.5], seed=SEED).numpy()
    assert abs(gammas.mean() - 2.5) < 5 * np.sqrt(2.5 / 20000)
    betas = keras_random.beta([20000], 2.0, 6.0, seed=SEED).numpy()
    assert abs(betas.mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 9 / 20000)
    counts = keras_random.binomial([20000], 10, 0.3, seed=SEED).numpy()
    assert abs(counts.mean() - 3.0) < 5 * np.sqrt(2.1 / 20000)


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
