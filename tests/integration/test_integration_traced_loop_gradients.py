"""Gradients of loops in traced functions: nodes whose length is free, with the bits of eager calls."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe
from agog_core import nest
from agog_core.dispatch.plugins.compilers import compilers_of
from agog_core.errors import TracingWarning
from agog_core.tracing.execution.hotness import compile_functions_at_once
from agog_core.tracing.graphs.graph import Effect
from agog_testing.compilers import compilers_in_use

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]
Made = tuple[Callable[..., Any], Sequence[Any]]

LENGTHS = [3, 0, 1, 2, 5, 9, 1, 20]
X = np.random.RandomState(0).randn(2, 2).astype(np.float32)
W = (0.7 * np.random.RandomState(1).randn(2, 2)).astype(np.float32)


@pytest.fixture(params=["nodes", "numpy", "compiled"], autouse=True)
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """What runs the traced functions: node by node, NumPy's calls, or compiled loops."""
    if request.param == "compiled" and not compilers_of("cpu"):
        pytest.skip("no compiler is there")
    compile_functions_at_once(request.param != "nodes")
    if request.param == "numpy":
        with compilers_in_use():
            yield request.param
    else:
        yield request.param
    compile_functions_at_once(False)


def outcomes(make: Callable[[Wrap], Made], wrap: Wrap, lengths: Sequence[int]) -> tuple[list[Any], Any]:
    """What calls give or raise, what they leave in variables, and where the random stream is at the end."""
    tf.set_random_seed(7)
    function, variables = make(wrap)
    found: list[Any] = []
    for length in lengths:
        try:
            results = nest.flatten(function(tf.constant(X), tf.constant(length)))
            found.append([None if each is None else np.asarray(each) for each in results])
        except tf.errors.InvalidArgumentError as error:
            found.append([str(error)])
        found.append([variable.numpy().copy() for variable in variables])
    found.append([tf.random_uniform([3]).numpy()])
    return found, function


def same(make: Callable[[Wrap], Made], lengths: Sequence[int] = LENGTHS) -> Any:
    """Call a function eagerly and traced; the traced one, if every bit is the same."""
    expected, _ = outcomes(make, lambda function: function, lengths)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TracingWarning)  # of loops that are recorded as they ran
        found, traced = outcomes(make, tf.function, lengths)
    for one, other in zip(expected, found, strict=True):
        assert [_bits(each) for each in one] == [_bits(each) for each in other]
    return traced


def _bits(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else (value.dtype, value.shape, value.tobytes())


def inside(forward: Callable[..., Any], wrap: Wrap, w: Any) -> Callable[..., Any]:
    """A function that asks a tape of its own for the gradients of what ``forward(x, n)`` returns."""

    def call(x: tf.Tensor, n: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = forward(x, n)
        return loss, tape.gradient(loss, [x, w])

    return wrap(call)


def outside(forward: Callable[..., Any], wrap: Wrap, w: Any) -> Callable[..., Any]:
    """The same with a tape outside of the traced function."""
    traced = wrap(forward)

    def call(x: tf.Tensor, n: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = traced(x, n)
        return loss, tape.gradient(loss, [x, w])

    call.traces = getattr(traced, "traces", None)  # type: ignore[attr-defined]
    return call


def test_powers_against_formulas() -> None:
    """y = x w^n: dy/dx = w^n, and dy/dw = n x w^(n-1)."""

    @tf.function
    def power(x: tf.Tensor, w: tf.Tensor, n: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, y * w], [tf.constant(0), x])
        return tape.gradient(y, [x, w])

    for n in [4, *range(1, 30)]:
        dx, dw = power(tf.constant(3.0, tf.float64), tf.constant(1.25, tf.float64), tf.constant(n))
        np.testing.assert_allclose(dx.numpy(), 1.25**n, rtol=1e-12)
        np.testing.assert_allclose(dw.numpy(), n * 3.0 * 1.25 ** (n - 1), rtol=1e-12)
    assert len(power.traces()) == 1
    assert sum(node.effect is Effect.LOOP for node in power.graph().nodes) >= 2


@pytest.mark.parametrize("tape", [inside, outside])
def test_any_length_takes_a_trace_beside_those_for_the_first_ones(tape: Any) -> None:
    def make(wrap: Wrap) -> Made:
        w = tfe.Variable(W)

        def forward(x: tf.Tensor, n: tf.Tensor) -> Any:
            def body(i: tf.Tensor, y: tf.Tensor, total: tf.Tensor, kept: tf.Tensor) -> Any:
                y = tf.tanh(tf.matmul(y, w)) + tf.stop_gradient(y) * 0.1 + tf.matmul(x, tf.transpose(w))
                return [i + 1, y, total + tf.reduce_sum(y * kept), kept]

            first = [tf.constant(0), x, tf.constant(0.0), x + 1.0]
            _, y, total, kept = tf.while_loop(lambda i, *_: i < n, body, first)
            return total + tf.reduce_sum(y * y) + tf.reduce_sum(kept)

        return tape(forward, wrap, w), [w]

    assert len(same(make).traces()) <= 3  # no iteration, one, and more


@pytest.mark.parametrize("tape", [inside, outside])
def test_first_and_last_values_that_are_used_elsewhere_too(tape: Any) -> None:
    """Sums of gradients have eager's order: what comes behind a loop first, then each iteration."""

    def make(wrap: Wrap) -> Made:
        w = tfe.Variable(W)

        def forward(x: tf.Tensor, n: tf.Tensor) -> Any:
            first = tf.sin(x)
            before = tf.reduce_sum(first * w)
            _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, tf.sin(y * w) + y], [tf.constant(0), first])
            return before + tf.reduce_sum(y * first * w) + tf.reduce_sum(y)

        return tape(forward, wrap, w), [w]

    assert len(same(make).traces()) <= 4


