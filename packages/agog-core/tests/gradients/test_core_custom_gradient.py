"""custom_gradient: forms of arguments and results, variables, higher orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import recording
from agog_testing import says


def numbers(gradients: Any) -> list[float | None]:
    return [None if g is None else float(g) for g in gradients]


@ag.custom_gradient
def log1pexp(x: Any) -> Any:
    """The numerically stable gradient of the tutorials."""
    e = ag.exp(x)

    def grad(dy: Any) -> Any:
        return dy * (1.0 - 1.0 / (1.0 + e))

    return ag.log(1.0 + e), grad


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_log1pexp() -> None:
    gradient = ag.gradients_function(log1pexp)
    assert numbers(gradient(0.0)) == [0.5]
    assert numbers(gradient(100.0)) == [1.0]
    assert numbers(gradient(-3.0)) == [pytest.approx(1 / (1 + np.exp(3.0)), rel=1e-6)]
    plain = ag.gradients_function(lambda x: ag.log(1.0 + ag.exp(x)))
    assert np.isnan(numbers(plain(100.0))[0])


def test_three_orders_of_log1pexp() -> None:
    derivative: Any = log1pexp
    at = 0.3
    s = 1 / (1 + np.exp(-at))
    for expected in (s, s * (1 - s), s * (1 - s) * (1 - 2 * s)):
        derivative = (lambda g: lambda x: g(x)[0])(ag.gradients_function(derivative))
        assert float(derivative(ag.constant(at, dtype=ag.float64))) == pytest.approx(expected, rel=1e-12)


def test_the_given_gradient_counts_not_the_true_one() -> None:
    @ag.custom_gradient
    def square(x: Any) -> Any:
        return x * x, lambda dy: dy * 100.0

    assert numbers(ag.gradients_function(square)(3.0)) == [100.0]
    x = ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = square(x * 2.0) * 5.0
    assert float(tape.gradient(y, x)) == 1000.0


def test_several_arguments() -> None:
    @ag.custom_gradient
    def clipped(x: Any, y: Any, name: str, scale: float = 1.0) -> Any:
        return x * y * scale, lambda dy: [dy * 7.0, dy * 11.0, None, None]

    x, y = ag.constant(2.0), ag.Variable(3.0)
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        z = clipped(x, y, "a", scale=10.0)
        constant = clipped(2.0, np.float32(3.0), "a", 1.0)
    assert float(z) == 60.0
    assert numbers(tape.gradient(z, [x, y])) == [7.0, 11.0]
    assert tape.watched_variables() == (y,)
    assert tape.gradient(constant, x) is None
    assert isinstance(constant, ag.Tensor)


def test_keyword_arguments_have_gradients_too() -> None:
    @ag.custom_gradient
    def product(x: Any, *, y: Any) -> Any:
        return x * y, lambda dy: (dy * 7.0, dy * 11.0)

    x, y = ag.constant(2.0), ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch([x, y])
        z = product(x, y=y)
    assert numbers(tape.gradient(z, [x, y])) == [7.0, 11.0]


def test_several_results() -> None:
    seen: list[Any] = []

    @ag.custom_gradient
    def split(x: Any) -> Any:
        def grad(da: Any, db: Any) -> Any:
            seen.append((float(da), float(db)))
            return da * 10.0 + db * 100.0

        return [x * 1.0, x * 2.0], grad

    x = ag.constant(3.0)
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, b = split(x)
        c = a * 5.0
    assert (float(a), float(b)) == (3.0, 6.0)
    assert float(tape.gradient([c, b], x)) == 150.0
    assert float(tape.gradient(c, x)) == 50.0
    assert float(tape.gradient(b, x)) == 100.0
    assert seen == [(5.0, 1.0), (5.0, 0.0), (0.0, 1.0)]


def test_results_are_new_tensors_in_the_form_of_the_function() -> None:
    @ag.custom_gradient
    def same(x: Any) -> Any:
        return {"a": x, "b": (x,)}, lambda da, db: da + db

    x = ag.constant(3.0)
    for result in (same(x), ag.value_and_gradients_function(same)(x)[0]):
        assert result["a"] is not x
        assert result["b"][0] is not result["a"]
        assert float(result["b"][0]) == 3.0
    assert numbers(ag.gradients_function(same)(x)) == [2.0]


def test_a_result_that_is_the_argument_has_the_given_gradient() -> None:
    @ag.custom_gradient
    def reverse(x: Any) -> Any:
        return x, lambda dy: -dy

    assert numbers(ag.gradients_function(lambda x: reverse(x) + x * 10.0)(3.0)) == [9.0]


def test_without_a_tape_the_gradient_is_not_looked_at() -> None:
    @ag.custom_gradient
    def wrong(x: Any) -> Any:
        return x * 2.0, None

    assert float(wrong(3.0)) == 6.0


def test_variables() -> None:
    first, second = ag.Variable(2.0), ag.Variable(5.0)
    frozen = ag.Variable(7.0, trainable=False)

    @ag.custom_gradient
    def affine(x: Any) -> Any:
        def grad(dy: Any, variables: Any) -> Any:
            assert variables == [first, second]  # in the order of construction
            return dy * 10.0, [dy * 100.0, dy * 1000.0]

        return x * second * frozen + first, grad

    x = ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = affine(x) * 2.0
    assert numbers(tape.gradient(y, [x, first, second, frozen])) == [20.0, 200.0, 2000.0, None]
    pairs = ag.implicit_gradients(affine)(3.0)
    assert [(float(g), v) for g, v in pairs] == [(100.0, first), (1000.0, second)]


def test_the_second_order_with_variables() -> None:
    v = ag.Variable(5.0)

    @ag.custom_gradient
    def product(x: Any) -> Any:
        value = v.value()
        return x * x * value, lambda dy, variables: (dy * 2.0 * x * value, [dy * x * x])

    x = ag.constant(3.0)
    with ag.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with ag.GradientTape() as inner:
            inner.watch(x)
            y = product(x)
        dx, dv = inner.gradient(y, [x, v])
    assert numbers([dx, dv]) == [30.0, 9.0]
    assert numbers(outer.gradient(dx, [x, v])) == [10.0, 6.0]
    assert numbers(outer.gradient(dv, [x, v])) == [6.0, None]


def test_errors_with_variables() -> None:
    v = ag.Variable(2.0)

    @ag.custom_gradient
    def deaf(x: Any) -> Any:
        return x * v, lambda dy: dy

    with says(
        TypeError,
        "If using @custom_gradient with a function that uses variables, then grad_fn must accept a keyword argument "
        "'variables'.",
    ):
        ag.gradients_function(deaf)(1.0)
    assert recording.active == []

    @ag.custom_gradient
    def short(x: Any) -> Any:
        return x * v, lambda dy, variables: (dy, [])

    with says(ValueError, "Must return gradient for each variable from @custom_gradient grad_fn."):
        ag.gradients_function(short)(1.0)


def test_a_wrong_number_of_gradients() -> None:
    @ag.custom_gradient
    def two(x: Any, y: Any) -> Any:
        return x * y, lambda dy: dy

    with says(
        ValueError,
        "custom_gradient: grad_fn returned 1 gradients for 2 arguments; return one for each, None for those without.",
    ):
        ag.gradients_function(two)(1.0, 2.0)


def test_variables_passed_as_arguments_need_no_keyword() -> None:
    v = ag.Variable(2.0)

    @ag.custom_gradient
    def square(x: Any) -> Any:
        return x * x, lambda dy: dy * 100.0

    assert [(float(g), w) for g, w in ag.implicit_gradients(lambda: square(v))()] == [(100.0, v)]


def test_gradients_functions_work_inside() -> None:
    @ag.custom_gradient
    def cube(x: Any) -> Any:
        (slope,) = ag.gradients_function(lambda t: t * t * t)(x)
        return x * x * x, lambda dy: dy * slope

    assert numbers(ag.gradients_function(cube)(2.0)) == [12.0]
    second = ag.gradients_function(lambda x: ag.gradients_function(cube)(x)[0])
    assert numbers(second(2.0)) == [12.0]


def test_methods() -> None:
    class Layer:
        factor = 10.0

        @ag.custom_gradient
        def call(self, x: Any) -> Any:
            return x * self.factor, lambda dy: (None, dy * 3.0)

    assert numbers(ag.gradients_function(Layer().call)(2.0)) == [3.0]


def test_names_are_kept() -> None:
    assert log1pexp.__name__ == "log1pexp"
    assert log1pexp.__doc__ == "The numerically stable gradient of the tutorials."


def test_an_error_inside_leaves_no_tape_recording() -> None:
    @ag.custom_gradient
    def fail(x: Any) -> Any:
        raise KeyError("here")

    with pytest.raises(KeyError), ag.GradientTape():
        fail(1.0)
    assert recording.active == []
    assert recording.stack.get() == ()
