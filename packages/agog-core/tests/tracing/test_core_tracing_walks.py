"""The walk back over a traced function: traced when it is asked for, under all tapes, in no more memory than theirs."""

from __future__ import annotations

import gc
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import TracingError, TracingWarning
from agog_core.gradients.forward import ForwardAccumulator
from agog_core.settable import Settable
from agog_core.tracing.functions.function import function
from agog_core.tracing.tapes import replay

Call = Callable[..., Any]
X = np.random.default_rng(0).normal(size=(5, 4)).astype("f4")


@pytest.fixture(autouse=True, params=[0, 1000], ids=["as sections", "as records"])
def most_records(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Functions of how many records give them to tapes as they are; other ones give a section."""
    monkeypatch.setattr(replay, "_MOST_RECORDS", request.param)
    return int(request.param)


def flat(found: Any) -> list[Any]:
    return [None if x is None else ag.convert_to_tensor(x).numpy() for x in ag.nest.flatten(found)]


def assert_equal(program: Callable[[Call], Any], made: Callable[[], Call], calls: int = 3) -> None:
    outcomes = []
    for wrap in (lambda f: f, function):
        ag.set_random_seed(3)
        call = wrap(made())
        outcomes.append([flat(program(call)) for _ in range(calls)])
    for eager, traced in zip(*outcomes, strict=True):
        assert len(eager) == len(traced)
        for left, right in zip(eager, traced, strict=True):
            np.testing.assert_array_equal(left, right)


def count_calls(call: Call) -> tuple[Call, list[int]]:
    counts = [0]

    def counted(*args: Any) -> Any:
        counts[0] += 1
        return call(*args)

    return counted, counts


def several(x: Any) -> Any:
    y = ag.tanh(x) * x
    return ag.exp(y) + x, y * y * y, ag.reduce_sum(x * y)


def second_order(call: Call) -> Any:
    x = ag.constant(X)
    with ag.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with ag.GradientTape() as inner:
            inner.watch(x)
            results = call(x * 1.5)
            loss = ag.reduce_sum(results[0]) + results[2]
        gradient = inner.gradient(loss, x)
        norm = ag.reduce_sum(ag.square(gradient)) + ag.reduce_sum(results[1])
    return gradient, outer.gradient(norm, x), outer.gradient(gradient, x), outer.gradient(results[1], x)


def persistent_inner(call: Call) -> Any:
    x = ag.constant(X)
    with ag.GradientTape() as outer:
        outer.watch(x)
        with ag.GradientTape(persistent=True) as inner:
            inner.watch(x)
            a, b, c = call(x)
        first, second = inner.gradient(a, x), inner.gradient(b, x)
        both = ag.reduce_sum(first * second) + c
    return first, second, outer.gradient(both, x)


def three_tapes(call: Call) -> Any:
    x = ag.constant(X)
    with ag.GradientTape() as one, ag.GradientTape() as two, ag.GradientTape() as three:
        for tape in (one, two, three):
            tape.watch(x)
        y = call(x)[1]
        first = three.gradient(y, x)
        second = two.gradient(first, x)
    return first, second, one.gradient(second, x)


def several_calls(call: Call) -> Any:
    x = ag.constant(X)
    with ag.GradientTape() as tape:
        tape.watch(x)
        a = call(x)[0]
        b = call(a * 0.1 + x)[1]
        c = call(b + a)[0] + x
    return tape.gradient(c, [x, a])


def asked_for_results(call: Call) -> Any:
    x = ag.constant(X)
    with ag.GradientTape() as tape:
        tape.watch(x)
        a, b, c = call(x)
        loss = ag.reduce_sum(a * b) + c
    return tape.gradient(loss, [x, a, b, c])


def tape_that_came_later(call: Call) -> Any:
    x = ag.constant(X)
    with ag.GradientTape() as inner:
        inner.watch(x)
        y = call(x)[0]
    with ag.GradientTape() as outer:
        outer.watch(x)
        gradient = inner.gradient(y, x)
    return gradient, outer.gradient(gradient, x)


def same_tensor_twice(call: Call) -> Any:
    x = ag.constant(X)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = ag.reduce_sum(call(x, x)[0] * x)
    return tape.gradient(y, x)


def jacobians(call: Call) -> Any:
    x = ag.constant(X[:1])
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = call(x)[1]
    return tape.jacobian(y, x)


@pytest.mark.parametrize(
    "program",
    [second_order, persistent_inner, three_tapes, several_calls, asked_for_results, tape_that_came_later, jacobians],
    ids=lambda program: program.__name__,
)
def test_tapes_give_what_they_give_of_eager_calls(program: Callable[[Call], Any]) -> None:
    assert_equal(program, lambda: several)


def test_a_tensor_that_is_passed_twice_is_one_source() -> None:
    assert_equal(same_tensor_twice, lambda: lambda x, y: several(x * y + ag.exp(x) - y))


def test_an_argument_that_is_a_variable_value_is_one_source() -> None:
    def program(call: Call) -> Any:
        with ag.GradientTape() as tape:
            y = ag.reduce_sum(call(w.value()))
        return y, tape.gradient(y, w)

    w = ag.Variable(X)
    assert_equal(program, lambda: lambda x: ag.sin(x) * w + ag.exp(w) * x)


def test_derivatives_of_higher_order_run_no_python_again() -> None:
    for program in (second_order, persistent_inner, three_tapes):
        counted, counts = count_calls(several)
        call = function(counted)
        for _ in range(4):
            program(call)
        assert counts[0] == 1, program.__name__


w = ag.Variable(X)


def forward(call: Call) -> Any:
    x = ag.constant(X)
    with ForwardAccumulator(x, ag.cos(x)) as accumulator:
        a, b, c = call(x * 2.0)
        d = a * b + x
    return accumulator.jvp([a, b, c, d])


def forward_of_a_variable(call: Call) -> Any:
    x = ag.constant(X)
    with ForwardAccumulator([w, x], [ag.ones_like(x), ag.sin(x)]) as accumulator:
        a, b, c = call(x)
    return accumulator.jvp([a, b, c])


def forward_over_reverse(call: Call) -> Any:
    x = ag.constant(X)
    with ForwardAccumulator(x, ag.ones_like(x)) as accumulator:
        with ag.GradientTape() as tape:
            tape.watch(x)
            loss = ag.reduce_sum(call(x)[0])
        gradient = tape.gradient(loss, x)
    return gradient, accumulator.jvp([gradient, loss])


def reverse_over_forward(call: Call) -> Any:
    x = ag.constant(X)
    with ag.GradientTape() as tape:
        tape.watch(x)
        with ForwardAccumulator(x, ag.cos(x)) as accumulator:
            y = call(x)[1]
        tangent = accumulator.jvp(y)
    return tangent, tape.gradient(tangent, x)


def forward_twice(call: Call) -> Any:
    x = ag.constant(X)
    with ForwardAccumulator(x, ag.ones_like(x)) as outer:
        with ForwardAccumulator(x, ag.cos(x)) as inner:
            y = call(x)[1]
        tangent = inner.jvp(y)
    return tangent, outer.jvp(tangent), outer.jvp(y)


def forward_that_came_later(call: Call) -> Any:
    x = ag.constant(X)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = call(x)[1]
    with ForwardAccumulator(x, ag.ones_like(x)) as accumulator:
        gradient = tape.gradient(y, x)
    return gradient, accumulator.jvp(gradient)


def same_tangent(call: Call) -> Any:
    x = ag.constant(X)
    with ForwardAccumulator(x, x) as accumulator:
        y = call(x)[0]
    return accumulator.jvp(y)


def no_tangent(call: Call) -> Any:
    x, other = ag.constant(X), ag.constant(X)
    with ForwardAccumulator(other, other) as accumulator:
        y = call(x)[0]
    return accumulator.jvp(y), accumulator.jvp(y, unconnected_gradients="zero")


def with_variable(x: Any) -> Any:
    a, b, c = several(x)
    return a * w, b + w.value(), c


@pytest.mark.parametrize("made", [several, with_variable], ids=lambda made: made.__name__)
@pytest.mark.parametrize(
    "program",
    [
        *(forward, forward_of_a_variable, forward_over_reverse, reverse_over_forward, forward_twice),
        *(forward_that_came_later, same_tangent, no_tangent),
    ],
    ids=lambda program: program.__name__,
)
def test_forward_mode_gives_what_it_gives_of_eager_calls(program: Callable[[Call], Any], made: Call) -> None:
    assert_equal(program, lambda: made)
    counted, counts = count_calls(made)
    call = function(counted)
    for _ in range(4):
        program(call)
    assert counts[0] == 1


def test_a_gradient_that_nobody_asks_for_is_not_computed() -> None:
    @ag.custom_gradient
    def failing(x: Any) -> Any:
        def grad(dy: Any) -> Any:
            raise AssertionError("nobody has asked")

        return x * 2.0, grad

    call = function(lambda x: (failing(x), x * x))
    x = ag.constant(3.0)
    for _ in range(3):
        with ag.GradientTape() as tape:
            tape.watch(x)
            first, second = call(x)
        assert float(first) == 6.0
        assert float(tape.gradient(second, x)) == 6.0


def test_python_of_a_gradient_runs_once_for_each_set_of_results() -> None:
    ran: list[int] = []

    @ag.custom_gradient
    def noted(x: Any) -> Any:
        def grad(dy: Any) -> Any:
            ran.append(1)
            return dy * 5.0

        return x * 2.0, grad

    call = function(lambda x: (noted(x), x * x))
    x = ag.constant(3.0)
    for wanted in (0, 1, 0, 1):
        with ag.GradientTape() as tape:
            tape.watch(x)
            results = call(x)
        assert float(tape.gradient(results[wanted], x)) == (5.0, 6.0)[wanted]
    assert len(ran) == 1


def test_a_branch_in_a_gradient_may_go_either_way() -> None:
    @ag.custom_gradient
    def clipped(x: Any) -> Any:
        return x * 1.0, lambda dy: dy if ag.reduce_sum(dy) > 0.0 else dy * 0.1

    call, x = function(lambda x: clipped(x) * 2.0), ag.constant([1.0, 2.0])
    for factor, expected in ((1.0, 2.0), (-1.0, -0.2), (2.0, 4.0), (-2.0, -0.4)):
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = call(x) * factor
        np.testing.assert_allclose(tape.gradient(y, x).numpy(), [expected, expected], rtol=1e-6)


def test_a_gradient_may_catch_what_an_op_raises() -> None:
    @ag.custom_gradient
    def careful(x: Any) -> Any:
        def grad(dy: Any) -> Any:
            try:
                return ag.check_numerics(dy, "infinite")
            except ag.errors.InvalidArgumentError:
                return ag.zeros_like(dy)

        return x * 1.0, grad

    call, x = function(careful), ag.constant([1.0, 2.0])
    for factor in (1.0, np.inf, 3.0, np.inf):
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = call(x)
        found = tape.gradient(y, x, output_gradients=ag.constant([factor, factor], ag.float32))
        assert found.numpy().tolist() == [0.0 if np.isinf(factor) else factor] * 2


def test_a_gradient_that_updates_variables_does_so_at_each_walk() -> None:
    count = ag.Variable(0.0, trainable=False)

    @ag.custom_gradient
    def counting(x: Any) -> Any:
        def grad(dy: Any) -> Any:
            count.assign_add(1.0)
            return dy * count

        return x * 1.0, grad

    call, x = function(counting), ag.constant(1.0)
    for number in range(1, 5):
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = call(x)
        assert float(tape.gradient(y, x)) == number
        assert float(count) == number


def test_calls_take_no_more_memory_than_eager_ones() -> None:
    def layers(x: Any) -> Any:
        for _ in range(6):
            x = ag.tanh(x * 1.01)
        return ag.reduce_sum(x), x

    def peak(call: Call) -> int:
        x = ag.constant(np.ones((500, 500), "f4"))
        gc.collect()
        tracemalloc.start()
        with ag.GradientTape() as tape:
            tape.watch(x)
            loss, _ = call(x)
        tape.gradient(loss, x)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    eager = peak(layers)
    call = function(layers)
    first, _, *later = [peak(call) for _ in range(4)]  # the second compiles
    # The graph beside the arrays, of which one has a megabyte.
    assert max(first, *later) < eager + 500_000, (eager, first, later)


def test_nothing_of_a_call_is_kept_when_its_tape_is_gone() -> None:
    firsts, growths = zip(*[_memory_of_calls() for _ in range(3)], strict=True)
    assert min(firsts) < 3_500_000  # other threads may have made objects meanwhile
    assert min(growths) < 100_000


def _memory_of_calls() -> tuple[int, int]:
    """The bytes that are left of the first call of a function, and those that four calls leave."""
    call = function(several)
    x = ag.constant(np.ones((1000, 1000), "f4"))  # of four megabytes

    def run() -> None:
        with ag.GradientTape() as tape:
            tape.watch(x)
            loss = ag.reduce_sum(call(x)[0])
        tape.gradient(loss, x)

    gc.disable()
    try:
        tracemalloc.start()
        run()
        first = tracemalloc.get_traced_memory()[0]
        run()  # it is compiled, with memory that stays between runs
        second = tracemalloc.get_traced_memory()[0]
        for _ in range(4):
            run()
        return first, tracemalloc.get_traced_memory()[0] - second
    finally:
        tracemalloc.stop()
        gc.enable()


def test_a_tensor_that_the_program_keeps_has_the_value_of_the_first_call() -> None:
    kept: list[Any] = []

    def leaky(x: Any) -> Any:
        y = ag.exp(x)
        kept.append(y)
        return y * y

    call = function(leaky)
    with pytest.warns(TracingWarning, match="a tensor is still in use after the function that was traced"):
        _gradient_of(call, 1.0)
    for value in (1.0, 2.0, 3.0):
        assert _gradient_of(call, value) == pytest.approx(2 * np.exp(2 * value), rel=1e-6)
    assert len(kept) == 1
    assert float(kept[0]) == pytest.approx(np.exp(1.0), rel=1e-6)
    assert float(kept[0] + 1.0) == pytest.approx(np.exp(1.0) + 1, rel=1e-6)


def _gradient_of(call: Call, value: float) -> float:
    x = ag.constant(value)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = call(x)
    return float(tape.gradient(y, x))


def test_what_an_object_of_a_gradient_keeps_is_of_each_call() -> None:
    class Context:
        pass

    @ag.custom_gradient
    def with_context(x: Any) -> Any:
        context = Context()
        context.y = ag.exp(x)  # type: ignore[attr-defined]
        return context.y * 1.0, lambda dy: dy * context.y  # type: ignore[attr-defined]

    call = function(with_context)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TracingWarning)  # the object may be the program's own
        for value in (1.0, 2.0, 3.0):
            assert _gradient_of(call, value) == pytest.approx(np.exp(value), rel=1e-6)


def test_a_tensor_from_outside_that_is_watched_has_its_gradient() -> None:
    outside = ag.constant(2.0)
    counted, counts = count_calls(lambda x: x * outside * outside)
    call = function(counted)

    def gradients(value: float) -> list[float]:
        x = ag.constant(value)
        with ag.GradientTape() as tape:
            tape.watch([x, outside])
            y = call(x)
        return [float(g) for g in tape.gradient(y, [x, outside])]

    with pytest.warns(TracingWarning) as caught:
        assert all(gradients(value) == [4.0, value * 4.0] for value in (1.0, 3.0, 5.0))
    assert [str(each.message) for each in caught] == [
        "counted runs eagerly under a tape from here on, because it uses a tensor from outside that the tape watches. "
        "Pass the tensor as an argument, or leave tf.function out."
    ]
    assert counts[0] == 3  # the first call is traced, the others are eager ones


def test_a_tape_that_is_asked_inside_of_the_function_knows_what_was_before() -> None:
    tapes: list[Any] = []

    def slope(x: Any) -> Any:
        y = x * x
        return tapes[-1].gradient(y, sources[-1])

    sources: list[Any] = []
    call = function(slope)

    def found(value: float) -> float:
        sources.append(ag.constant(value))
        with ag.GradientTape() as tape:
            tapes.append(tape)
            tape.watch(sources[-1])
            inner = sources[-1] * 3.0
            return float(call(inner))

    with pytest.warns(TracingWarning) as caught:
        assert [found(value) for value in (1.0, 2.0, 3.0)] == [18.0, 36.0, 54.0]
    assert [str(each.message) for each in caught] == [
        "slope runs eagerly under a tape from here on, because it asks the tape itself for a gradient, or changes what "
        "the tape records. Make the tape in the function, or leave tf.function out."
    ]


def test_the_gradient_of_a_call_from_outside_can_be_asked_for_in_another_function() -> None:
    x = ag.constant([1.0, 2.0])
    call = function(lambda x: (ag.exp(x), x * x))
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        results = call(x)

    @function
    def asked(scale: Any) -> Any:
        return tape.gradient(results[1], x, output_gradients=scale * ag.ones_like(x))

    for scale in (1.0, 2.0, 3.0):
        np.testing.assert_array_equal(asked(ag.constant(scale)).numpy(), [2.0 * scale, 4.0 * scale])


def test_a_gradient_sees_attributes_as_they_are() -> None:
    class Factor(Settable):
        def __init__(self, value: float) -> None:
            self.value = value

    factor = Factor(2.0)

    @ag.custom_gradient
    def scaled(x: Any) -> Any:
        return x * 1.0, lambda dy: dy * factor.value

    call = function(scaled)
    for value in (2.0, 2.0, 5.0, 2.0, 7.0):
        factor.value = value
        assert _gradient_of(call, 1.0) == value


@pytest.mark.parametrize("wrap", [lambda f: f, function], ids=["eager", "traced"])
def test_a_variable_that_is_updated_in_place_has_no_tangent_of_before(wrap: Call) -> None:
    for is_held in (False, True):
        v = ag.Variable([1.0, 2.0])

        def step() -> Any:
            before = v + 1.0  # noqa: B023  # at once
            held.append(v.value() if is_held else None)  # noqa: B023  # at once
            v.assign_add([1.0, 1.0])  # noqa: B023  # at once
            return before, v * 2.0  # noqa: B023  # at once

        held: list[Any] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TracingWarning)  # what is held has the first call's value
            with ForwardAccumulator(v, ag.ones([2])) as accumulator:
                before, after = wrap(step)()
        assert accumulator.jvp(before).numpy().tolist() == [1.0, 1.0]
        assert accumulator.jvp(after) is None


def test_tapes_show_a_call_by_the_name_of_its_function_or_by_its_ops(most_records: int) -> None:
    @function
    def squared(x: Any) -> Any:
        return ag.square(x)

    name = "square" if most_records else f"{__name__}.squared"
    x = ag.constant([1.0, 2.0])
    for lines in (False, True):
        with ag.GradientTape(source_lines=lines) as tape:
            tape.watch(x)
            y = squared(x) * 2.0
        assert f"\n{name} " in tape.summary()
        assert f'"{name}' in tape.draw()
        assert tape.gradient(y, x).numpy().tolist() == [4.0, 8.0]


def test_a_tape_knows_the_variables_that_a_function_has_read_which_fails() -> None:
    read, unread = ag.Variable([1.0]), ag.Variable([2.0])

    @function
    def failing(x: Any) -> Any:
        y = ag.gather(read * x, [7])
        return y + unread

    for _ in range(2):
        with ag.GradientTape() as tape, pytest.raises(ag.errors.InvalidArgumentError):
            failing(ag.constant(1.0))
        assert [v is read for v in tape.watched_variables()] == [True]


def test_reading_a_value_in_a_gradient_names_the_line() -> None:
    @ag.custom_gradient
    def reading(x: Any) -> Any:
        return x * 1.0, lambda dy: dy * float(dy)

    call, x = function(reading), ag.constant(1.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = call(x)
    with pytest.raises(TracingError, match=r"test_core_tracing_walks.py:\d+: the value of a tensor of shape \(\)"):
        tape.gradient(y, x)
