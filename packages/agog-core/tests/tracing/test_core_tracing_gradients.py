"""Gradients through traced functions, of tapes outside of them, equal those of eager calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.gradients.forward import ForwardAccumulator
from agog_core.tracing.functions.function import function

Call = Callable[..., Any]
X = np.random.default_rng(0).normal(size=(5, 4)).astype("f4")
W = np.random.default_rng(1).normal(size=(4, 3)).astype("f4")


def flat(found: Any) -> list[np.ndarray[Any, Any]]:
    return [np.array("None" if leaf is None else ag.convert_to_tensor(leaf)) for leaf in ag.nest.flatten(found)]


def assert_equal(make: Callable[[], tuple[Call, Callable[[Call], Any]]], calls: int = 4) -> None:
    """Hold what a program finds with a traced function to the bits that it finds without."""
    outcomes = []
    for wrap in (lambda f: f, function):
        ag.set_random_seed(3)
        call, program = make()
        wrapped = wrap(call)
        outcomes.append([flat(program(wrapped)) for _ in range(calls)])
    for eager, traced in zip(*outcomes, strict=True):
        assert len(eager) == len(traced)
        for left, right in zip(eager, traced, strict=True):
            np.testing.assert_array_equal(left, right)


def layer(w: Any) -> Call:
    return lambda x: ag.nn.softmax(ag.tanh(ag.matmul(x, w)) * 2.0)


def first_order() -> Any:
    w, x = ag.Variable(W), ag.constant(X)

    def program(call: Call) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(x)
            loss = ag.reduce_sum(ag.square(call(x * 2.0)))
        return loss, tape.gradient(loss, [x, w])

    return layer(w), program


def second_order() -> Any:
    w, x = ag.Variable(W), ag.constant(X)

    def program(call: Call) -> Any:
        with ag.GradientTape() as outer:
            outer.watch(x)
            with ag.GradientTape() as inner:
                inner.watch(x)
                loss = ag.reduce_sum(ag.square(call(x)))
            gradient = inner.gradient(loss, x)
            norm = ag.reduce_sum(gradient * gradient)
        return gradient, outer.gradient(norm, [x, w])

    return layer(w), program


def third_order() -> Any:
    x = ag.constant([0.5, -1.5, 2.0])

    def program(call: Call) -> Any:
        with ag.GradientTape() as a, ag.GradientTape() as b, ag.GradientTape() as c:
            for tape in (a, b, c):
                tape.watch(x)
            y = call(x)
            first = c.gradient(y, x)
            second = b.gradient(first, x)
        return y, first, second, a.gradient(second, x)

    return lambda x: ag.sin(x) * ag.exp(x), program


def persistent() -> Any:
    x = ag.constant([0.5, -1.5, 2.0])

    def program(call: Call) -> Any:
        with ag.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y, z = call(x)
        return tape.gradient(y, x), tape.gradient(z, x), tape.gradient([y, z], x), tape.jacobian(y, x)

    return lambda x: (ag.tanh(x), [ag.square(x)][0]), program


def lookups() -> Any:
    table = ag.Variable(X)

    def program(call: Call) -> Any:
        with ag.GradientTape() as tape:
            loss = ag.reduce_sum(ag.square(call(ag.constant([1, 3, 1]))))
        gradient = tape.gradient(loss, table)
        assert type(gradient) is ag.IndexedSlices
        return gradient.values, gradient.indices, gradient

    return lambda ids: ag.gather(table, ids) * 2.0, program


def updates() -> Any:
    w, count, x = ag.Variable(W), ag.Variable(0.0, trainable=False), ag.constant(X)

    def call(x: Any) -> Any:
        before = ag.matmul(x, w)
        count.assign_add(1.0)
        w.assign_sub(ag.ones_like(w) * 0.1)
        return before + ag.matmul(x, w) * count

    def program(call: Call) -> Any:
        with ag.GradientTape() as tape:
            loss = ag.reduce_sum(ag.square(call(x)))
        return loss, tape.gradient(loss, [w, count]), w.value(), count.value()

    return call, program


def random_numbers() -> Any:
    w, x = ag.Variable(W), ag.constant(X)

    def program(call: Call) -> Any:
        with ag.GradientTape() as outer:
            with ag.GradientTape() as tape:
                loss = ag.reduce_sum(ag.square(call(x)))
            gradient = tape.gradient(loss, w)
            norm = ag.reduce_sum(ag.square(gradient))
        return loss, gradient, outer.gradient(norm, w)

    return lambda x: ag.nn.dropout(ag.tanh(ag.matmul(x, w)), 0.5), program


def branches() -> Any:
    values = iter([1.0, -1.0, 2.0, -2.0])

    def program(call: Call) -> Any:
        x = ag.constant(next(values))
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = call(x)
        return y, tape.gradient(y, x)

    return lambda x: ag.exp(x) if x > 0.0 else ag.square(x) * 3.0, program


def own_gradients() -> Any:
    w, x = ag.Variable(W), ag.constant(X)
    again = ag.recompute_grad(lambda x: ag.sin(ag.matmul(x, w)))

    def program(call: Call) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(x)
            loss = ag.reduce_sum(call(x))
        return loss, tape.gradient(loss, [x, w])

    return lambda x: doubled(again(x)), program


@ag.custom_gradient
def doubled(x: Any) -> Any:
    return ag.exp(x), lambda dy: dy * 2.0


def own_gradient_of_one_result() -> Any:
    x = ag.constant([0.5, -1.0])

    def program(call: Call) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(x)
            one, _ = call(x)
        return tape.gradient(one, x)

    return lambda x: (doubled(x), x * 3.0), program


def own_gradient_twice() -> Any:
    x = ag.constant([0.5, -1.0])

    def program(call: Call) -> Any:
        with ag.GradientTape() as outer:
            outer.watch(x)
            with ag.GradientTape() as inner:
                inner.watch(x)
                y = call(x)
            gradient = inner.gradient(y, x)
        return gradient, outer.gradient(gradient, x)

    return lambda x: doubled(x * x), program


def recomputed_random_numbers() -> Any:
    w, x = ag.Variable(W), ag.constant(X)
    again = ag.recompute_grad(lambda x: ag.nn.dropout(ag.tanh(ag.matmul(x, w)), 0.5))

    def program(call: Call) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(x)
            loss = ag.reduce_sum(call(x))
        return loss, tape.gradient(loss, [x, w]), ag.random_normal([2])

    return again, program


def inside(*, recomputes: bool) -> Any:
    """A whole step with its own tape, which is persistent."""
    w, x = ag.Variable(W), ag.constant(X)
    layer = lambda x: ag.nn.dropout(doubled(ag.matmul(x, w)), 0.5)  # noqa: E731
    wrapped = ag.recompute_grad(layer) if recomputes else layer

    def step(x: Any) -> Any:
        with ag.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = wrapped(x)
            one, two = ag.reduce_sum(y), ag.reduce_sum(ag.square(y))
        return tape.gradient(one, [x, w]), tape.gradient(two, w), tape.gradient([one, two], w)

    return step, lambda call: (call(x), ag.random_normal([2]))


def persistent_inside() -> Any:
    return inside(recomputes=False)


def recomputed_inside() -> Any:
    return inside(recomputes=True)


def rows_inside() -> Any:
    table, ids = ag.Variable(X), ag.constant([1, 3, 1])

    def step(ids: Any) -> Any:
        with ag.GradientTape(persistent=True) as tape:
            y = ag.gather(table, ids)
            loss = ag.reduce_sum(y * y)
        gradient = tape.gradient(loss, table)
        return gradient, gradient.values, gradient.indices, tape.gradient(y, table)

    return step, lambda call: call(ids)


def forward_inside() -> Any:
    x = ag.constant([0.5, -1.5])

    def step(x: Any) -> Any:
        with ForwardAccumulator(x, ag.ones([2])) as accumulator:
            y = ag.sin(x) * x
        return y, accumulator.jvp(y)

    return step, lambda call: call(x)


def forward_over_reverse() -> Any:
    w, x = ag.Variable(W), ag.constant(X)

    def program(call: Call) -> Any:
        with ForwardAccumulator(x, ag.ones([5, 4])) as accumulator:
            with ag.GradientTape() as tape:
                tape.watch(x)
                loss = ag.reduce_sum(ag.square(call(x)))
            gradients = tape.gradient(loss, [x, w])
        return gradients, [accumulator.jvp(each) for each in gradients]

    return layer(w), program


def a_later_tape() -> Any:
    """It sees the ops of the vjp alone, in which what the function has computed before is constant."""
    x = ag.constant([0.5, -1.5])

    def program(call: Call) -> Any:
        with ag.GradientTape(persistent=True) as first:
            first.watch(x)
            y = call(x)
        with ag.GradientTape() as later:
            later.watch(x)
            gradient = first.gradient(y, x)
        return gradient, later.gradient(gradient, x)

    return lambda x: ag.exp(x) * x, program


def side_by_side() -> Any:
    v, w, x = ag.Variable(W), ag.Variable(2 * W), ag.constant(X)

    def program(call: Call) -> Any:
        with ag.GradientTape() as one, ag.GradientTape() as other:
            first, second = call(x)
        return one.gradient(first, [v, w]), other.gradient(second, [v, w])

    def call(x: Any) -> Any:
        y = ag.tanh(ag.matmul(x, v))
        return ag.reduce_sum(y), ag.reduce_sum(y * ag.matmul(x, w))

    return call, program


def explicitly_watched() -> Any:
    v, w, x = ag.Variable(W, trainable=False), ag.Variable(W), ag.constant(X)

    def program(call: Call) -> Any:
        with ag.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
            tape.watch(v)
            loss = ag.reduce_sum(ag.square(call(x)))
        assert tape.gradient(loss, w) is None
        return loss, tape.gradient(loss, v)

    return lambda x: ag.matmul(x, v) * ag.matmul(x, w), program


def recurrent() -> Any:
    x = ag.constant(np.random.default_rng(2).normal(size=(2, 3, 4)).astype("f4"))
    kernel, recurrent_kernel = ag.Variable(np.ones((4, 8), "f4") * 0.1), ag.Variable(np.ones((2, 8), "f4") * 0.2)
    bias, zero = ag.Variable(np.zeros(8, "f4")), ag.zeros((3, 2))

    def call(x: Any) -> Any:
        from agog_core.ops.nn.lstm import lstm

        return lstm(x, kernel, recurrent_kernel, bias, zero, zero)[0]

    def program(call: Call) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(x)
            loss = ag.reduce_sum(ag.square(call(x)))
        return loss, tape.gradient(loss, [x, kernel, recurrent_kernel, bias])

    return call, program


def integers_beside() -> Any:
    x, n = ag.constant(X), ag.constant([1, 0, 2, 1, 1])

    def program(call: Call) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(x)
            y, places = call(x, n)
            loss = ag.reduce_sum(y) * 2.0
        return places, tape.gradient(loss, x)

    return lambda x, n: (ag.square(x), ag.argmax(x, 1) + ag.cast(n, ag.int64)), program


def forward_mode() -> Any:
    x = ag.constant([0.5, -1.5])

    def program(call: Call) -> Any:
        with ForwardAccumulator(x, ag.ones([2])) as accumulator:
            y = call(x)
        return accumulator.jvp(y)

    return lambda x: ag.sin(x) * x, program


def inside_and_outside() -> Any:
    w, x = ag.Variable(W), ag.constant(X)

    def call(x: Any) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = ag.reduce_sum(ag.tanh(ag.matmul(x, w)))
        return tape.gradient(y, x)

    def program(call: Call) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(x)
            norm = ag.reduce_sum(ag.square(call(x)))
        return norm, tape.gradient(norm, [x, w])

    return call, program


def nested() -> Any:
    w, x = ag.Variable(W), ag.constant(X)
    inner = function(layer(w))

    def program(call: Call) -> Any:
        with ag.GradientTape() as tape:
            loss = ag.reduce_sum(call(x) * 3.0)
        return tape.gradient(loss, w)

    return lambda x: inner(inner(x)[:, :1] * x), program


MAKERS = [
    *(first_order, second_order, third_order, persistent, lookups, updates, random_numbers, branches, own_gradients),
    *(own_gradient_of_one_result, own_gradient_twice, recomputed_random_numbers, persistent_inside, recomputed_inside),
    *(rows_inside, forward_inside, forward_over_reverse, a_later_tape, side_by_side),
    *(explicitly_watched, recurrent, integers_beside, forward_mode, inside_and_outside, nested),
]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_gradients_are_equal(make: Callable[[], Any]) -> None:
    assert_equal(make)


def test_python_runs_once_under_tapes() -> None:
    calls: list[int] = []
    f, x = function(lambda x: calls.append(1) or x * x), ag.constant(3.0)
    for _ in range(3):
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert float(tape.gradient(y, x)) == 6.0
    assert calls == [1]


def test_tapes_see_which_variables_were_read() -> None:
    v, w = ag.Variable(2.0), ag.Variable(3.0, trainable=False)
    f = function(lambda x: x * v * w)
    for _ in range(2):
        with ag.GradientTape() as tape:
            f(ag.constant(1.0))
        assert tape.watched_variables() == (v,)
    ((gradient, variable),) = ag.implicit_gradients(f)(ag.constant(1.0))
    assert (float(gradient), variable is v) == (3.0, True)


def test_gradients_of_variables_that_a_call_creates() -> None:
    box: list[ag.Variable] = []

    def call(x: ag.Tensor) -> ag.Tensor:
        if not box:
            box.append(ag.Variable(2.0))
        return x * box[0]

    f = function(call)
    for _ in range(3):
        with ag.GradientTape() as tape:
            y = f(ag.constant(5.0))
        assert float(tape.gradient(y, box[0])) == 5.0


def test_results_that_are_not_used_have_no_gradient() -> None:
    """Neither zeros, nor the NaN that zeros times infinity would be."""
    v, x, y = ag.Variable(2.0), ag.constant(0.0), ag.constant(3.0)
    f = function(lambda x, y: (ag.log(x) * v, ag.square(y)))
    for _ in range(3):
        with ag.GradientTape() as tape:
            tape.watch([x, y])
            _, squared = f(x, y)
        gradients = tape.gradient(squared, [x, y, v])
        assert (gradients[0], float(gradients[1]), gradients[2]) == (None, 6.0, None)
    assert len(f.traces()) == 1


def test_gradients_of_updated_variables_where_a_result_is_not_used() -> None:
    def found(wrap: Callable[[Any], Any]) -> list[float]:
        v = ag.Variable(2.0)

        def call(x: ag.Tensor) -> Any:
            before = v * x
            v.assign_add(1.0)
            return before * v, ag.exp(x)

        wrapped, gradients = wrap(call), []
        for _ in range(3):
            with ag.GradientTape() as tape:
                y, _ = wrapped(ag.constant(3.0))
            gradients.append(float(tape.gradient(y, v)))
        return gradients

    assert found(function) == found(lambda call: call)


def test_results_in_forward_mode_that_are_arguments() -> None:
    v = ag.Variable([1.0, 2.0])
    call = function(lambda x: (ag.reduce_mean(v + 0.5), x, x * v))
    for _ in range(3):
        x = ag.constant([1.0, 2.0])
        with ag.ForwardAccumulator(x, ag.constant([3.0, 4.0])) as forward:
            results = call(x)
        assert len(results) == 3
        assert results[1] is x
        assert forward.jvp(results[0]) is None
        assert forward.jvp(results[1]).numpy().tolist() == [3.0, 4.0]
        assert forward.jvp(results[2]).numpy().tolist() == [3.0, 8.0]
