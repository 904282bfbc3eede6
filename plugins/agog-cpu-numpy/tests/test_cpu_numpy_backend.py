"""The functions of the backend."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import agog_core as ag
from agog_cpu_numpy import backend


def test_from_host_adopts() -> None:
    host = np.arange(3.0)
    assert backend.from_host(host, 0) is host
    assert backend.to_host(host) is host


@pytest.mark.parametrize("dtype", sorted(dtype.name for dtype in ag.dtypes.ALL))
def test_each_dtype_has_numpys(dtype: str) -> None:
    assert backend.numpy_dtype(dtype) == ag.as_dtype(dtype).numpy_dtype


def test_dtypes_by_name() -> None:
    assert backend.numpy_dtype("bfloat16") == ml_dtypes.bfloat16
    assert backend.numpy_dtype("string") == np.object_
    assert backend.numpy_dtype("int8") == np.int8


def test_copy_is_contiguous_and_owns_its_memory() -> None:
    array = np.arange(6.0).reshape(2, 3).T
    copied = backend.copy(array)
    assert copied.flags.c_contiguous
    assert copied.flags.writeable
    assert not np.shares_memory(array, copied)
    assert copied.tolist() == array.tolist()


def test_scalars_are_adopted_and_other_things_are_not() -> None:
    adopted = backend.as_array(np.float32(2))
    assert type(adopted) is np.ndarray
    assert (adopted.shape, adopted.dtype) == ((), np.float32)
    for value in ([1.0], None, 1.0):
        with pytest.raises(TypeError):
            backend.as_array(value)


def test_nothing_to_wait_for() -> None:
    assert backend.synchronize(0) is None


def test_results_of_rank_0_are_arrays() -> None:
    x = ag.constant(2.0)
    assert type(ag.square(x)._array) is np.ndarray
    assert type(ag.reduce_sum([1.0, 2.0])._array) is np.ndarray
