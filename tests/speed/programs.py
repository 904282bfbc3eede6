"""Programs: functions of many kinds, each made anew, to be called eagerly or traced."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import agog as tf
import agog.eager as tfe

Step = Callable[[], Any]
Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]
PROGRAMS: dict[str, Callable[[Wrap], Step]] = {}


def program(make: Callable[[Wrap], Step]) -> Callable[[Wrap], Step]:
    """Add a program, under its name."""
    PROGRAMS[make.__name__] = make
    return make


def normal(*shape: int, seed: int = 0) -> Any:
    return tf.constant(np.random.default_rng(seed).normal(size=shape).astype("float32"))


def called(name: str, function: Callable[..., Any], *args: Any) -> None:
    """Add a function that is called with the same arguments each time."""
    PROGRAMS[name] = lambda wrap: (lambda traced: lambda: traced(*args))(wrap(function))


def gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradients of a function of tensors with respect to all of them."""

    def gradients(*args: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(args)
            value = tf.reduce_sum(function(*args))
        return tape.gradient(value, list(args))

    return gradients


def trained(name: str, make: Callable[[], tuple[Callable[..., Any], Any]], *args: Any, rule: Any = None) -> None:
    """Add steps of training: ``make()`` gives a loss, and what has the variables."""

    def steps(wrap: Wrap) -> Step:
        loss_of, owner = make()
        optimizer = tf.train.AdamOptimizer(1e-4) if rule is None else rule()

        def step(*args: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = loss_of(*args)
            variables = owner if isinstance(owner, list) else owner.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return loss

        traced = wrap(step)
        return lambda: traced(*args)

    PROGRAMS[name] = steps


# Elements, rows, products.
called("one_op", lambda x: x + 1.0, normal(3))
called("square_of_a_number", gradient(lambda x: x * x), tf.constant(3.0))
called("chain_of_20", gradient(lambda x: [x := tf.tanh(x * 1.1 + 0.1) for _ in range(7)][-1]), normal(8))
called("gelu_of_100k", gradient(lambda x: 0.5 * x * (1.0 + tf.tanh(0.8 * (x + 0.04 * x * x * x)))), normal(100_000))
called("gelu_of_1m", gradient(lambda x: 0.5 * x * (1.0 + tf.tanh(0.8 * (x + 0.04 * x * x * x)))), normal(1_000_000))
called("softmax", gradient(lambda x: tf.nn.softmax(x) * x), normal(128, 64))
called(
    "moments",
    gradient(lambda x: (x - tf.reduce_mean(x, -1, True)) * tf.rsqrt(tf.reduce_mean(x * x, -1, True))),
    normal(64, 256),
)
called("cumulative", gradient(lambda x: tf.cumsum(x, 1) * x), normal(64, 64))
called("sorted", lambda x: tf.nn.top_k(x, 5), normal(64, 100))
called("gathered", gradient(lambda x: tf.gather(x, [3, 1, 1, 0]) * 2.0), normal(10, 20))
called("concatenated", gradient(lambda x, y: tf.concat([x, y, x * y], 1)[:, 3:]), normal(16, 8), normal(16, 8, seed=1))
called("segments", gradient(lambda x: tf.unsorted_segment_sum(x, [0, 1, 0, 2], 3)), normal(4, 50))
called(
    "products", gradient(lambda x, y: tf.matmul(tf.nn.relu(tf.matmul(x, y)), y)), normal(32, 32), normal(32, 32, seed=1)
)
called(
    "large_products", gradient(lambda x, y: tf.matmul(tf.matmul(x, y), y)), normal(256, 256), normal(256, 256, seed=1)
)
called("einsum", gradient(lambda x, y: tf.einsum("bij,bjk->bik", x, y)), normal(8, 10, 12), normal(8, 12, 9, seed=1))
called(
    "cholesky", gradient(lambda x: tf.cholesky(tf.matmul(x, x, transpose_b=True) + 3.0 * tf.eye(12))), normal(12, 12)
)
called("solve", gradient(lambda x, y: tf.matrix_solve(x + 5.0 * tf.eye(10), y)), normal(10, 10), normal(10, 3, seed=1))
called("fourier", lambda x: tf.abs(tf.spectral.rfft(x)), normal(16, 128))
called("pools", gradient(lambda x: tf.nn.max_pool(x, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")), normal(8, 16, 16, 8))
called(
    "large_pools", gradient(lambda x: tf.nn.max_pool(x, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")), normal(64, 28, 28, 32)
)
called(
    "convolution",
    gradient(lambda x, w: tf.nn.relu(tf.nn.conv2d(x, w, (1, 1, 1, 1), "SAME"))),
    normal(8, 14, 14, 8),
    normal(3, 3, 8, 16, seed=1),
)
called("images", lambda x: tf.image.resize_bilinear(x, (20, 20)) * 0.5, normal(4, 12, 12, 3))
called("integers", lambda x: tf.reduce_sum(x * 3 // 2 % 7), tf.constant(np.arange(500)))
called("half_precision", gradient(lambda x: tf.tanh(tf.cast(x, tf.float16) * 2.0)), normal(500))
called(
    "structures",
    lambda given: {"sum": given["a"] + given["b"][0], "both": (given["a"], given["b"][1])},
    {"a": normal(5), "b": (normal(5), normal(2))},
)
called("several_results", lambda x: (x + 1.0, tf.reduce_sum(x), tf.nn.softmax(x), x * x), normal(40))
called("random", lambda x: tf.nn.dropout(x, 0.5) + tf.random_normal([64]), normal(64))
called("python_function", lambda x: tf.py_func(lambda host: host * 2, [x * 3.0], tf.float32) + 1.0, normal(20))
called("second_order", gradient(lambda x: gradient(lambda y: tf.sin(y) * y * y)(x)[0]), normal(10))
called(
    "loop",
    lambda x: tf.while_loop(lambda n, y: n < 20, lambda n, y: (n + 1, tf.tanh(y) + 0.1), [tf.constant(0), x])[1],
    normal(10),
)


# Layers and models.
def sequential(*layers: Any, inputs: Any, labels: int = 10) -> Callable[[], tuple[Callable[..., Any], Any]]:
    def make() -> tuple[Callable[..., Any], Any]:
        model = tf.keras.Sequential([layer() for layer in layers])
        answers = tf.constant(np.arange(inputs.shape[0]) % labels)
        model(inputs)
        return lambda x: tf.losses.sparse_softmax_cross_entropy(answers, model(x, training=True)), model

    return make


K = tf.keras.layers
x = normal(32, 20)
dense = sequential(lambda: K.Dense(32, activation="relu"), lambda: K.Dense(10), inputs=x)
trained("dense", dense, x)
trained("dense_by_momentum", dense, x, rule=lambda: tf.train.MomentumOptimizer(0.01, 0.9))
trained("dense_by_rmsprop", dense, x, rule=lambda: tf.train.RMSPropOptimizer(0.001))
trained("dense_by_sgd", dense, x, rule=lambda: tf.train.GradientDescentOptimizer(0.001))
trained("normalised", sequential(lambda: K.Dense(32), K.BatchNormalization, lambda: K.Dense(10), inputs=x), x)
trained("dropout", sequential(lambda: K.Dense(32), lambda: K.Dropout(0.5), lambda: K.Dense(10), inputs=x), x)
sequences = normal(16, 12, 8)
trained("lstm", sequential(lambda: K.LSTM(16), lambda: K.Dense(10), inputs=sequences), sequences)
trained("gru", sequential(lambda: K.GRU(16), lambda: K.Dense(10), inputs=sequences), sequences)
trained("simple_rnn", sequential(lambda: K.SimpleRNN(16), lambda: K.Dense(10), inputs=sequences), sequences)
trained(
    "bidirectional", sequential(lambda: K.Bidirectional(K.LSTM(8)), lambda: K.Dense(10), inputs=sequences), sequences
)
words = tf.constant(np.random.default_rng(0).integers(0, 50, (16, 12)))
trained(
    "embedding",
    sequential(lambda: K.Embedding(50, 8), K.GlobalAveragePooling1D, lambda: K.Dense(10), inputs=words),
    words,
)
pictures = normal(8, 12, 12, 1)
trained(
    "convolutions",
    sequential(lambda: K.Conv2D(8, 3, activation="relu"), K.MaxPool2D, K.Flatten, lambda: K.Dense(10), inputs=pictures),
    pictures,
)


# What changes from call to call.
@program
def another_number_at_each_call(wrap: Wrap) -> Step:
    f, x, numbers = wrap(lambda x, n: tf.reduce_sum(tf.tanh(x * n + 1.0) * x)), normal(64), itertools.count(1)
    return lambda: f(x, float(next(numbers)))


@program
def another_batch_at_each_call(wrap: Wrap) -> Step:
    w, sizes = tfe.Variable(normal(20, 10)), itertools.count(1)

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.nn.relu(x @ w)))
        return tape.gradient(loss, w)

    f, xs = wrap(step), [normal(n, 20) for n in range(1, 200)]
    return lambda: f(xs[next(sizes) % len(xs)])


@program
def two_batches_in_turn(wrap: Wrap) -> Step:
    f, xs = wrap(gradient(lambda x: tf.nn.softmax(x) * x)), itertools.cycle([normal(32, 10), normal(7, 10)])
    return lambda: f(next(xs))


@program
def branches(wrap: Wrap) -> Step:
    def huber(x: Any) -> Any:
        return x * x if tf.abs(x) <= 1.0 else 2.0 * tf.abs(x) - 1.0

    f, xs = wrap(huber), itertools.cycle([tf.constant(x) for x in np.random.default_rng(0).normal(size=99).astype("f")])
    return lambda: f(next(xs))


@program
def many_ways(wrap: Wrap) -> Step:
    def count(x: Any) -> Any:
        n = 0.0
        while x > n:
            n += 1.0
        return x * n

    f, xs = wrap(count), itertools.cycle([tf.constant(float(n * 7 % 60)) for n in range(60)])
    return lambda: f(next(xs))


@program
def variables(wrap: Wrap) -> Step:
    v, n = tfe.Variable(normal(100)), tfe.Variable(0)

    def step(x: Any) -> Any:
        v.assign(v * 0.9 + x)
        n.assign_add(1)
        return v.value()

    f, x = wrap(step), normal(100)
    return lambda: f(x)


@program
def function_under_a_tape(wrap: Wrap) -> Step:
    f, w, x = wrap(lambda x, w: (tf.reduce_sum(tf.tanh(x @ w)), x @ w)), tfe.Variable(normal(20, 10)), normal(32, 20)

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss, _ = f(x, w.value())
        return tape.gradient(loss, w)

    return step


def under_a_tape(name: str, function: Callable[..., Any], x: Any) -> None:
    """Add a function whose gradient is taken outside of it."""

    def make(wrap: Wrap) -> Step:
        f = wrap(function)

        def step() -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            return tape.gradient(y, x)

        return step

    PROGRAMS[name] = make


under_a_tape("one_op_under_a_tape", lambda x: x * x, normal(4))
under_a_tape("two_ops_under_a_tape", lambda x: tf.tanh(x * x), normal(4))
under_a_tape("two_ops_of_10k_under_a_tape", lambda x: tf.tanh(x * x), normal(10_000))
under_a_tape("five_ops_under_a_tape", lambda x: tf.sigmoid(tf.tanh(x * 2.0 + 1.0) * x), normal(4))
under_a_tape("ten_ops_under_a_tape", lambda x: [x := tf.tanh(x * 1.1) for _ in range(5)][-1], normal(4))


@program
def function_under_two_tapes(wrap: Wrap) -> Step:
    f, x = wrap(lambda x: tf.sin(x) * x * x + tf.tanh(x)), normal(10)

    def step() -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            first = inner.gradient(y, x)
        return outer.gradient(first, x)

    return step


@program
def method(wrap: Wrap) -> Step:
    class Scale:
        def __init__(self) -> None:
            self.w = tfe.Variable(normal(10))

        def call(self, x: Any) -> Any:
            return tf.reduce_sum(tf.exp(x * self.w))

    f, x = wrap(Scale().call), normal(10)
    return lambda: f(x)


@program
def leapfrog_sampler(wrap: Wrap) -> Step:
    """Hamiltonian dynamics with learnt steps, whose loss is a traced function under a tape: thousands of small ops."""
    size, steps = 2, 6
    nets = [[K.Dense(10, "relu"), K.Dense(10, "relu"), K.Dense(size, "tanh")] for _ in range(2)]
    precision = tf.matrix_inverse(tf.constant([[50.05, -49.95], [-49.95, 50.05]]))
    rate, optimizer = tfe.Variable(0.1), tf.train.AdamOptimizer(1e-3)

    def energy(x: Any) -> Any:
        return 0.5 * tf.reduce_sum(tf.matmul(x, precision) * x, 1)

    def scales(net: Any, x: Any, v: Any) -> Any:
        h = tf.concat([x, v], 1)
        for layer in net:
            h = layer(h)
        return h * rate

    def loss_of(x: Any) -> Any:
        v = tf.random_normal(tf.shape(x))
        before, total = energy(x) + 0.5 * tf.reduce_sum(v * v, 1), 0.0
        start = x
        for _ in range(steps):
            for net in nets:
                slope = tf.check_numerics(tfe.gradients_function(energy)(x)[0], "slope")
                s = scales(net, x, v)
                v = v * tf.exp(s) - 0.5 * rate * slope
                x = x + rate * v * tf.exp(-s)
                total += tf.reduce_sum(s, 1)
        after = energy(x) + 0.5 * tf.reduce_sum(v * v, 1)
        chance = tf.exp(tf.minimum(before - after + total, 0.0))
        moved = tf.reduce_sum(tf.square(x - start), 1) * chance + 1e-4
        return tf.reduce_mean(1.0 / moved - moved), tf.stop_gradient(x), chance

    f, x = wrap(loss_of), normal(50, size)
    for net in nets:
        scales(net, x, x)
    variables = [v for net in nets for layer in net for v in layer.variables]

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss, _, _ = f(x)
        optimizer.apply_gradients(zip(tape.gradient(loss, [*variables, rate]), [*variables, rate], strict=True))
        return loss

    return step
