"""The number of threads: who says it, who hears of it, whose pool computes, and what other programs take."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from agog_core.plugin import InvalidArgumentError, threads
from agog_core.threads import pools
from agog_core.threads.load import granted, processors, used
from agog_core.threads.number import OF_LIBRARIES, number, tell
from agog_core.threads.watch import Watch
from agog_testing import says

STAT = """\
cpu  999 999 999 999 999 999 999 999 0 0
cpu0 100 20 30 4000 500 6 7 8 90 0
cpu1 1 2 3 4000 500 0 0 0 0 0
cpu10 1000 0 0 4000 500 0 0 5 0 0
intr 2874265 0 0
"""


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No pools and a number that nobody says, in a process of four processors."""
    monkeypatch.setattr(pools, "_pools", {})
    monkeypatch.setattr(pools, "watch_processors", lambda: None)
    monkeypatch.setattr("agog_core.threads.number.processors", lambda: 4)
    monkeypatch.setattr(number, "free", None)
    for name in ("AGOG_NUM_THREADS", *OF_LIBRARIES):
        monkeypatch.delenv(name, raising=False)
    threads.set_count(0)
    yield
    monkeypatch.undo()
    threads.set_count(0)


class Pool:
    """A pool whose number of threads is noted."""

    def __init__(self, name: str, threads: int = 4, **facts: int) -> None:
        self.threads, self.told = threads, 0
        pools.register(name, self.set, get=lambda: self.threads, **facts)  # type: ignore[arg-type]  # spins is a bool

    def set(self, threads: int) -> None:
        self.threads = threads
        self.told += 1


def test_the_program_goes_before_the_environment_and_that_before_the_processors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert threads.count() == 4
    for name, text in (("OMP_NUM_THREADS", "3"), ("OPENBLAS_NUM_THREADS", "2"), ("AGOG_NUM_THREADS", "7")):
        monkeypatch.setenv(name, text)
        tell()
        assert threads.count() == int(text)
    threads.set_count(5)
    assert threads.count() == 5
    threads.set_count(0)
    assert threads.count() == 7


