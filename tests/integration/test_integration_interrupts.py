"""Ctrl-C, wherever it comes: nothing stays held, no tape goes on recording, and the next save works.

With AGOG_ENDURANCE=1 10000 of them come at random moments. CPython acts on a signal after a call of what is not written
in Python, where a function begins, and where a loop jumps back; the first test interrupts at each of these places of
agog. Those inside of the module `threading` are not agog's: a thread that was about to start stays in its list.
"""

from __future__ import annotations

import dis
import gc
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from inspect import CO_GENERATOR
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import agog as tf
from agog_core import recording
from agog_data import pacing
from agog_data.stage import Scope

RANDOM = 10_000 if os.environ.get("AGOG_ENDURANCE") else 200
AFTER_YIELD_FROM = 2  # the argument of a `RESUME` that does not look
PACKAGES = f"{os.sep}agog_"
WRITTEN = "<traced "  # what traced functions are compiled to


class Interrupt:
    """Raises KeyboardInterrupt at one of the places where CPython looks for signals; counts them."""

    def __init__(self, at: int, within: str = PACKAGES) -> None:
        self._left = at
        self._within_files = within
        self._last: dict[FrameType, str] = {}  # what each frame has just done

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        name = frame.f_code.co_name
        if frame.f_back is not None and frame.f_back in self._last and name != "__init__":
            self._last[frame.f_back] = ""  # Python looks for no signals after a call of a function of Python
        file = frame.f_code.co_filename
        if self._within_files not in file and not file.startswith(WRITTEN):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        code = frame.f_code
        # Where a generator is closed, it does not come to its `RESUME`.
        if code.co_flags & CO_GENERATOR == 0 and code.co_code[frame.f_lasti + 1] < AFTER_YIELD_FROM:
            self._look()
        return self._within

    def _within(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "return":
            self._last.pop(frame, None)
        elif event == "opcode":
            last, self._last[frame] = self._last.get(frame, ""), dis.opname[frame.f_code.co_code[frame.f_lasti]]
            is_resumed = frame.f_code.co_flags & CO_GENERATOR and last == "RESUME"
            if last.startswith("CALL") or "JUMP_BACKWARD" in last or is_resumed:
                self._look()
        return self._within

    def _look(self) -> None:
        self._left -= 1
        if self._left == 0:
            sys.settrace(None)
            raise KeyboardInterrupt


def interrupted(work: Callable[[], object], at: int, within: str = PACKAGES) -> bool:
    """Interrupt some work at its place of that number in some files; whether it has so many."""
    before = sys.gettrace()
    sys.settrace(Interrupt(at, within))
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


class Program:
    """A training with one of everything that an interrupt could leave half done."""

    def __init__(self, folder: Path) -> None:
        self.prefix = str(folder / "ckpt")
        self.variables = [tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])]
        self.optimizer = tf.train.AdamOptimizer(0.01)
        self.checkpoint = tf.train.Checkpoint(optimizer=self.optimizer, variables=self.variables)
        self.tape = tf.GradientTape()
        for work in (self.step, self.save, self.forward):  # what is made once is made now
            work()

    def loss(self) -> tf.Tensor:
        with tf.GradientTape() as self.tape:
            return tf.reduce_sum(self.variables[0] * self.variables[1])

    def forward(self) -> None:
        with tf.contrib.eager.ForwardAccumulator(self.variables, [tf.ones(2)] * 2) as forward:
            product = self.variables[0] * self.variables[1]
        forward.jvp(product)

    def step(self) -> None:
        loss = self.loss()
        gradients = self.tape.gradient(loss, self.variables)
        self.optimizer.apply_gradients(zip(gradients, self.variables, strict=True))

    def assign(self) -> None:
        self.variables[0].assign_add([1.0, 1.0])
        self.variables[0].assign([1.0, 2.0])

    def save(self) -> None:
        self.checkpoint.save(self.prefix, asynchronous=True)

    def check(self, saves: bool = True) -> None:
        """Assert that all goes on, here and in other threads."""
        assert not self.tape.is_recording
        errors: list[BaseException] = []
        other = threading.Thread(target=self._go_on, args=[errors, saves], daemon=True)
        other.start()
        other.join(20)
        assert not other.is_alive(), "something is held"
        self._go_on(errors, saves=False)
        assert errors == []
        self.loss()  # it drops what an interrupt has left
        assert recording.active == []
        assert recording.stack.get() == ()

    def _go_on(self, errors: list[BaseException], saves: bool) -> None:
        try:
            self.step()
            for variable in self.variables:
                before = variable.numpy()
                variable.assign_add([1.0, 1.0])
                assert (variable.numpy() == before + 1.0).all()
            if saves:
                path = self.checkpoint.save(self.prefix)
                kept = self.variables[0].numpy()
                self.variables[0].assign([0.0, 0.0])
                self.checkpoint.restore(path).assert_consumed()
                assert (self.variables[0].numpy() == kept).all()
        except BaseException as error:
            errors.append(error)


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    made = Program(tmp_path)
    yield made
    made.checkpoint.wait()


