"""Segments: compiled sums of rows against a loop, and by the kit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_core.plugin import threads
from agog_cpu_llvm import presence
from agog_cpu_llvm.kernels import segments
from agog_testing.conformance import collect

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))

CASES: tuple[Any, ...] = (
    ((7,), (8,), 3),
    ((50,), (64,), 9),
    ((3, 20), (100,), 4),
    ((40,), (3, 67), 2),
    ((1,), (9,), 1),
)


@pytest.fixture(autouse=True)
def all_sizes(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "llvm"))
    monkeypatch.setattr(segments, "LEAST", 1)
    monkeypatch.setattr(segments, "_NARROW", 1)


def kernel(data: Any, ids: Any, count: int) -> Any:
    return segments.make("unsorted_segment_sum", data.dtype.name, "cpu:0")(data, ids, num_segments=count)


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("shape", "row", "count"), CASES)
def test_sums(shape: tuple[int, ...], row: tuple[int, ...], count: int, dtype: str, kind: str) -> None:
    random = np.random.default_rng(0)
    data, ids = random.standard_normal((*shape, *row)).astype(dtype), random.integers(0, count, shape).astype(kind)
    expected = np.zeros((count, *row), dtype)  # added up in the same order, so that bits are the same
    for place in np.ndindex(*shape):
        expected[ids[place]] += data[place]
    result = kernel(data, ids, count)
    assert result.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(result, expected)


def test_what_it_declines() -> None:
    data, ids = np.ones((4, 8), np.float32), np.array([0, 1, 1, 0])
    assert kernel(data, ids - 1, 2) is NotImplemented
    assert kernel(data, ids + 1, 2) is NotImplemented
    assert kernel(data[:, ::-1], ids, 2) is NotImplemented


def test_numbers_that_are_wrong_or_negative_are_the_references() -> None:
    data = ag.ones((4, 8))
    assert ag.unsorted_segment_sum(data, [-1, 0, 0, -1], 2).numpy().sum() == 16
    with pytest.raises(InvalidArgumentError, match="num_segments is 2"):
        ag.unsorted_segment_sum(data, [0, 1, 2, 0], 2)


def test_bits_are_the_same_at_any_number_of_threads() -> None:
    random = np.random.default_rng(0)
    data, ids = random.standard_normal((500, 200)).astype(np.float32), random.integers(0, 9, 500)
    try:
        threads.set_count(1)
        alone = kernel(data, ids, 9)
        threads.set_count(3)
        np.testing.assert_array_equal(alone, kernel(data, ids, 9))
    finally:
        threads.set_count(0)


def test_the_kit() -> None:
    ended = [(case.id, case.run()) for case in collect("cpu-llvm", ["unsorted_segment_sum"], ["float32"])]
    assert len(ended) > 20
    assert not [(name, outcome) for name, outcome in ended if outcome.kind not in ("passed", "skipped")]
