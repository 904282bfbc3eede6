"""Gradients of functions that are applied to row after row in traced functions: a node each way, with eager bits."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe
from agog_core.errors import TracingWarning

Rows = Callable[..., Any]

X = np.random.RandomState(0).randn(46, 4).astype(np.float32)
W = (0.4 * np.random.RandomState(1).randn(4, 4)).astype(np.float32)

pytestmark = pytest.mark.usefixtures("way")


def product(row: tf.Tensor, w: Any) -> tf.Tensor:
    return tf.squeeze(tf.matmul(tf.expand_dims(row, 0), w), 0)


def cell(w: Any, b: Any) -> Rows:
    return lambda total, row: tf.tanh(product(total, w) + product(row, w) * tf.sin(total) + b)


def inside(rows: Rows, wrap: Callable[..., Any], w: Any, b: Any) -> Rows:
    """A function that asks a tape of its own for the gradients of what rows give."""

    def call(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = rows(x, w, b)
            loss = tf.reduce_mean(y * y)
        return [loss, y, *tape.gradient(loss, [x, w, b])]

    return wrap(call)


def outside(rows: Rows, wrap: Callable[..., Any], w: Any, b: Any) -> Rows:
    """The same with a tape outside of the traced function."""
    traced = wrap(lambda x: rows(x, w, b))

    def call(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = traced(x)
            loss = tf.reduce_mean(y * y)
        return [loss, y, *tape.gradient(loss, [x, w, b])]

    call.graph = getattr(traced, "graph", None)  # type: ignore[attr-defined]  # for those who look
    return call


def same(make: Callable[..., Any], rows: Rows) -> Any:
    """Call a function eagerly and traced; the traced one, if every bit is the same."""
    found = []
    for wrap in (lambda function: function, tf.function):
        tf.set_random_seed(3)
        w, b = tfe.Variable(W), tfe.Variable(W[0])
        call, results = make(rows, wrap, w, b), []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TracingWarning)
            for scale in (1.0, -0.3):
                for each in call(tf.constant(X * np.float32(scale))):
                    array = None if each is None else np.asarray(tf.convert_to_tensor(each))
                    results.append(None if array is None else (array.dtype, array.shape, array.tobytes()))
        found.append([*results, w.numpy().tobytes(), tf.random_uniform([3]).numpy().tobytes()])
    assert found[0] == found[1]
    return call


def nodes_of_rows(traced: Any) -> list[str]:
    """The nodes of many rows in a graph."""
    loops = [type(node.attributes.get("loop")).__name__ for node in traced.graph().nodes]
    return [name for name in loops if name in ("Rows", "RowsBack")]


NODES: dict[str, Rows] = {
    "map": lambda x, w, b: tf.map_fn(lambda r: tf.sin(r * r) + tf.tanh(r) * b + tf.exp(r * 0.1) - r, x),
    "map with products": lambda x, w, b: tf.map_fn(lambda r: tf.sin(product(r, w)) * r + tf.tanh(product(r, w) + b), x),
    "gradients that are handed on": lambda x, w, b: tf.map_fn(lambda r: r + b * tf.sin(b) * tf.exp(b) * tf.cos(b), x),
    "several results": lambda x, w, b: tf.add_n(
        tf.map_fn(lambda r: (tf.sin(product(r, w)) * r, tf.tanh(product(r, w))), x, dtype=(tf.float32, tf.float32))
    ),
    "random numbers": lambda x, w, b: tf.map_fn(lambda r: tf.nn.dropout(product(r, w) * tf.sin(r), 0.5) + tf.exp(r), x),
    "scan": lambda x, w, b: tf.scan(cell(w, b), x),
    "scan from zeros": lambda x, w, b: tf.scan(cell(w, b), x, initializer=tf.zeros([4])),
    "scan in reverse": lambda x, w, b: tf.scan(cell(w, b), x, reverse=True),
    "foldl": lambda x, w, b: tf.foldl(cell(w, b), x),
    "foldr": lambda x, w, b: tf.foldr(cell(w, b), x, initializer=b * 2.0),
    "a part of the results": lambda x, w, b: tf.map_fn(lambda r: tf.sin(product(r, w)) * r + tf.tanh(r + b), x)[5:9],
}


@pytest.mark.parametrize("name", NODES)
def test_rows_and_their_gradient_are_a_node_each(name: str) -> None:
    assert nodes_of_rows(same(inside, NODES[name])) == ["Rows", "RowsBack"]
    assert nodes_of_rows(same(outside, NODES[name])) == ["Rows"]


def test_a_graph_of_more_rows_has_no_more_nodes_of_the_function() -> None:
    def counted(count: int) -> int:
        w, b = tfe.Variable(W), tfe.Variable(W[0])
        call = inside(NODES["scan"], tf.function, w, b)
        call(tf.constant(np.tile(X, [5, 1])[:count]))
        names = {"matmul", "tanh", "sin", "tanh_grad", "cos"}
        return sum(node.op is not None and node.op.name in names for node in call.graph().nodes)

    assert counted(70) == counted(140) < 20


UNROLLED: dict[str, Rows] = {
    "sparse gradients": lambda x, w, b: tf.map_fn(lambda r: tf.gather(w, [1])[0] * r * tf.sin(r) + tf.exp(r), x),
    "rows that differ": lambda x, w, b: tf.map_fn(Counter().step, x),
    "what a row is given": lambda x, w, b: tf.map_fn(lambda r: r, tf.sin(x)) + tf.map_fn(lambda r: b, x),
    "branches": lambda x, w, b: tf.map_fn(
        lambda r: tf.cond(tf.reduce_sum(r) > 0.0, lambda: tf.sin(r) * tf.exp(r), lambda: tf.tanh(r) * b), x
    ),
    "a view": lambda x, w, b: tf.map_fn(lambda r: tf.transpose(tf.reshape(tf.sin(r) * tf.exp(r) + b, [2, 2])), x),
    "an error": lambda x, w, b: tf.map_fn(lambda r: tf.check_numerics(tf.sin(r) * tf.exp(r) * b, "never"), x),
    "an assignment": lambda x, w, b: tf.map_fn(lambda r: w.assign_add(w * 0.01)[0] * tf.sin(r) * tf.exp(r), x),
}


class Counter:
    """A function of rows that does something else with some of them."""

    def __init__(self) -> None:
        self.count = 0

    def step(self, row: tf.Tensor) -> tf.Tensor:
        self.count += 1
        return tf.sin(row) * row * tf.exp(row) if self.count % 7 else tf.tanh(row)


@pytest.mark.parametrize("name", UNROLLED)
def test_rows_that_are_recorded_one_by_one(name: str) -> None:
    same(inside, UNROLLED[name])
    same(outside, UNROLLED[name])


def test_several_gradients_of_a_tape_that_stays() -> None:
    def make(rows: Rows, wrap: Callable[..., Any], w: Any, b: Any) -> Rows:
        def call(x: tf.Tensor) -> Any:
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = rows(x, w, b)
            return [*tape.gradient(y, [x, w]), *tape.gradient(y * 2.0, [w]), tape.gradient(y[1:], x)]

        return wrap(call)

    same(make, NODES["scan"])


@pytest.mark.parametrize("asked", ["result", "initial", "w", "x"])
@pytest.mark.parametrize("name", ["foldl", "scan"])
def test_tapes_that_begin_behind_the_rows(name: str, asked: str) -> None:
    """They may watch what the first row was given, and what the last one has returned."""
    kinds: dict[str, Any] = {
        "foldl": lambda x, c, w, b: tf.foldl(cell(w, b), x, initializer=c),
        "scan": lambda x, c, w, b: tf.scan(cell(w, b), x, initializer=c),
    }

    def make(rows: Any, wrap: Callable[..., Any], w: Any, b: Any) -> Rows:
        def call(x: tf.Tensor) -> Any:
            c = tf.sin(x[0])
            with tf.GradientTape() as first:
                first.watch([x, c])
                y = rows(x, c, w, b)
                loss = tf.reduce_sum(y * y)
            with tf.GradientTape() as second:
                source = {"result": y, "initial": c, "w": w, "x": x}[asked]
                second.watch(source)
                gradients = first.gradient(loss, [x, c, w])
                total = tf.add_n([tf.reduce_sum(g * g) for g in gradients])
            return [*gradients, second.gradient(total, source)]

        return wrap(call)

    same(make, kinds[name])


def test_gradients_of_gradients() -> None:
    def make(rows: Rows, wrap: Callable[..., Any], w: Any, b: Any) -> Rows:
        def call(x: tf.Tensor) -> Any:
            with tf.GradientTape() as second, tf.GradientTape() as first:
                first.watch(x)
                y = rows(x[:20], w, b)
                g = first.gradient(tf.reduce_sum(y * y), x)
                total = tf.reduce_sum(g * g)
            return [g, second.gradient(total, w)]

        return wrap(call)

    same(make, NODES["scan"])


@pytest.mark.parametrize("seed", range(6))
def test_random_programs(seed: int) -> None:
    draw = random.Random(seed)
    ops: list[Rows] = [
        lambda h, r, w, b: tf.sin(h),
        lambda h, r, w, b: h * r,
        lambda h, r, w, b: product(h, w),
        lambda h, r, w, b: h + b,
        lambda h, r, w, b: h - tf.reduce_mean(h),
        lambda h, r, w, b: tf.reshape(tf.reshape(h, [2, 2]) * 1.5, [4]),
        lambda h, r, w, b: tf.tanh(h) * h,
        lambda h, r, w, b: h + 0.25,
        lambda h, r, w, b: tf.stop_gradient(h) + r,
        lambda h, r, w, b: tf.concat([h[2:], h[:2]], 0),
    ]
    plan = [draw.choice(ops) for _ in range(draw.randint(4, 7))]
    kind, uses = draw.choice(["map", "scan", "foldl", "foldr"]), draw.choice([0, 1, 2])

    def step(total: tf.Tensor, row: tf.Tensor, w: Any, b: Any) -> tf.Tensor:
        h = total
        for op in plan:
            h = op(h, row, w, b)
        return tf.tanh(h) * 0.9

    def rows(x: tf.Tensor, w: Any, b: Any) -> tf.Tensor:
        if kind == "map":
            y = tf.map_fn(lambda r: step(r, r, w, b), x)
        else:
            first = draw.choice([None, tf.zeros([4]), b * 1.0])
            y = getattr(tf, kind)(lambda total, r: step(total, r, w, b), x, initializer=first)
        return [y, y[3:], tf.sin(y) + y][uses] if kind != "foldl" else y

    state = draw.getstate()

    def again(*args: Any) -> Any:
        draw.setstate(state)
        return rows(*args)

    same(inside, again)
    same(outside, again)
