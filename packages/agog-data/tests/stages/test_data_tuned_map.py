"""`map` with AUTOTUNE: the elements of a `map` without threads, and threads where they are faster."""

from __future__ import annotations

import math
import os
import threading
import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_data import Dataset
from agog_data import tuning as tuning_module
from agog_data.arguments import AUTOTUNE
from agog_data.methods import mapping
from agog_data.stages import tuned_mapping
from agog_data.tuning import FOR_THREADS, Costs, Tuning


@pytest.fixture
def restless(monkeypatch: pytest.MonkeyPatch) -> None:
    """No function is cheap, every element ends a window, and measuring begins again at once: workers come and go."""
    for name, value in {"_KNOWN_CALLS": 3, "_LEAST_CALLS": 1, "_FIRST_PAUSE_SECONDS": 0.0}.items():
        monkeypatch.setattr(tuning_module, name, value)
    for module in (tuned_mapping, mapping):
        for name in ("FOR_THREADS", "FOR_PROCESSES"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, Costs(0.0, 0.0))


def noisy(calls: int | None, processes: bool = False) -> Dataset:
    def function(x: Any) -> Any:
        if int(x) % 7 == 0:
            time.sleep(0.001)
        return x, ag.random_uniform([2])

    return Dataset.range(50).shuffle(20, seed=3).map(function, calls, processes=processes)


def values(elements: Any) -> list[tuple[int, list[float]]]:
    return [(int(x), noise.numpy().tolist()) for x, noise in elements]


