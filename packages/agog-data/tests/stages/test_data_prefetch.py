"""Threads: they work ahead, and they end with their iterator."""

from __future__ import annotations

import gc
import itertools
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import agog_core as ag
from agog_data import Dataset
from agog_data.transformations.flattening import parallel_interleave, sloppy_interleave


def numbers(dataset: Any) -> list[int]:
    return [int(x) for x in dataset]


OF_STAGES = ("agog-interleave", "agog-map", "agog-prefetch", "agog-sloppy")
OTHERS: set[threading.Thread] = set()  # threads of other tests


def own_threads() -> list[str]:
    # That which looks after OpenBLAS's threads begins anew at each fork.
    return [t.name for t in threading.enumerate() if t.name.startswith(OF_STAGES) and t not in OTHERS]


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    OTHERS.clear()
    OTHERS.update(threading.enumerate())
    gc.disable()  # threads must end without the collector's help
    try:
        yield
        assert own_threads() == []
    finally:
        gc.enable()


PIPELINES: dict[str, Callable[[Dataset], Dataset]] = {
    "prefetch": lambda d: d.prefetch(2),
    "parallel map": lambda d: d.map(lambda x: x, 2),
    "both": lambda d: d.map(lambda x: x, 3).prefetch(1),
    "nested": lambda d: d.prefetch(1).map(lambda x: x + 0).prefetch(2).prefetch(1),
    "zipped": lambda d: Dataset.zip((d.prefetch(1), d.map(lambda x: x, 2))).map(lambda x, y: x),
    "repeated": lambda d: d.prefetch(2).take(3).repeat(),
    "shuffled": lambda d: d.map(lambda x: x, 2).shuffle(5).prefetch(1).batch(1),
    "interleave": lambda d: d.interleave(lambda n: Dataset.range(50), 3, num_parallel_calls=2),
    "parallel_interleave": lambda d: d.apply(parallel_interleave(lambda n: Dataset.range(50), 3)),
    "sloppy_interleave": lambda d: d.apply(sloppy_interleave(lambda n: Dataset.range(50), 3)),
}
each_pipeline = pytest.mark.parametrize("build", PIPELINES.values(), ids=PIPELINES)


@each_pipeline
def test_threads_end_when_the_elements_end(build: Callable[[Dataset], Dataset]) -> None:
    iterator = iter(build(Dataset.range(20)).take(20))
    next(iterator)
    assert own_threads()
    for _ in iterator:
        pass
    del iterator
    assert own_threads() == []


def test_threads_end_before_the_loop_does() -> None:
    iterator = iter(Dataset.range(5).map(lambda x: x, 2).prefetch(2))
    assert numbers(iterator) == list(range(5))
    assert own_threads() == []
    with pytest.raises(StopIteration):
        next(iterator)


@each_pipeline
def test_threads_end_when_the_iterator_is_dropped(build: Callable[[Dataset], Dataset]) -> None:
    iterator = iter(build(Dataset.range(10**9)))
    next(iterator)
    assert own_threads()
    del iterator
    assert own_threads() == []


@each_pipeline
def test_threads_end_when_the_loop_raises(build: Callable[[Dataset], Dataset]) -> None:
    def loop() -> None:
        for _ in build(Dataset.range(10**9)):
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough") as info:
        loop()
    del info
    assert own_threads() == []


@each_pipeline
def test_threads_end_when_the_function_raises(build: Callable[[Dataset], Dataset]) -> None:
    def fails(x: Any) -> Any:
        if int(x) == 2:
            raise ValueError("two")
        return x

    def loop() -> None:
        for _ in build(Dataset.range(10**9).map(fails)):
            pass

    with pytest.raises(ValueError, match="two"):
        loop()
    assert own_threads() == []


def test_an_iterator_that_was_never_used_has_no_thread() -> None:
    iterator = iter(Dataset.range(5).map(lambda x: x, 2).prefetch(2))
    assert own_threads() == []
    del iterator


def test_a_thread_that_is_busy_ends_with_its_function() -> None:
    entered, leave = threading.Event(), threading.Event()

    def function(x: Any) -> Any:
        if int(x) == 1:
            entered.set()
            assert leave.wait(20)
        return x

    iterator = iter(Dataset.range(10**9).map(function).prefetch(1))
    next(iterator)
    assert entered.wait(20)
    threading.Timer(0.05, leave.set).start()
    del iterator  # waits for the function
    assert own_threads() == []


