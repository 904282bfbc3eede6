"""Memory that is handed out: nobody can make it writeable, and what tensors share is never among it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.observers.callbacks import add_execution_callback, clear_execution_callbacks

# Not every library obeys the mark of read-only memory: PyTorch's from_numpy, for one, warns and writes.
WAYS: list[Callable[[Any], Any]] = [
    np.asarray,
    lambda x: x.__array__(),
    lambda x: x.numpy() if x.shape.ndims else np.asarray(x),
    *([lambda x: shared(x)] if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else []),
]
WAY_NAMES = ["asarray", "__array__", "numpy", "dlpack"][: len(WAYS)]


def shared(x: Any) -> Any:
    """The tensor's own memory, by DLPack."""
    try:
        return np.from_dlpack(x, copy=False)
    except BufferError as error:
        pytest.skip(f"this device shares no memory: {error}")


def overwrite(array: Any) -> None:
    """Write to an array's memory, whatever its flags."""
    ctypes.memset(array.ctypes.data, 0x41, array.nbytes)


def gradient(f: Callable[[Any], Any], shape: tuple[int, ...]) -> Any:
    x = ag.zeros(shape)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
@pytest.mark.parametrize(
    ("f", "shape"),
    [
        (lambda x: x + 0.0, (3, 4)),
        (lambda x: x + 0.0, ()),
        (lambda x: ag.reshape(x, [12]), (3, 4)),
        (lambda x: ag.transpose(x), (3, 4)),
        (lambda x: x[1:3], (3, 4)),
        (lambda x: ag.reduce_sum(x), (3, 4)),
        (lambda x: x, (3, 4)),
    ],
    ids=["add", "scalar", "reshape", "transpose", "slice", "sum", "itself"],
)
def test_a_gradient_shares_no_memory_with_later_ones(way: Any, f: Any, shape: tuple[int, ...]) -> None:
    expected = gradient(f, shape).numpy().tolist()
    overwrite(way(gradient(f, shape)))
    assert gradient(f, shape).numpy().tolist() == expected
    assert gradient(lambda x: ag.abs(x) * 0.0 + x, shape).numpy().tolist() == np.ones(shape).tolist()


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_zeros_of_unconnected_sources_share_no_memory(way: Any) -> None:
    def zeros() -> Any:
        x = ag.ones([2, 3])
        with ag.GradientTape() as tape:
            tape.watch(x)
        return tape.gradient(ag.ones([]), x, unconnected_gradients="zero")

    overwrite(way(zeros()))
    assert zeros().numpy().tolist() == [[0.0] * 3] * 2


def test_numbers_beside_tensors_are_not_handed_out() -> None:
    seen: list[Any] = []

    def keep(op: str, inputs: Any, *rest: Any) -> None:
        seen.extend(np.asarray(x) for x in inputs)

    x = ag.constant([1.0, 2.0])
    add_execution_callback(keep)
    try:
        ag.maximum(x, 0.625)
    finally:
        clear_execution_callbacks()
    for array in seen:
        overwrite(array)
    assert ag.maximum(ag.constant([0.0]), 0.625).numpy().tolist() == [0.625]


@pytest.mark.parametrize("make", [ag.constant, ag.Variable], ids=["tensor", "variable"])
@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_nobody_makes_memory_writeable(make: Callable[[Any], Any], way: Any) -> None:
    x = make(np.array([[1.0, 2.0], [3.0, 4.0]]))
    tensor = x.value() if isinstance(x, ag.Variable) else x
    for value in (tensor, tensor[0], ag.transpose(tensor)):
        array: Any = way(value)
        while isinstance(array, np.ndarray):
            assert not array.flags.writeable
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.flags.writeable = True
            array = array.base


@pytest.mark.parametrize("dtype", [d.name for d in sorted(ag.dtypes.ALL, key=lambda d: d.name)])
def test_every_dtype_is_handed_out_read_only(dtype: str) -> None:
    x = ag.constant([[b"a\0", b"b"]]) if dtype == "string" else ag.cast([[0, 1]], dtype)
    for value in (x, ag.transpose(x), x[:, :0]):
        array = value.numpy()
        assert array.dtype == x.dtype.as_numpy_dtype
        assert array.shape == tuple(value.shape.as_list())
        assert array.tolist() == np.array(value).tolist()
        with pytest.raises(ValueError, match="read-only"):
            array[...] = array


def test_a_variable_is_updated_in_place_once_its_arrays_are_gone() -> None:
    v = ag.Variable(np.ones(1000))
    if not hasattr(v._current()._array, "ctypes"):
        pytest.skip("this device's arrays do not tell where they lie")
    place = v.numpy().ctypes.data
    v.assign_add(np.ones(1000))
    assert v.numpy().ctypes.data == place
    held = v.numpy()
    v.assign_add(np.ones(1000))
    assert held.tolist() == [2.0] * 1000
    assert v.numpy().ctypes.data != place
