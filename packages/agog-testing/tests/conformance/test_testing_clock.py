"""The clock of a process: what it is charged, by what it has got of the processor."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from agog_testing import stopwatch
from agog_testing.conformance import clock
from agog_testing.conformance.clock import Clock


class Machine:
    """Readings of the clock, as the test makes them up."""

    def __init__(self) -> None:
        self.readings = (0.0, 0.0, 0.0)

    def pass_on(self, passed: float, computed: float, in_references: float = 0.0) -> None:
        spans = (passed, computed, in_references)
        self.readings = tuple(then + span for then, span in zip(self.readings, spans, strict=True))


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(Clock, "_readings", lambda self: machine.readings)
    return machine


@pytest.mark.parametrize(
    ("passed", "computed", "in_references", "in_line", "charged"),
    [
        (10.0, 10.0, 0.0, True, 10.0),
        (10.0, 2.0, 0.0, False, 2.0),  # others have had the rest
        (10.0, 0.1, 0.0, True, 0.1),
        (10.0, 0.1, 0.0, False, 10.0),  # it waits
        (10.0, 40.0, 0.0, True, 10.0),  # in four threads
        (10.0, 10.0, 9.0, True, 1.9),
        (10.0, 10.0, 10.0, True, 1.0),
        (10.0, 2.0, 10.0, True, 0.2),
        (10.0, 0.0, 10.0, False, 1.0),
    ],
)
def test_charge(
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    passed: float,
    computed: float,
    in_references: float,
    in_line: bool,
    charged: float,
) -> None:
    monkeypatch.setattr(clock, "_is_in_line", lambda pid: in_line)
    watch = Clock(0, lambda: 0.0)
    machine.pass_on(passed, computed, in_references)
    assert watch.read() == pytest.approx(charged)


def test_charges_add_up_until_they_are_forgotten(machine: Machine) -> None:
    watch = Clock(0, lambda: 0.0)
    machine.pass_on(1.0, 1.0)
    watch.read()
    machine.pass_on(1.0, 0.0)
    assert watch.read() == 2.0
    watch.clear()
    machine.pass_on(1.0, 1.0)
    assert watch.read() == 1.0
    machine.pass_on(5.0, 0.0)
    watch.restart()
    assert watch.read() == 0.0


def test_readings_are_those_of_the_process() -> None:
    watch = Clock(os.getpid(), lambda: 0.0)
    end = time.process_time() + 0.5
    while time.process_time() < end:
        pass
    assert 0.4 < watch.read() < 0.7


def test_system_that_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of the time is charged then."""
    monkeypatch.setattr(clock, "_PROCESSES", Path("/nowhere"))
    watch = Clock(os.getpid(), lambda: 0.0)
    time.sleep(0.2)
    assert watch.read() >= 0.2


def test_stopwatch_runs_in_the_block_only() -> None:
    memory = [0.0, 0.0]
    before = stopwatch._seconds
    stopwatch.share(memory)
    try:
        with stopwatch.stopped(), stopwatch.stopped():
            time.sleep(0.1)
            assert 0.1 <= stopwatch.read(memory) < 5
        spent = stopwatch.read(memory)
        time.sleep(0.05)
        assert stopwatch.read(memory) == spent >= 0.1
    finally:
        stopwatch.share(before)