def test_the_thread_works_while_the_consumer_does() -> None:
    computed = [threading.Event() for _ in range(4)]
    dataset = Dataset.range(4).map(lambda x: computed[int(x)].set() or x).prefetch(2)
    iterator = iter(dataset)
    assert int(next(iterator)) == 0
    # While we have the first element, and ask for none, the next two are made, and one more waits for room.
    assert computed[1].wait(20)
    assert computed[2].wait(20)
    assert numbers(iterator) == [1, 2, 3]


def test_the_thread_stays_within_its_buffer() -> None:
    made: list[int] = []
    iterator = iter(Dataset.range(100).map(lambda x: made.append(int(x)) or x).prefetch(3))
    for taken in range(1, 20):
        assert int(next(iterator)) == taken - 1
        deadline = time.monotonic() + 20
        while len(made) < taken + 3 and time.monotonic() < deadline:
            time.sleep(0.001)
        assert len(made) == taken + 3
    del iterator


def test_a_parallel_map_stays_within_its_window() -> None:
    made: list[int] = []
    iterator = iter(Dataset.range(100).map(lambda x: made.append(int(x)) or x).map(lambda x: x, 3))
    for taken in range(1, 20):
        next(iterator)
        deadline = time.monotonic() + 20
        while len(made) < taken + 6 and time.monotonic() < deadline:
            time.sleep(0.001)
        assert len(made) == taken + 6
    del iterator


def test_functions_run_in_the_context_of_the_iterator() -> None:
    with ag.device(ag.list_devices()[-1]):
        iterator = iter(Dataset.range(3).map(lambda x: ag.constant(1.0)).prefetch(1))
    assert {x.device for x in iterator} == {ag.list_devices()[-1]}


def test_threads_may_share_an_iterator() -> None:
    iterator = iter(Dataset.range(200).map(lambda x: x).prefetch(2))
    found: list[list[int]] = [[] for _ in range(4)]
    threads = [threading.Thread(target=lambda part=part: part.extend(numbers(iterator))) for part in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(itertools.chain(*found)) == list(range(200))


def test_iterators_over_one_dataset_are_independent() -> None:
    dataset = Dataset.range(6).map(lambda x: x, 2).prefetch(2)
    one, other = iter(dataset), iter(dataset)
    assert [int(next(one)) for _ in range(3)] == [0, 1, 2]
    assert [int(next(other)) for _ in range(2)] == [0, 1]
    assert numbers(one) == [3, 4, 5]
    assert numbers(other) == [2, 3, 4, 5]


def test_nothing_is_kept_alive_by_the_thread() -> None:
    iterator = iter(Dataset.range(10**9).prefetch(2))
    next(iterator)
    gone = weakref.ref(iterator)
    del iterator
    assert gone() is None


def test_an_iterator_in_a_cycle_ends_when_it_is_collected() -> None:
    holder: dict[str, Any] = {"iterator": iter(Dataset.range(10**9).map(lambda x: x, 2).prefetch(2))}
    holder["self"] = holder
    next(holder["iterator"])
    del holder
    gc.collect()
    assert own_threads() == []


PROGRAM = """
import time
from agog_data import Dataset
from agog_data.transformations.flattening import sloppy_interleave

def slow(n):
    return Dataset.range(1000).map(lambda k: (time.sleep(0.001), k)[1])

iterator = iter(Dataset.range(10**9).{read}.prefetch(2))
print(int(next(iterator)))
{end}
"""


@pytest.mark.parametrize(
    "read", ["map(lambda x: x, 2)", "interleave(slow, 3, 2, 2)", "apply(sloppy_interleave(slow, 3))"]
)
@pytest.mark.parametrize(("end", "code"), [("", 0), ("raise SystemExit(3)", 3), ("raise KeyboardInterrupt", -2)])
def test_a_program_ends_at_once_with_threads_at_work(end: str, code: int, read: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(end=end, read=read)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.stdout == "0\n"
    assert result.returncode == code
    assert "Traceback" not in result.stderr or "KeyboardInterrupt" in result.stderr


@pytest.mark.parametrize("buffer_size", [None, -1, 0, 1, 100])
def test_any_buffer_size_gives_all_elements(buffer_size: int | None) -> None:
    assert [int(x) for x in Dataset.range(9).prefetch(buffer_size)] == list(range(9))