def test_gradients_of_what_a_loop_gives() -> None:
    def make(wrap: Wrap) -> Made:
        w = tfe.Variable(W)

        def call(x: tf.Tensor, n: tf.Tensor) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)

                def body(i: tf.Tensor, y: tf.Tensor, z: tf.Tensor) -> Any:
                    y = tf.tanh(y * w)
                    return [i + 1, y, z + y * y]

                _, y, z = tf.while_loop(lambda i, *_: i < n, body, [tf.constant(0), x, x * w])
                loss = tf.reduce_sum(z * z * w)
            return tape.gradient(loss, [y, z, x, w])

        return wrap(call), [w]

    same(make)


def test_random_numbers_variables_and_functions_with_gradients_of_their_own() -> None:
    def make(wrap: Wrap) -> Made:
        w, count = tfe.Variable(W), tfe.Variable(0, trainable=False)

        @tf.custom_gradient
        def clipped(x: tf.Tensor) -> Any:
            return x * 1.5, lambda dy: tf.clip_by_value(dy * x, -0.5, 0.5)

        def forward(x: tf.Tensor, n: tf.Tensor) -> Any:
            def body(i: tf.Tensor, y: tf.Tensor) -> Any:
                count.assign_add(1)
                return [i + 1, clipped(y * w) * tf.random_uniform([2, 2]) + y]

            return tf.reduce_sum(tf.while_loop(lambda i, y: i < n, body, [tf.constant(0), x])[1])

        return inside(forward, wrap, w), [w, count]

    assert len(same(make).traces()) <= 3


def test_loops_in_loops() -> None:
    def make(wrap: Wrap) -> Made:
        w = tfe.Variable(W)

        def forward(x: tf.Tensor, n: tf.Tensor) -> Any:
            def body(i: tf.Tensor, y: tf.Tensor) -> Any:
                _, z = tf.while_loop(lambda j, z: j < 2, lambda j, z: [j + 1, tf.tanh(z * w)], [tf.constant(0), y + x])
                return [i + 1, z]

            return tf.reduce_sum(tf.while_loop(lambda i, y: i < n, body, [tf.constant(0), x])[1])

        return inside(forward, wrap, w), [w]

    assert len(same(make).traces()) <= 3


def test_an_error_in_the_middle() -> None:
    def make(wrap: Wrap) -> Made:
        w = tfe.Variable(W)

        def forward(x: tf.Tensor, n: tf.Tensor) -> Any:
            def body(i: tf.Tensor, y: tf.Tensor) -> Any:
                with tf.control_dependencies([tf.assert_less(i, 4, message="too far")]):
                    return [i + 1, y * w]

            return tf.reduce_sum(tf.while_loop(lambda i, y: i < n, body, [tf.constant(0), x])[1])

        return inside(forward, wrap, w), [w]

    same(make, [2, 3, 6, 1, 5])


def test_values_that_change_places_are_recorded_as_they_ran() -> None:
    def make(wrap: Wrap) -> Made:
        w = tfe.Variable(W)

        def forward(x: tf.Tensor, n: tf.Tensor) -> Any:
            first = [tf.constant(0), x, x * w]
            _, a, b = tf.while_loop(lambda i, *_: i < n, lambda i, a, b: [i + 1, b, a * w + b], first)
            return tf.reduce_sum(a * b)

        return inside(forward, wrap, w), [w]

    same(make)


