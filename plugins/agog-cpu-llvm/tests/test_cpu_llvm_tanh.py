"""Tanh: the function that is written out gives NumPy's bits, for every length of a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agog_core.compiler import ArraySpec, Primitive, Subgraph
from agog_cpu_llvm import disk, presence
from agog_cpu_llvm.fusion import compiler, tanh

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))

SPECIAL = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, -1e-42, 3e38, -3e38, 2.0**100, 9.1, -9.1])


def compiled(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The function ``(x, out)`` of tanh alone."""
    monkeypatch.setattr(disk, "read", lambda key: None)
    monkeypatch.setattr(disk, "write", lambda key, body: None)
    monkeypatch.setattr(compiler, "_units", {})
    monkeypatch.setattr(tanh, "LEAST", 1)
    strides = np.empty(shape, np.float32).strides
    values = (ArraySpec("float32", shape, strides),) * 2
    function = compiler.compile(Subgraph(values, {}, (0,), (1,), (Primitive("ufunc", "tanh", (0,), 1, {}),), ()))
    assert function is not None
    return function


def assert_same_bits(got: np.ndarray, wanted: np.ndarray) -> None:
    numbers = ~np.isnan(wanted)
    assert np.isnan(got[~numbers]).all()
    np.testing.assert_array_equal(got[numbers].view(np.int32), wanted[numbers].view(np.int32))


def test_numbers_of_every_size_have_numpys_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.concatenate([np.arange(0, 2**32, 60013, np.uint32).view(np.float32), SPECIAL])
    out = np.empty_like(x)
    compiled(x.shape, monkeypatch)(x, out)
    assert_same_bits(out, np.tanh(x))


@pytest.mark.parametrize("count", [1, 15, 16, 17, 47, 48, 49, 100, 1027])
def test_rows_of_every_length_have_numpys_bits(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.resize(np.concatenate([SPECIAL, np.linspace(-5, 5, 83, dtype=np.float32)]), (2, count))
    memory = np.full(2 * count + 2, 7, np.float32)
    out = memory[1:-1].reshape(2, count)
    compiled(x.shape, monkeypatch)(x, out)
    assert_same_bits(out, np.tanh(x))
    assert memory[0] == memory[-1] == 7


def test_the_table_is_numpys_own_and_no_other_is_taken() -> None:
    table = tanh.table()
    if table is None:
        pytest.skip("NumPy's table of polynomials is not found here, or the processor has no AVX-512")
    assert tanh._agrees(table)
    for row, column in ((0, 3), (1, 0), (1, 31), (2, 9), (7, 20)):
        other = table.copy()
        other[row, column] += np.float32(0.01)
        assert not tanh._agrees(other), (row, column)


def test_it_is_for_many_elements() -> None:
    assert not tanh.is_for((tanh.LEAST - 1,))
    assert tanh.is_for((2, tanh.LEAST)) == (tanh.table() is not None)


def test_without_the_table_numpys_loop_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tanh, "table", lambda: None)
    x = np.linspace(-5, 5, 700, dtype=np.float32)
    out = np.empty_like(x)
    compiled(x.shape, monkeypatch)(x, out)
    assert_same_bits(out, np.tanh(x))
