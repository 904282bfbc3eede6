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
from agog_core.dispatch.devices import get_device
from agog_core.plugin import Kernel, hookimpl
from agog_fake import FakeArray, backend, kernels

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
    with pytest.raises(TypeError) as caught:
        access(fake_array(1.0, 2.0))
    assert str(caught.value) == REFUSAL


def test_buffer_access_is_refused() -> None:
    # Before Python 3.12 a class written in Python has no say in the message.
    with pytest.raises(TypeError):
        memoryview(fake_array(1.0, 2.0))  # type: ignore[arg-type]


def test_memory_is_not_shared_with_the_host() -> None:
    host = np.array([1.0, 2.0], np.float32)
    array = backend.from_host(host, 0)
    host[0] = 7
    out = backend.to_host(array)
    out[1] = 7
    assert backend.to_host(array).tolist() == [1.0, 2.0]


def test_copy_owns_its_memory() -> None:
    first = fake_array(1.0, 2.0, index=1)
    second = backend.copy(first)
    kernels.apply_add(second, first, scale=1)
    assert (backend.to_host(first).tolist(), backend.to_host(second).tolist()) == ([1.0, 2.0], [2.0, 4.0])
    assert second.index == 1


def test_views_own_their_memory() -> None:
    x = fake_array(1.0, 2.0)
    y = kernels.reshape(x, shape=(2, 1))
    kernels.apply_add(x, x, scale=1)
    assert backend.to_host(y).tolist() == [[1.0], [2.0]]


def test_copies_are_counted() -> None:
    agog_fake.reset_copies()
    with ag.device("fake:0"):
        x = ag.constant([1.0, 2.0])
    assert agog_fake.copies() == (1, 0)
    x.numpy()
    assert agog_fake.copies() == (1, 1)
    with ag.device("fake:1"):
        ag.identity(x)
    assert agog_fake.copies() == (2, 2)
    agog_fake.reset_copies()
    assert agog_fake.copies() == (0, 0)


def test_memory_in_use_counts_live_arrays() -> None:
    device = get_device("fake:1")
    gc.collect()
    before, other = ag.memory_stats("fake:1").in_use, ag.memory_stats("fake:0").in_use
    assert before is not None
    array = device.from_host(np.ones((3, 2)))
    assert isinstance(array, FakeArray)
    assert ag.memory_stats("fake:1").in_use == before + 48
    copied = device.copy(array)
    assert ag.memory_stats("fake:1").in_use == before + 96
    del array, copied
    assert (ag.memory_stats("fake:1").in_use, ag.memory_stats("fake:0").in_use) == (before, other)


def test_arrays_of_two_devices_are_refused() -> None:
    with pytest.raises(RuntimeError) as caught:
        kernels.add(fake_array(1.0), fake_array(2.0, index=1))
    assert str(caught.value) == "add: one call got arrays of fake:0 and fake:1; copy them to one device first."


def test_arrays_of_the_host_are_refused() -> None:
    with pytest.raises(TypeError) as caught:
        kernels.add(fake_array(1.0), np.ones(1))
    assert str(caught.value) == "add: a kernel of device type 'fake' got ndarray; it takes FakeArray."


def test_unknown_kernel_is_named() -> None:
    with pytest.raises(AttributeError) as caught:
        kernels.levitate  # noqa: B018
    assert str(caught.value) == "agog_fake.kernels has no kernel for op 'levitate'"


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
