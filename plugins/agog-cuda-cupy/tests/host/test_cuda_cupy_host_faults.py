"""Faults: what broken kernels do wrong is found, so that a kernel that passes on the host is worth something."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import host_module
import numpy as np
import pytest
from host_module import HostKernel, HostModule, LaunchError

from agog_testing import says

THREADS = 64


def _kernel(body: str, parameters: str = "float* x") -> HostKernel:
    return HostModule(f'extern "C" __global__ void broken({parameters}) {{ {body} }}\n').get_function("broken")


# What a kernel does, and the words of the error.
STOPPED = {
    "behind_the_array": ("x[threadIdx.x + 1] = 1;", "an access outside of all arrays"),
    "barrier_in_a_branch": (
        "if (threadIdx.x < 32) __syncthreads(); else x[0] = __shfl_xor_sync(~0u, 1.0f, 1) + (threadIdx.x < 48 ? "
        "__shfl_xor_sync(~0u, 1.0f, 1) : (__syncthreads(), 0));",
        "threads wait for each other for ever: a barrier or a warp operation in a branch",
    ),
    "barrier_after_the_end": ("if (threadIdx.x == 3) return; __syncthreads();", "__syncthreads waits for threads that"),
    "lane_has_ended": (
        "if (threadIdx.x == 3) return; x[threadIdx.x] = __shfl_xor_sync(~0u, 1.0f, 1);",
        "a warp operation waits for a lane that does not exist or has ended",
    ),
    "lane_is_masked": (
        "x[threadIdx.x] = __shfl_xor_sync(1u, 1.0f, 1);",
        "a warp operation by a lane that its mask leaves out; block (0, 0, 0), thread (1, 0, 0)",
    ),
}


@pytest.mark.parametrize("name", STOPPED)
def test_a_wrong_step_stops_the_kernel(name: str) -> None:
    body, words = STOPPED[name]
    with pytest.raises(LaunchError) as caught:
        _kernel(body)((1,), (THREADS,), (np.zeros(THREADS, "f4"),))
    assert words in str(caught.value)


def test_an_access_before_the_array_stops_the_kernel() -> None:
    with pytest.raises(LaunchError, match="an access outside of all arrays"):
        _kernel("x[(int)threadIdx.x - 1] = 1;")((1,), (THREADS,), (np.zeros(THREADS, "f4"),), order=1)


def test_pages_that_are_used_again_are_guarded_again(order: str) -> None:
    write = _kernel("x[threadIdx.x] = 5;")
    for size in (THREADS, 8, THREADS):
        x = np.zeros(size, "f4")
        write((1,), (size,), (x,))
        assert (x == 5).all()
        with pytest.raises(LaunchError, match="an access outside of all arrays"):
            write((1,), (size + 1,), (x,), order=0)


FORKED = """
import os
import numpy as np
from guarded_memory import guarded

x = guarded(np.zeros(3))
if not os.fork():
    x[...] = 1
    os._exit(0)
os.wait()
print(x)
"""


def test_a_forked_process_has_pages_of_its_own() -> None:
    command = [sys.executable, "-c", FORKED]
    assert subprocess.check_output(command, cwd=Path(__file__).parent, text=True) == "[0. 0. 0.]\n"


REVERSED = """
    __shared__ float parts[64];
    parts[threadIdx.x] = x[threadIdx.x];
    BARRIER
    y[threadIdx.x] = parts[63 - threadIdx.x];
"""


def _reversed(body: str, order: int) -> bool:
    """Whether a kernel that reverses 64 numbers does so."""
    x, y = np.arange(THREADS, dtype="f4"), np.zeros(THREADS, "f4")
    _kernel(body, "const float* x, float* y")((1,), (THREADS,), (x, y), order=order)
    return bool(np.array_equal(y, x[::-1]))


def test_a_barrier_that_is_there_is_right_in_every_order(order: str) -> None:
    assert _reversed(REVERSED.replace("BARRIER", "__syncthreads();"), HostKernel.order)


def test_a_missing_barrier_gives_wrong_numbers(order: str) -> None:
    assert not _reversed(REVERSED.replace("BARRIER", ""), HostKernel.order)


TWO_SUMS = """
    __shared__ float parts[2];
    for (int turn = 0; turn < 2; ++turn) {
        if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = __shfl_xor_sync(1u, x[threadIdx.x], 0) + turn;
        __syncthreads();
        x[threadIdx.x] = parts[0] + parts[1];
        BARRIER
    }
