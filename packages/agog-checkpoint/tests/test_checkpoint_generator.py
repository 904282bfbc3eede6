"""Random state in a checkpoint: a resumed run draws the numbers that the uninterrupted one would have drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import agog_core as ag
from agog_checkpoint import Checkpoint
from agog_core import random


def draw() -> list[object]:
    """Numbers of several streams."""
    return [
        ag.random_normal([3]).numpy().tolist(),
        ag.random_gamma([3], 0.5, seed=4).numpy().tolist(),
        ag.random_shuffle(np.arange(20), seed=5).numpy().tolist(),
    ]


def test_a_resumed_run_draws_the_same_numbers(tmp_path: Path) -> None:
    for seed in (3, None):
        ag.set_random_seed(seed)
        draw()
        prefix = Checkpoint(generator=random.generator()).save(str(tmp_path / "state"))
        expected = [draw(), draw()]
        ag.set_random_seed(99)
        Checkpoint(generator=random.generator()).restore(prefix).assert_consumed()
        assert [draw(), draw()] == expected


class Lazy(ag.Checkpointable):
    """Makes its variable, which begins with random numbers, on first use, and draws others before and after."""

    def __call__(self) -> list[float]:
        noise = ag.random_uniform([2])
        if not hasattr(self, "kernel"):
            self.kernel = ag.Variable(lambda: ag.random_uniform([3]))
        return [*noise.numpy().tolist(), *self.kernel.numpy().tolist(), *ag.random_uniform([2]).numpy().tolist()]


def test_variables_that_are_made_after_the_restore_draw_nothing(tmp_path: Path) -> None:
    ag.set_random_seed(3)
    lazy = Lazy()
    lazy()
    path = Checkpoint(random=random.generator(), lazy=lazy).write(tmp_path / "state")
    expected = [lazy(), lazy()]
    ag.set_random_seed(4)
    other = Lazy()
    status = Checkpoint(random=random.generator(), lazy=other).restore(path)
    assert [other(), other()] == expected
    status.assert_consumed()
    state = random.generator().get_state()
    ag.Variable(lambda: ag.random_uniform([3]))  # nothing waits any more, so this is a draw as any other
    assert random.generator().get_state() != state


def test_the_state_of_programs_that_did_the_same_is_the_same() -> None:
    states = []
    for _ in range(2):
        ag.set_random_seed(3)
        draw()
        states.append(random.generator().get_state())
    assert states[0] == states[1]
    ag.set_random_seed(None)
    assert random.generator().get_state()["entropy"] is not None
