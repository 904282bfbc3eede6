"""Compression: half precision on the way, whose errors do not add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
import agog_distribute as distribute
from agog_core.errors import InvalidArgumentError
from agog_distribute import Group

STEPS = 60
# No number of bfloat16, nor their sums.
SLOPES = np.random.default_rng(0).normal(size=(4, 37, 11)).astype(np.float32)


def gradients(group: Group, how: str) -> list[np.ndarray]:
    variable, bias = ag.Variable(np.zeros((37, 11), np.float32)), ag.Variable(np.float16(0.0))
    slope = ag.constant(SLOPES[group.rank])

    def step() -> ag.Tensor:
        tape = distribute.DistributedGradientTape(group=group, compression=None if how == "apart" else "bfloat16")
        with tape if how != "apart" else ag.GradientTape() as used:
            loss = ag.reduce_sum(variable * slope) + ag.cast(bias, "float32")
        found = used.gradient(loss, [variable, bias])
        if how == "apart":
            found = distribute.average_gradients(found, [variable, bias], group=group, compression="bfloat16")
        assert found[1].dtype is ag.float16
        return found[0]

    run = ag.function(step) if how == "traced" else step
    return [run().numpy() for _ in range(STEPS)]


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("how", ["eager", "traced", "apart"])
def test_errors_of_all_steps_are_no_larger_than_that_of_one(size: int, how: str, together: Any) -> None:
    results = together(size, lambda group: gradients(group, how))
    wanted = SLOPES[:size].astype(np.float64).mean(0)
    for result in results:
        assert not isinstance(result, Exception), result
        assert all(found.tobytes() == first.tobytes() for found, first in zip(result, results[0], strict=True))
        assert {found.dtype for found in result} == {np.dtype(np.float32)}
        single = np.abs(np.asarray(result) - wanted)
        assert 1e-4 < single.max() <= 2**-6 * np.abs(SLOPES).max()  # they are rounded
        total = np.abs(np.sum(result, 0, dtype=np.float64) - STEPS * wanted)
        assert total.max() <= 2**-6 * np.abs(SLOPES).max()
        assert total.max() < STEPS * single.mean() / 4


def test_none_keeps_what_is_left(together: Any) -> None:
    def found(group: Group) -> list[float]:
        variable, used = ag.Variable([1.0 + 2.0**-12]), []
        for turn in range(4):
            with distribute.DistributedGradientTape(group=group, compression="bfloat16") as tape:
                loss = ag.reduce_sum(variable * variable) if turn != 2 or group.rank == 0 else ag.constant(0.0)
            used.append(float(tape.gradient(loss, variable)))
        return used

    first, second = together(2, found)
    assert first == second
    assert abs(sum(first) - 3.5 * 2 * (1 + 2.0**-12)) <= 2**-7


@pytest.mark.parametrize(
    "make", [distribute.DistributedGradientTape, lambda **k: distribute.average_gradients([], **k)]
)
def test_other_compressions_are_refused(make: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="compression must be None or 'bfloat16'; got 'float16'"):
        make(compression="float16")