@pytest.mark.parametrize("name", ["loss", "forward", "step", "assign", "save"])
def test_an_interrupt_at_each_place(program: Program, name: str) -> None:
    work, at = getattr(program, name), 1
    while interrupted(work, at):
        program.check(saves=name == "save" or at % 20 == 0)
        at += 1
    assert at > 10  # places of agog were there


def same(x: Any) -> Any:
    return x


def one(x: Any) -> Any:
    return tf.data.Dataset.from_tensors(x)


STAGES: dict[str, tuple[str, Callable[[tf.data.Dataset], tf.data.Dataset]]] = {
    "prefetch": ("threads", lambda d: d.prefetch(2)),
    "map": ("threads", lambda d: d.map(same, 2)),
    "interleave": ("threads", lambda d: d.interleave(one, 2, 1, 2)),
    "sloppy_interleave": (
        "sloppy_interleaving",
        lambda d: d.apply(tf.contrib.data.parallel_interleave(one, 2, sloppy=True)),
    ),
}


def read(elements: Iterator[Any], found: list[Any]) -> None:
    for element in elements:
        found.append(element)


@pytest.fixture
def no_collection() -> Iterator[None]:
    """Nothing ends by the way, in a callback of a weak reference: Python swallows a Ctrl-C there."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("rests", [True, False])
@pytest.mark.parametrize(("file", "build"), STAGES.values(), ids=STAGES)
def test_an_interrupt_loses_no_element(
    file: str,
    build: Callable[[tf.data.Dataset], tf.data.Dataset],
    rests: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Whether the consumer comes back so soon that it reads by itself what a thread would read.
    monkeypatch.setattr(pacing, "_HANDING_SECONDS", 1e9 if rests else 0.0)
    stage = build(tf.data.Dataset.range(6))._stage
    at, was_interrupted = 1, True
    while was_interrupted:
        elements = stage.iterate(Scope())
        elements.start(0)
        found: list[Any] = []
        was_interrupted = interrupted(partial(read, elements, found), at, f"{os.sep}{file}.py")
        other = stage.iterate(Scope())
        other.load_state_dict(elements.state_dict())
        rest: list[Any] = []
        read(elements, rest)
        assert sorted(map(int, found + rest)) == [*range(6)], f"at place {at}"
        assert sorted(map(int, rest)) == sorted(map(int, other)), f"at place {at}"
        at += 1
    assert at > 20


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that send signals")
def test_interrupts_at_random_moments(program: Program) -> None:
    rng = random.Random(0)
    works = [program.step, program.assign, program.save, program.forward]
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    came = 0
    try:
        while came < RANDOM:
            work = rng.choice(works)
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, 1e-3))
                until = time.monotonic() + 1.0
                while time.monotonic() < until:
                    work()
                pytest.fail("a Ctrl-C was swallowed")
            except (KeyboardInterrupt, RuntimeError) as error:
                # A Condition of `threading` that was interrupted may say that its lock is not held.
                if type(error) is RuntimeError and str(error) != "release unlocked lock":
                    raise
                came += 1
            if came % 20 == 0 or work == program.save:
                program.checkpoint.wait()
            assert not program.tape.is_recording
            if came % 100 == 0:
                program.check()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    program.check()


def test_a_loop_imports_nothing(tmp_path: Path) -> None:
    """An interrupt in an import may be swallowed, by what Python itself does in callbacks of weak references."""
    program = Program(tmp_path)
    before = set(sys.modules)
    for work in (program.step, program.assign, program.save, program.forward):
        work()
    program.checkpoint.wait()
    assert sorted(set(sys.modules) - before) == []
