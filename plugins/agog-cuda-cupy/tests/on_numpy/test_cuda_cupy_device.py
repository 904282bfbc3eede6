"""What programs do with GPUs: choose one, compute on it, copy to, from and between them, and run out of memory."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import cupy
import cupyx
import numpy as np
import pytest
from cupy_on_numpy import counting, cuda_devices, faults

import agog_core as ag
from agog_core.dispatch.devices.lookup import clear_tables, get_device
from agog_cuda_cupy import memory, streams, transfers
from agog_testing import says

GPU_0, GPU_1 = (f"/job:localhost/replica:0/task:0/device:GPU:{index}" for index in range(2))


def test_gpus_are_listed() -> None:
    assert [name for name in ag.list_devices() if "GPU" in name] == [GPU_0, GPU_1]
    assert ag.count_devices("gpu") == 2


def test_scope_decides_where_tensors_live() -> None:
    with ag.device("/gpu:1"):
        x = ag.constant([1.0])
        y = ag.square(x)
    assert (x.device, y.device) == (GPU_1, GPU_1)
    assert type(y._array) is cupy.ndarray
    assert y._array.device.id == 1


def test_tensors_go_to_the_gpu_and_back() -> None:
    x = ag.constant([1.0, 2.0])
    there = x.gpu()
    back = there.cpu()
    assert (there.device, back.device) == (GPU_0, x.device)
    assert back.numpy().tolist() == [1.0, 2.0]


def test_tensors_go_from_one_gpu_to_another_past_the_host() -> None:
    with ag.device("/gpu:0"):
        x = ag.transpose(ag.constant([[1.0, 2.0], [3.0, 4.0]]))
    counting.reset()
    y = x.gpu(1)
    assert (counting.waits, counting.uploads) == ({}, {})
    assert y.device == GPU_1
    assert y.numpy().tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_copy_between_gpus_of_nothing_and_of_one_number() -> None:
    for value in (np.zeros((0, 3), "float32"), np.array(5, "int64")):
        copied = transfers.copy_from(transfers.from_host(value, 0), 0, 1)
        assert copied.device.id == 1
        np.testing.assert_array_equal(transfers.to_host(copied), value, strict=True)


def test_strings_and_float8_stay_on_the_host() -> None:
    with ag.device("/gpu:0"):
        assert "CPU" in ag.constant("text").device
        assert "CPU" in ag.cast(ag.constant(1.0), ag.float8_e5m2).device
        assert "GPU" in ag.cast(ag.constant(1.0), ag.bfloat16).device


def test_pinned_memory_may_be_written_once_it_is_copied() -> None:
    host = memory.allocate_host((3,), "float32")
    host[:] = 1
    there = transfers.from_host(host, 0)
    host[:] = 2
    assert transfers.to_host(there).tolist() == [1, 1, 1]


def test_a_thread_that_has_set_nothing_computes_on_the_tensors_gpu() -> None:
    with ag.device("/gpu:1"):
        x = ag.constant([2.0])
    found = []

    def work() -> None:
        with cupy.cuda.Stream(non_blocking=True):  # whatever stream the program uses
            found.append((ag.square(x).numpy().tolist(), cupy.cuda.Device().id))

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert found == [([4.0], 0)]


def test_kernels_run_on_the_compute_stream() -> None:
    seen = []
    kernel = streams.bind(lambda: seen.append((cupy.cuda.Device().id, cupy.cuda.get_current_stream())), "op", "", 1)
    with cupy.cuda.Stream(non_blocking=True):
        kernel()
    assert seen == [(1, cupy.cuda.Stream.null)]
    assert cupy.cuda.Device().id == 0


def test_a_view_keeps_its_value_when_a_variable_is_written() -> None:
    with ag.device("/gpu:0"):
        v = ag.Variable([1.0, 2.0, 3.0, 4.0])
        view = ag.reshape(v, [2, 2])
        v.assign_add([10.0] * 4)
    assert view.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert v.numpy().tolist() == [11.0, 12.0, 13.0, 14.0]


def test_base_of_a_view_is_the_array_that_owns_the_memory() -> None:
    x = cupy.zeros((2, 3))
    assert transfers.base(x) is x
    assert transfers.base(x.T[1:]) is x


def test_copies_are_contiguous_and_their_own() -> None:
    x = transfers.from_host(np.arange(6.0).reshape(2, 3), 0)
    copied = transfers.copy(x.T)
    x.fill(0)
    assert copied.flags.c_contiguous
    assert copied.get().tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]


# Prefetching: the copy comes after what the compute stream does with the memory, and before what is asked for later.


def test_prefetched_values_are_there_for_the_next_kernel() -> None:
    host = memory.allocate_host((3,), np.dtype("float32"))
    host[...] = [1.0, 2.0, 3.0]
    counting.reset()
    x = streams.prefetch(host, 1)
    assert counting.waits == {}
    with cupy.cuda.Device(1):
        assert (x + x).get().tolist() == [2.0, 4.0, 6.0]


def test_prefetch_waits_for_the_compute_stream_and_makes_it_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def name(stream: object) -> str:
        return "compute" if stream is cupy.cuda.Stream.null else "copying"

    def note(method: str) -> None:
        plain = getattr(cuda_devices.Stream, method)

        def noted(self: object, *arguments: object) -> object:
            order.append(f"{name(self)} {method}")
            return plain(self, *arguments)

        monkeypatch.setattr(cuda_devices.Stream, method, noted)

    note("record")
    note("wait_event")
    streams.prefetch(np.zeros(3), 0)
    assert order == ["compute record", "copying wait_event", "copying record", "compute wait_event"]


def test_prefetch_keeps_host_memory_as_long_as_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    late = cuda_devices.Stream.wait_event
    held = []

    def wait_event(self: cuda_devices.Stream, event: cuda_devices.Event) -> None:
        if self is cupy.cuda.Stream.null:
            held.append(event)  # the compute stream is behind
        else:
            late(self, event)

    monkeypatch.setattr(cuda_devices.Stream, "wait_event", wait_event)
    x = streams.prefetch(np.array([7.0]), 0)
    gc.collect()
    late(cupy.cuda.Stream.null, held[0])  # it would raise where nobody holds the memory
    assert x.get().tolist() == [7.0]
    streams.prefetch(np.array([8.0]), 0)
    assert len(streams._read) == 1


def test_dataset_elements_come_ahead_from_pinned_memory() -> None:
    device = get_device("gpu:0")
    array = device.prefetched(np.array([1.0, 2.0]))
    assert (array.device.id, array.get().tolist()) == (0, [1.0, 2.0])


# Memory.


def test_memory_stats_follow_arrays() -> None:
    before = ag.memory_stats("gpu:1")
    x = transfers.from_host(np.zeros(1 << 18, "float32"), 1)
    during = ag.memory_stats("gpu:1")
    del x
    after = ag.memory_stats("gpu:1")
    assert during.in_use - before.in_use == 1 << 20
    assert (after.in_use, after.limit, after.total) == (before.in_use, None, 16 << 30)
    assert after.reserved >= 1 << 20
    ag.free_cached_memory("gpu:1")
    assert ag.memory_stats("gpu:1").reserved == after.in_use


def test_the_peak_is_the_most_that_the_pool_has_held() -> None:
    ag.free_cached_memory("gpu:1")
    start = ag.memory_stats("gpu:1")
    x = transfers.from_host(np.zeros(start.peak + 512, "uint8"), 1)  # more than there ever was
    y = transfers.from_host(np.zeros(512, "uint8"), 1)
    peak = start.in_use + x.nbytes + y.nbytes
    del x, y
    ag.free_cached_memory("gpu:1")
    stats = ag.memory_stats("gpu:1")
    assert (stats.peak, stats.reserved, stats.in_use) == (peak, start.in_use, start.in_use)


def test_out_of_memory_is_told_and_can_be_mended() -> None:
    ag.set_memory_limit(1 << 20, "gpu:1")
    try:
        assert ag.memory_stats("gpu:1").limit == 1 << 20
        with ag.device("gpu:1"):
            with pytest.raises(ag.errors.ResourceExhaustedError) as caught:
                ag.zeros([1 << 20])
            kept = ag.zeros([1 << 16])
            del kept  # CuPy refuses what is larger than a block that it keeps
            assert ag.zeros([1 << 17]).shape == (1 << 17,)
    finally:
        ag.set_memory_limit(None, "gpu:1")
    assert (
        str(caught.value)
        .partition(" [")[0]
        .startswith("The GPU is out of memory: Out of memory allocating 4,194,304 bytes (allocated so far: ")
    )
    assert "Use smaller batches, delete tensors, or raise the limit that set_memory_limit has set." in str(caught.value)
    assert ag.memory_stats("gpu:1").limit is None


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kernel calls are checked, and waited for."""
    monkeypatch.setenv("AGOG_CHECK", "1")
    clear_tables()
    yield
    monkeypatch.undo()
    clear_tables()