def test_two_tapes_and_tapes_that_are_asked_twice() -> None:
    def make(wrap: Wrap) -> Made:
        w = tfe.Variable(W)

        def call(x: tf.Tensor, n: tf.Tensor) -> Any:
            with tf.GradientTape(persistent=True) as outer:
                outer.watch(x)
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, tf.sin(y * w)], [tf.constant(0), x])
                    loss = tf.reduce_sum(y)
                found = tape.gradient(loss, x)
            return loss, found, outer.gradient(found, [x, w]), outer.gradient(loss, [x, w])

        return wrap(call), [w]

    same(make)


_OPS: dict[str, Callable[..., Any]] = {
    "tanh": lambda a, b, x, w: tf.tanh(a + b),
    "product": lambda a, b, x, w: 0.5 * a * b,
    "variable": lambda a, b, x, w: a * w,
    "outside": lambda a, b, x, w: a + 0.1 * x,
    "quotient": lambda a, b, x, w: a / (1.0 + b * b),
    "stopped": lambda a, b, x, w: a * tf.stop_gradient(b),
    "matmul": lambda a, b, x, w: tf.tanh(tf.matmul(a, w)) + 0.1 * tf.matmul(tf.transpose(b), x),
    "maximum": lambda a, b, x, w: tf.maximum(a, b),
    "random": lambda a, b, x, w: a * tf.random_uniform([2, 2]),
    "nested": lambda a, b, x, w: tf.while_loop(
        lambda j, z: j < 2, lambda j, z: [j + 1, tf.sin(z * w) + x], [tf.constant(0), a]
    )[1],
}


@pytest.mark.parametrize("seed", range(16))
def test_random_programs(seed: int) -> None:
    draw = random.Random(seed)
    count = draw.randint(1, 3)
    kinds = [draw.choice(["made", "made", "made", "passed", "twice", "moved"]) for _ in range(count)]
    names = [[(draw.choice(list(_OPS)), draw.randrange(count)) for _ in range(draw.randint(1, 3))] for _ in kinds]
    firsts = [draw.choice(["x", "w", "product", "constant"]) for _ in kinds]
    tape, used = draw.choice([inside, outside]), [draw.random() < 0.7 for _ in kinds]
    is_used = draw.random() < 0.3

    def make(wrap: Wrap) -> Made:
        w = tfe.Variable(W)

        def forward(x: tf.Tensor, n: tf.Tensor) -> Any:
            there = {"x": x, "w": w.read_value(), "product": x * w, "constant": tf.fill([2, 2], 0.5)}
            first = [there[each] for each in firsts]

            def body(i: tf.Tensor, *values: tf.Tensor) -> Any:
                found = []
                for place, kind in enumerate(kinds):
                    a = values[(place + (kind == "moved")) % count]
                    for name, other in names[place] if kind in ("made", "twice") else ():
                        a = _OPS[name](a, values[other], x, w)
                    found.append(a)
                return [i + 1, *[found[(p + (k == "twice")) % count] for p, k in enumerate(kinds)]]

            last = tf.while_loop(lambda i, *_: i < n, body, [tf.constant(0), *first])[1:]
            loss = tf.reduce_sum(last[0])
            for value, is_in in zip(last, used, strict=True):
                loss = loss + tf.reduce_sum(value * value) if is_in else loss
            return loss + tf.reduce_sum(first[0] * last[-1]) if is_used else loss

        return tape(forward, wrap, w), [w]

    same(make, [draw.randrange(7) for _ in range(6)])


@pytest.mark.parametrize("asked", ["initial", "result"])
@pytest.mark.parametrize("is_inside", [True, False])
def test_tapes_that_begin_behind_a_loop(asked: str, is_inside: bool) -> None:
    """They may watch what the first iteration was given, and what the last one has returned."""

    def make(wrap: Wrap) -> Made:
        w = tfe.Variable(W)

        def forward(x: tf.Tensor, n: tf.Tensor) -> tf.Tensor:
            return tf.while_loop(lambda i, y: i < n, lambda i, y: [i + 1, tf.tanh(tf.matmul(y, w) * y)], [0, x])[1]

        traced = forward if is_inside else wrap(forward)

        def call(x: tf.Tensor, n: tf.Tensor) -> Any:
            with tf.GradientTape() as first:
                first.watch(x)
                y = traced(x, n)
                loss = tf.reduce_sum(y * y)
            with tf.GradientTape() as second:
                source = x if asked == "initial" else y
                second.watch(source)
                gradient = first.gradient(loss, x)
                total = tf.reduce_sum(gradient * gradient)
            return gradient, second.gradient(total, source)

        return (wrap(call) if is_inside else call), [w]

    same(make)
