"""Functions in worker processes: they compute the same, fail where the loop is, and end with their iterator."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections import namedtuple
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import AbortedError, InvalidArgumentError
from agog_data import Dataset
from agog_data.processes import WorkerTraceback
from agog_testing import says

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

Pair = namedtuple("Pair", ["a", "b"])
COUNTS = [1, 2]


def children() -> set[int]:
    path = Path(f"/proc/{os.getpid()}/task")
    if not path.exists():  # no Linux
        return set()
    return {int(pid) for task in path.iterdir() for pid in (task / "children").read_text().split()}


@pytest.fixture(autouse=True)
def _no_process_is_left() -> Iterator[None]:
    before = children()
    yield
    gc.collect()  # an error that a test holds leads to its iterator
    assert children() <= before


@pytest.fixture
def _no_collector() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def numbers(dataset: Any) -> list[int]:
    return [int(x) for x in dataset]


INPUTS: dict[str, Callable[[], Dataset]] = {
    "rows": lambda: Dataset.range(300).shuffle(50, seed=2),
    "elements": lambda: Dataset.range(300).shuffle(50, seed=2).filter(lambda x: x % 3 < 2),
}
each_input = pytest.mark.parametrize("source", INPUTS.values(), ids=INPUTS)


@pytest.mark.parametrize("count", COUNTS)
@each_input
def test_results_are_those_of_one_process(source: Callable[[], Dataset], count: int) -> None:
    expected = numbers(source().map(lambda x: x * x))
    assert numbers(source().map(lambda x: x * x, count, processes=True)) == expected


@pytest.mark.parametrize("drop_remainder", [False, True])
@each_input
def test_batches_are_those_of_one_process(source: Callable[[], Dataset], drop_remainder: bool) -> None:
    def function(x: Any) -> Any:
        return {"square": x * x, "pair": (ag.cast(x, "float32") / 2.0, "text")}

    def batches(**options: Any) -> list[Any]:
        found = source().map(function, **options).batch(32, drop_remainder)
        return [ag.nest.map_structure(lambda t: t.numpy().tolist(), element) for element in found]

    assert batches(num_parallel_calls=2, processes=True) == batches()


def test_vectorized_functions() -> None:
    dataset = Dataset.range(10).map(lambda x: x * x, 2, vectorize=True, processes=True)
    assert numbers(dataset) == [x * x for x in range(10)]
    assert [x.numpy().tolist() for x in dataset.batch(6)] == [[0, 1, 4, 9, 16, 25], [36, 49, 64, 81]]


def test_it_runs_in_other_processes() -> None:
    pids = set(numbers(Dataset.range(40).map(lambda x: os.getpid(), 2, processes=True)))
    assert len(pids) == 2
    assert os.getpid() not in pids


@pytest.mark.parametrize(
    "result",
    [
        lambda x: Pair(x, {"a": [1.5], "b": ("text", True)}),
        lambda x: np.zeros((0, 3), np.uint8),
        lambda x: np.arange(int(x)),
        lambda x: [["", "a\0b", "ü" * int(x)]],
        lambda x: (x, np.full((2, 3), int(x), np.float16)) if int(x) % 2 else "other",
        lambda x: ag.cast(x, "bfloat16"),
        lambda x: np.full(100_000, int(x)),
        lambda x: np.complex64(1j),
    ],
)
@each_input
def test_any_result(source: Callable[[], Dataset], result: Callable[[Any], Any]) -> None:
    def shown(element: Any) -> Any:
        return ag.nest.map_structure(lambda t: (t.dtype, np.asarray(t.numpy()).tolist()), element)

    once = source().take(9).map(result).map(lambda *parts: parts)
    # Sent back, there and back.
    twice = source().take(9).map(result, 2, processes=True).map(lambda *parts: parts, 2, processes=True)
    assert [shown(x) for x in twice] == [shown(x) for x in once]


def test_results_stay_when_the_memory_is_used_again() -> None:
    found = list(Dataset.range(200).map(lambda x: np.full(50, int(x)), 1, processes=True))
    assert [x.numpy().tolist() for x in found] == [[x] * 50 for x in range(200)]


def test_random_ops_do_not_depend_on_processes() -> None:
    def noisy(**options: Any) -> list[float]:
        ag.set_random_seed(4)
        dataset = Dataset.range(20).map(lambda x: ag.random_uniform([]), **options).repeat(2)
        return [float(x) for x in dataset] + [float(x) for x in dataset]

    expected = noisy()
    assert noisy(num_parallel_calls=1, processes=True) == expected
    assert noisy(num_parallel_calls=2, processes=True) == expected


def raise_at_seven(x: Any) -> Any:
    if int(x) == 7:
        raise KeyError("seven")
    return x


@each_input
def test_errors_come_with_traceback_and_number(source: Callable[[], Dataset]) -> None:
    iterator = iter(Dataset.range(5, 12).filter(lambda x: True).map(raise_at_seven, 2, processes=True))
    assert [int(next(iterator)) for _ in range(2)] == [5, 6]
    with pytest.raises(KeyError) as info:
        next(iterator)
    assert info.value.args == ("seven",)
    assert info.value.__notes__ == [
        "This happened in map, in the function raise_at_seven, at element 2 (the first is 0)."
    ]
    assert isinstance(info.value.__cause__, WorkerTraceback)
    assert 'raise KeyError("seven")' in str(info.value.__cause__)
    assert numbers(iterator) == [8, 9, 10, 11]


def test_errors_in_a_batch() -> None:
    iterator = iter(Dataset.range(12).map(raise_at_seven, 2, processes=True).batch(3))
    assert [next(iterator).numpy().tolist() for _ in range(2)] == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(KeyError, match="seven"):
        next(iterator)
    assert [x.numpy().tolist() for x in iterator] == [[9, 10, 11]]


def test_errors_of_the_input_come_in_their_place() -> None:
    iterator = iter(Dataset.range(5, 12).map(raise_at_seven).map(lambda x: x + 1, 2, processes=True))
    assert [int(next(iterator)) for _ in range(2)] == [6, 7]
    with pytest.raises(KeyError, match="seven"):
        next(iterator)
    assert numbers(iterator) == [9, 10, 11, 12]


class OwnError(Exception):
    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


def test_an_error_that_cannot_be_sent_is_described() -> None:
    def function(x: Any) -> Any:
        raise OwnError(1, 2)

    with says(RuntimeError, "OwnError: 1 and 2") as info:
        next(iter(Dataset.range(3).map(function, 1, processes=True)))
    assert info.value.__notes__ == [
        "This happened in map, in the function test_an_error_that_cannot_be_sent_is_described.<locals>.function, at "
        "element 0 (the first is 0)."
    ]


def test_shapes_that_make_no_batch() -> None:
    dataset = Dataset.range(4).map(lambda x: np.zeros(int(x)), 1, processes=True).batch(2)
    with says(
        InvalidArgumentError,
        "batch: component 0 of element 1 of batch 0 has dtype float64 and shape (1,); that of element 0 has dtype "
        "float64 and shape (0,). A batch needs equal dtypes and shapes; make them equal with map() first.",
    ):
        next(iter(dataset))


@pytest.mark.parametrize("batch", [False, True])
def test_a_killed_process_is_an_error(batch: bool) -> None:
    def function(x: Any) -> Any:
        if int(x) == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    dataset = Dataset.range(8).map(function, 1, processes=True)
    iterator = iter(dataset.batch(4) if batch else dataset)
    for _ in range(2):  # also if it is asked again
        with pytest.raises(AbortedError) as info:
            for _ in iterator:
                pass
        message = str(info.value)
        assert message.startswith("map: the worker process ")
        assert message.endswith(
            " was killed by SIGKILL while it computed elements. The kernel kills processes when memory runs out; a "
            "function may also crash in code that is not Python. Run the function without processes=True to find out."
        )


def test_a_process_that_was_killed_between_two_elements() -> None:
    iterator = iter(Dataset.range(10**4).map(lambda x: os.getpid(), 1, processes=True))
    os.kill(int(next(iterator)), signal.SIGKILL)
    with pytest.raises(AbortedError, match="was killed by SIGKILL"):
        numbers(iterator)


def test_arguments() -> None:
    with says(InvalidArgumentError, "map: processes=True needs num_parallel_calls, the number of processes."):
        Dataset.range(3).map(lambda x: x, processes=True)


def test_a_system_that_cannot_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    monkeypatch.setattr(sys, "platform", "other")
    with says(
        ag.errors.UnimplementedError,
        "map: processes=True forks processes, which other cannot; leave it out to use threads.",
    ):
        Dataset.range(3).map(lambda x: x, 2, processes=True)


PIPELINES: dict[str, Callable[[Dataset], Dataset]] = {
    "elements": lambda d: d.map(lambda x: x, 2, processes=True),
    "batches": lambda d: d.map(lambda x: x, 2, processes=True).batch(2),
    "prefetched": lambda d: d.map(lambda x: x, 2, processes=True).prefetch(2),
    "repeated": lambda d: d.map(lambda x: x, 2, processes=True).take(3).repeat(),
    "chained": lambda d: d.map(lambda x: x, 1, processes=True).map(lambda x: x, 1, processes=True),
}
each_pipeline = pytest.mark.parametrize("build", PIPELINES.values(), ids=PIPELINES)


@each_pipeline
@pytest.mark.usefixtures("_no_collector")
def test_processes_end_with_the_iterator(build: Callable[[Dataset], Dataset]) -> None:
    before = children()
    iterator = iter(build(Dataset.range(10**9)))
    for _ in range(7):
        next(iterator)
    assert len(children() - before) == 2 or sys.platform != "linux"
    del iterator
    assert children() == before


@each_pipeline
@pytest.mark.usefixtures("_no_collector")
def test_processes_end_when_the_loop_raises(build: Callable[[Dataset], Dataset]) -> None:
    before = children()

    def loop() -> None:
        for _ in build(Dataset.range(10**9)):
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough") as info:
        loop()
    del info
    assert children() == before


def test_no_memory_is_left() -> None:
    def open_files() -> set[tuple[str, str]]:
        folder = "/proc/self/fd"
        names = os.listdir(folder) if sys.platform == "linux" else []
        return {(name, os.readlink(f"{folder}/{name}")) for name in names if os.path.lexists(f"{folder}/{name}")}

    assert numbers(Dataset.range(50).map(lambda x: x, 2, processes=True)) == list(range(50))

    def is_left() -> bool:
        before = open_files()
        for _ in range(3):
            iterator = iter(Dataset.range(50).map(lambda x: np.zeros(10_000), 2, processes=True))
            next(iterator)
            del iterator
        return not open_files() <= before

    # Three times at most: other threads of the process may open and close files meanwhile, a leak is there each time.
    assert not all(is_left() for _ in range(3))


def test_iterators_may_be_in_several_threads() -> None:
    dataset = Dataset.range(100).map(lambda x: x + 1, 2, processes=True).prefetch(3)
    both = Dataset.zip((dataset, dataset)).map(lambda x, y: x + y, 2)
    assert numbers(both) == [2 * x for x in range(1, 101)]


PROGRAM = """
import os, signal, sys, time
from agog_data import Dataset
signal.signal(signal.SIGINT, signal.default_int_handler)  # the shell has what it runs in the background ignore it
def function(x):
    time.sleep(0.02)
    return os.getpid()
