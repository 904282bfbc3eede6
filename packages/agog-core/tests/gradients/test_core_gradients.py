"""The four gradient functions: parameters, results, errors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import recording
from agog_testing import says


def numbers(gradients: Any) -> list[float | None]:
    return [None if g is None else float(g) for g in gradients]


def f(a: Any, b: Any, c: Any = 10.0) -> Any:
    return a * a * b * c


# --- what is differentiated ---------------------------------------------------------------------------------------


def test_all_declared_parameters_by_default() -> None:
    assert numbers(ag.gradients_function(f)(2.0, 3.0, 5.0)) == [60.0, 20.0, 12.0]
    assert numbers(ag.gradients_function(lambda a, *rest: a * rest[0])(2.0, 3.0)) == [3.0]


def test_all_that_are_passed_where_none_is_declared() -> None:
    assert numbers(ag.gradients_function(lambda *args: args[0] * args[1])(2.0, 3.0)) == [3.0, 2.0]
    assert len(ag.gradients_function(lambda *args: args[0] * 1.0)(1.0, 2.0, 3.0)) == 3


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (None, [60.0, 20.0, 12.0]),
        (["a"], [60.0]),
        (["c", "a"], [12.0, 60.0]),
        ([0], [60.0]),
        ([2, 1], [12.0, 20.0]),
        ([-1], [12.0]),
        ([], []),
        (("b",), [20.0]),
    ],
)
def test_params(params: Any, expected: list[float]) -> None:
    assert numbers(ag.gradients_function(f, params)(2.0, 3.0, 5.0)) == expected
    value, gradients = ag.value_and_gradients_function(f, params)(2.0, 3.0, 5.0)
    assert float(value) == 60.0
    assert numbers(gradients) == expected


def test_params_errors() -> None:
    with says(ValueError, "params must be all strings or all integers; got ['a', 1]."):
        ag.gradients_function(f, ["a", 1])
    with says(ValueError, "'zz' is not in list"):
        ag.gradients_function(f, ["zz"])
    with says(IndexError, "list index out of range"):
        ag.gradients_function(f, [3])(2.0, 3.0, 5.0)
    with says(IndexError, "list index out of range"):  # c has a default and is not passed
        ag.gradients_function(f)(2.0, 3.0)
    with says(ValueError, "Functions to be differentiated cannot receive keyword arguments."):
        ag.gradients_function(f, ["a"])(2.0, b=3.0)


def test_partial_objects() -> None:
    assert numbers(ag.gradients_function(partial(f, 2.0))(3.0, 5.0)) == [20.0, 12.0]
    assert numbers(ag.gradients_function(partial(f, c=5.0), [0, 1])(2.0, 3.0)) == [60.0, 20.0]
    assert numbers(ag.gradients_function(partial(f, c=5.0))(2.0, 3.0)) == [60.0, 20.0]
    assert numbers(ag.gradients_function(partial(f, b=3.0, c=5.0))(2.0)) == [60.0]


class Scale:
    factor = 3.0

    def method(self, x: Any) -> Any:
        return x * x * self.factor

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x * cls.factor

    @staticmethod
    def of_none(x: Any) -> Any:
        return x * 7.0

    def __call__(self, x: Any) -> Any:
        return x * x


def test_bound_methods_and_callable_objects() -> None:
    assert numbers(ag.gradients_function(Scale().method)(2.0)) == [12.0]
    assert numbers(ag.gradients_function(Scale().method, ["x"])(2.0)) == [12.0]
    assert numbers(ag.gradients_function(Scale().method, [0])(2.0)) == [12.0]
    assert numbers(ag.gradients_function(Scale.of_class)(2.0)) == [3.0]
    assert numbers(ag.gradients_function(Scale.of_none)(2.0)) == [7.0]
    assert numbers(ag.gradients_function(Scale())(2.0)) == [4.0]


def test_what_is_not_differentiated_is_passed_untouched() -> None:
    seen: list[Any] = []

    def slide(x: Any, strides: list[int], mode: str) -> Any:
        seen.extend([strides, mode])
        return x * float(strides[1])

    strides = [1, 2]
    assert numbers(ag.gradients_function(slide, [0])(3.0, strides, "same")) == [2.0]
    assert seen[0] is strides
    assert seen[1] == "same"


def test_what_is_differentiated_becomes_a_tensor() -> None:
    seen: list[Any] = []

    def look(*args: Any) -> Any:
        seen.extend(args)
        return args[0] * 1.0

    array = np.array([1.0, 2.0])
    x, v = ag.constant(1.0), ag.Variable(4.0)
    ag.gradients_function(look)(3.0, 2, array, [1.0, 2.0], x, v)
    assert all(isinstance(each, ag.Tensor) for each in seen)
    assert [each.dtype.name for each in seen] == ["float32", "int32", "float64", "float32", "float32", "float32"]


def test_one_tensor_passed_twice_is_told_apart() -> None:
    one, v = ag.constant(1.0), ag.Variable(1.0)
    g = ag.gradients_function(lambda a, b: a * 2.0 + b * 3.0)
    assert numbers(g(one, one)) == [2.0, 3.0]
    assert numbers(g(v, v)) == [2.0, 3.0]
    assert numbers(ag.gradients_function(lambda a, b: a * b)(one, one)) == [1.0, 1.0]
    assert numbers(ag.gradients_function(lambda a, b, c: a * 2.0 + b * 3.0 + c * 5.0)(one, one, one)) == [2.0, 3.0, 5.0]


def test_one_tensor_passed_twice_in_the_second_order() -> None:
    x = ag.constant(3.0)
    first = ag.gradients_function(lambda a, b: a * a * b)
    second = ag.gradients_function(lambda a: first(a, a)[0])
    assert numbers(second(x)) == [12.0]  # d/da (2 a b) over both, at a = b


# --- what comes back ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "argument", "expected"),
    [
        (lambda x: 5.0, 3.0, [None]),
        (lambda x: ag.constant(1.0), 3.0, [None]),
        (lambda x: ag.stop_gradient(x) * 2.0, 3.0, [None]),
        (lambda x: ag.argmax(x, 0), [3.0, 4.0], [None]),
        (lambda x: x * 2, 3, [None]),
        (lambda x: x > 2.0, 3.0, [None]),
        (lambda x: x, 3.0, [1.0]),
    ],
)
def test_unconnected_results(function: Any, argument: Any, expected: list[Any]) -> None:
    assert numbers(ag.gradients_function(function)(argument)) == expected


def test_an_unused_argument_has_no_gradient() -> None:
    assert numbers(ag.gradients_function(lambda a, b: a * 2.0)(1.0, 1.0)) == [2.0, None]


def test_nested_results_are_summed_and_returned_as_they_are() -> None:
    def nested(x: Any) -> Any:
        return {"a": [x * 2.0, (x * 3.0,)], "b": 5.0, "c": x > 0.0}

    value, gradients = ag.value_and_gradients_function(nested)(ag.constant([1.0, 2.0]))
    assert gradients[0].numpy().tolist() == [5.0, 5.0]
    assert list(value) == ["a", "b", "c"]
    assert value["a"][1][0].numpy().tolist() == [3.0, 6.0]
    assert float(value["b"]) == 5.0


def test_dy() -> None:
    square = ag.gradients_function(lambda x: x * x)
    assert numbers(square(3.0, dy=2.0)) == [12.0]
    assert square([1.0, 2.0], dy=np.array([10, 100]))[0].numpy().tolist() == [20.0, 400.0]
    pair = ag.gradients_function(lambda x: (x * 2.0, x * 3.0))
    assert numbers(pair(1.0, dy=(10.0, 100.0))) == [320.0]
    assert numbers(pair(1.0, dy=[None, 100.0])) == [302.0]
    assert numbers(ag.value_and_gradients_function(lambda x: x * x)(3.0, dy=2.0)[1]) == [12.0]


def test_a_function_that_returns_none() -> None:
    def forgetful(x: Any) -> None:
        return None

    text = "Cannot differentiate a function that returns None; did you forget to return a value from {}?"
    with says(ValueError, text.format("forgetful")):
        ag.gradients_function(forgetful)(1.0)
    v = ag.Variable(1.0)
    with says(ValueError, text.format("<lambda>")):
        ag.implicit_gradients(lambda: print(end=str(float(v * 0.0))[:0]))()
    with says(ValueError, text.format(repr(partial(forgetful)))):
        ag.gradients_function(partial(forgetful))(1.0)


def test_an_error_leaves_no_tape_active() -> None:
    def fail(x: Any) -> Any:
        raise KeyError("here")

    for call in (lambda: ag.gradients_function(fail)(1.0), lambda: ag.implicit_gradients(fail)(1.0)):
        with pytest.raises(KeyError, match="here"):
            call()
        assert recording.active == []
        assert recording.stack.get() == ()
    assert numbers(ag.gradients_function(lambda x: x * x)(3.0)) == [6.0]


def test_names_and_docstrings_are_kept() -> None:
    def area(x: Any) -> Any:
        """The area."""
        return x * x

    for function in (
        ag.gradients_function,
        ag.value_and_gradients_function,
        ag.implicit_gradients,
        ag.implicit_value_and_gradients,
    ):
        made = function(area)
        assert (made.__name__, made.__doc__) == ("area", "The area.")


# --- higher orders ------------------------------------------------------------------------------------------------


def test_the_third_derivative_of_a_square_is_none() -> None:
    d1 = ag.gradients_function(lambda x: x * x)
    d2 = ag.gradients_function(lambda x: d1(x)[0])
    d3 = ag.gradients_function(lambda x: d2(x)[0])
    assert numbers(d1(3.0)) == [6.0]
    assert numbers(d2(3.0)) == [2.0]
    assert d3(3.0) == [None]


COMPOSED = {
    "polynomial": (lambda x: x * x * x * x - 2.0 * x * x + x, lambda x: x**4 - 2 * x**2 + x),
    "sin of a square": (lambda x: ag.sin(x * x), lambda x: np.sin(x * x)),
    "quotient": (lambda x: (x + 2.0) / (1.0 + x * x), lambda x: (x + 2) / (1 + x * x)),
    "exp of tanh": (lambda x: ag.exp(ag.tanh(x) * 2.0), lambda x: np.exp(np.tanh(x) * 2)),
    "log and sqrt": (lambda x: ag.log(x + ag.sqrt(x)), lambda x: np.log(x + np.sqrt(x))),
    "power": (lambda x: ag.pow(x, 2.5) + ag.pow(2.0, x), lambda x: x**2.5 + 2.0**x),
    "sigmoid": (lambda x: ag.sigmoid(x) * x - ag.log1p(x), lambda x: x / (1 + np.exp(-x)) - np.log1p(x)),
    "x to itself": (lambda x: ag.pow(x, x), lambda x: x**x),
    "by matrices": (
        lambda x: ag.reduce_sum(ag.matmul(ag.reshape(ag.stack([x, x * x]), (2, 1)), ag.reshape(ag.exp(x), (1, 1)))),
        lambda x: (x + x * x) * np.exp(x),
    ),
    "by slices": (
        lambda x: ag.reduce_sum(ag.concat([ag.stack([x, ag.sin(x), x * x])[::-1][:2]] * 2, 0) ** 2.0),
        lambda x: 2 * (x**4 + np.sin(x) ** 2),
    ),
    "mean and max": (
        lambda x: ag.reduce_mean(ag.stack([x, x * x, x**3.0])) * ag.reduce_max(ag.stack([x, ag.exp(x)])),
        lambda x: (x + x * x + x**3) / 3 * np.maximum(x, np.exp(x)),
    ),
    "where": (lambda x: ag.where(x > 1.0, x * x * x, ag.cos(x)), lambda x: np.where(x > 1, x**3, np.cos(x))),
}


def taylor(function: Any, x: float, orders: int) -> list[float]:
    """The derivatives at a point by Cauchy's formula, where the function is analytic: exact to about 1e-12."""
    count, radius = 64, 0.05
    points = x + radius * np.exp(2j * np.pi * np.arange(count) / count)
    with np.errstate(all="ignore"):
        spectrum = np.fft.fft(function(points)) / count
    factorials = [1, 1, 2, 6]
    return [float((spectrum[n] / radius**n).real) * factorials[n] for n in range(1, orders + 1)]


