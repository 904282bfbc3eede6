"""Python functions among ops: as decorators, and in functions that are traced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.control.py_func import eager_py_func
from agog_core.tracing.functions.function import function
from agog_testing import says


@eager_py_func(Tout=ag.float32)
def log_huber(x: ag.Tensor, m: float) -> ag.Tensor:
    """As TensorFlow's documentation writes it."""
    return x**2.0 if abs(float(x)) <= m else m**2.0 * (1 - 2 * ag.log(m) + ag.log(x**2.0))


@ag.py_func(Tout=[ag.float32, "int32"])
def sorted_values(x: np.ndarray) -> Any:
    return np.sort(x), np.int32(x.size)


def test_as_decorators() -> None:
    assert float(log_huber(ag.constant(1.0), 2.0)) == 1.0
    np.testing.assert_allclose(float(log_huber(3.0, 2.0)), 4 * (1 - 2 * np.log(2) + np.log(9)), rtol=1e-6)
    assert (log_huber.__name__, log_huber.__doc__) == ("log_huber", "As TensorFlow's documentation writes it.")
    values, count = sorted_values([2.0, 1.0])
    assert (values.numpy().tolist(), int(count)) == ([1.0, 2.0], 2)


def test_gradients_go_through_a_decorated_function() -> None:
    x = ag.constant(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = log_huber(x, 2.0)
    np.testing.assert_allclose(float(tape.gradient(y, x)), 4 * 2 / 3, rtol=1e-6)


def test_decorated_functions_are_called_at_each_run_of_a_traced_one() -> None:
    seen: list[list[float]] = []

    @eager_py_func(Tout=ag.float32)
    def noted(x: ag.Tensor) -> ag.Tensor:
        assert isinstance(x, ag.Tensor)
        seen.append(x.numpy().tolist())
        return x * float(len(seen))

    @function
    def step(x: ag.Tensor) -> Any:
        values, count = sorted_values(noted(x))
        return values, count

    found = [step(ag.constant([n, -n])) for n in (1.0, 2.0, 3.0)]
    assert seen == [[1.0, -1.0], [2.0, -2.0], [3.0, -3.0]]
    assert [values.numpy().tolist() for values, _ in found] == [[-1.0, 1.0], [-4.0, 4.0], [-9.0, 9.0]]
    assert [int(count) for _, count in found] == [2, 2, 2]
    assert len(step.traces()) == 1


@pytest.mark.parametrize(
    ("Tout", "shape"), [(None, None), ([], []), (ag.float64, "float64"), ([ag.float64, ag.int64], ["float64", "int64"])]
)
def test_traced_calls_give_what_eager_ones_do(Tout: Any, shape: Any) -> None:
    """The dtypes are those of ``Tout``, also where the function returns others."""

    def call(x: Any) -> Any:
        return eager_py_func(lambda y: [y, y] if isinstance(Tout, list) else y, [x], Tout)

    for each in (call, *2 * [function(call)]):
        found = each(ag.constant(2.0))
        assert ag.nest.map_structure(lambda tensor: None if tensor is None else tensor.dtype.name, found) == shape


def test_traced_functions_have_gradients_through_them() -> None:
    @function
    def step(x: ag.Tensor) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = eager_py_func(lambda z: z * z * z, [x], ag.float32)
        return tape.gradient(y, x)

    assert [float(step(ag.constant(x))) for x in (1.0, 2.0)] == [3.0, 12.0]


@pytest.mark.parametrize("op", [ag.py_func, eager_py_func])
@pytest.mark.parametrize("given", [{}, {"func": abs}, {"func": abs, "inp": [1.0]}, {"inp": [1.0], "Tout": ag.float32}])
def test_what_is_missing(op: Any, given: dict[str, Any]) -> None:
    with says(
        TypeError,
        "py_func: func, inp and Tout must be given; or Tout alone and by name, as a decorator: "
        "@tf.py_function(Tout=tf.float32).",
    ):
        op(**given)
