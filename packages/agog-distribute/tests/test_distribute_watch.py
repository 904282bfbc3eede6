"""The watch of other processes: what the system says of them, what they say of themselves, and the deadline."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

import agog_distribute as distribute
from agog_core.errors import InvalidArgumentError
from agog_distribute.faults import deadline as deadlines
from agog_distribute.faults.board import Board, new_board
from agog_distribute.faults.deadline import Waiting, deadline
from agog_distribute.faults.watch import Watch, activity, state_of

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system tells no states of processes")


@on_linux
def test_states_of_processes() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        assert state_of(process.pid) is None
        os.kill(process.pid, signal.SIGSTOP)
        while state_of(process.pid) is None:
            time.sleep(0.01)
        assert state_of(process.pid) == "is stopped"
        process.kill()
        while state_of(process.pid) != "is gone":
            time.sleep(0.01)
    assert state_of(process.pid) == "is gone"


class Far:
    """A communicator of three processes, of which one is on another machine."""

    rank, size, local_rank, local_size = 0, 3, 0, 2


def boards() -> tuple[Board, Board]:
    path = new_board(2)
    found = Board(path, 2, 0), Board(path, 2, 1)
    os.unlink(path)
    return found


def test_pages_of_a_board_are_read_by_all() -> None:
    ours, theirs = boards()
    theirs.write("a longer text at first")
    theirs.write("waits in ä")
    ours.write("x" * 2000)
    assert [ours.read(1), theirs.read(0)] == ["waits in ä", "x" * 1023]


def test_a_wait_over_the_deadline_names_what_the_others_do(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = boards()
    theirs.write("is at train.py:44")
    watch = Watch(Far(), ours, {0: 1, 1: 2})  # type: ignore[arg-type]
    monkeypatch.setattr(deadline, "set", 5.0)
    with Waiting("barrier, the 2nd collective, at train.py:7"):
        assert activity() == "waits in barrier, the 2nd collective, at train.py:7"
        assert watch._overdue(time.monotonic() + 4) is None
        assert watch._overdue(time.monotonic() + 6) == (
            "Rank 0 ends all processes: it has waited for others for 5 s, which is the deadline "
            "(AGOG_DISTRIBUTE_DEADLINE, set_deadline), in barrier, the 2nd collective, at train.py:7.\n"
            "  rank 1: is at train.py:44\n"
            "  1 ranks on other machines: see what they say"
        )
        monkeypatch.setattr(deadline, "set", 0.0)
        assert watch._overdue(time.monotonic() + 1e9) is None
    monkeypatch.setattr(deadline, "set", 5.0)
    assert watch._overdue(time.monotonic() + 6) is None
    with Waiting("end of the program", may_last=True):
        assert watch._overdue(time.monotonic() + 6) is None
    assert activity().startswith("is at ")


@on_linux
def test_a_process_that_is_gone_is_named_after_a_while() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    watch = Watch(Far(), None, {0: os.getpid(), 1: process.pid})  # type: ignore[arg-type]
    assert watch._neighbour(100.0) is None
    assert watch._neighbour(104.0) is None
    assert watch._neighbour(104.1) == f"Rank 1 (process {process.pid}) is gone; rank 0 ends all processes."


def test_the_deadline_is_what_the_program_says_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "set", None)
    monkeypatch.delenv("AGOG_DISTRIBUTE_DEADLINE", raising=False)
    assert deadline.seconds() == 600.0
    monkeypatch.setenv("AGOG_DISTRIBUTE_DEADLINE", "7.5")
    assert deadline.seconds() == 7.5
    distribute.set_deadline(0)
    assert deadline.seconds() == 0.0


@pytest.mark.parametrize("value", [-1, "soon", float("nan"), None])
def test_deadlines_that_are_no_seconds_are_refused(value: Any) -> None:
    with pytest.raises(InvalidArgumentError) as failure:
        deadlines.checked("set_deadline", value)
    assert str(failure.value) == (f"set_deadline: expected a number of seconds, or 0 for no deadline; got {value!r}.")
