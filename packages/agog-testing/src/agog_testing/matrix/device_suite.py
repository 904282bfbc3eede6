"""The suite of every device: small programs whose results are those of the CPU, to rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.dispatch.devices.lookup import get_device

Array = np.ndarray[Any, Any]


@pytest.fixture
def device(request: pytest.FixtureRequest) -> str:
    """The device under test."""
    return str(request.config.getoption("--agog-device") or "cpu:0")


def on_both(device: str, program: Callable[[], Any]) -> tuple[Array, Array]:
    """A program's result on the device, and on the CPU."""
    results = []
    for name in (device, "cpu:0"):
        ag.set_random_seed(7)
        with ag.device(name):
            results.append(np.asarray(program().numpy()))
    return results[0], results[1]


def data() -> tuple[ag.Tensor, ag.Tensor]:
    rng = np.random.default_rng(3)
    return tuple(ag.constant(rng.normal(size=shape).astype("float32")) for shape in ((16, 4), (16, 2)))  # type: ignore[return-value]


def loss(weights: list[ag.Variable]) -> ag.Tensor:
    x, y = data()
    hidden = ag.tanh(ag.matmul(x, weights[0]) + weights[1])
    return ag.reduce_mean(ag.square(ag.matmul(hidden, weights[2]) - y))


def variables() -> list[ag.Variable]:
    rng = np.random.default_rng(5)
    return [ag.Variable(rng.normal(size=shape).astype("float32")) for shape in ((4, 8), (8,), (8, 2))]


def test_tensors_are_on_the_device(device: str) -> None:
    x = ag.constant([1.0, 2.0])
    assert x.device == (x + 1.0).device == ag.Variable(x).value().device
    assert get_device(x.device) is get_device(device)


def test_numbers_survive_the_way_there_and_back(device: str) -> None:
    for dtype in ("bool", "int32", "int64", "float32"):
        values = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
        back = ag.constant(values).numpy()
        assert back.dtype == values.dtype
        np.testing.assert_array_equal(back, values)


def test_empty_and_single_numbers(device: str) -> None:
    assert ag.constant(np.zeros((0, 3), "float32")).numpy().shape == (0, 3)
    assert float(ag.constant(2.5)) == 2.5


def test_copies_between_devices(device: str) -> None:
    with ag.device("cpu:0"):
        there = ag.constant([1.0, 2.0])
    here = ag.identity(there)
    np.testing.assert_array_equal(here.numpy(), there.numpy())


def test_updates_of_variables_leave_results_alone(device: str) -> None:
    v = ag.Variable([1.0, 2.0])
    before = v.value()
    v.assign_add([10.0, 20.0])
    v.assign_sub([1.0, 1.0])
    np.testing.assert_array_equal(v.numpy(), [10.0, 21.0])
    np.testing.assert_array_equal(before.numpy(), [1.0, 2.0])


def test_gradients_are_those_of_the_cpu(device: str) -> None:
    def program() -> ag.Tensor:
        weights = variables()
        with ag.GradientTape() as tape:
            out = loss(weights)
        return ag.concat([ag.reshape(g, [-1]) for g in tape.gradient(out, weights)], 0)

    here, there = on_both(device, program)
    np.testing.assert_allclose(here, there, rtol=1e-4, atol=1e-5)


def test_training_is_that_of_the_cpu(device: str) -> None:
    def program() -> ag.Tensor:
        weights = variables()
        for _ in range(10):
            with ag.GradientTape() as tape:
                out = loss(weights)
            for weight, gradient in zip(weights, tape.gradient(out, weights), strict=True):
                weight.assign_sub(0.1 * gradient)
        return ag.reshape(loss(weights), [1])

    here, there = on_both(device, program)
    np.testing.assert_allclose(here, there, rtol=1e-4, atol=1e-5)


def test_random_numbers_are_those_of_the_cpu(device: str) -> None:
    here, there = on_both(device, lambda: ag.random_uniform([64]))
    np.testing.assert_array_equal(here, there)


def test_wrong_call_says_so(device: str) -> None:
    with pytest.raises(ag.errors.InvalidArgumentError, match="matmul"):
        ag.matmul(ag.constant([[1.0, 2.0]]), ag.constant([[1.0, 2.0]]))
