"""Ctrl-C in a traced function, wherever CPython acts on it: variables are whole, and nothing goes on being traced.

The places are those of `test_integration_interrupts`: after calls of what is not written in Python, and where functions
begin.
"""

from __future__ import annotations

import importlib.util
import random
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agog as tf
import agog.eager as tfe
from agog_core import recording
from agog_core.tracers import present_tracer, tracing

SEED = 4
FIRST_CALLS = 40


def load_interrupted() -> Callable[..., bool]:
    file = Path(__file__).with_name("test_integration_interrupts.py")
    spec = importlib.util.spec_from_file_location("interrupts", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    function: Callable[..., bool] = module.interrupted
    return function


interrupted = load_interrupted()


class Training:
    """A step that writes two variables and those of an optimizer, traced."""

    def __init__(self) -> None:
        self.variables = [tfe.Variable([1.0, 2.0]), tfe.Variable([3.0, 4.0])]
        self.optimizer = tf.train.AdamOptimizer(0.01)
        self.step()  # makes the slots
        self.traced = tf.function(self.step)

    def step(self) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(self.variables[0] * self.variables[1])
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.variables), self.variables, strict=True))
        return loss

    def state(self) -> list[bytes]:
        return [variable.numpy().tobytes() for variable in [*self.variables, *self.optimizer.variables()]]

    def check(self, before: list[bytes], after: list[bytes]) -> None:
        """Assert that nothing goes on, and that each variable has its value from before or after a step."""
        assert tracing == []
        assert present_tracer() is None
        assert recording.stack.get() == ()
        assert all(value in pair for value, *pair in zip(self.state(), before, after, strict=True))
        other = threading.Thread(target=self.traced, daemon=True)
        other.start()
        other.join(20)
        assert not other.is_alive(), "something is held"
        self.traced()


def states(calls: int) -> tuple[list[bytes], list[bytes]]:
    """The variables after some steps, and after one more."""
    twin = Training()
    for _ in range(calls):
        twin.step()
    before = twin.state()
    twin.step()
    return before, twin.state()


def test_interrupts_of_a_run() -> None:
    before, after = states(2)
    at, is_interrupted = 0, True
    while is_interrupted:
        at += 1
        training = Training()
        training.traced()
        training.traced()  # which compiles what the call before has recorded
        is_interrupted = interrupted(training.traced, at)
        training.check(before, after)
    assert at > 20


@pytest.mark.parametrize("at", sorted(random.Random(SEED).sample(range(1, 3000), FIRST_CALLS)))
def test_interrupts_of_a_first_call(at: int) -> None:
    training = Training()
    interrupted(training.traced, at)
    training.check(*states(0))


@pytest.mark.parametrize("at", sorted(random.Random(SEED).sample(range(1, 9000), FIRST_CALLS // 4)))
def test_interrupts_of_compiling(at: int) -> None:
    training = Training()
    training.traced()
    interrupted(training.traced, at)
    training.check(*states(1))