# CuPy asks CUDA's driver to launch, which has its own names, and its runtime for the rest.
FAULTS: dict[str, tuple[Callable[[ag.Tensor], Any], str]] = {
    "launch": (ag.exp, "CUDA_ERROR_ILLEGAL_ADDRESS"),
    "wait": (ag.Tensor.numpy, "cudaErrorIllegalAddress"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_told_by_what_comes_later_with_how_to_find_the_op(what: str) -> None:
    call, name = FAULTS[what]
    with ag.device("/gpu:0"):
        x = ag.constant([1.0, 2.0])
        with faults.planted("square"):
            ag.square(x)
            with pytest.raises(RuntimeError) as caught:
                call(x)
    assert str(caught.value) == (
        f"{name}: an illegal memory access was encountered. A kernel that ran before has failed, and "
        "CUDA refuses all work of this process from now on. To learn which op it was, start the program anew with "
        "AGOG_CHECK=1 in the environment, which waits after each op."
    )


@pytest.mark.usefixtures("checked")
def test_a_fault_is_told_by_its_own_op_while_calls_are_checked() -> None:
    with ag.device("/gpu:0"):
        x = ag.constant([1.0, 2.0])
        with faults.planted("square"), pytest.raises(RuntimeError) as caught:
            ag.square(x)
    assert str(caught.value) == (
        "cudaErrorIllegalAddress: an illegal memory access was encountered. The kernel has failed, and CUDA refuses "
        "all work of this process from now on."
    )
    (note,) = caught.value.__notes__
    assert note.endswith(
        "of plugin 'cuda-cupy' (agog-cuda-cupy 0.1.0) for op 'square' on device 'gpu:0' with dtype float32, called "
        "with float32 (2,)"
    )


@pytest.mark.usefixtures("checked")
def test_a_late_error_is_told_by_its_own_op_while_calls_are_checked() -> None:
    with ag.device("/gpu:0"):
        x, indices = ag.constant([1.0]), ag.constant([3])
        with pytest.raises(ag.errors.InvalidArgumentError, match=r"gather: indices\[0\] = 3"):
            ag.gather(x, indices)


@pytest.mark.parametrize(
    "name", ["CUDA_ERROR_OUT_OF_MEMORY", "CUBLAS_STATUS_ALLOC_FAILED", "cudaErrorMemoryAllocation"]
)
def test_memory_that_is_short_outside_of_the_pool_is_told_as_such(name: str) -> None:
    error = memory.translate(RuntimeError(f"{name}: out of memory"))
    assert type(error) is ag.errors.ResourceExhaustedError
    assert str(error) == (
        f"The GPU is out of memory: {name}: out of memory. Use smaller batches, delete tensors, or raise the limit "
        "that set_memory_limit has set."
    )


def test_errors_that_do_not_last_stay_as_they_are() -> None:
    assert memory.translate(cuda_devices.CUDARuntimeError("cudaErrorInvalidValue: invalid argument")) is None
    assert memory.translate(ValueError("anything else")) is None


# Errors that come late.


def test_an_index_out_of_range_is_told_when_somebody_waits() -> None:
    with ag.device("/gpu:0"):
        x = ag.constant([1.0, 2.0])
        counting.reset()
        y = ag.gather(x, ag.constant([0, 5]))
        assert counting.waits == {}
    with says(
        ag.errors.InvalidArgumentError,
        "gather: indices[1] = 5 is not in [0, 2): params has shape (2,), and the axis is 0.",
    ):
        y.numpy()
    assert y.numpy().shape == (2,)  # it is told once


def test_an_index_is_looked_at_though_waits_are_forbidden() -> None:
    with ag.device("/gpu:0"):
        x, indices = ag.constant([1.0, 2.0]), ag.constant([0, 5])
        with cupyx.allow_synchronize(False):
            ag.gather(x, indices)
        with pytest.raises(ag.errors.InvalidArgumentError, match=r"indices\[1\] = 5 is not in \[0, 2\)"):
            get_device("gpu:0").synchronize()


def test_the_first_of_several_errors_is_told() -> None:
    with ag.device("/gpu:0"):
        x = ag.constant([6, 7])
        ag.gather(x, ag.constant([0, 1]))
        y = ag.floordiv(x, ag.constant([2, 0]))
        ag.gather(x, ag.constant([0, 5]))
    with pytest.raises(ag.errors.InvalidArgumentError, match="floordiv: Integer division by zero"):
        y.numpy()
    get_device("gpu:0").synchronize()


def test_an_error_of_one_gpu_is_not_told_by_another() -> None:
    with ag.device("/gpu:0"):
        ag.gather(ag.constant([1.0]), ag.constant([3]))
    get_device("gpu:1").synchronize()
    with pytest.raises(ag.errors.InvalidArgumentError, match=r"gather: indices\[0\] = 3"):
        get_device("gpu:0").synchronize()


# Clocks and other libraries.


def test_timer_gives_seconds_of_the_device() -> None:
    stop = streams.timer(0)
    assert 0 <= stop() < 60


def test_arrays_of_other_libraries_are_copied_in_and_out() -> None:
    with cupy.cuda.Device(1):
        theirs = cupy.arange(3.0)
    x = ag.from_dlpack(theirs)
    theirs.fill(0)
    assert (x.device, x.numpy().tolist()) == (GPU_1, [0.0, 1.0, 2.0])
    with cupy.cuda.Device(1):
        out = cupy.from_dlpack(x)
        out.fill(9)
    assert x.numpy().tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(BufferError, match="CuPy cannot mark memory as read-only; allow a copy"):
        x.__dlpack__(max_version=(1, 0), copy=False)
