"""Workers: a kernel that crashes, hangs or exits is a failed test, and the tests of other ops go on."""

from __future__ import annotations

import ctypes
import dataclasses
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from square_checks import COUNT, COUNT_OF_INT8

from agog_core.plugin import Conformance, Kernel
from agog_testing import stopwatch
from agog_testing.conformance import main, workers
from agog_testing.conformance.workers import Died, Workers
from agog_testing.opinfo import table

Array = np.ndarray[Any, Any]


def crash(x: Array) -> Array:
    ctypes.string_at(0)
    return x


def hang(x: Array) -> Array:
    Event().wait()
    return x


def hang_in_a_loop(x: Array) -> Array:
    while True:
        pass


def hang_in_native_code(x: Array) -> Array:
    ctypes.PyDLL(None).sleep(1000)  # keeps the interpreter's lock
    return x


def leave(x: Array) -> Array:
    os._exit(0)


def leave_politely(x: Array) -> Array:
    sys.exit(0)


def square(fn: Callable[..., Any], dtype: str = "float32") -> Kernel:
    return Kernel(op="square", device="cpu", fn=fn, dtypes=(dtype,))


EXP = Kernel(op="exp", device="cpu", fn=np.exp, dtypes=("float32",))


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        (crash, "its process ended by signal 11 (SIGSEGV)"),
        (hang, "it took longer than 3 seconds, and its process was ended"),
        (hang_in_a_loop, "it took longer than 3 seconds, and its process was ended"),
        (hang_in_native_code, "it took longer than 3 seconds, and its process was ended"),
        (leave, "its process ended with exit code 0"),
    ],
)
def test_end_of_a_process_is_a_failure(
    register: Callable[..., None], capfd: pytest.CaptureFixture[str], kernel: Callable[..., Any], why: str
) -> None:
    register(square(kernel), square(np.square, "int8"), EXP)
    assert main(["stranger", "--timeout", "3", "--jobs", "1"]) == 1
    out = capfd.readouterr().out.splitlines()
    assert out[1:3] == ["square/float32/value: FAILED", f"    {why}"]
    if kernel is not leave:  # which leaves no trace
        assert any(f"in {kernel.__name__}" in line for line in out[3:])
    assert out[-4:] == [
        "op      float32  int8",
        f"exp     {COUNT}       .",
        f"square  1F {COUNT - 1}n   {COUNT_OF_INT8}n",
        f"{COUNT} passed, 1 failed, {COUNT - 1 + COUNT_OF_INT8} not run",
    ]


