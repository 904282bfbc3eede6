"""Twenty steps of each optimizer against its formula in NumPy float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_optimizers import AdamOptimizer, GradientDescentOptimizer, MomentumOptimizer, Optimizer

SEED = 70
STEPS = 20
Step = Callable[[np.ndarray, np.ndarray, dict[str, Any], int], np.ndarray]


def gradient_descent(w: np.ndarray, g: np.ndarray, state: dict[str, Any], t: int) -> np.ndarray:
    return w - 0.1 * g


def momentum(w: np.ndarray, g: np.ndarray, state: dict[str, Any], t: int) -> np.ndarray:
    state["momentum"] = 0.9 * state.get("momentum", 0) + g
    return w - 0.1 * state["momentum"]


def nesterov(w: np.ndarray, g: np.ndarray, state: dict[str, Any], t: int) -> np.ndarray:
    state["momentum"] = 0.9 * state.get("momentum", 0) + g
    return w - 0.1 * (g + 0.9 * state["momentum"])


def adam(beta1: float, beta2: float, epsilon: float) -> Step:
    def step(w: np.ndarray, g: np.ndarray, state: dict[str, Any], t: int) -> np.ndarray:
        state["m"] = beta1 * state.get("m", 0) + (1 - beta1) * g
        state["v"] = beta2 * state.get("v", 0) + (1 - beta2) * g**2
        rate = 0.1 * np.sqrt(1 - beta2**t) / (1 - beta1**t)
        return w - rate * state["m"] / (np.sqrt(state["v"]) + epsilon)

    return step


OPTIMIZERS: dict[str, tuple[Callable[[], Optimizer], Step]] = {
    "gradient_descent": (lambda: GradientDescentOptimizer(0.1), gradient_descent),
    "momentum": (lambda: MomentumOptimizer(0.1, 0.9), momentum),
    "nesterov": (lambda: MomentumOptimizer(0.1, 0.9, use_nesterov=True), nesterov),
    "adam": (lambda: AdamOptimizer(0.1), adam(0.9, 0.999, 1e-8)),
    "adam_arguments": (lambda: AdamOptimizer(0.1, 0.5, 0.9, 1e-2), adam(0.5, 0.9, 1e-2)),
    "adam_functions": (
        lambda: AdamOptimizer(lambda: 0.1, lambda: 0.5, ag.constant(0.75), ag.Variable(0.25)),
        adam(0.5, 0.75, 0.25),
    ),
}


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-5), ("float64", 1e-10)])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_twenty_steps(name: str, dtype: str, tolerance: float) -> None:
    make, step = OPTIMIZERS[name]
    rng = np.random.default_rng(SEED)
    shapes = [(), (3,), (2, 4)]
    oracle = [rng.normal(size=shape) for shape in shapes]
    states: list[dict[str, Any]] = [{} for _ in shapes]
    variables = [ag.Variable(value, dtype=dtype) for value in oracle]
    optimizer = make()
    for t in range(1, STEPS + 1):
        gradients = [rng.normal(size=shape) for shape in shapes]
        oracle = [step(w, g, s, t) for w, g, s in zip(oracle, gradients, states, strict=True)]
        optimizer.apply_gradients(zip([ag.cast(g, dtype) for g in gradients], variables, strict=True))
        for variable, expected in zip(variables, oracle, strict=True):
            assert variable.dtype == dtype
            np.testing.assert_allclose(
                variable.numpy(), expected, rtol=tolerance, atol=tolerance, err_msg=f"seed {SEED}, step {t}"
            )
    for variable, state in zip(variables, states, strict=True):
        for slot, expected in state.items():
            found = optimizer.get_slot(variable, slot)
            assert found is not None
            np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)
    assert optimizer.get_slot_names() == sorted(states[0])


def test_adam_on_many_elements() -> None:
    # More than the kernels of any backend take in one piece.
    rng = np.random.default_rng(SEED)
    w, g = rng.normal(size=(2, 300, 257))
    variable = ag.Variable(w)
    AdamOptimizer(0.1).apply_gradients([(ag.constant(g), variable)])
    np.testing.assert_allclose(variable.numpy(), adam(0.9, 0.999, 1e-8)(w, g, {}, 1), rtol=1e-12, atol=1e-12)


def test_powers_of_the_betas() -> None:
    optimizer = AdamOptimizer(0.1, beta1=0.5, beta2=0.75)
    assert optimizer.variables() == []
    v = ag.Variable(1.0)
    for _ in range(3):
        optimizer.minimize(lambda: v * v)
    assert optimizer.beta1_power.numpy() == 0.5**4
    assert optimizer.beta2_power.numpy() == 0.75**4
    assert optimizer.beta1_power.name == "beta1_power:0"
    assert not optimizer.beta1_power.trainable


@pytest.mark.parametrize("kind", ["function", "variable", "tensor", "integer", "numpy"])
def test_learning_rates(kind: str) -> None:
    rate = ag.Variable(2.0)
    given: Any = {
        "function": lambda: rate,
        "variable": rate,
        "tensor": ag.constant(2.0),
        "integer": 2,
        "numpy": np.float32(2),
    }[kind]
    optimizer = GradientDescentOptimizer(given)
    v = ag.Variable(10.0)
    optimizer.apply_gradients([(ag.constant(1.0), v)])
    assert v.numpy() == 8.0
    rate.assign(0.5)
    optimizer.apply_gradients([(ag.constant(1.0), v)])
    assert v.numpy() == (7.5 if kind in ("function", "variable") else 6.0)
    optimizer.learning_rate = 1.0
    optimizer.apply_gradients([(ag.constant(1.0), v)])
    assert v.numpy() == (6.5 if kind in ("function", "variable") else 5.0)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_converges(name: str) -> None:
    rng = np.random.default_rng(SEED)
    x = ag.constant(rng.normal(size=(64, 3)))
    y = ag.matmul(x, ag.constant([[1.0], [-2.0], [3.0]], "float64"))
    w = ag.Variable(np.zeros((3, 1)))
    optimizer = OPTIMIZERS[name][0]()
    for _ in range(300):
        optimizer.minimize(lambda: ag.reduce_mean(ag.square(ag.matmul(x, w) - y)))
    np.testing.assert_allclose(w.numpy(), [[1.0], [-2.0], [3.0]], atol=0.05)
