"""Batch normalization over all ranks: values, gradients and moving averages beside one process with all examples."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import replicas
from agog_distribute import Group, Strategy
from agog_distribute.processes.alone import Alone
from agog_distribute.strategies.processes import Processes
from agog_layers import BatchNormalization

RNG = np.random.default_rng(0)
INPUTS = RNG.normal(size=(9, 4, 4, 3)).astype(np.float32)
FACTORS = RNG.normal(size=INPUTS.shape).astype(np.float32)
PARTS = {1: (9,), 2: (7, 2), 4: (3, 0, 5, 1)}  # how many examples each rank has


def share(values: np.ndarray, group: Group) -> ag.Tensor:
    bounds = np.cumsum(PARTS[group.size])[:-1]
    return ag.constant(np.split(values, bounds)[group.rank])


def normalized(group: Group, traced: bool) -> list[np.ndarray]:
    """Outputs, the gradient of the inputs, the sums of those of the weights, and the moving averages."""
    layer = BatchNormalization(synchronize=True, momentum=0.5)
    layer.build((None, 4, 4, 3))

    def step(x: ag.Tensor, factors: ag.Tensor) -> list[Any]:
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, training=True)
            loss = ag.reduce_sum(y * factors + y**3)
        return [y, *tape.gradient(loss, [x, *layer.trainable_variables])]

    run = ag.function(step) if traced else step
    for _ in range(2):
        y, x, gamma, beta = run(share(INPUTS, group), share(FACTORS, group))
    moving = [layer.moving_mean.numpy(), layer.moving_variance.numpy()]
    return [y.numpy(), x.numpy(), gamma.numpy(), beta.numpy(), *moving]


def assert_as_one(found: list[list[np.ndarray]], wanted: list[np.ndarray]) -> None:
    for part in (0, 1):
        np.testing.assert_allclose(np.concatenate([each[part] for each in found]), wanted[part], rtol=2e-4, atol=2e-5)
    for part in (2, 3):
        np.testing.assert_allclose(sum(each[part] for each in found), wanted[part], rtol=1e-4, atol=1e-4)
    for each in found:
        for part in (4, 5):
            np.testing.assert_allclose(each[part], wanted[part], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
def test_a_strategy_normalizes_as_one_process(traced: bool, size: int, together: Any) -> None:
    def run(group: Group) -> list[np.ndarray]:
        return Strategy(group).run(normalized, args=(group, traced))

    found = together(size, run)
    assert not [error for error in found if isinstance(error, Exception)]
    assert_as_one(found, normalized(Group([0], Alone()), traced))


def test_without_a_strategy_all_processes_of_the_run_are_meant(together: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    of_thread: ContextVar[Group] = ContextVar("of_thread")
    wanted = normalized(Group([0], Alone()), False)
    monkeypatch.setattr(replicas, "_of_run", [lambda: Processes(None, of_thread.get(), in_step=True)])

    def run(group: Group) -> list[np.ndarray]:
        of_thread.set(group)
        return normalized(group, False)

    assert_as_one(together(2, run), wanted)


def test_a_process_without_examples_counts_nothing(together: Any) -> None:
    """In `fit` it computes with an example of another process."""

    def run(group: Group) -> np.ndarray:
        layer = BatchNormalization(synchronize=True, momentum=0.0)
        layer.build((None, 4, 4, 3))  # the first call holds a lock, which threads that stand for processes share
        token = replicas.is_idle.set(group.rank == 1)
        try:
            x = ag.constant(INPUTS[: 4 if group.rank == 0 else 1])
            Strategy(group).run(lambda: layer(x, training=True))
        finally:
            replicas.is_idle.reset(token)
        return layer.moving_mean.numpy()

    results = together(2, run)
    for found in results:
        assert not isinstance(found, Exception), results
        np.testing.assert_allclose(found, INPUTS[:4].mean((0, 1, 2)), atol=1e-6)


def test_one_process_normalizes_as_without() -> None:
    x = ag.constant(INPUTS)
    plain, synchronized = BatchNormalization(), BatchNormalization(synchronize=True)
    np.testing.assert_array_equal(plain(x, training=True).numpy(), synchronized(x, training=True).numpy())
    assert synchronized.get_config()["synchronize"] is True
    assert BatchNormalization(synchronized=True).synchronize is True  # as Keras calls it