def test_exit_by_an_exception_is_a_failure(register: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    register(square(leave_politely), EXP)
    assert main(["stranger", "--timeout", "30"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert "square/float32/value: FAILED" in out
    assert "    SystemExit: 0" in out


def test_crash_that_is_expected(register: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    conformance = Conformance(expected_failures={"square/float32/*": "crashes"})
    register(square(crash), EXP, conformance=conformance)
    assert main(["stranger"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{COUNT} passed, 0 failed, {COUNT} failed as expected"


def test_crash_when_a_kernel_is_imported(
    register: Callable[..., None],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "kernels_that_crash.py").write_text("import ctypes\nctypes.string_at(0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    register(Kernel(op="square", device="cpu", fn="kernels_that_crash:square", dtypes=("float32",)), EXP)
    assert main(["stranger"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == f"{COUNT} passed, 1 failed, {COUNT - 1} not run"


def test_crash_while_tests_are_collected(register: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    kernel = Kernel(op="square", device="cpu", fn=np.square, unavailable=lambda: os._exit(7))
    register(kernel)
    assert main(["stranger"]) == 2
    assert capsys.readouterr().err == (
        "agog-conformance: the tests of plugin 'stranger' cannot be collected: its process ended with exit code 7\n"
    )


def test_order_of_the_report_is_that_of_the_ops(
    register: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever process is done first: the first op waits for the second."""
    gate = multiprocessing.Event()

    def waiting(x: Array) -> Array:
        gate.wait()
        return np.asarray(np.exp(x))

    def opening(x: Array) -> Array:
        gate.set()
        return np.asarray(np.square(x))

    register(Kernel(op="exp", device="cpu", fn=waiting, dtypes=("float32",)), square(opening))
    assert main(["stranger", "--jobs", "2", "-v"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("/")[0] for line in lines[1 : 2 * COUNT + 1]] == ["exp"] * COUNT + ["square"] * COUNT


def test_system_that_cannot_fork(
    register: Callable[..., None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    register(square(np.square))
    assert main(["stranger"]) == 2
    assert capsys.readouterr().err == (
        "agog-conformance: the plugins stranger exist in this process only, and this system cannot fork it; install "
        "them, or run what agog_testing.conformance.collect returns.\n"
    )


def test_reference_takes_as_long_as_it_takes(
    register: Callable[..., None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    info = table["square"]

    def slow(x: Array) -> Array:
        time.sleep(0.03)
        return np.asarray(info.reference(x))

    monkeypatch.setitem(table, "square", dataclasses.replace(info, reference=slow, elementwise=False))
    register(square(np.square))
    assert main(["stranger", "--timeout", "1.5", "--jobs", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith(" passed, 0 failed")


def compute(seconds: float) -> None:
    """Use the processor for so long, however long that takes."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def answer(request: str) -> Iterator[Any]:
    if request == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    if request == "crowded":
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
        crowd = [multiprocessing.get_context("fork").Process(target=compute, args=(3.0,)) for _ in range(3)]
        for process in crowd:
            process.start()
        compute(1.0)
        for process in crowd:
            process.kill()
            process.join()
    if request == "reference":
        with stopwatch.stopped():
            compute(2.0)
    if request == "several":
        for number in range(4):
            compute(0.4)
            yield number
    if request == "policy":
        yield os.environ.get("OMP_WAIT_POLICY"), os.environ.get("KMP_BLOCKTIME")
    yield os.getpid() if request == "who" else request


@pytest.fixture
def pool() -> Iterator[Workers]:
    with Workers(answer, multiprocessing.get_context("fork")) as pool:
        yield pool


def test_worker_is_kept_for_the_next_request(pool: Workers) -> None:
    pids = {pid for _, pid in pool.run(["who"] * 3, 60)} | {pid for _, pid in pool.run(["who"], 60)}
    assert len(pids) == 1


def test_as_many_workers_as_jobs(pool: Workers) -> None:
    assert len({pid for _, pid in pool.run(["who"] * 20, 60, jobs=2)}) <= 2


def test_one_job_after_two(pool: Workers) -> None:
    list(pool.run(["who"] * 20, 60, jobs=2))
    assert len({pid for _, pid in pool.run(["who"] * 5, 60)}) == 1


def test_workers_end_by_themselves_when_nobody_asks_any_more() -> None:
    with Workers(answer, multiprocessing.get_context("fork")) as pool:
        list(pool.run(["who"] * 20, 60, jobs=2))
        processes = [worker.process for worker in pool._workers]
    assert {process.exitcode for process in processes} == {0}


def test_worker_that_is_stopped(pool: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_GRACE", 0.1)
    died = Died("it took longer than 0.2 seconds, and its process was ended")
    assert list(pool.run(["stop", "next"], 0.2)) == [("stop", died), ("next", "next")]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no process to a processor")
def test_worker_that_has_to_share_the_processor_is_not_charged_for_others(pool: Workers) -> None:
    """As a pool of threads makes others do that wait for work in a loop."""
    start = time.monotonic()
    assert list(pool.run(["crowded"], 1.8)) == [("crowded", "crowded")]
    assert time.monotonic() - start > 1.8


def test_worker_is_not_charged_for_references(pool: Workers) -> None:
    assert list(pool.run(["reference"], 0.6)) == [("reference", "reference")]


def test_time_is_for_each_answer(pool: Workers) -> None:
    assert [reply for _, reply in pool.run(["several"], 1.0)] == [0, 1, 2, 3, "several"]


def test_environment_of_workers_is_added_to_what_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.setenv("KMP_BLOCKTIME", "7")
    with Workers(answer, multiprocessing.get_context("fork"), workers.PATIENT) as pool:
        assert next(iter(pool.run(["policy"], 60))) == ("policy", ("passive", "7"))
    assert "OMP_WAIT_POLICY" not in os.environ


def test_worker_that_ends_between_requests(pool: Workers) -> None:
    """It ends of what it did before, and what it is asked for next is answered by another one."""
    assert list(pool.run(["first"], 60)) == [("first", "first")]
    (worker,) = pool._workers
    worker.process.kill()
    worker.process.join()
    died = Died("its process ended by signal 9 (SIGKILL)")
    assert list(pool.run(["second"], 60)) == [("first", died), ("second", "second")]


def test_ctrl_c_ends_all_processes(tmp_path: Path) -> None:
    (tmp_path / "hanging_hooks.py").write_text(
        "import os, time\n"
        "from agog_core.plugin import Kernel, hookimpl\n\n\n"
        "def square(x):\n"
        f"    open(os.path.join({str(tmp_path)!r}, 'pid'), 'w').write(str(os.getpid()) + '.')\n"
        "    time.sleep(1000)\n\n\n"
        "@hookimpl\n"
        "def agog_kernels():\n"
        "    yield Kernel(op='square', device='cpu', fn=square, dtypes=('float32',))\n"
    )
    metadata = tmp_path / "hanging-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: hanging\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[agog]\nhanging = hanging_hooks\n")
    command = [sys.executable, "-m", "agog_testing.conformance", "hanging", "--timeout", "500"]
    process = subprocess.Popen(command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, start_new_session=True)
    pid = tmp_path / "pid"
    while not (pid.exists() and pid.read_text().endswith(".")):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, _ = process.communicate()
    assert process.returncode == 130
    assert out.splitlines()[-1] == f"0 passed, 0 failed, {COUNT} not run"
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text().rstrip(".")), 0)