@pytest.mark.parametrize("text", ["0", "-1", "many"])
def test_a_number_that_is_none_is_warned_of(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_NUM_THREADS", text)
    with pytest.warns(match=f"^AGOG_NUM_THREADS must be a positive number; got '{text}', which is ignored\\.$"):
        tell()
    assert threads.count() == 4


def test_a_negative_number_is_refused() -> None:
    with says(
        InvalidArgumentError,
        "The number of threads must be positive, or 0 for one that agog chooses; got -1.",
    ):
        threads.set_count(-1)


def test_listeners_hear_the_number_at_once_and_then_of_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agog_core.threads.number._listeners", [])
    heard: list[int] = []
    threads.listen(heard.append)
    for count in (2, 2, 3, 0):
        threads.set_count(count)
    assert heard == [4, 2, 3, 4]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_listeners_hear_the_number_in_forked_processes() -> None:
    program = """
import os
from agog_core.plugin import threads
parent = os.getpid()
threads.listen(lambda count: print(os.getpid() == parent, count, flush=True))
if os.fork():
    os.wait()
else:
    os._exit(0)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"AGOG_NUM_THREADS": "3"},
    )
    assert done.stdout == "True 3\nFalse 3\n"


def test_one_pool_that_spins_has_the_threads() -> None:
    assert threads.owner() is None
    blas = Pool("BLAS", priority=0)
    assert (threads.owner(), blas.threads, blas.told) == ("BLAS", 4, 0)
    openmp = Pool("OpenMP", priority=100)
    second = Pool("second", priority=100)
    assert (threads.owner(), blas.threads, openmp.threads, second.threads) == ("OpenMP", 1, 4, 1)
    asleep = Pool("team", priority=200, spins=False)
    threads.set_count(3)
    assert (threads.owner(), blas.threads, openmp.threads, second.threads, asleep.threads) == ("OpenMP", 1, 3, 1, 3)
    threads.unregister("OpenMP")
    assert (threads.owner(), blas.threads, openmp.threads, second.threads) == ("second", 1, 3, 3)
    threads.unregister("second")
    threads.unregister("unknown")
    assert (threads.owner(), blas.threads) == ("BLAS", 3)


def test_a_pool_of_a_known_name_replaces_it() -> None:
    first, again = Pool("team"), Pool("team")
    threads.set_count(2)
    assert (first.threads, again.threads) == (4, 2)


def test_a_number_that_the_program_sets_stays() -> None:
    blas = Pool("BLAS")
    blas.threads = 2
    threads.set_count(3)
    assert blas.threads == 2


def test_a_pool_that_nobody_can_read_is_set_each_time() -> None:
    told: list[int] = []
    threads.register("team", told.append)
    threads.set_count(2)
    assert told == [4, 2]


@pytest.mark.parametrize(
    ("most", "taken", "free"),
    [
        *((2, 0.0, 2), (2, 0.25, 2), (2, 0.3, 1), (2, 1.0, 1), (2, 2.0, 1), (2, 7.0, 1)),
        *((16, 0.2, 16), (16, 0.9, 15), (16, 1.2, 15), (16, 8.0, 8), (16, 16.0, 1)),
    ],
)
def test_threads_find_a_processor_of_their_own(most: int, taken: float, free: int) -> None:
    assert Watch(most, lambda: taken).look() == free


def test_threads_go_at_once_and_come_back_after_ten_calm_looks() -> None:
    others = [0.0, 1.0, *[0.0] * 9, 1.0, *[0.0] * 9, 2.0, *[0.0] * 10]
    taken = iter(others)
    watch = Watch(4, lambda: next(taken))
    assert [watch.look() for _ in others] == [*(4, 3, *[3] * 9, 3, *[3] * 9, 2, *[2] * 9, 4)]


def test_ticks_of_the_own_processors_count_that_were_computed() -> None:
    """All but those idle and waiting for disks; those of guests are among the user's."""
    assert used(STAT, {0, 10}) == (100 + 20 + 30 + 6 + 7 + 8) + (1000 + 5)
    assert used(STAT, {1}) == 6
    assert used(STAT, {7}) == 0


@pytest.mark.parametrize(
    ("text", "granted_processors"),
    [("max 100000\n", None), ("200000 100000\n", 2), ("150000 100000\n", 2), ("20000 100000\n", 1)],
)
def test_a_container_has_as_many_processors_as_it_is_granted(text: str, granted_processors: int | None) -> None:
    assert granted(text) == granted_processors


# What stands after `look` is the number of threads, once it is what is waited for, or after 20 seconds.
PROGRAM = """
import os, sys, time, threading

at_fork = []
os.register_at_fork(before=lambda: at_fork.append(watchers()))  # which runs after those registered later

import agog_core as ag
from agog_core.plugin import threads
from agog_cpu_numpy.blas import openblas

ag.constant(1.0)
pool = openblas()

def look(awaited):
    end = time.monotonic() + 20
    while pool.get() != awaited and time.monotonic() < end:
        time.sleep(0.05)
    assert pool.get() == threads.count(), (pool.get(), threads.count())
    return pool.get()

def watchers():
    return [thread.name for thread in threading.enumerate()].count("agog-threads")

"""


def run(program: str, **environment: str) -> str:
    env = {name: value for name, value in os.environ.items() if name not in ("AGOG_NUM_THREADS", *OF_LIBRARIES)}
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


needs_threads = pytest.mark.skipif(
    not sys.platform.startswith("linux") or processors() < 2, reason="needs two processors and Linux"
)


@needs_threads
def test_busy_processors_leave_one_thread(busy_processors: None) -> None:
    assert run("print(look(1), watchers())") == "1 1\n"


@needs_threads
def test_a_number_of_the_user_is_kept_beside_others(busy_processors: None) -> None:
    assert run("time.sleep(1); print(look(2), watchers())", AGOG_NUM_THREADS="2") == "2 0\n"


@needs_threads
def test_a_number_that_the_program_sets_is_kept_beside_others(busy_processors: None) -> None:
    assert run("threads.set_count(2); time.sleep(1); print(look(2))") == "2\n"
    assert run("threads.set_count(2); threads.set_count(0); print(look(1))") == "1\n"


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
