"""NCCL: collectives of two threads that stand for processes, each with a device of its own, beside NumPy."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import cupy
import ml_dtypes
import numpy as np
import pytest
from cupy_on_numpy import counting

import agog_core as ag
import agog_distribute as distribute
from agog_core.errors import AbortedError
from agog_cuda_cupy import nccl
from agog_distribute import Group
from agog_testing import says


class Hosts:
    """The hosts of several threads, which lay what they have on a common table."""

    def __init__(self, rank: int, table: list[Any], barrier: threading.Barrier) -> None:
        self.rank = self.local_rank = rank
        self.size = self.local_size = len(table)
        self._table, self._barrier = table, barrier
        self.aborted: list[str] = []

    def exchange(self, message: Any) -> list[Any]:
        self._table[self.rank] = message
        self._barrier.wait(20)
        found = list(self._table)
        self._barrier.wait(20)
        return found

    def agree(self, number: int) -> bool:
        return len(set(self.exchange(number))) == 1

    def all_reduce(self, array: Any, reduction: str) -> Any:
        return sum(self.exchange(array))

    def barrier(self) -> None:
        self._barrier.wait(20)

    def split(self, ranks: Sequence[int]) -> Any:
        assert list(ranks) == [self.rank]
        return Hosts(0, [None], threading.Barrier(1))

    def abort(self, message: str) -> None:
        self.aborted.append(message)


def together(function: Callable[[Hosts], Any], devices: Sequence[int] = (0, 1)) -> list[Any]:
    """Call a function in a thread for each device; gives results, or what is raised."""
    table, barrier = [None] * len(devices), threading.Barrier(len(devices))
    results: list[Any] = [None] * len(devices)

    def work(rank: int) -> None:
        try:
            with cupy.cuda.Device(devices[rank]):
                results[rank] = function(Hosts(rank, table, barrier))
        except Exception as error:
            results[rank] = error
            barrier.abort()

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(len(devices))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def of(rank: int, dtype: str, shape: tuple[int, ...]) -> Any:
    """What a rank has: small whole numbers, which all dtypes add exactly."""
    return np.random.default_rng(rank).integers(0, 9, shape).astype(getattr(ml_dtypes, dtype, dtype))


NUMBERS = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)
SHAPES = ((4, 3), (2,), (0, 2))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_collectives_give_what_numpy_gives(dtype: str, shape: tuple[int, ...]) -> None:
    xs = np.stack([of(rank, dtype, shape) for rank in range(2)])
    whole = xs.sum(0, dtype=xs.dtype)
    mean = (xs.astype(xs.dtype if xs.dtype.kind == "c" else "float64").sum(0) / 2).astype(xs.dtype)

    def work(hosts: Hosts) -> dict[str, Any]:
        comm: Any = nccl.connect(hosts)
        x = cupy.array(xs[hosts.rank])
        found = {
            "sum": comm.all_reduce(x, "sum"),
            "all_gather": comm.all_gather(x),
            "reduce_scatter": comm.reduce_scatter(x, "sum"),
            "broadcast": comm.broadcast(x, 1),
            "all_to_all": comm.all_to_all(x),
        }
        if not dtype.startswith("complex"):
            found |= {name: comm.all_reduce(x, name) for name in ("max", "min")}
        if dtype.startswith(("float", "bfloat", "complex")):
            found |= {"mean": comm.all_reduce(x, "mean"), "part of mean": comm.reduce_scatter(x, "mean")}
        comm.barrier()
        assert all(array.dtype == x.dtype for array in found.values())
        return {name: array.get() for name, array in found.items()}

    for rank, found in enumerate(together(work)):
        wanted = {
            **{"sum": whole, "max": xs.max(0), "min": xs.min(0), "mean": mean},
            **{"all_gather": np.concatenate(xs), "broadcast": xs[1], "part of mean": np.split(mean, 2)[rank]},
            **{"reduce_scatter": np.split(whole, 2)[rank]},
            "all_to_all": np.concatenate([np.split(x, 2)[rank] for x in xs]),
        }
        for name, array in found.items():
            np.testing.assert_array_equal(array, wanted[name], name)


def test_scalars_and_truth_values() -> None:
    def work(hosts: Hosts) -> Any:
        comm: Any = nccl.connect(hosts)
        truth = comm.all_gather(cupy.array([bool(hosts.rank), True]))
        return float(comm.all_reduce(cupy.array(hosts.rank + 1.5), "sum")), truth.tolist()

    assert together(work) == [(4.0, [False, True, True, True])] * 2


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("reduction", ["max", "min"])
def test_extrema_are_nan_where_one_is(reduction: str, dtype: str) -> None:
    def work(hosts: Hosts) -> Any:
        comm: Any = nccl.connect(hosts)
        x = np.array([np.nan if hosts.rank else 1.0, hosts.rank]).astype(getattr(ml_dtypes, dtype, dtype))
        return comm.all_reduce(cupy.array(x), reduction).get().astype("f8")

    for found in together(work):
        np.testing.assert_array_equal(found, [np.nan, reduction == "max"])


def test_collectives_wait_for_nothing() -> None:
    def work(hosts: Hosts) -> None:
        comm: Any = nccl.connect(hosts)
        x = cupy.zeros((4, 2), "float32")
        hosts.barrier()
        counting.reset()
        hosts.barrier()
        for reduction in ("sum", "mean", "max"):
            comm.all_reduce(x, reduction)
        comm.all_to_all(comm.reduce_scatter(comm.all_gather(comm.broadcast(x, 0)), "sum"))

    assert together(work) == [None, None]
    assert counting.waits == {}


def test_two_processes_with_one_gpu_are_not_connected() -> None:
    assert together(nccl.connect, devices=(1, 1)) == [None, None]


def test_a_smaller_group_has_a_communicator_of_its_own() -> None:
    def work(hosts: Hosts) -> Any:
        comm: Any = nccl.connect(hosts)
        alone = comm.split([hosts.rank])
        return alone.size, float(alone.all_reduce(cupy.array(hosts.rank + 1.0), "sum"))

    assert together(work) == [(1, 1.0), (1, 2.0)]


def test_one_process_has_its_own_mean() -> None:
    with cupy.cuda.Device(0):
        comm: Any = nccl.connect(Hosts(0, [None], threading.Barrier(1)))
        x = cupy.array([1.5, 2.5])
        assert comm.all_reduce(x, "mean").tolist() == [1.5, 2.5]
        assert comm.reduce_scatter(x, "mean").tolist() == [1.5, 2.5]


def test_a_process_that_is_gone_ends_the_others_collectives() -> None:
    def work(hosts: Hosts) -> Any:
        comm: Any = nccl.connect(hosts)
        hosts.barrier()  # all are connected
        if hosts.rank:
            comm.abort("It ends.")
            return hosts.aborted
        with pytest.raises(AbortedError) as told:
            comm.all_reduce(cupy.zeros(2), "sum")
        return str(told.value)

    told, ended = together(work)
    assert told == (
        "NCCL's allReduce has failed: NCCL_ERROR_REMOTE_ERROR: remote process exited or there was a network error. A "
        "process or a link is gone, or NCCL cannot work here: run the program with NCCL_DEBUG=WARN in the environment "
        "to learn more."
    )
    assert ended == ["It ends."]


def on_gpu(function: Callable[[Group, ag.Tensor], ag.Tensor], devices: Sequence[int] = (0, 1)) -> list[Any]:
    """What a function of a group and a rank's numbers on its device gives, and the gradient."""

    def work(hosts: Hosts) -> Any:
        group: Any = Group(range(2), hosts)
        with ag.device(f"/gpu:{devices[hosts.rank]}"), ag.GradientTape() as tape:
            x = ag.constant([1.0 + hosts.rank, 2.0])
            tape.watch(x)
            y = function(group, x)
        assert y.device.endswith(f"GPU:{devices[hosts.rank]}")
        return y.numpy().tolist(), tape.gradient(y, x).numpy().tolist(), type(group.on(f"gpu:{devices[hosts.rank]}"))

    return together(work, devices)


