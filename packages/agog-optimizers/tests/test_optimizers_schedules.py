"""Learning rates against their formulas, and as optimizers use them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_optimizers import (
    AdamOptimizer,
    GradientDescentOptimizer,
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    linear_warmup,
    natural_exp_decay,
    noisy_linear_cosine_decay,
    piecewise_constant,
    polynomial_decay,
)
from agog_testing import says

STEPS = np.arange(0, 41)
DONE = np.minimum(STEPS, 10) / 10


def swing(x: Any) -> Any:
    return (1 + np.cos(np.pi * x)) / 2


def cycled(steps: np.ndarray) -> np.ndarray:
    """10, 20, 30, ...: the length of the cycle that a step is in."""
    return np.array([10 if step == 0 else 10 * int(-(-step // 10)) for step in steps])


def restarts(lengths: list[int], heights: list[float]) -> np.ndarray:
    """Periods of a cosine one after another, written out."""
    rates = [height * swing(np.arange(length) / length) for length, height in zip(lengths, heights, strict=True)]
    return np.concatenate(rates)[: len(STEPS)]


CASES: dict[str, tuple[Callable[[Any], Any], np.ndarray]] = {
    "exponential": (lambda step: exponential_decay(0.5, step, 10, 0.9), 0.5 * 0.9 ** (STEPS / 10)),
    "exponential stairs": (lambda step: exponential_decay(0.5, step, 10, 0.9, True), 0.5 * 0.9 ** (STEPS // 10)),
    "natural": (lambda step: natural_exp_decay(0.5, step, 10, 0.3), 0.5 * np.exp(-0.03 * STEPS)),
    "natural stairs": (lambda step: natural_exp_decay(0.5, step, 10, 0.3, True), 0.5 * np.exp(-0.3 * (STEPS // 10))),
    "inverse": (lambda step: inverse_time_decay(0.5, step, 10, 0.3), 0.5 / (1 + 0.03 * STEPS)),
    "inverse stairs": (lambda step: inverse_time_decay(0.5, step, 10, 0.3, True), 0.5 / (1 + 0.3 * (STEPS // 10))),
    "polynomial": (lambda step: polynomial_decay(0.5, step, 10, 0.1), 0.4 * (1 - DONE) + 0.1),
    "polynomial root": (lambda step: polynomial_decay(0.5, step, 10, 0.1, 0.5), 0.4 * np.sqrt(1 - DONE) + 0.1),
    "polynomial cycle": (
        lambda step: polynomial_decay(0.5, step, 10, 0.1, cycle=True),
        0.4 * (1 - STEPS / cycled(STEPS)) + 0.1,
    ),
    "cosine": (lambda step: cosine_decay(0.5, step, 10), 0.5 * swing(DONE)),
    "cosine alpha": (lambda step: cosine_decay(0.5, step, 10, 0.2), 0.5 * (0.8 * swing(DONE) + 0.2)),
    "restarts": (lambda step: cosine_decay_restarts(0.5, step, 4), 0.5 * restarts([4, 8, 16, 32], [1, 1, 1, 1])),
    "restarts arguments": (
        lambda step: cosine_decay_restarts(0.5, step, 7, 1.0, 0.5, 0.2),
        0.5 * (0.8 * restarts([7] * 6, [1, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32]) + 0.2),
    ),
    "linear cosine": (
        lambda step: linear_cosine_decay(0.5, step, 10, 2.0, 0.3, 0.2),
        0.5 * ((0.3 + 1 - DONE) * swing(4 * DONE) + 0.2),
    ),
    "noisy without noise": (
        lambda step: noisy_linear_cosine_decay(0.5, step, 10, 0.0, 0.5, 2.0, 0.3, 0.2),
        0.5 * ((0.3 + 1 - DONE) * swing(4 * DONE) + 0.2),
    ),
    "warm-up": (lambda step: linear_warmup(0.5, step, 10), 0.5 * DONE),
    "warm-up of a decay": (
        lambda step: linear_warmup(exponential_decay(0.5, step, 10, 0.9), step, 10),
        0.5 * DONE * 0.9 ** (STEPS / 10),
    ),
    "piecewise": (
        lambda step: piecewise_constant(step, [10, 20], [0.5, 0.25, 0.125]),
        np.where(STEPS <= 10, 0.5, np.where(STEPS <= 20, 0.25, 0.125)),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_formulas(name: str) -> None:
    make, expected = CASES[name]
    step = ag.Variable(0, dtype=ag.int64)
    rate = make(step)
    for value in expected:
        present = rate()
        assert present.dtype == ag.float32
        # A step before a period ends the cosine is small, and the quotient of steps rounds.
        np.testing.assert_allclose(float(present), value, rtol=1e-6, atol=1e-7, err_msg=f"step {int(step)}")
        step.assign_add(1)


@pytest.mark.parametrize("given", [4, 4.0, ag.constant(4), lambda: 4])
def test_steps_of_any_kind(given: Any) -> None:
    assert float(inverse_time_decay(1.0, given, 2, 0.5)()) == 0.5
    assert float(piecewise_constant(given, [float(given)] if type(given) is float else [4], [1.0, 2.0])()) == 1.0


def test_arguments_of_any_kind() -> None:
    rate = ag.Variable(2.0, dtype=ag.float64)
    present = exponential_decay(rate, 2, ag.constant(2), lambda: 0.5)
    assert present().dtype == ag.float64
    assert float(present()) == 1.0
    rate.assign(4.0)
    assert float(present()) == 2.0
    assert exponential_decay(lambda: rate, 2, 2, 0.5)().dtype == ag.float64


def test_restarts_hit_each_beginning() -> None:
    # With logarithms, as TensorFlow computes it, 3 ** 5 comes out as the end of a period: log(243) / log(3) < 5.
    begins = [3**n // 2 for n in range(1, 8)]
    assert [float(cosine_decay_restarts(1.0, step, 1, 3.0)()) for step in begins] == [1.0] * 7
    with says(ValueError, "cosine_decay_restarts: t_mul must be at least 1; got 0.5."):
        cosine_decay_restarts(1.0, 1, 1, 0.5)()


def test_noise() -> None:
    ag.set_random_seed(11)
    present = noisy_linear_cosine_decay(1.0, 3, 10, 4.0, 0.5, 0.0, beta=0.0)
    rates = np.array([float(present()) for _ in range(4000)])
    assert abs(rates.mean() - 0.7) < 0.1  # six standard deviations of the mean: 6 * 1.41 / 63
    assert abs(rates.var() - 2.0) < 0.3  # the variance is 4 / (1 + 3) ** 0.5


def test_optimizers_follow() -> None:
    step, v = ag.Variable(0), ag.Variable(0.0)
    optimizer = GradientDescentOptimizer(piecewise_constant(step, [0, 1], [1.0, 10.0, 100.0]))
    seen = []
    for _ in range(3):
        optimizer.apply_gradients([(ag.constant(1.0), v)], step)
        seen.append(float(v))
    assert seen == [-1.0, -11.0, -111.0]
    adam = AdamOptimizer(exponential_decay(1.0, step, 1, 0.5))
    adam.apply_gradients([(ag.constant(1.0), v)])
    assert float(v) == pytest.approx(-111.125)


@pytest.mark.parametrize(
    "make",
    [
        lambda: exponential_decay(0.1, None, 1, 0.5),
        lambda: natural_exp_decay(0.1, None, 1, 0.5),
        lambda: inverse_time_decay(0.1, None, 1, 0.5),
        lambda: polynomial_decay(0.1, None, 1),
        lambda: cosine_decay(0.1, None, 1),
        lambda: cosine_decay_restarts(0.1, None, 1),
        lambda: linear_cosine_decay(0.1, None, 1),
        lambda: noisy_linear_cosine_decay(0.1, None, 1),
        lambda: linear_warmup(0.1, None, 1),
        lambda: piecewise_constant(None, [1], [0.1, 0.2]),
    ],
)
def test_a_step_is_required(make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match="global_step") as caught:
        make()
    assert str(caught.value).endswith(": global_step is required; pass the variable that counts the steps.")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: piecewise_constant(1, [1, 2], [0.1, 0.2]), "2 boundaries need 3 values; got 2."),
        (
            lambda: piecewise_constant(1, [1], [0.1, ag.constant(0.1, "float64")]),
            "all values must be of one dtype; got float32 and float64.",
        ),
        (
            lambda: piecewise_constant(1, [1.5], [0.1, 0.2]),
            "boundaries must have the dtype of x, int32; got float32.",
        ),
    ],
)
def test_wrong_pieces(make: Callable[[], Any], text: str) -> None:
    with says(ValueError, f"piecewise_constant: {text}"):
        make()
