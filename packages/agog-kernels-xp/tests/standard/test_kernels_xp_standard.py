"""Kernels on a library that has the array API standard's interface and refuses all else, against those on NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import array_api_strict
import frozen
import numpy as np
import pytest

import agog_kernels_xp
from agog_core.dispatch.devices.lookup import get_device
from agog_core.dtypes import as_dtype
from agog_kernels_xp import bind
from agog_kernels_xp.standard import MISSING
from agog_testing import says
from agog_testing.comparison import close
from agog_testing.opinfo import OpInfo, table
from agog_testing.opinfo.info import TOLERANCES
from agog_testing.subject import KernelCall, Subject

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

on_numpy = bind(np, dtype=lambda name: as_dtype(name).numpy_dtype)
on_strict = bind(array_api_strict)
on_frozen = bind(frozen.library)

HELD = {
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
}
OPS = [op for op in agog_kernels_xp.NAMES if op not in MISSING]


def test_how_many_ops_run() -> None:
    assert set(agog_kernels_xp.NAMES) >= MISSING.keys()
    assert (len(OPS), len(agog_kernels_xp.NAMES)) == (231, 270)


def dtypes(info: OpInfo) -> list[str]:
    """A few dtypes of an op that the library holds, of each kind one."""
    chosen = [name for name in ("float32", "int32", "bool", "complex64", "uint8") if name in info.dtypes]
    return chosen or [name for name in info.dtypes if name in HELD]


def calls(op: str, dtype: str) -> Iterator[KernelCall]:
    """The calls of the kernel that an op's samples lead to, on NumPy, whose arrays and attributes the library holds."""
    other = table[op].op.reserve or table[op].op.reserve_of
    subject = Subject(
        info=table[op],
        dtype=dtype,
        device=get_device("cpu:0"),
        kernel=on_numpy(op),
        partner=(other, on_numpy(other)) if other else None,
    )
    for sample in subject.samples():
        for call in subject.run(sample).calls:
            names = [as_dtype(array.dtype).name for array in call.before]
            if {*names, str(call.attributes.get("dtype", "bool"))} <= HELD:
                yield call


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("is_frozen", [False, True], ids=["strict", "frozen"])
def test_kernels_compute_what_they_compute_on_numpy(op: str, is_frozen: bool) -> None:
    ran = 0
    for dtype in dtypes(table[op])[: 1 if is_frozen else None]:
        for call in calls(op, dtype):
            arrays = [array_api_strict.asarray(np.array(array, order="C")) for array in call.before]
            if is_frozen:
                result = frozen.thawed(on_frozen(op)(*map(frozen.FrozenArray, arrays), **call.attributes))
            else:
                result = on_strict(op)(*arrays, **call.attributes)
            wanted = call.result
            if wanted is None:  # it has updated its first arrays, or returns new ones
                count = len(table[op].op.updates)
                wanted = call.arrays[:count]
                result = result if is_frozen else tuple(arrays[:count])
            if table[op].op.reserve:  # it is the kernel's own matter
                result = result[:-1]
            compare(
                result if isinstance(result, tuple) else (result,), wanted if isinstance(wanted, tuple) else (wanted,)
            )
            ran += 1
    assert ran


def compare(results: tuple[Any, ...], wanted: tuple[Any, ...]) -> None:
    assert len(results) == len(wanted)
    for result, other in zip(map(np.asarray, results), map(np.asarray, wanted), strict=True):
        assert (result.dtype, result.shape) == (other.dtype, other.shape)
        rtol, atol = TOLERANCES.get(result.dtype.name, (0.0, 0.0))
        assert np.all(close(result, other, rtol, 10 * atol)), (result, other)


@pytest.mark.parametrize(("op", "reason"), MISSING.items())
def test_what_is_missing_says_why(op: str, reason: str) -> None:
    with says(AttributeError, f"agog_kernels_xp has no kernel for op {op!r} on array_api_strict: {reason}."):
        on_strict(op)
