"""DLPack in host memory: values arrive, and nobody can change a tensor through it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_testing import says

MARKS_READ_ONLY = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
SHAPES: list[tuple[int, ...]] = [(), (1,), (0, 3), (2, 3), (67,)]


class Sharing:
    """Asks for the memory itself, as a consumer of DLPack 1.0 may."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __dlpack__(self, **_: Any) -> Any:
        return self.x.__dlpack__(max_version=(1, 0), copy=False)

    def __dlpack_device__(self) -> tuple[int, int]:
        place: tuple[int, int] = self.x.__dlpack_device__()
        return place


def shared(x: Any) -> Any:
    """A NumPy array in the memory of a tensor."""
    if not MARKS_READ_ONLY:
        pytest.skip("NumPy before 2.1 cannot mark what it exports as read-only")
    return np.from_dlpack(Sharing(x))


def random_array(dtype: str, shape: tuple[int, ...]) -> Any:
    return np.array(np.random.default_rng(7).normal(size=shape) * 50).astype(np.int64).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_values_arrive_on_both_ways(dtype: str, shape: tuple[int, ...]) -> None:
    array = random_array(dtype, shape)
    x = ag.from_dlpack(array)
    assert x.dtype == dtype
    assert x.shape == shape
    exported = np.from_dlpack(x)
    assert exported.dtype == dtype
    assert exported.shape == shape
    assert exported.tobytes() == array.tobytes()


def test_strides_do_not_matter() -> None:
    array = np.arange(24.0).reshape(4, 6)[::2, ::-1].T
    x = ag.from_dlpack(array)
    assert x.numpy().tolist() == array.tolist()
    assert np.from_dlpack(ag.transpose(x)).tolist() == array.T.tolist()


def test_others_may_write_to_what_they_got() -> None:
    x = ag.constant([1.0, 2.0])
    array = np.array(np.from_dlpack(x), copy=False)
    if array.flags.writeable:
        array[0] = 7.0
    assert not np.shares_memory(array, x.numpy())
    assert x.numpy().tolist() == [1.0, 2.0]


def test_memory_is_shared_read_only_where_that_is_asked_for() -> None:
    x = ag.constant([1.0, 2.0])
    array = shared(x)
    assert np.shares_memory(array, x.numpy())
    assert not array.flags.writeable


def test_sharing_needs_a_version_that_knows_of_read_only_memory() -> None:
    with says(
        BufferError,
        "__dlpack__: a tensor's memory is read-only, which DLPack before 1.0 cannot say; ask with max_version=(1, 0), "
        "or allow a copy. Got copy=False and max_version=(0, 8).",
    ):
        ag.constant(1.0).__dlpack__(copy=False, max_version=(0, 8))


@pytest.mark.skipif(MARKS_READ_ONLY, reason="this NumPy can mark what it exports as read-only")
def test_sharing_needs_a_numpy_that_can_mark_memory() -> None:
    x = ag.constant(1.0)
    with says(
        BufferError,
        f"__dlpack__: a tensor of dtype float32 on {x.device}: NumPy before 2.1 cannot mark memory as read-only; allow "
        "a copy",
    ):
        x.__dlpack__(copy=False, max_version=(1, 0))


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0)], ids=str)
def test_copies_of_read_only_memory_are_exported(version: tuple[int, int] | None) -> None:
    x = ag.constant([1.0, 2.0])
    x._array.flags.writeable = False
    assert "dltensor" in repr(x.__dlpack__(max_version=version))
    assert "dltensor" in repr(x.__dlpack__(max_version=version, copy=True))


def test_the_device_is_the_host() -> None:
    x = ag.constant(1.0)
    assert x.__dlpack_device__() == (1, 0)
    assert "dltensor" in repr(x.__dlpack__(dl_device=(1, 0)))
    with says(
        BufferError,
        "__dlpack__: the tensor is on /job:localhost/replica:0/task:0/device:CPU:0, and DLPack's device (2, 0) was "
        "asked for with copy=None; copy it there first, such as x.cpu() or x.to_device(name).",
    ):
        x.__dlpack__(dl_device=(2, 0))


@pytest.mark.parametrize("value", [ag.constant(b"text"), ag.constant(1.0, "bfloat16")], ids=["string", "bfloat16"])
def test_dtypes_that_numpy_does_not_export(value: ag.Tensor) -> None:
    with pytest.raises(BufferError, match=f"^__dlpack__: a tensor of dtype {value.dtype.name} on .*: DLPack only"):
        value.__dlpack__()


def test_imported_values_are_copied() -> None:
    array = np.array([1.0, 2.0])
    x = ag.from_dlpack(array)
    array[0] = 7.0
    assert x.numpy().tolist() == [1.0, 2.0]


def test_imports_are_never_without_a_copy() -> None:
    with says(
        BufferError,
        "from_dlpack: whoever owns the ndarray may write to it, and a tensor's value never changes, so it has to be "
        "copied; got copy=False.",
    ):
        ag.from_dlpack(np.array([1.0]), copy=False)


def test_tensors_are_taken_as_they_are() -> None:
    x = ag.constant([1.0, 2.0])
    assert ag.from_dlpack(x) is x
    assert ag.from_dlpack(x, copy=False) is x
    copied = ag.from_dlpack(x, copy=True)
    assert copied.numpy().tolist() == [1.0, 2.0]
    assert not np.shares_memory(copied.numpy(), x.numpy())


def test_what_has_no_dlpack_is_refused() -> None:
    with says(
        TypeError,
        "from_dlpack takes an object with the methods __dlpack__ and __dlpack_device__; got one of type list.",
    ):
        ag.from_dlpack([1.0])


def test_devices_without_a_backend_are_refused() -> None:
    class OnMetal:
        def __dlpack__(self) -> None: ...

        def __dlpack_device__(self) -> tuple[int, int]:
            return 8, 0

    with pytest.raises(
        BufferError, match=r"^from_dlpack: no backend takes arrays of DLPack's device type 8; .* 1 \(cpu\)"
    ):
        ag.from_dlpack(OnMetal())


def test_dtypes_that_numpy_does_not_import() -> None:
    with pytest.raises((BufferError, TypeError)):
        ag.from_dlpack(np.array(["text"]))


@pytest.mark.parametrize("export", [np.from_dlpack, shared], ids=["copied", "shared"])
def test_what_a_variable_exported_stays(export: Any) -> None:
    v = ag.Variable(np.ones(1000))
    array = export(v)
    v.assign_add(np.ones(1000))
    assert array.tolist() == [1.0] * 1000
    assert v.numpy().tolist() == [2.0] * 1000
    assert v.__dlpack_device__() == (1, 0)


def test_exports_outlive_the_tensor() -> None:
    x = ag.constant(np.arange(1000.0))
    array = shared(x)
    del x
    ag.constant(np.zeros(1000))
    assert array.tolist() == list(range(1000))