"""


@pytest.mark.parametrize("barrier", ["__syncthreads();", ""], ids=["there", "missing"])
def test_a_warp_that_overtakes_another_is_seen(barrier: str) -> None:
    results = []
    for order in range(4):
        x = np.ones(THREADS, "f4")
        _kernel(TWO_SUMS.replace("BARRIER", barrier))((1,), (THREADS,), (x,), order=order)
        results.append(bool((x == 6).all()))
    assert all(results) == bool(barrier)


def test_shared_memory_that_no_thread_has_written_is_not_zero(order: str) -> None:
    x = np.zeros(THREADS, "f4")
    _kernel("__shared__ float parts[64]; x[threadIdx.x] = parts[threadIdx.x];")((1,), (THREADS,), (x,))
    assert np.isnan(x).all()


def test_a_result_that_depends_on_the_order_of_threads_is_seen() -> None:
    seen = set()
    for order in range(4):
        last = np.zeros(1, "f4")
        _kernel("x[0] = threadIdx.x;")((1,), (THREADS,), (last,), order=order)
        seen.add(float(last[0]))
    assert len(seen) > 1


SUM_BY_EXCHANGES = """
    unsigned before = *(volatile unsigned*)x, expected;
    ONCE {
        expected = before;
        before = atomicCAS(x, expected, expected + 1);
    } AGAIN