def test_ops_of_tensors_on_gpus_have_gradients() -> None:
    wanted = [3.0, 4.0], [2.0, 2.0], nccl.NCCLCommunicator
    assert on_gpu(lambda group, x: distribute.all_reduce(x, "sum", group)) == [wanted] * 2


def test_processes_with_one_gpu_compute_through_the_host() -> None:
    found = on_gpu(lambda group, x: distribute.all_reduce(x, "sum", group), devices=(0, 0))
    assert [(y, gradient) for y, gradient, _ in found] == [([3.0, 4.0], [2.0, 2.0])] * 2
    assert all(kind is not nccl.NCCLCommunicator for *_, kind in found)


def test_one_process_computes_alone() -> None:
    with ag.device("/gpu:0"):
        x = ag.constant([[1.0, 2.0], [3.0, 4.0]])
        y = distribute.all_reduce(ag.transpose(x))
    assert y.device.endswith("GPU:0")
    assert y.numpy().tolist() == [[1, 3], [2, 4]]


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupy.cuda.nccl, "available", False)
    nccl.unavailable.cache_clear()
    assert nccl.unavailable() == "NCCL is not installed: pip install nvidia-nccl-cu12, or nvidia-nccl-cu13"
    nccl.unavailable.cache_clear()


def test_what_nccl_refuses_names_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise cupy.cuda.nccl.NcclError("NCCL_ERROR_SYSTEM_ERROR: unhandled system error")

    monkeypatch.setattr(cupy.cuda.nccl, "NcclCommunicator", refuse)
    text = (
        "NCCL's connect has failed: NCCL_ERROR_SYSTEM_ERROR: unhandled system error. A process or a link is gone, or "
        "NCCL cannot work here: run the program with NCCL_DEBUG=WARN in the environment to learn more."
    )
    with says(AbortedError, text):
        nccl.connect(Hosts(0, [None], threading.Barrier(1)))
