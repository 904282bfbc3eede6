"""Fake arrays refuse every access from the host but the counted copies."""

from __future__ import annotations

import gc
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
import agog_fake
from agog_core.errors import ResourceExhaustedError
from agog_core.plugin import Kernel, hookimpl
from agog_fake import Copies, FakeArray, backend, kernels
from agog_fake.stream import on
from agog_testing import says

REFUSAL = (
    "<FakeArray of shape (2,) and dtype float32 on fake:0> was used as if it were in host memory. Compute with ops, or "
    "copy it with the backend's to_host (for a tensor: tensor.numpy())."
)
ACCESSES: dict[str, Callable[[Any], Any]] = {
    "asarray": np.asarray,
    "ufunc": np.square,
    "ufunc with an array": lambda x: np.ones(2) + x,
    "reflected": lambda x: x + np.ones(2),
    "function": np.sum,
    "function that joins": lambda x: np.concatenate([x, x]),
    "len": len,
    "iteration": iter,
    "membership": lambda x: 1.0 in x,
    "index": lambda x: x[0],
    "write": lambda x: operator.setitem(x, 0, 1.0),
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "operator.index": operator.index,
    "equal": lambda x: x == 1.0,
    "not equal": lambda x: x != 1.0,
    "less": lambda x: x < 1.0,
    "greater or equal": lambda x: x >= 1.0,
    "add": lambda x: x + 1.0,
    "multiply from the left": lambda x: 2.0 * x,
    "negative": operator.neg,
    "abs": abs,
    "matmul": lambda x: x @ x,
    "dlpack": np.from_dlpack,
}


def fake_array(*values: float, index: int = 0) -> FakeArray:
    return backend.from_host(np.array(values, np.float32), index)


@pytest.mark.parametrize("access", ACCESSES.values(), ids=ACCESSES)
def test_host_access_is_refused(access: Callable[[Any], Any]) -> None:
    with says(TypeError, REFUSAL):
        access(fake_array(1.0, 2.0))


def test_buffer_access_is_refused() -> None:
    # Before Python 3.12 a class written in Python has no say in the message.
    with pytest.raises(TypeError):
        memoryview(fake_array(1.0, 2.0))  # type: ignore[arg-type]


def test_memory_is_not_shared_with_the_host() -> None:
    host = np.array([1.0, 2.0], np.float32)
    array = backend.from_host(host, 0)
    backend.synchronize(0)
    host[0] = 7
    out = backend.to_host(array)
    out[1] = 7
    assert backend.to_host(array).tolist() == [1.0, 2.0]


def test_copy_owns_its_memory() -> None:
    first = fake_array(1.0, 2.0, index=1)
    second = backend.copy(first)
    with on(1):
        kernels.apply_add(second, first, scale=1)
    assert (backend.to_host(first).tolist(), backend.to_host(second).tolist()) == ([1.0, 2.0], [2.0, 4.0])
    assert second.index == 1


def test_views_share_memory_and_name_its_owner() -> None:
    x = fake_array(1.0, 2.0)
    with on(0):
        y = kernels.reshape(x, shape=(2, 1))
        z = kernels.transpose(y, perm=(1, 0))
        kernels.apply_add(x, x, scale=1)
    assert backend.to_host(z).tolist() == [[2.0, 4.0]]
    assert [backend.base(array) for array in (x, y, z)] == [x, x, x]


def test_what_is_no_view_owns_its_memory() -> None:
    x = fake_array(1.0, 2.0, 3.0, 4.0)
    with on(0):
        turned = kernels.transpose(kernels.reshape(x, shape=(2, 2)), perm=(1, 0))
        copied = kernels.reshape(turned, shape=(4,))
    assert backend.base(copied) is copied
    assert backend.to_host(copied).tolist() == [1.0, 3.0, 2.0, 4.0]


