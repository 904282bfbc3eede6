"""Functions that traced functions apply to row after row: one node where there are many, with eager bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe
from agog_core import nest
from agog_core.tracing.graphs.graph import Effect

X = np.random.RandomState(0).randn(140, 3).astype(np.float32)
SEED = 5

pytestmark = pytest.mark.usefixtures("way")


def compare(function: Callable[..., Any], *variables: tuple[tfe.Variable, tfe.Variable]) -> int:
    """Call a function of rows and a number eagerly and traced, and compare all bits; how many loops are nodes."""
    traced = tf.function(function)
    for scale in (1.0, -2.0):
        found = []
        for call in (function, traced):
            tf.set_random_seed(SEED)
            for variable in variables:
                variable.assign(tf.ones_like(variable))
            result = nest.flatten(call(tf.constant(X), tf.constant(scale)))
            state = [variable.numpy().copy() for variable in variables]
            found.append([*[np.asarray(each) for each in result], *state, tf.random_uniform([2]).numpy()])
        for left, right in zip(*found, strict=True):
            assert (left.dtype, left.shape) == (right.dtype, right.shape)
            assert left.tobytes() == right.tobytes()
    assert len(traced.traces()) == 1
    return sum(node.effect is Effect.LOOP for node in traced.graph().nodes)


def test_maps() -> None:
    def call(x: tf.Tensor, scale: tf.Tensor) -> Any:
        return tf.map_fn(lambda row: tf.tanh(row) * scale, x)

    assert compare(call) == 1


def test_maps_of_structures_with_random_numbers() -> None:
    def call(x: tf.Tensor, scale: tf.Tensor) -> Any:
        before = tf.random_uniform([])
        both = tf.map_fn(
            lambda rows: (rows[0] * rows[1] + tf.random_normal([3]), rows[0]),
            (x, x * scale),
            dtype=(tf.float32, tf.float32),
        )
        return before, both, tf.random_uniform([])

    assert compare(call) == 1


@pytest.mark.parametrize("reverse", [False, True])
def test_scans(reverse: bool) -> None:
    def call(x: tf.Tensor, scale: tf.Tensor) -> Any:
        return tf.scan(lambda total, row: tf.sin(total + row) * scale, x, tf.zeros([3]), reverse=reverse)

    assert compare(call) == 1


def test_a_scan_against_numpy() -> None:
    def call(x: tf.Tensor, scale: tf.Tensor) -> Any:
        return tf.scan(lambda total, row: total * scale + row - 1.0, x)

    assert compare(call) == 1
    expected = [X[0]]
    for row in X[1:]:
        expected.append(expected[-1] * np.float32(0.5) + row - np.float32(1.0))
    np.testing.assert_array_equal(tf.function(call)(tf.constant(X), tf.constant(0.5)).numpy(), np.stack(expected))


def test_folds() -> None:
    def call(x: tf.Tensor, scale: tf.Tensor) -> Any:
        def step(total: Any, row: Any) -> Any:
            return {"sum": total["sum"] + row["x"] * scale, "last": row["x"]}

        start = {"sum": tf.zeros([3]), "last": tf.ones([3])}
        return [fold(step, {"x": x}, start) for fold in (tf.foldl, tf.foldr)]

    assert compare(call) == 2


def test_variables_that_the_function_writes() -> None:
    v = tfe.Variable([1.0, 1.0, 1.0])

    def call(x: tf.Tensor, scale: tf.Tensor) -> Any:
        def step(row: tf.Tensor) -> Any:
            v.assign(v * 0.5 + row * scale)
            return v + 1.0

        return tf.map_fn(step, x), v + 0.0

    assert compare(call, v) == 1


def test_rows_that_are_returned_as_they_are() -> None:
    def call(x: tf.Tensor, scale: tf.Tensor) -> Any:
        y = x * scale
        return tf.map_fn(lambda row: (row[0] + row[1] + scale - 1.0, row[0], y[1]), (y, x), dtype=(tf.float32,) * 3)

    assert compare(call) == 1


def test_few_rows_are_recorded_as_they_run() -> None:
    def call(x: tf.Tensor, scale: tf.Tensor) -> Any:
        return tf.map_fn(lambda row: row * scale, x[:5])

    assert compare(call) == 0


def test_python_that_differs_from_row_to_row() -> None:
    def call(x: tf.Tensor, scale: tf.Tensor) -> Any:
        count = [0]

        def step(row: tf.Tensor) -> Any:
            count[0] += 1
            return row * scale * count[0] + 1.0 + row

        return tf.map_fn(step, x)

    assert compare(call) == 0


def test_an_error_in_the_middle() -> None:
    @tf.function
    def call(x: tf.Tensor, n: tf.Tensor) -> Any:
        return tf.foldl(lambda i, row: tf.gather(n, i) + tf.cast(row[0] * 0.0, tf.int32), x, tf.constant(0))

    following = np.arange(1, 142, dtype=np.int32)
    assert int(call(tf.constant(X), tf.constant(following))) == 140
    following[70] = 1000
    with pytest.raises(tf.errors.InvalidArgumentError, match="indices = 1000 is not in"):
        int(call(tf.constant(X), tf.constant(following)))
