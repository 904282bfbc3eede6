"""The number of OpenBLAS's threads: as many as find a processor of their own beside other programs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from agog_cpu_numpy.threads import SETTINGS, Pool, Watch, granted, openblas, used

STAT = """\
cpu  999 999 999 999 999 999 999 999 0 0
cpu0 100 20 30 4000 500 6 7 8 90 0
cpu1 1 2 3 4000 500 0 0 0 0 0
cpu10 1000 0 0 4000 500 0 0 5 0 0
intr 2874265 0 0
"""


class Threads:
    """A BLAS whose number of threads is noted."""

    def __init__(self, number: int) -> None:
        self.number = number

    def pool(self) -> Pool:
        return Pool(lambda: self.number, lambda number: setattr(self, "number", number))


def numbers(most: int, others: list[float]) -> list[int]:
    """The number of threads after each look that finds so many processors taken by others."""
    threads, taken = Threads(most), iter(others)
    watch = Watch(threads.pool(), lambda: next(taken))
    return [threads.number for _ in others if watch.look()]


@pytest.mark.parametrize(
    ("most", "taken", "number"),
    [
        *((2, 0.0, 2), (2, 0.25, 2), (2, 0.3, 1), (2, 1.0, 1), (2, 2.0, 1), (2, 7.0, 1)),
        *((16, 0.2, 16), (16, 0.9, 15), (16, 1.2, 15), (16, 8.0, 8), (16, 16.0, 1)),
    ],
)
def test_threads_find_a_processor_of_their_own(most: int, taken: float, number: int) -> None:
    assert numbers(most, [taken]) == [number]


def test_threads_go_at_once_and_come_back_after_ten_calm_looks() -> None:
    assert numbers(4, [0.0, 1.0, *[0.0] * 9, 1.0, *[0.0] * 9, 2.0, *[0.0] * 10]) == [
        *(4, 3, *[3] * 9, 3, *[3] * 9, 2, *[2] * 9, 4)
    ]


def test_a_number_that_the_program_sets_stays() -> None:
    threads = Threads(4)
    watch = Watch(threads.pool(), lambda: 3.0)
    assert watch.look()
    threads.number = 2
    assert not watch.look()
    assert threads.number == 2


def test_ticks_of_the_own_processors_count_that_were_computed() -> None:
    """All but those idle and waiting for disks; those of guests are among the user's."""
    assert used(STAT, {0, 10}) == (100 + 20 + 30 + 6 + 7 + 8) + (1000 + 5)
    assert used(STAT, {1}) == 6
    assert used(STAT, {7}) == 0


@pytest.mark.parametrize(
    ("text", "number"),
    [("max 100000\n", None), ("200000 100000\n", 2), ("150000 100000\n", 2), ("20000 100000\n", 1)],
)
def test_a_container_has_as_many_processors_as_it_is_granted(text: str, number: int | None) -> None:
    assert granted(text) == number


# What stands after `look` is the number of threads, once it is what is waited for, or after 20 seconds.
PROGRAM = """
import os, sys, time, threading

at_fork = []
os.register_at_fork(before=lambda: at_fork.append(watchers()))  # which runs after those registered later

import agog_core as ag
from agog_cpu_numpy.threads import openblas

ag.constant(1.0)
pool = openblas()

def look(awaited):
    end = time.monotonic() + 20
    while pool.get() != awaited and time.monotonic() < end:
        time.sleep(0.05)
    return pool.get()

def watchers():
    return [thread.name for thread in threading.enumerate()].count("agog-cpu-numpy")

"""


def run(program: str, **environment: str) -> str:
    env = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + program], capture_output=True, text=True, check=True, env=env | environment
    )
    return done.stdout


@pytest.fixture
def busy_processors() -> Iterator[None]:
    loop = [sys.executable, "-c", "while True: pass"]
    programs = [subprocess.Popen(loop) for _ in range(os.cpu_count() or 1)]
    yield
    for program in programs:
        program.kill()
        program.wait()


pool = openblas()
needs_threads = pytest.mark.skipif(
    not sys.platform.startswith("linux") or pool is None or pool.get() < 2, reason="needs threads of OpenBLAS on Linux"
)


@needs_threads
def test_busy_processors_leave_one_thread(busy_processors: None) -> None:
    assert run("print(look(1), watchers())") == "1 1\n"


@needs_threads
def test_a_number_of_the_user_is_kept_beside_others(busy_processors: None) -> None:
    assert run("time.sleep(1); print(pool.get(), watchers())", OPENBLAS_NUM_THREADS="2") == "2 0\n"


@needs_threads
def test_processes_that_are_forked_look_themselves(busy_processors: None) -> None:
    """And the thread is away at the fork, since Python warns of threads there."""
    program = """
look(1)
if child := os.fork():
    os.waitpid(child, 0)
    print("parent", look(1), watchers(), at_fork)
else:
    print("child", look(1), watchers(), flush=True)
    os._exit(0)
"""
    assert run(program) == "child 1 1\nparent 1 1 [0]\n"
