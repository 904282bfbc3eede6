"""The stand-in is no more than CuPy is: its names are CuPy's, and it refuses what CuPy refuses."""

from __future__ import annotations

import gc

import cupy
import cupyx
import numpy as np
import pytest
from cupy_on_numpy import counting, cuda_devices, cuda_modules, faults, pools
from cupy_on_numpy.assembling import assembled
from cupy_on_numpy.surface import CLASSES, MODULES


@pytest.mark.parametrize("name", sorted(MODULES))
def test_modules_have_no_names_that_cupy_has_not(name: str) -> None:
    mine = {each for each, value in vars(assembled()[name]).items() if not each.startswith("_") and value is not None}
    submodules = {full.rpartition(".")[2] for full in assembled()}
    assert mine - MODULES[name].keys() - submodules == set()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("cupy.ndarray", cupy.ndarray),
        ("cupy.ufunc", cupy.ufunc),
        ("cupy.cuda.Device", cuda_devices.Device),
        ("cupy.cuda.Event", cuda_devices.Event),
        ("cupy.cuda.Function", cuda_modules.Function),
        ("cupy.cuda.Stream", cuda_devices.Stream),
        ("cupy.cuda.MemoryPointer", type(cupy.zeros(1).data)),
        ("cupy.cuda.MemoryPool", pools.MemoryPool),
        ("cupy.cuda.Module", cuda_modules.Module),
        ("cupy.cuda.PinnedMemoryPool", pools.PinnedMemoryPool),
    ],
)
def test_classes_have_no_names_that_cupy_has_not(name: str, kind: type) -> None:
    mine = {each for each in dir(kind) if not each.startswith("_")}
    assert mine - CLASSES[name].keys() == set()


def test_host_arrays_are_refused() -> None:
    x = cupy.zeros(3)
    with pytest.raises(TypeError, match="Implicit conversion to a NumPy array is not allowed"):
        np.asarray(x)
    with pytest.raises(TypeError, match="Unsupported type"):
        cupy.add(x, np.ones(3))


def test_arrays_of_another_device_are_refused() -> None:
    x = cupy.zeros(3)
    with cupy.cuda.Device(1), pytest.raises(ValueError, match="array device = 0 while current = 1"):
        cupy.negative(x)


def test_loops_are_cupys() -> None:
    with pytest.raises(TypeError, match="of arguments for cupy_bitwise_and"):
        cupy.bitwise_and(cupy.zeros(3), cupy.zeros(3))
    with pytest.raises(ValueError, match="Unsupported dtype"):
        cupy.zeros(3, "S1")


def test_reductions_that_cupy_has_not_are_refused() -> None:
    with pytest.raises(NotImplementedError, match=r"`cupy_maximum.reduce` is not supported yet"):
        cupy.maximum.reduce(cupy.zeros(3))


def test_keywords_that_cupy_has_not_are_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'initial'"):
        cupy.zeros(3).max(initial=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'where'"):
        cupy.max(cupy.zeros(3), where=True)


def test_reductions_and_elements_stay_on_the_device() -> None:
    assert type(cupy.zeros(3).sum()) is cupy.ndarray
    assert type(cupy.zeros(3)[0]) is cupy.ndarray
    assert counting.waits == {}


def test_waits_are_counted_with_their_line() -> None:
    assert bool(cupy.ones(1)[0]) is True
    ((text, count),) = counting.waits.items()
    assert text.startswith("bool(array) at test_cuda_cupy_standin.py:")
    assert count == 1


def test_waits_are_refused_where_they_are_forbidden() -> None:
    x = cupy.ones(1)
    with cupyx.allow_synchronize(False), pytest.raises(cupyx.DeviceSynchronized, match=r"ndarray.get at .*\.py:\d+"):
        x.get()
    assert x.get().tolist() == [1.0]


def test_a_copy_to_the_host_is_refused_too_though_it_does_not_block() -> None:
    x, host = cupy.ones(1), cupyx.empty_pinned(1)
    with cupyx.allow_synchronize(False), pytest.raises(cupyx.DeviceSynchronized, match=r"ndarray.get at .*\.py:\d+"):
        x.get(out=host, blocking=False)
    with cupyx.allow_synchronize(False):
        x.data.copy_to_host_async(host.ctypes.data, host.nbytes)
    assert host.view("uint8").tolist() == [0xA5] * 8
    assert counting.waits == {}
    cupy.cuda.Stream.null.synchronize()
    assert host.tolist() == [1.0]


def test_other_streams_run_late() -> None:
    stream = cupy.cuda.Stream(non_blocking=True)
    x = cupy.zeros(2, "float32")
    host = np.array([1.0, 2.0], "float32")
    x.set(host, stream=stream)
    event = stream.record()
    assert not event.done
    assert x.get().tolist() == [0.0, 0.0]
    cupy.cuda.Stream.null.wait_event(event)
    assert x.get().tolist() == [1.0, 2.0]


def test_memory_is_counted() -> None:
    pool = cupy.get_default_memory_pool()
    before = pool.used_bytes()
    x = cupy.zeros(1000, "uint8")
    assert pool.used_bytes() - before == 1024
    del x
    assert pool.used_bytes() == before


def test_a_limit_refuses_though_blocks_are_kept_that_are_too_small() -> None:
    pool, size = cupy.get_default_memory_pool(), 1 << 26  # more than what other tests leave
    before = cupy.cuda.get_allocator()
    cupy.cuda.set_allocator(pool.malloc)
    gc.collect()
    pool.free_all_blocks()
    x = cupy.empty(size // 2, "uint8")
    del x
    pool.set_limit(size=pool.total_bytes() + size // 2 + (1 << 20))
    try:
        assert cupy.empty(size // 2, "uint8").nbytes == size // 2  # the kept block
        with pytest.raises(MemoryError, match="Out of memory allocating 67,108,864 bytes"):
            cupy.empty(size, "uint8")
        pool.free_all_blocks()
        assert cupy.empty(size, "uint8").nbytes == size
    finally:
        pool.set_limit(size=0)
        cupy.cuda.set_allocator(before)


def test_allocators_are_asked() -> None:
    asked = []

    def allocate(size: int) -> object:
        asked.append(size)
        return cupy.get_default_memory_pool().malloc(size)

    before = cupy.cuda.get_allocator()
    cupy.cuda.set_allocator(allocate)
    try:
        x = cupy.zeros(3, "uint8")
    finally:
        cupy.cuda.set_allocator(before)
    assert (asked, x.get().tolist()) == ([3], [0, 0, 0])


def test_products_round_to_tf32_where_the_handle_says_so() -> None:
    from cupy_backends.cuda.libs import cublas

    x, one = cupy.array(np.array([[1 + 2.0**-12]], "float32")), cupy.ones((1, 1), "float32")
    handle = cupy.cuda.get_cublas_handle()
    cublas.setMathMode(handle, 3)
    try:
        assert (x @ one).get().item() == 1.0
        assert cupy.einsum("ij,jk->ik", x, one).get().item() == 1.0
    finally:
        cublas.setMathMode(handle, 0)
    assert (x @ one).get().item() == 1 + 2.0**-12


def test_a_fault_is_told_by_the_next_call_and_by_each_one_then() -> None:
    x = cupy.ones(3)
    with faults.planted("negative"):
        y = cupy.negative(x)
        for _ in range(2):
            with pytest.raises(faults.CUDADriverError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
                cupy.add(x, x)
        with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match="cudaErrorIllegalAddress"):
            y.get()
    assert cupy.add(x, x).get().tolist() == [2.0, 2.0, 2.0]
