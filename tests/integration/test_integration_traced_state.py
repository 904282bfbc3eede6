"""Users' programs give the same bits in `tf.function` as without: variables, devices and random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe

X = np.random.default_rng(0).normal(size=(4, 3)).astype("f4")
W = np.random.default_rng(1).normal(size=(3, 2)).astype("f4")

# Makes a traced function of one, or leaves it as it is.
Wrap = Callable[[Any], Any]
PROGRAMS: list[Callable[[Wrap], Any]] = []


def program(run: Callable[[Wrap], Any]) -> Callable[[Wrap], Any]:
    PROGRAMS.append(run)
    return run


def given(scale: float = 1.0) -> Any:
    return tf.constant(X * np.float32(scale))


@program
def variables_of_the_first_call(wrap: Wrap) -> Any:
    made: dict[str, Any] = {}

    def call(x: Any) -> Any:
        if "w" not in made:
            made["w"] = tf.Variable(tf.random_normal([3, 2]))
        return tf.matmul(x, made["w"])

    f = wrap(call)
    return [f(given()) for _ in range(3)] + [made["w"], tf.random_normal([2])]


@program
def variable_scopes(wrap: Wrap) -> Any:
    def call(x: Any) -> Any:
        with tf.variable_scope("scope", reuse=tf.AUTO_REUSE):
            return tf.matmul(x, tf.get_variable("w", [3, 2]))

    f = wrap(call)
    with tfe.EagerVariableStore().as_default():
        return [f(given()) for _ in range(3)]


@program
def variables_as_arguments(wrap: Wrap) -> Any:
    a, b, x = tf.Variable(1.0), tf.Variable(10.0), given()
    f, g = wrap(lambda v: v * 2.0), wrap(lambda d: d["v"] * d["x"])
    found = [f(a), f(b), f(a), g({"v": a, "x": x}), g({"v": b, "x": x})]
    a.assign(5.0)
    return [*found, f(a), f(b), g({"v": a, "x": x})]


@program
def variables_that_change_places(wrap: Wrap) -> Any:
    a, b = tf.Variable([1.0, 4.0]), tf.Variable([2.0, 8.0])

    def call(x: Any) -> Any:
        before = a.value()
        a.assign(b)
        b.assign(before)
        a.assign_sub(x)
        seen = a.read_value()
        a.assign(a + 1.0)
        return before, seen, a.value(), a[0], a + a

    f = wrap(call)
    return [f(tf.constant([0.5, 0.5])) for _ in range(3)] + [a, b]


@program
def branches_before_writes(wrap: Wrap) -> Any:
    v = tf.Variable(0.0)

    def call(x: Any) -> Any:
        after = v + x
        if after > 2.0:
            after = after * 0.0
        v.assign(after)
        return after

    f = wrap(call)
    return [f(tf.constant(1.0)) for _ in range(6)] + [v]


@program
def lists_of_variables_that_grow(wrap: Wrap) -> Any:
    variables = [tf.Variable(1.0)]
    f = wrap(lambda x, n: x * tf.add_n([v.value() for v in variables[:n]]))
    found = [f(given(), 1), f(given(), 1)]
    variables.append(tf.Variable(2.0))
    return [*found, f(given(), 2), f(given(), 2)]


@program
def devices_inside(wrap: Wrap) -> Any:
    def call(x: Any) -> Any:
        with tf.device("cpu:0"):
            y = x * 2.0
        with tf.device("fake:0"):
            z = tf.identity(y) + 1.0
        return y + z.cpu()

    f = wrap(call)
    return [f(given()), f(given(2)), f(given())]


@program
def devices_outside(wrap: Wrap) -> Any:
    f, g = wrap(lambda: tf.ones([2]) * 3.0), wrap(lambda x: x * 2.0 + tf.ones([3]))
    found: list[Any] = []
    for device in ("cpu:0", "fake:0", "cpu:0", "fake:0"):
        with tf.device(device):
            both = [f(), g(given())]
        found += [*both, [each.device for each in both]]
    return [*found, f(), f().device]


@program
def seeds(wrap: Wrap) -> Any:
    def call(x: Any) -> Any:
        tf.set_random_seed(3)
        return x + tf.random_normal([3]) + tf.random_uniform([3], seed=7)

    f, g = wrap(call), wrap(lambda: tf.random_uniform([3], seed=7) + tf.random_normal([3]))
    return [g(), g(), f(given()), f(given()), g(), f(given()), g(), tf.random_normal([2])]


@program
def random_numbers_of_constants(wrap: Wrap) -> Any:
    logits, x = tf.constant(X), tf.constant(X)
    f = wrap(
        lambda: (
            *(tf.random_gamma([2], 2.0), tf.random_poisson([1.0, 2.0], [2]), tf.multinomial(logits, 5)),
            *(tf.random_shuffle(x), tf.nn.dropout(x, 0.5), tf.truncated_normal([3])),
            tf.glorot_uniform_initializer()([2, 3]),
        )
    )
    return [f() for _ in range(3)] + [tf.random_normal([2])]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("run", PROGRAMS, ids=lambda run: run.__name__)
def test_programs_are_equal(run: Callable[[Wrap], Any], assert_same_bits: Callable[..., None]) -> None:
    assert_same_bits(run)