each_kind_of_worker = pytest.mark.parametrize(
    "processes", [False, pytest.param(True, marks=pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks"))]
)


@each_kind_of_worker
@pytest.mark.usefixtures("restless")
def test_elements_order_and_random_numbers_do_not_depend_on_it(processes: bool) -> None:
    ag.set_random_seed(1)
    plain = [values(noisy(None)), values(noisy(None))]
    ag.set_random_seed(1)
    assert [values(noisy(AUTOTUNE, processes)), values(noisy(AUTOTUNE, processes))] == plain


@each_kind_of_worker
@pytest.mark.usefixtures("restless")
def test_batches_do_not_depend_on_it(processes: bool) -> None:
    def batches(calls: int | None, processes: bool = False) -> list[Any]:
        ag.set_random_seed(1)
        dataset = noisy(calls, processes).batch(8)
        return [(x.numpy().tolist(), noise.numpy().tolist()) for x, noise in dataset.repeat(2)]

    assert batches(AUTOTUNE, processes) == batches(None)


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize("restored", [None, 2, AUTOTUNE])
def test_a_state_of_any_moment_goes_on_in_any_map(restored: int | None) -> None:
    expected = values(noisy(None))
    iterator: Any = iter(noisy(AUTOTUNE))
    for position in range(len(expected)):
        other: Any = iter(noisy(restored))
        other.load_state_dict(iterator.state_dict())
        assert [int(x) for x, _ in other] == [number for number, _ in expected[position:]]
        assert int(next(iterator)[0]) == expected[position][0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks")
@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize("restored", [2, AUTOTUNE])
def test_a_state_goes_on_in_processes(restored: int) -> None:
    expected = values(noisy(None))
    iterator: Any = iter(noisy(AUTOTUNE, True))
    for position in range(len(expected)):
        if position % 10 in (1, 2):
            other: Any = iter(noisy(restored, True))
            other.load_state_dict(iterator.state_dict())
            assert [int(x) for x, _ in other] == [number for number, _ in expected[position:]]
        assert int(next(iterator)[0]) == expected[position][0]


@each_kind_of_worker
@pytest.mark.usefixtures("restless")
def test_errors_come_in_their_place(processes: bool) -> None:
    def function(x: Any) -> Any:
        if int(x) % 5 == 0:
            raise KeyError(int(x))
        return x

    iterator, found = iter(Dataset.range(40).map(function, AUTOTUNE, processes=processes)), []
    notes: list[str] = []
    while True:
        try:
            found.append(int(next(iterator)))
        except KeyError as error:
            found.append(error.args[0])
            notes += [note for note in error.__notes__ if note.startswith("This happened in map")]
        except StopIteration:
            break
    assert found == list(range(40))
    expected = [f"at element {number} (the first is 0)." for number in range(0, 40, 5)]
    assert [note.rpartition(", ")[2] for note in notes] == expected


def decide(monkeypatch: pytest.MonkeyPatch, least_gain: float, cheap: float = 0.0) -> None:
    """Let what is measured once decide as is said, whatever the times are: those belong to the tests with a clock."""
    for name, value in {"_KNOWN_CALLS": 3, "_LEAST_CALLS": 1, "_FIRST_PAUSE_SECONDS": 1e9}.items():
        monkeypatch.setattr(tuning_module, name, value)
    monkeypatch.setattr(tuning_module, "_LEAST_GAIN", least_gain)
    monkeypatch.setattr(tuning_module, "processors", lambda: 2)
    for module in (tuned_mapping, mapping):
        for name in ("FOR_THREADS", "FOR_PROCESSES"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, Costs(cheap, 0.0))


each_decision = pytest.mark.parametrize(
    ("least_gain", "cheap", "has_workers"),
    [
        pytest.param(math.inf, 0.0, True, id="faster"),
        pytest.param(0.0, 0.0, False, id="slower"),
        pytest.param(math.inf, math.inf, False, id="cheap"),
    ],
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks")
@each_decision
def test_processes_are_there_where_they_are_faster(
    least_gain: float, cheap: float, has_workers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(monkeypatch, least_gain, cheap)
    found = [int(x) for x in Dataset.range(400).map(lambda x: np.int64(os.getpid()), AUTOTUNE, processes=True)]
    assert found[0] == os.getpid()
    assert [process != os.getpid() for process in found[200:]] == [has_workers] * 200


@each_decision
def test_threads_are_there_where_they_are_faster(
    least_gain: float, cheap: float, has_workers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(monkeypatch, least_gain, cheap)
    found: dict[int, str] = {}

    def noting(x: Any) -> Any:
        found[int(x)] = threading.current_thread().name
        return x

    assert [int(x) for x in Dataset.range(400).map(noting, AUTOTUNE)] == list(range(400))
    assert found[0] == threading.current_thread().name
    wanted = "agog-map" if has_workers else threading.current_thread().name
    assert {found[number] for number in range(200, 400)} == {wanted}


class FakeQueue:
    """Elements at the cost of whoever makes them."""

    def __init__(self, clock: list[float], costs: dict[bool, float]) -> None:
        self.visits = 0
        self.resting = False
        self._clock, self._costs = clock, costs

    def read(self) -> str:
        self._clock[0] += self._costs[False]
        return "by the consumer"

    def get(self) -> str:
        self._clock[0] += self._costs[True]
        return "by the threads"


@pytest.mark.parametrize(
    ("with_threads", "without", "expected"),
    [(1e-3, 2e-3, "by the threads"), (2e-3, 1e-3, "by the consumer"), (1e-3, 1.01e-3, "by the consumer")],
)
def test_what_is_faster_stays(
    with_threads: float, without: float, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(tuning_module, "perf_counter", lambda: clock[0])
    costs = {True: with_threads, False: without}
    tuning, queue = Tuning(FOR_THREADS, 2), FakeQueue(clock, costs)
    found: list[Any] = [tuning.next(queue) for _ in range(200)]  # type: ignore[arg-type]
    assert set(found) == {"by the threads", "by the consumer"}
    found = [tuning.next(queue) for _ in range(100)]  # type: ignore[arg-type]
    assert set(found) == {expected}


def test_what_is_slower_is_tried_again_after_pauses_that_double(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(tuning_module, "perf_counter", lambda: clock[0])
    tuning, queue = Tuning(FOR_THREADS, 2), FakeQueue(clock, {True: 2e-3, False: 1e-3})
    tries: list[float] = []
    while clock[0] < 118:
        last = clock[0]
        if tuning.next(queue) == "by the threads" and (not tries or last - tries[-1] > 0.5):  # type: ignore[arg-type]
            tries.append(last)
    assert [round(later - earlier) for earlier, later in pairwise(tries)] == [1, 2, 4, 8]


@pytest.mark.parametrize(("processors", "waits", "wanted"), [(1, False, False), (1, True, True), (2, False, True)])
def test_one_processor_has_threads_for_waiting_alone(
    processors: int, waits: bool, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(tuning_module, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(tuning_module, "thread_time", lambda: 0.0 if waits else clock[0])
    tuning = Tuning(FOR_THREADS, processors)

    def function() -> Any:
        clock[0] += 1e-3
        return np.float32(1)

    for _ in range(64):
        assert not tuning.wants_workers() or wanted
        tuning.call(function)  # type: ignore[arg-type]
    assert tuning.wants_workers() is wanted