"""


@pytest.mark.parametrize("is_repeated", [True, False])
def test_an_exchange_that_is_not_tried_again_is_seen(order: str, is_repeated: bool) -> None:
    repeat = ("do", "while (before != expected);") if is_repeated else ("", "")
    body = SUM_BY_EXCHANGES.replace("ONCE", repeat[0]).replace("AGAIN", repeat[1])
    count = np.zeros(1, "u4")
    _kernel(body, "unsigned* x")((1,), (THREADS,), (count,))
    assert (int(count[0]) == THREADS) == is_repeated


@pytest.mark.parametrize(
    ("sum_of_product", "difference"),
    [("x[0] * x[1] + x[2]", -(2.0**-60)), ("__dadd_rn(__dmul_rn(x[0], x[1]), x[2])", 0.0)],
    ids=["free", "rounded"],
)
def test_fused_arithmetic_shows_but_where_each_operation_is_rounded(sum_of_product: str, difference: float) -> None:
    code = f'extern "C" __global__ void kernel(double* x) {{ x[0] = {sum_of_product}; }}'
    results = []
    for is_fused in (False, True):
        x = np.array([1 + 2.0**-30, 1 - 2.0**-30, -1])
        HostModule(code, is_fused=is_fused).get_function("kernel")((1,), (1,), (x,))
        results.append(float(x[0]))
    assert results == [0.0, difference]


@pytest.mark.parametrize(
    ("launch", "words"),
    [
        (
            lambda kernel: kernel((1,), (2048,), (np.zeros(1, "f4"),)),
            "broken: no device takes blocks of (2048, 1, 1) threads in a grid of (1, 1, 1) blocks",
        ),
        (
            lambda kernel: kernel((0,), (32,), (np.zeros(1, "f4"),)),
            "broken: no device takes blocks of (32, 1, 1) threads in a grid of (0, 1, 1) blocks",
        ),
        (lambda kernel: kernel((1,), (32,), ()), "broken: the kernel takes 1 arguments; got 0"),
    ],
    ids=["too_many_threads", "no_blocks", "missing_argument"],
)
def test_a_launch_that_no_device_takes_is_refused(launch: Callable[[HostKernel], None], words: str) -> None:
    with says(LaunchError, words):
        launch(_kernel("x[0] = 1;"))


def test_an_argument_that_is_too_small_is_refused() -> None:
    kernel = _kernel("x[0] = n;", "float* x, long long n")
    x = np.zeros(1, "f4")
    kernel((1,), (1,), (x, 7))
    assert x[0] == 7
    with says(LaunchError, "broken: argument 1 has 4 bytes; the kernel takes 8"):
        kernel((1,), (1,), (x, np.int32(7)))


@pytest.mark.parametrize(
    ("parameter", "given", "words"),
    [
        ("double n", 1, "is of kind 'i'; the kernel reads it as 'f'"),
        ("double n", True, "is of kind 'b'; the kernel reads it as 'f'"),
        ("double n", np.float32(0.1), "has 4 bytes; the kernel takes 8"),
        ("float n", 0.1, "has 8 bytes; the kernel takes 4"),
        ("long long n", 1.0, "is of kind 'f'; the kernel reads it as 'i'"),
        ("bool n", 1, "is of kind 'i'; the kernel reads it as 'b'"),
        ("long long n", True, "is of kind 'b'; the kernel reads it as 'i'"),
        ("const float* n", 0, "is of kind 'i'; the kernel reads it as 'p'"),
        ("double n", np.zeros(1), "is of kind 'p'; the kernel reads it as 'f'"),
        ("double n", np.zeros((), "f8,f8")[()], "is of kind 'V'; the kernel reads it as 'f'"),
    ],
)
def test_an_argument_of_another_kind_is_refused(parameter: str, given: Any, words: str) -> None:
    kernel = _kernel("x[0] = 1;", f"float* x, {parameter}")
    with says(LaunchError, f"broken: argument 1 {words}"):
        kernel((1,), (1,), (np.zeros(1, "f4"), given))


def test_launches_leave_nothing_behind() -> None:
    kernel, x = _kernel("x[0] = n;", "float* x, int n"), np.zeros(1, "f4")

    def grown() -> int:
        before = len(gc.get_objects())
        for _ in range(100):
            kernel((1,), (1,), (x, np.int32(1)))
        return len(gc.get_objects()) - before

    grown()
    gc.collect()
    gc.disable()
    try:
        # Three times at most: threads of the test runner may make objects meanwhile, a leak does so each time.
        assert any(grown() == 0 for _ in range(3))
    finally:
        gc.enable()


def test_launches_make_no_types_that_only_the_garbage_collector_frees() -> None:
    kernel, x = _kernel("x[0] = n;", "float* x, int n"), np.zeros(1, "f4")
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        kernel((1,), (1,), (x, np.int32(1)))
        gc.collect()
        assert [item for item in gc.garbage if isinstance(item, type)] == []
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


def test_threads_of_the_host_launch_one_after_the_other() -> None:
    kernel = _kernel(REVERSED.replace("BARRIER", "__syncthreads();"), "const float* x, float* y")

    def launch(seed: int) -> bool:
        x = np.random.default_rng(seed).random(THREADS, "f4")
        y = np.zeros(THREADS, "f4")
        kernel((50,), (THREADS,), (x, y))
        return bool(np.array_equal(y, x[::-1]))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(launch, range(40)))


def test_threads_of_the_host_build_a_source_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_module, "_BUILT", tmp_path)
    start = threading.Barrier(4)

    def first_number(_: int) -> float:
        start.wait()
        x = np.zeros(THREADS, "f4")
        _kernel("x[threadIdx.x] = 5;")((1,), (THREADS,), (x,))
        return float(x[0])

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(first_number, range(4))) == [5] * 4
    assert [file.suffix for file in tmp_path.iterdir()] == [".so"]


def test_a_source_is_built_once_wherever_its_headers_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_module, "_BUILT", tmp_path / "built")
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "five.cuh").write_text("#define FIVE 5\n")
        code = '#include "five.cuh"\nextern "C" __global__ void five(float* x) { x[0] = FIVE; }\n'
        kernel = HostModule(code, [f"--include-path={tmp_path / place}"]).get_function("five")
        x = np.zeros(1, "f4")
        kernel((1,), (1,), (x,))
        assert x == 5
    assert len([*(tmp_path / "built").iterdir()]) == 1


def test_what_another_thread_writes_to_an_input_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = _kernel("y[threadIdx.x] = x[threadIdx.x];", "const float* x, float* y")
    x, y, run = np.ones(THREADS, "f4"), np.zeros(THREADS, "f4"), kernel._function

    def run_while_another_writes(*arguments: Any) -> int:
        x.fill(7)
        return int(run(*arguments))

    monkeypatch.setattr(kernel, "_function", run_while_another_writes)
    kernel((1,), (THREADS,), (x, y))
    assert (x == 7).all()
    assert (y == 1).all()


FAULT_BESIDE_A_KERNEL = """
import ctypes, faulthandler, threading
import numpy as np
from host_module import HostModule

faulthandler.enable()
code = 'extern "C" __global__ void endless(volatile float* x) { for (;;) ++x[0]; }'
kernel = HostModule(code).get_function("endless")
threading.Thread(target=kernel, args=((1,), (1,), (np.zeros(1, "f4"),)), daemon=True).start()
threading.Event().wait(0.2)
def read_nothing():
    ctypes.string_at(0)
read_nothing()
"""


def test_a_fault_of_another_thread_is_told_as_its_own() -> None:
    command = [sys.executable, "-c", FAULT_BESIDE_A_KERNEL]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGSEGV
    assert "in read_nothing" in done.stderr


def test_an_array_with_gaps_is_refused() -> None:
    with says(TypeError, "A kernel takes arrays that lie in one piece; got strides (8,)."):
        _kernel("x[0] = 1;")((1,), (1,), (np.zeros(8, "f4")[::2],))


def test_an_unknown_kernel_is_named() -> None:
    module = HostModule('extern "C" __global__ void one(float* x) {}\nextern "C" __global__ void two(float* x) {}\n')
    with says(AttributeError, "The source has no kernel 'three'; it has one, two."):
        module.get_function("three")
