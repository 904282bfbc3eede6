"""Fused recurrent ops: which gradients are asked for, and what one tensor in two places gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.nn.gru import gru_grad
from agog_core.ops.nn.lstm import lstm, lstm_grad
from agog_testing import says

Array = np.ndarray[Any, Any]


def inputs(op: str = "lstm") -> list[ag.Tensor]:
    gates, states = (4, 2) if op == "lstm" else (3, 1)
    rng = np.random.default_rng(5)
    time, batch, features, units = 3, 2, 4, 5
    shapes = [(time, batch, features), (features, gates * units), (units, gates * units), (gates * units,)]
    return [ag.constant(rng.uniform(-1, 1, shape)) for shape in [*shapes, *[(batch, units)] * states]]


def energy(tensors: list[ag.Tensor]) -> ag.Tensor:
    hidden = lstm(*tensors)[0]
    return ag.reduce_sum(hidden * hidden)


@pytest.mark.parametrize(("f", "names"), [(lstm_grad, 6), (gru_grad, 5)])
def test_sources_of_a_fused_gradient(f: Any, names: int) -> None:
    known = ["x", "kernel", "recurrent_kernel", "bias", "initial_hidden", "initial_cell"][:names]
    op = "lstm" if f is lstm_grad else "gru"
    ones = [np.ones((3, 2, 5)), np.ones((2, 5))][: 2 if op == "lstm" else 1]
    everything = f(*ones, *inputs(op))
    bias, x = f(*ones, *inputs(op), sources=["bias", "x"])[::-1]
    np.testing.assert_array_equal(x.numpy(), everything[0].numpy())
    np.testing.assert_array_equal(bias.numpy(), everything[3].numpy())
    for wrong in ((), ["x", "mask"], "cells"):
        with says(ValueError, f"{op}_grad: sources must name some of {', '.join(known)}; got {wrong!r}."):
            f(*ones, *inputs(op), sources=wrong)


def test_one_tensor_as_both_states() -> None:
    """The second derivative of a fused gradient tells apart what it was given, also where that is one tensor."""
    *rest, state, _ = inputs()

    with ag.GradientTape() as tape:
        tape.watch(state)
        with ag.GradientTape() as inner:
            inner.watch(state)
            value = energy([*rest, state, state])
        once = ag.reduce_sum(inner.gradient(value, state) * state)
    got = tape.gradient(once, state)

    def numerical(shift: Array) -> float:
        moved = state + shift
        with ag.GradientTape() as tape:
            tape.watch(moved)
            value = energy([*rest, moved, moved])
        return float(ag.reduce_sum(tape.gradient(value, moved) * moved))

    step = np.zeros((2, 5))
    step[1, 2] = 1e-6
    assert float(got[1, 2]) == pytest.approx((numerical(step) - numerical(-step)) / 2e-6, rel=1e-6)
