"""Gradients of `tf.cond` in traced functions: one trace that goes both ways, with the bits of eager calls."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import agog as tf
import agog.eager as tfe
from agog_core import nest
from agog_core.errors import TracingWarning

Branch = Callable[[tf.Tensor, tf.Tensor], Any]

X = np.random.RandomState(0).randn(4, 4).astype(np.float32)
W = (0.5 * np.random.RandomState(1).randn(4, 4)).astype(np.float32)
FLAGS = [1.0, -1.0, 2.0, -2.0, -3.0, 1.0, 0.5, -0.5]

pytestmark = pytest.mark.usefixtures("way")


def outcomes(make: Callable[[], Any], wrap: Callable[..., Any], flags: Sequence[float]) -> tuple[list[Any], Any]:
    """What calls give or raise, what they leave in the variables, and where the random stream is at the end."""
    tf.set_random_seed(7)
    w, b = tfe.Variable(W), tfe.Variable(W[0])
    call, found = wrap(make()), []
    for number, flag in enumerate(flags):
        try:
            results = nest.flatten(call(tf.constant(X * (1 + number)), tf.constant(np.float32(flag)), w, b))
            found.append([None if each is None else np.asarray(tf.convert_to_tensor(each)) for each in results])
        except (tf.errors.InvalidArgumentError, ValueError) as error:
            found.append([str(error)])
        found += [[w.numpy().copy(), b.numpy().copy()]]
    return [*found, [tf.random_uniform([3]).numpy()]], call


def same(make: Callable[[], Any], flags: Sequence[float] = FLAGS) -> Any:
    """Call a function of x, p and two variables eagerly and traced; the traced one, if every bit is the same."""
    expected, _ = outcomes(make, lambda function: function, flags)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TracingWarning)
        found, traced = outcomes(make, tf.function, flags)
    for one, other in zip(expected, found, strict=True):
        assert [_bits(each) for each in one] == [_bits(each) for each in other]
    return traced


def _bits(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else (value.dtype, value.shape, value.tobytes())


def is_one(traced: Any) -> bool:
    """Whether all calls run one trace that has no guards."""
    kept = [info for info in traced.traces() if info.is_kept]
    return len(kept) == 1 and not [node for node in kept[0].graph.nodes if node.effect.name == "GUARD"]


def step(yes: Branch, no: Branch, loss: Callable[..., Any] = lambda y, h: tf.reduce_mean(y * y)) -> Any:
    """A function that computes a loss of what a branch returns, and its gradients."""

    def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = tf.tanh(tf.matmul(x, w))
            y = tf.cond(p > 0.0, lambda: yes(h, w), lambda: no(h, w))
            value = loss(y, h)
        return value, tape.gradient(value, [x, w, b])

    return call


BRANCHES: dict[str, tuple[Branch, Branch]] = {
    "ops": (lambda h, w: tf.sin(h) * 2.0, lambda h, w: h * h),
    "more residuals": (lambda h, w: tf.sin(tf.exp(tf.cos(h))), lambda h, w: h * 0.5),
    "a variable": (lambda h, w: tf.nn.relu(tf.matmul(h, w)), lambda h, w: tf.exp(h) * w),
    "the gradient itself": (lambda h, w: h + 1.0, lambda h, w: tf.exp(h)),
    "a view of the gradient": (lambda h, w: tf.reshape(h, [4, 4]) + 1.0, lambda h, w: tf.exp(h)),
    "views": (lambda h, w: tf.reshape(tf.reshape(h, [16]) * 2.0, [4, 4]) * 1.0, lambda h, w: h - 1.0),
    "what it returns": (lambda h, w: tf.sigmoid(h), lambda h, w: tf.tanh(h)),
    "a view of what it returns": (lambda h, w: tf.tanh(h), lambda h, w: tf.exp(h) * 1.0),
    "stopped": (lambda h, w: tf.stop_gradient(h) * h, lambda h, w: tf.sin(h)),
    "one hands on": (lambda h, w: h, lambda h, w: tf.exp(h)),
    "the other hands on": (lambda h, w: tf.sin(h) * 2.0, lambda h, w: h),
    "a loop": (
        lambda h, w: tf.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, tf.sin(y)], [tf.constant(0), h])[1],
        lambda h, w: h * 2.0,
    ),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_a_training_step_that_alternates_is_one_trace(name: str) -> None:
    traced = same(lambda: step(*BRANCHES[name]))
    assert is_one(traced)
    assert len(traced.traces()) == 2


SEPARATE: dict[str, tuple[Branch, Branch]] = {
    "one hands on what the loss uses too": (lambda h, w: h, lambda h, w: h * h),
    "one hands on a variable": (lambda h, w: w * 1.0, lambda h, w: w.value()),
    "another variable": (lambda h, w: tf.matmul(h, w), lambda h, w: h * 2.0),
    "no gradient": (lambda h, w: tf.stop_gradient(h) * 2.0, lambda h, w: h * 3.0),
    "another layout": (lambda h, w: tf.sin(tf.transpose(h)), lambda h, w: tf.transpose(h) * 2.0),
    "sparse": (lambda h, w: tf.gather(w, [1, 3, 1, 0]), lambda h, w: tf.gather(w, [0, 0, 2, 2])),
    "random": (lambda h, w: tf.nn.dropout(h, 0.5), lambda h, w: h * 2.0),
    "an error": (lambda h, w: tf.check_numerics(tf.log(h), "not this way"), lambda h, w: h * 2.0),
}


@pytest.mark.parametrize("name", SEPARATE)
def test_branches_that_stay_apart_are_as_eagerly(name: str) -> None:
    same(lambda: step(*SEPARATE[name], loss=lambda y, h: tf.reduce_mean(y * y + h)))


def test_each_of_many_conditions_is_traced_twice_and_not_all_ways_together() -> None:
    def make() -> Any:
        def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
            with tf.GradientTape() as tape:
                h = tf.matmul(x, w)
                for place in range(6):
                    h = tf.cond(tf.sin(p * (place + 1.7)) > 0.0, lambda h=h: tf.sin(h) * 1.5, lambda h=h: h - 0.25)
                loss = tf.reduce_mean(h * h)
            gradient = tape.gradient(loss, w)
            w.assign_sub(0.01 * gradient)
            return loss, gradient

        return call

    draw = np.random.RandomState(1)
    traced = same(make, [float(draw.randn()) for _ in range(60)])
    assert is_one(traced)
    assert len(traced.traces()) <= 7


@pytest.mark.parametrize("hands_on", [False, True])
def test_conditions_in_functions_of_conditions(hands_on: bool) -> None:
    def make() -> Any:
        def inner(h: tf.Tensor, p: tf.Tensor, w: Any) -> tf.Tensor:
            return tf.cond(p > 1.2, lambda: tf.matmul(h, w), lambda: w if hands_on else w * tf.sin(h))

        def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
            with tf.GradientTape() as tape:
                h = tf.tanh(tf.matmul(x, w))
                y = tf.cond(p > 0.0, lambda: inner(h, p, w) * h, lambda: tf.exp(h) + w)
                loss = tf.reduce_mean(y * y)
            return loss, tape.gradient(loss, w)

        return call

    traced = same(make, [*FLAGS, *FLAGS])
    before = len(traced.traces())
    assert before <= 5
    w = tfe.Variable(W)
    for flag in FLAGS:
        traced(tf.constant(X), tf.constant(flag), w, tfe.Variable(W[0]))


@pytest.mark.parametrize("uses", [(False, False), (False, True), (True, False), (True, True)])
def test_conditions_behind_one_that_has_handed_on_its_input(uses: tuple[bool, bool]) -> None:
    """A trace in which a condition hands on ``h`` does not tell whether the next ones take ``h`` or its result."""

    def make() -> Any:
        def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
            with tf.GradientTape() as tape:
                h = tf.tanh(tf.matmul(x, w))
                y = tf.cond(tf.sin(p * 1.3) > 0.0, lambda: tf.sin(h) * 1.5, lambda: h)
                one, two = (h if each else y for each in uses)
                z = tf.cond(
                    tf.sin(p * 3.1) > 0.0,
                    lambda: tf.cond(tf.sin(p * 7.0) > 0.0, lambda: tf.exp(one), lambda: two * 2.5),
                    lambda: one * 1.25,
                )
                loss = tf.reduce_mean(z * z)
            return loss, tape.gradient(loss, w)

        return call

    draw = np.random.RandomState(2)
    same(make, [float(3.0 * draw.randn()) for _ in range(40)])


def test_cases() -> None:
    def make() -> Any:
        def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
            with tf.GradientTape() as tape:
                h = tf.tanh(tf.matmul(x, w))
                pairs = [(p < -2.5, lambda: tf.sin(h)), (p < 0.0, lambda: h * h), (p < 1.5, lambda: h + 1.0)]
                loss = tf.reduce_mean(tf.square(tf.case(pairs, default=lambda: tf.exp(h))))
            return loss, tape.gradient(loss, w)

        return call

    traced = same(make, [*FLAGS, *FLAGS])
    assert len(traced.traces()) <= 6


def test_layers_that_are_skipped() -> None:
    def make() -> Any:
        def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
            with tf.GradientTape() as tape:
                h = tf.matmul(x, w)
                for place in range(5):
                    h = tf.cond(tf.sin(p * (place + 1.7)) > 0.0, lambda h=h: tf.nn.elu(h * 1.5), lambda h=h: h)
                loss = tf.reduce_mean(h * h)
            return loss, tape.gradient(loss, [w, b])

        return call

    draw = np.random.RandomState(1)
    traced = same(make, [float(draw.randn()) for _ in range(60)])
    assert len(traced.traces()) <= 32  # which one hands on is known of those alone that do so one by one


def test_a_step_of_an_optimizer() -> None:
    def make() -> Any:
        optimizer = tf.keras.optimizers.Adam(0.01)

        def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
            with tf.GradientTape() as tape:
                h = tf.matmul(x, w) + b
                y = tf.cond(p > 0.0, lambda: tf.nn.relu(h), lambda: tf.nn.elu(h))
                loss = tf.reduce_mean(tf.square(y - 1.0))
            optimizer.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b], strict=True))
            return loss

        return call

    assert is_one(same(make, [*FLAGS, *FLAGS]))


def test_a_result_is_a_source() -> None:
    def make() -> Any:
        def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.cond(p > 0.0, lambda: tf.sin(x) * 2.0, lambda: x * x)
                z = y * y + x
            return tape.gradient(z, [x, y])

        return call

    assert is_one(same(make))


def test_several_results_each_by_itself() -> None:
    def make() -> Any:
        def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y, z = tf.cond(p > 0.0, lambda: (tf.sin(x), tf.tanh(x)), lambda: (x * x, tf.exp(x)))
                both = y * z
            return [tape.gradient(each, [x, w]) for each in (both, y, z, [y, z])]

        return call

    assert is_one(same(make))


@pytest.mark.parametrize("inner", [lambda h: h * h * h, lambda h: tf.tanh(h)])
def test_gradients_of_gradients(inner: Callable[..., Any]) -> None:
    def make() -> Any:
        def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
            with tf.GradientTape() as second, tf.GradientTape() as first:
                first.watch(x)
                h = tf.matmul(x, w)
                y = tf.reduce_sum(tf.cond(p > 0.0, lambda: tf.sigmoid(h), lambda: inner(h)))
                g = first.gradient(y, x)
                penalty = tf.reduce_sum(g * g)
            return g, second.gradient(penalty, w)

        return call

    same(make)


def test_a_gradient_inside_of_the_context_of_a_tape_that_stays() -> None:
    def make() -> Any:
        def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = tf.cond(p > 0.0, lambda: tf.sin(x) * x, lambda: x * x * x)
                g = tape.gradient(y, x)
            return g, tape.gradient(g, x)

        return call

    same(make)


def test_gradients_that_are_one_tensor_are_one_tensor() -> None:
    seen: list[bool] = []

    def make() -> Any:
        def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                h = x * 2.0
                y = tf.cond(p > 0.0, lambda: x + h, lambda: h + x)
                loss = tf.sin(y)
            one, two, three = tape.gradient(loss, [x, h, y])
            seen.append(two is three)
            return one, two, three, tf.matmul(two, three, transpose_b=True)

        return call

    same(make)
    assert set(seen) == {True}


def test_a_gradient_does_not_meet_its_copy_in_a_product() -> None:
    """BLAS computes half of a product of a matrix with itself, where it gets one array; so the branches stay apart."""

    def make() -> Any:
        def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                h = tf.cond(p > 0.0, lambda: tf.reshape(x, [2, 8]) + 1.0, lambda: tf.exp(tf.reshape(x, [2, 8])))
            given = tf.sin(tf.reshape(x, [2, 8]))
            found = tape.gradient(h, x, output_gradients=given)
            return found, tf.matmul(found, tf.reshape(given, [4, 4]), transpose_b=True)

        return call

    assert not is_one(same(make))


def test_a_gradient_that_the_program_has_given_is_that_tensor() -> None:
    def make() -> Any:
        def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.cond(p > 0.0, lambda: x + 1.0, lambda: tf.exp(x))
            given = tf.sin(x)
            found = tape.gradient(y, x, output_gradients=given)
            return found, given, tf.constant(found is given)

        return call

    same(make)


def test_branches_with_functions_of_their_own_gradients() -> None:
    @tf.custom_gradient
    def doubled(h: tf.Tensor) -> Any:
        kept = tf.sin(h)
        return kept, lambda g: g * kept * 2.0

    @tf.recompute_grad
    def again(h: tf.Tensor) -> tf.Tensor:
        return tf.sin(tf.exp(h))

    same(lambda: step(lambda h, w: doubled(h), lambda h, w: again(h)))
    same(lambda: step(lambda h, w: again(h) * 2.0, lambda h, w: h * h))


def test_tapes_in_branches() -> None:
    def inner(h: tf.Tensor, w: Any) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(h)
            y = tf.sin(h) * h
        return tape.gradient(y, h)

    same(lambda: step(inner, lambda h, w: h * h))


def test_a_branch_that_writes_under_a_tape() -> None:
    def yes(h: tf.Tensor, w: Any) -> tf.Tensor:
        w.assign(w * 0.5)
        return tf.matmul(h, w)

    same(lambda: step(yes, lambda h, w: tf.matmul(w, h)))


def test_branches_that_write_what_no_tape_watches() -> None:
    """As layers do that keep moving averages."""

    def make() -> Any:
        mean = tfe.Variable(np.zeros(4, np.float32), trainable=False)

        def normalized(h: tf.Tensor, rate: float) -> tf.Tensor:
            mean.assign(mean * rate + tf.reduce_mean(h, 0) * (1.0 - rate))
            return (h - mean) * rate

        def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
            with tf.GradientTape() as tape:
                h = tf.tanh(tf.matmul(x, w))
                y = tf.cond(p > 0.0, lambda: normalized(h, 0.9), lambda: tf.sin(normalized(h, 0.5)))
                loss = tf.reduce_mean(y * y)
            gradient = tape.gradient(loss, w)
            mean.assign_add(mean * 0.01)
            return loss, gradient, mean.value()

        return call

    traced = same(make, [*FLAGS, *FLAGS])
    assert sum(info.is_kept for info in traced.traces()) == 1


def test_a_branch_where_a_tape_does_not_record() -> None:
    def make() -> Any:
        def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
            with tf.GradientTape() as tape:
                h = tf.matmul(x, w)

                def yes() -> tf.Tensor:
                    with tape.stop_recording():
                        s = tf.sin(h)
                    return s * h

                loss = tf.reduce_mean(tf.cond(p > 0.0, yes, lambda: tf.exp(h)))
            return tape.gradient(loss, w)

        return call

    same(make)


def test_what_python_keeps_of_a_branch() -> None:
    kept: list[Any] = []

    def yes(h: tf.Tensor, w: Any) -> tf.Tensor:
        y = tf.sin(h)
        kept[:] = [y]
        return y * h

    same(lambda: step(yes, lambda h, w: h * h))


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    draw = random.Random(seed)
    ops = [
        lambda h, w: tf.sin(h),
        lambda h, w: h * h,
        lambda h, w: tf.matmul(h, w),
        lambda h, w: h + w,
        lambda h, w: tf.reshape(tf.reshape(h, [2, 8]) * 1.5, [4, 4]),
        lambda h, w: tf.transpose(h) - 0.5,
        lambda h, w: h - tf.reduce_mean(h, 0, keepdims=True),
        lambda h, w: tf.sigmoid(h) * h,
        lambda h, w: h + 0.25,
        lambda h, w: h,
    ]
    plan = [
        [[draw.choice(ops) for _ in range(draw.randint(1, 3))] for _ in range(2)] for _ in range(draw.randint(1, 4))
    ]
    adds = [draw.random() < 0.4 for _ in plan]
    order = draw.choice([1, 1, 1, 2])

    def applied(chain: Sequence[Branch], h: tf.Tensor, w: Any) -> tf.Tensor:
        for op in chain:
            h = op(h, w)
        return h

    def make() -> Any:
        def call(x: tf.Tensor, p: tf.Tensor, w: Any, b: Any) -> Any:
            with tf.GradientTape(persistent=True) as tape:
                h = tf.tanh(tf.matmul(x, w) * 0.1)
                for number, (yes, no) in enumerate(plan):
                    flag = tf.cos(p * (1.3 + number)) > 0.0
                    y = tf.cond(flag, lambda h=h, yes=yes: applied(yes, h, w), lambda h=h, no=no: applied(no, h, w))
                    h = h + y if adds[number] else y
                loss = tf.reduce_mean(h * h)
                first = tape.gradient(loss, w) if order == 2 else None
            found = [loss, tape.gradient(loss, [w, b]), tape.gradient(h, w)]
            return found if first is None else [*found, tape.gradient(first, w)]

        return call

    same(make, [float(0.7 * n) for n in range(14)])