@pytest.mark.parametrize("name", [name for name in COMPOSED if name not in ("where", "mean and max")])
@pytest.mark.parametrize("at", [0.7, 1.3])
def test_three_orders_against_cauchys_formula(name: str, at: float) -> None:
    function, oracle = COMPOSED[name]
    derivative, found, value = function, [], ag.constant(at, dtype=ag.float64)
    for _ in range(3):
        derivative = (lambda g: lambda x: g(x)[0])(ag.gradients_function(derivative))
        found.append(float(derivative(value)))
    assert found == pytest.approx(taylor(oracle, at, 3), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("name", list(COMPOSED))
@pytest.mark.parametrize("at", [0.7, 1.3])
def test_three_orders_against_differences(name: str, at: float) -> None:
    """Each derivative against the central differences of the one before."""
    function, oracle = COMPOSED[name]
    before: Any = lambda x: float(oracle(x))  # noqa: E731
    derivative: Any = function
    for _ in range(3):
        derivative = (lambda g: lambda x: g(x)[0])(ag.gradients_function(derivative))
        step = 1e-5
        numeric = (before(at + step) - before(at - step)) / (2 * step)
        assert float(derivative(ag.constant(at, dtype=ag.float64))) == pytest.approx(numeric, rel=1e-5, abs=1e-5)
        before = (lambda d: lambda x: float(d(ag.constant(x, dtype=ag.float64))))(derivative)


def test_mixed_second_derivatives_by_nested_tapes() -> None:
    generator = np.random.default_rng(0)
    a, b = generator.normal(size=(2, 3)), generator.normal(size=(3,))
    x, y = ag.constant(a), ag.constant(b)
    with ag.GradientTape() as outer:
        outer.watch([x, y])
        with ag.GradientTape() as inner:
            inner.watch([x, y])
            z = ag.reduce_sum(ag.sin(x * y) * x)
        dx = inner.gradient(z, x)
    dxy = outer.gradient(dx, y).numpy()

    def first(c: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.cos(a * c) * c * a + np.sin(a * c)

    step = 1e-6
    for column in range(3):
        e = np.eye(3)[column] * step
        assert dxy[column] == pytest.approx(((first(b + e) - first(b - e)) / (2 * step)).sum(), rel=1e-6)


# --- implicit gradients -------------------------------------------------------------------------------------------


def test_implicit_gradients_come_in_the_order_of_construction() -> None:
    first, second, third = ag.Variable(2.0), ag.Variable(3.0), ag.Variable(5.0)

    def function(x: Any, scale: float = 1.0) -> Any:
        return third * second * second * x * scale + first * 0.0

    pairs = ag.implicit_gradients(function)(7.0, scale=10.0)
    assert [v for _, v in pairs] == [first, second, third]
    assert numbers(g for g, _ in pairs) == [0.0, 2100.0, 630.0]
    value, pairs = ag.implicit_value_and_gradients(function)(7.0, scale=10.0)
    assert float(value) == 3150.0
    assert len(pairs) == 3


def test_implicit_gradients_leave_out_what_is_not_trainable() -> None:
    v, frozen = ag.Variable(2.0), ag.Variable(3.0, trainable=False)
    assert [w for _, w in ag.implicit_gradients(lambda: v * frozen)()] == [v]


def test_variables_that_are_read_without_effect() -> None:
    v, w = ag.Variable(2.0), ag.Variable(3.0)

    def function() -> Any:
        w.value()
        return v * v

    (dv, _), (dw, other) = ag.implicit_gradients(function)()
    assert float(dv) == 4.0
    assert dw is None
    assert other is w


def test_implicit_gradients_without_variables() -> None:
    text = "No trainable variables were accessed while the function was being computed."
    frozen = ag.Variable(3.0, trainable=False)
    for function in (lambda: ag.constant(1.0), lambda: frozen * 2.0):
        with says(ValueError, text):
            ag.implicit_gradients(function)()


def test_the_value_is_what_the_function_returned() -> None:
    v = ag.Variable(2.0)
    value, pairs = ag.implicit_value_and_gradients(lambda: {"loss": v * v, "scale": 3.0, "variable": v})()
    assert float(value["loss"]) == 4.0
    assert type(value["scale"]) is float
    assert value["variable"] is v
    assert numbers(g for g, _ in pairs) == [5.0]  # 2 v, and 1 for the variable itself


def test_linear_regression_as_in_the_tutorial() -> None:
    """3 x + 2 with noise, by implicit gradients and plain steps."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=1000).astype(np.float32)
    y = 3 * x + 2 + generator.normal(size=1000).astype(np.float32)
    w, b = ag.Variable(5.0), ag.Variable(10.0)
    gradients = ag.implicit_gradients(lambda: ag.reduce_mean(ag.square(x * w + b - y)))
    for _ in range(100):
        for g, v in gradients():
            v.assign_sub(g * 0.1)
    slope, intercept = np.polyfit(x, y, 1)
    assert float(w) == pytest.approx(slope, abs=1e-3)
    assert float(b) == pytest.approx(intercept, abs=1e-3)
