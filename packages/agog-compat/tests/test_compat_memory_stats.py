"""Memory stats as tensors."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agog_compat import memory_stats
from agog_compat.memory_stats import BytesInUse, BytesLimit, MaxBytesInUse
from agog_core.dtypes import int64
from agog_core.errors import UnimplementedError
from agog_core.plugin import MemoryStats
from agog_core.tensors.tensor import Tensor
from agog_testing import says

FUNCTIONS = {"BytesInUse": (BytesInUse, 3), "MaxBytesInUse": (MaxBytesInUse, 2**40), "BytesLimit": (BytesLimit, 5)}


@pytest.mark.parametrize(("function", "expected"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_what_is_known_is_a_scalar(
    function: Callable[[], Tensor], expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_stats, "memory_stats", lambda: MemoryStats(in_use=3, peak=2**40, limit=5))
    assert (function().numpy(), function().dtype) == (expected, int64)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_not_known(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_stats, "memory_stats", MemoryStats)
    with says(UnimplementedError, f"{name}: the backend of the current device does not know; see tf.memory_stats."):
        FUNCTIONS[name][0]()
