"""Gradients of some of a traced function's results, of what Python did between ops, and of calls in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.tracing.functions.function import function

Call = Callable[..., Any]
X = np.random.default_rng(0).normal(size=(5, 4)).astype("f4")
W = np.random.default_rng(1).normal(size=(4, 3)).astype("f4")


def flat(found: Any) -> list[Any]:
    return [None if x is None else ag.convert_to_tensor(x).numpy() for x in ag.nest.flatten(found)]


def outcome(call: Call, target: Call, sources: list[Any], persistent: bool) -> Iterator[Any]:
    with ag.GradientTape(persistent=persistent) as tape:
        tape.watch([x for x in sources if isinstance(x, ag.Tensor)])
        results = call(tape)
        goal = target(results)
    yield results
    yield tape.gradient(goal, sources)
    if persistent:
        yield [tape.gradient(each, sources) for each in results]
        yield tape.gradient(goal, sources, unconnected_gradients="zero")


def plain_stop(x: Any, w: Any, tape: Any) -> Any:
    return x + ag.stop_gradient(x) * 3.0, x * x, ag.reduce_sum(ag.matmul(x, w))


def dropped(x: Any, w: Any, tape: Any) -> Any:
    logits = ag.matmul(ag.nn.dropout(x, 0.5), w)
    return ag.reduce_mean(ag.square(logits)), logits, ag.exp(x)


def clipped(x: Any, w: Any, tape: Any) -> Any:
    y = ag.add_n([x, x * 2.0, ag.exp(x)])
    z, norm = ag.clip_by_global_norm([y, w * w], 0.7)
    return norm, z[0], ag.tanh(z[1])


def stopped_tape(x: Any, w: Any, tape: Any) -> Any:
    y = x * x
    with tape.stop_recording():
        z = ag.sin(y)
    return z * y, y + z, ag.matmul(z, w)


def watched_within(x: Any, w: Any, tape: Any) -> Any:
    y = ag.stop_gradient(x * x)
    tape.watch(y)
    return y * y, x * y, ag.matmul(y, w)


@ag.custom_gradient
def tripled(x: Any) -> Any:
    return ag.sin(x), lambda dy: dy * 3.0 * ag.cos(x)


def own_gradient(x: Any, w: Any, tape: Any) -> Any:
    y = tripled(x)
    return y, tripled(y) * x, ag.matmul(y, w)


@ag.custom_gradient
def pair(x: Any, y: Any) -> Any:
    def grad(dx: Any, dy: Any) -> Any:
        return dx * 2.0 + dy, ag.where(ag.reduce_sum(dy) > 0.0, dy * y, dy)

    return (x * y, x - y), grad


def own_gradient_of_two(x: Any, w: Any, tape: Any) -> Any:
    first, second = pair(x, x * 2.0)
    return first, second, ag.matmul(first, w)


def recomputed(x: Any, w: Any, tape: Any) -> Any:
    inner = ag.recompute_grad(lambda x: ag.nn.dropout(ag.tanh(ag.matmul(x, w)), 0.5))
    y = inner(x)
    return y, ag.reduce_sum(y), ag.matmul(x, ag.matmul(w, ag.transpose(y))) * 0.1


def drawn(x: Any, w: Any, tape: Any) -> Any:
    noise = ag.random_normal([5, 4])
    return x * noise, noise, ag.matmul(x + noise, w)


def updated(x: Any, w: Any, tape: Any) -> Any:
    before = ag.matmul(x, w)
    w.assign_add(ag.ones_like(w) * 0.1)
    after = ag.matmul(x, w)
    w.assign(w * 0.9)
    return before, before * after, ag.matmul(x, w)


def called_python(x: Any, w: Any, tape: Any) -> Any:
    doubled = ag.py_func(lambda a: a * 2, [x], ag.float32)
    return x * doubled, doubled, ag.matmul(doubled * x, w)


def passed_through(x: Any, w: Any, tape: Any) -> Any:
    return x, x * 2.0, w.value()


def twice_the_same(x: Any, w: Any, tape: Any) -> Any:
    y = ag.matmul(x, w)
    return y, y, y * y


def looked_up(x: Any, w: Any, tape: Any) -> Any:
    rows = ag.gather(w, [0, 2, 0])
    return rows, rows * 2.0, ag.reduce_sum(ag.matmul(x, w))


def branched(x: Any, w: Any, tape: Any) -> Any:
    y = ag.matmul(x, w)
    if ag.reduce_sum(y) > 0.0:
        return y, y * y, ag.exp(y)
    return -y, y, ag.sin(y)


FUNCTIONS = [
    *(plain_stop, dropped, clipped, stopped_tape, watched_within, own_gradient, own_gradient_of_two, recomputed),
    *(drawn, updated, called_python, passed_through, twice_the_same, looked_up, branched),
]
TARGETS: dict[str, Call] = {
    "first": lambda results: results[0],
    "second": lambda results: results[1],
    "third": lambda results: results[2],
    "first and third": lambda results: [results[0], results[2]],
    "sum of all": lambda results: [ag.reduce_sum(ag.square(r)) for r in results],
}


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("made", FUNCTIONS, ids=lambda made: made.__name__)
def test_gradients_of_some_results_are_those_of_eager_calls(made: Call, target: str, persistent: bool) -> None:
    outcomes = []
    for wrap in (lambda f: f, function):
        ag.set_random_seed(3)
        w = ag.Variable(W)
        tapes: list[Any] = []  # no argument, which would be another one at each call
        call = wrap(lambda x: made(x, w, tapes[-1]))  # noqa: B023  # at once
        values = [ag.constant(X * scale) for scale in (1.0, 0.5, -1.0, 2.0)]
        outcomes.append([])
        for x in values:

            def called(tape: Any) -> Any:
                tapes.append(tape)  # noqa: B023  # at once
                return call(x)  # noqa: B023  # at once

            for found in outcome(called, TARGETS[target], [x, w], persistent):
                outcomes[-1].append(flat(found))
            outcomes[-1].append(w.numpy())
    for eager, traced in zip(*outcomes, strict=True):
        assert len(eager) == len(traced)
        for left, right in zip(eager, traced, strict=True):
            np.testing.assert_array_equal(left, right)


def test_results_that_were_there_before_are_the_same_tensors() -> None:
    outside = ag.constant([3.0])

    @function
    def call(x: Any, y: Any) -> Any:
        z = x * y
        return z, y, z, outside, x

    for number in (1.0, 2.0, 3.0):
        x, y = ag.constant([number]), ag.constant([2.0])
        results = call(x, y)
        assert results[0] is results[2]
        assert results[1] is y
        assert results[3] is outside
        assert results[4] is x
        assert results[0].numpy().tolist() == [2.0 * number]


def test_a_result_that_is_the_only_argument() -> None:
    @function
    def same(x: Any) -> Any:
        if ag.reduce_sum(x) > 0.0:
            return x
        return x * 2.0

    for number, expected in ((1.0, 1.0), (-1.0, -2.0), (2.0, 2.0), (-3.0, -6.0), (4.0, 4.0)):
        x = ag.constant([number])
        assert (same(x) is x) == (number > 0)
        assert same(x).numpy().tolist() == [expected]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_result_of_a_call_that_no_tape_saw_is_watched_if_it_is_an_argument(place: int) -> None:
    call = function(lambda x: (x, x * 2.0, x))
    for _ in range(3):
        x = ag.constant([1.0, 2.0])
        with ag.GradientTape() as tape:
            tape.watch(x)
            with tape.stop_recording():
                results = call(x)
        found = tape.gradient(results[place], x)
        assert found is None if place == 1 else found.numpy().tolist() == [1.0, 1.0]


def test_arguments_that_are_one_tensor_are_one_inside_too() -> None:
    @function
    def gradient(x: Any, y: Any, z: Any) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(x)
            loss = x * x * y + z
        return tape.gradient(loss, x)

    one, two, three = ag.constant(3.0), ag.constant(5.0), ag.constant(7.0)
    for _ in range(3):
        for args in (
            (one, two, three),
            (one, one, two),
            (one, two, one),
            (one, two, two),
            (two, two, two),
            (three, one, two),
        ):
            assert float(gradient(*args)) == float(gradient.python_function(*args))


def test_an_argument_that_comes_twice_is_no_other_one_in_later_calls() -> None:
    @function
    def added(x: Any, y: Any) -> Any:
        return x + 10.0 * y

    one, two = ag.constant(1.0), ag.constant(2.0)
    for _ in range(3):
        found = [float(added(*args)) for args in ((one, one), (one, two), (two, two), (two, one))]
        assert found == [11.0, 21.0, 22.0, 12.0]


def test_a_result_that_is_the_value_of_a_variable_is_watched_with_it() -> None:
    read, written = ag.Variable([1.0, 2.0]), ag.Variable([3.0, 4.0])

    def values(x: Any) -> Any:
        written.assign(written + x)
        return read.value(), written * x, read * x

    found = []
    for call in (values, function(values)):
        found.append([])
        written.assign([3.0, 4.0])
        for _ in range(3):
            with ag.GradientTape(persistent=True) as tape:
                with tape.stop_recording():
                    results = call(ag.constant([1.0, 1.0]))
                total = read * 2.0 + written * 3.0
            found[-1] += flat([tape.gradient([*results, total], [read, written]), results])
    for eager, traced in zip(*found, strict=True):
        np.testing.assert_array_equal(eager, traced)


def halved(v: ag.Variable, x: Any) -> Any:
    v.assign(v * 0.5)
    return ag.reduce_sum(x), v


def halved_beside_python(v: ag.Variable, x: Any) -> Any:
    v.assign(v * 0.5)
    total = ag.py_func(np.sum, [x], ag.float32)
    return total, v


@pytest.mark.parametrize("step", [halved, halved_beside_python])
@pytest.mark.parametrize("shape", [(), (3, 4)])
def test_a_value_that_was_written_is_that_of_the_variable(step: Call, shape: tuple[int, ...]) -> None:
    """So tapes that watch the variable afterwards know it."""
    v, x = ag.Variable(np.full(shape, 4.0, "f4")), ag.constant([1.0, 2.0])
    traced = function(lambda x: step(v, x))
    kept = []
    for turn in range(4):
        with ag.GradientTape() as tape:
            with tape.stop_recording():
                _, given = traced(x)
            after = v * 3.0
        np.testing.assert_array_equal(tape.gradient(given, v).numpy(), np.ones(shape))
        np.testing.assert_array_equal(after.numpy(), np.full(shape, 12.0 * 0.5 ** (turn + 1)))
        kept.append(given)
    for turn, given in enumerate(kept):  # later calls write nothing into them
        np.testing.assert_array_equal(given.numpy(), np.full(shape, 4.0 * 0.5 ** (turn + 1)))


def test_gradients_of_what_was_written_before_python_is_called_are_added_in_eager_order() -> None:
    rng = np.random.default_rng(3)
    start, x = rng.normal(size=(33, 1031)).astype("f4"), ag.constant(rng.normal(size=(33, 1031)).astype("f4"))

    def step(v: ag.Variable) -> Any:
        v.assign_sub(x * 0.1)
        y = v.value() / (ag.reduce_max(ag.abs(v), 1, keepdims=True) + 0.1)
        ag.py_func(np.sum, [y], ag.float32)
        return ag.reduce_logsumexp(y, 0)

    def gradients(wrap: Call) -> list[Any]:
        v = ag.Variable(start)
        call, found = wrap(lambda: step(v)), []
        for _ in range(3):
            with ag.GradientTape() as tape:
                loss = ag.reduce_sum(ag.square(call())) * ag.reduce_mean(v * 0.5) + ag.reduce_sum(v * v)
            found.append(tape.gradient(loss, v).numpy())
        return found

    for traced, eager in zip(gradients(function), gradients(lambda call: call), strict=True):
        np.testing.assert_array_equal(traced, eager, err_msg="seed 3")
