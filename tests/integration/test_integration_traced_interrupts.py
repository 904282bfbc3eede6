"""Ctrl-C in a traced function, wherever CPython acts on it: variables are whole, and nothing goes on being traced.

The places are those of `test_integration_interrupts`: after calls of what is not written in Python, and where functions
begin; those of the compiled function are among them. With AGOG_ENDURANCE=1 it is each of a run, not a third of them.
"""

from __future__ import annotations

import importlib.util
import os
import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import agog as tf
import agog.eager as tfe
from agog_core import recording
from agog_core.dispatch.plugins.compilers import compilers_of
from agog_core.tracers import present_tracer, tracing
from agog_testing.compilers import compilers_in_use

SEED = 4
PACKAGES, CORE = f"{os.sep}agog_", f"{os.sep}agog_core"
DRAWN, STRIDE = (600, 1) if os.environ.get("AGOG_ENDURANCE") else (6, 3)


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


class Program:
    """A step that writes variables, traced."""

    def __init__(self) -> None:
        self.variables = [tfe.Variable([[1.0, 2.0], [5.0, 6.0]]), tfe.Variable([[3.0, 4.0], [7.0, 8.0]])]
        self.begin()
        self.traced = tf.function(self.step)

    def begin(self) -> None:
        """What comes before the first step."""

    def step(self) -> Any:
        raise NotImplementedError

    def state(self) -> list[bytes]:
        return [variable.numpy().tobytes() for variable in self.variables]

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


class Training(Program):
    """It writes two variables and those of an optimizer."""

    def begin(self) -> None:
        self.optimizer = tf.train.AdamOptimizer(0.01)
        self.step()  # makes the slots
        self.variables += self.optimizer.variables()

    def step(self) -> Any:
        trained = self.variables[:2]
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(trained[0] * trained[1])
        self.optimizer.apply_gradients(zip(tape.gradient(loss, trained), trained, strict=True))
        return loss


class Rewriting(Program):
    """It writes each variable more than once: whole, by rows, and with the other one's value."""

    def step(self) -> Any:
        v, w = self.variables
        held = v.value()
        v.assign_add(w * 2.0)
        tf.scatter_update(w, [1], [[9.0, 10.0]])
        v.assign(tf.tanh(v) + w)
        w.assign(held)
        tf.scatter_add(w, [0], [[1.0, 1.0]])
        return v + w


class Calling(Program):
    """It writes one variable on both sides of a call of Python, which reads it, and another one before."""

    def step(self) -> Any:
        v, w = self.variables
        v.assign_add(w)
        w.assign(w * 0.5)
        y = tf.py_func(lambda x: x + v.numpy(), [w], tf.float32)
        v.assign_sub(y)
        tf.py_func(lambda x: None, [y], [])
        v.assign(tf.tanh(v) * 2.0)
        return y


PROGRAMS = [Training, Rewriting, Calling]


@pytest.fixture(params=["numpy", "compiled", "portable"])
def within(request: pytest.FixtureRequest) -> Iterator[str]:
    """Where interrupts come, while traced functions run by NumPy's calls, by compiled loops, or by kernels on another
    device; in what stands for that one's driver they do not come."""
    with ExitStack() as scope:
        if request.param == "portable":
            scope.enter_context(tf.device("fake:0"))
        elif request.param == "numpy":
            scope.enter_context(compilers_in_use())
        elif not compilers_of("cpu"):
            pytest.skip("no compiler is there")
        yield CORE if request.param == "portable" else PACKAGES


def states(make: Callable[[], Program], calls: int) -> tuple[list[bytes], list[bytes]]:
    """The variables after some steps, and after one more."""
    twin = make()
    for _ in range(calls):
        twin.step()
    before = twin.state()
    twin.step()
    return before, twin.state()


@pytest.mark.parametrize("make", PROGRAMS)
def test_interrupts_of_a_run(make: Callable[[], Program], within: str) -> None:
    before, after = states(make, 2)
    at, is_interrupted = 1, True
    while is_interrupted:
        at += STRIDE
        program = make()
        program.traced()
        program.traced()  # which compiles what the call before has recorded
        is_interrupted = interrupted(program.traced, at, within)
        program.check(before, after)
    assert at > 20


@pytest.mark.parametrize("make", PROGRAMS)
def test_interrupts_of_a_first_call(make: Callable[[], Program], within: str) -> None:
    before, after = states(make, 0)
    print(f"seed {SEED}")
    for at in sorted(random.Random(SEED).sample(range(1, 3000), DRAWN)):
        program = make()
        interrupted(program.traced, at, within)
        program.check(before, after)


@pytest.mark.parametrize("make", PROGRAMS)
def test_interrupts_of_compiling(
    make: Callable[[], Program], within: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGOG_CACHE_DIR", str(tmp_path))  # so that compilers have work to do
    before, after = states(make, 1)
    print(f"seed {SEED}")
    for at in sorted(random.Random(SEED).sample(range(1, 9000), DRAWN)):
        program = make()
        program.traced()
        interrupted(program.traced, at, within)
        program.check(before, after)