def test_variables_and_views_of_them_keep_apart() -> None:
    with ag.device("fake:0"):
        v = ag.Variable([1.0, 2.0])
        view = ag.reshape(v, [2, 1])
        part = v[1:]
        v.assign_add([10.0, 10.0])
    assert (view.numpy().tolist(), part.numpy().tolist()) == ([[1.0], [2.0]], [2.0])
    assert v.numpy().tolist() == [11.0, 12.0]


def test_variables_are_updated_in_place_where_nobody_looks() -> None:
    with ag.device("fake:0"):
        v = ag.Variable([1.0, 2.0])
        ag.square(v)  # it has read the variable when the update begins, since both are work of one stream
        before = v.value()._array
        memory = before.memory
        del before
        v.assign_add([10.0, 10.0])
    assert v.value()._array.memory is memory
    assert v.numpy().tolist() == [11.0, 12.0]


def test_copies_are_counted() -> None:
    agog_fake.reset_copies()
    with ag.device("fake:0"):
        x = ag.constant([1.0, 2.0])
    assert agog_fake.copies() == Copies(from_host=1)
    x.numpy()
    assert agog_fake.copies() == Copies(from_host=1, to_host=1)
    with ag.device("fake:1"):
        ag.identity(x)
    assert agog_fake.copies() == Copies(from_host=1, to_host=1, between=1)
    agog_fake.reset_copies()
    assert agog_fake.copies() == Copies()


def test_memory_stats_count_live_arrays() -> None:
    gc.collect()
    before, other = backend.memory_stats(1).in_use, backend.memory_stats(0).in_use
    assert before is not None
    array = backend.from_host(np.zeros((3, 2)), 1)
    with on(1):
        view = kernels.reshape(array, shape=(6,))
    copied = backend.copy(array)
    assert backend.memory_stats(1).in_use == before + 96
    peak = backend.memory_stats(1).peak
    assert peak is not None
    assert peak >= before + 96
    del array, copied
    assert backend.memory_stats(1).in_use == before + 48  # the view keeps what it is a view of
    del view
    assert backend.memory_stats(1)[:2] == (before, peak)
    assert backend.memory_stats(0).in_use == other


def test_memory_limit_is_agogs_own_error() -> None:
    gc.collect()
    in_use = backend.memory_stats(1).in_use
    assert in_use is not None
    with ag.device("fake:1"):
        x = ag.zeros([2])
        backend.set_memory_limit(1, in_use + 100)
        try:
            with pytest.raises(ResourceExhaustedError) as caught:
                ag.zeros([1000]) + x
            assert backend.memory_stats(1).limit == in_use + 100
        finally:
            backend.set_memory_limit(1, None)
        assert ag.zeros([1000]).shape == (1000,)
    assert str(caught.value) == (
        f"fake:1 is out of memory: 4000 bytes more than the {in_use + 8} in use exceed the limit {in_use + 100}."
    )


def test_arrays_of_two_devices_are_refused() -> None:
    with says(RuntimeError, "add: one call got arrays of fake:0 and fake:1; copy them to one device first."):
        kernels.add(fake_array(1.0), fake_array(2.0, index=1))


def test_arrays_of_the_host_are_refused() -> None:
    with says(TypeError, "add: a kernel of device type 'fake' got ndarray; it takes FakeArray."):
        kernels.add(fake_array(1.0), np.ones(1))


def test_unknown_kernel_is_named() -> None:
    with says(AttributeError, "agog_kernels_xp has no kernel for op 'levitate'."):
        kernels.levitate  # noqa: B018


def test_kernel_that_touches_the_memory_is_found() -> None:
    """A kernel that treats the device's arrays as NumPy arrays fails at once."""

    class Careless:
        @hookimpl
        def agog_kernels(self) -> list[Kernel]:
            return [Kernel(op="square", device="fake", fn=lambda x: x * x, priority=200)]

    ag.register_plugin(Careless(), "careless")
    try:
        with ag.device("fake:0"), pytest.raises(TypeError) as caught:
            ag.square([1.0, 2.0])
    finally:
        ag.unregister_plugin("careless")
    assert str(caught.value) == REFUSAL