iterator = iter(Dataset.range(10**9).map(function, 2, processes=True){then})
print(*sorted({{int(next(iterator)) for _ in range(20)}}), flush=True)
{end}
"""


def run(end: str, then: str = "") -> tuple[subprocess.Popen[str], list[int]]:
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(end=end, then=then)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert program.stdout is not None
    return program, [int(pid) for pid in program.stdout.readline().split()]


def assert_gone(pids: list[int]) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not any(_runs(pid) for pid in pids):
            return
        time.sleep(0.05)
    raise AssertionError(f"the processes {pids} still run")


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("then", ["", ".prefetch(2)"])
@pytest.mark.parametrize(("end", "code"), [("", 0), ("raise SystemExit(3)", 3)])
def test_a_program_ends_with_its_processes(end: str, code: int, then: str) -> None:
    program, pids = run(end, then)
    _, errors = program.communicate(timeout=60)
    assert (program.returncode, errors) == (code, "")
    assert len(pids) == 2
    assert_gone(pids)


@pytest.mark.parametrize("then", ["", ".prefetch(2)"])
def test_ctrl_c_ends_everything_at_once(then: str) -> None:
    program, pids = run("for _ in iterator: pass", then)
    os.killpg(program.pid, signal.SIGINT)  # as a terminal does: to all of them
    try:
        _, errors = program.communicate(timeout=60)  # it takes tenths of a second; the machine may be busy
    finally:
        program.kill()
    assert program.returncode == -signal.SIGINT
    assert errors.count("Traceback") == 1
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert_gone(pids)


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
def test_processes_do_not_outlive_a_killed_program() -> None:
    program, pids = run("for _ in iterator: pass")
    program.kill()
    program.communicate(timeout=60)
    assert_gone(pids)


PROGRAM_WITH_A_THREAD = """
import threading, time
from agog_data import Dataset

iterator = iter(Dataset.range(10**9).map(lambda x: x, 2, processes=True))
next(iterator)
threading.Thread(target=lambda: [None for _ in iterator], daemon=True).start()
time.sleep(0.1)
"""


def test_a_program_ends_in_silence_while_a_thread_still_iterates() -> None:
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", PROGRAM_WITH_A_THREAD], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
