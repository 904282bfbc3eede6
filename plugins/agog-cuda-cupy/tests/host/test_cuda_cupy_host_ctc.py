"""CTC on the host, against sums over all alignments one by one, and the device "cpu" in float64."""

from __future__ import annotations

from itertools import groupby, product
from typing import Any

import numpy as np
import pytest
from guarded_memory import guarded

import agog_kernels_xp
from agog_cpu_numpy.backend import numpy_dtype
from agog_cuda_cupy.cuda import ctc

REFERENCE = agog_kernels_xp.bind(np, dtype=numpy_dtype)
TOLERANCES = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "float64": 1e-13}


def _probability(label: list[int], probabilities: Any, merges: bool) -> float:
    """The sum of the probabilities of all paths that read as a label."""
    times, classes = probabilities.shape
    total = 0.0
    for path in product(range(classes), repeat=times):
        steps = [step for step, _ in groupby(path)] if merges else path
        if [step for step in steps if step != classes - 1] == label:
            total += float(np.prod([probabilities[n, step] for n, step in enumerate(path)]))
    return total


@pytest.mark.parametrize("merges", [True, False])
@pytest.mark.parametrize("label", [[], [0], [1, 1], [0, 1], [1, 0, 1]])
def test_the_loss_is_that_of_all_alignments(modules: Any, order: str, label: list[int], merges: bool) -> None:
    logits = np.random.default_rng(7).standard_normal((5, 1, 3))
    probabilities = np.exp(logits[:, 0]) / np.exp(logits[:, 0]).sum(1, keepdims=True)
    for length in (5, 4):
        given = np.array([label], "i4").reshape(1, -1), logits, np.array([length], "i4")
        found = ctc.ctc_loss(modules, *given, merge_repeated=merges)
        expected = -np.log(_probability(label, probabilities[:length], merges))
        np.testing.assert_allclose(found, [expected], rtol=1e-12)


def _given(dtype: str) -> tuple[Any, ...]:
    """Six examples, against guarded pages: labels, logits and lengths, of which some are short and one is too short."""
    labels = np.array([[0, 1, 1, 2], [3, 3, 3, -1], [2, -1, -1, -1], [-1] * 4, [0, 1, 2, 3], [1, 1, 1, 1]], "i4")
    logits = 2 * np.random.default_rng(7).standard_normal((9, 6, 5))
    arrays = labels, logits.astype(numpy_dtype(dtype)), np.array([9, 7, 1, 5, 0, 6], "i4")
    return tuple(guarded(array) for array in arrays)


@pytest.mark.parametrize("merges", [True, False])
@pytest.mark.parametrize("dtype", TOLERANCES)
def test_the_loss_and_its_gradient(modules: Any, order: str, dtype: str, merges: bool) -> None:
    labels, logits, lengths = _given(dtype)
    g = np.random.default_rng(8).standard_normal(6).astype(numpy_dtype(dtype))
    exact = labels, logits.astype("f8"), lengths
    found = ctc.ctc_loss(modules, labels, logits, lengths, merge_repeated=merges)
    expected = REFERENCE("ctc_loss")(*exact, merge_repeated=merges)
    assert found.dtype == logits.dtype
    assert np.isinf(found).tolist() == [False] * 5 + [merges]
    tolerance = TOLERANCES[dtype]
    np.testing.assert_allclose(found.astype("f8"), expected, rtol=tolerance)
    found = ctc.ctc_loss_grad(modules, g, labels, logits, lengths, merge_repeated=merges)
    expected = REFERENCE("ctc_loss_grad")(g.astype("f8"), *exact, merge_repeated=merges)
    assert (found.shape, found.dtype) == (logits.shape, logits.dtype)
    np.testing.assert_allclose(found.astype("f8"), expected, rtol=tolerance, atol=2 * tolerance)


def test_more_states_than_threads(either_modules: Any, order: str) -> None:
    rng = np.random.default_rng(7)
    labels, logits = rng.integers(0, 3, (1, 70)).astype("i4"), rng.standard_normal((90, 1, 4))
    lengths = np.array([90], "i4")
    found = ctc.ctc_loss(either_modules, labels, logits, lengths, merge_repeated=False)
    np.testing.assert_allclose(found, REFERENCE("ctc_loss")(labels, logits, lengths, merge_repeated=False), rtol=1e-12)


def test_what_the_kernels_do_not_serve_is_declined(modules: Any) -> None:
    labels, logits, lengths = _given("float32")
    g = np.ones(6, "f4")
    given: dict[str, Any] = {"merge_repeated": True}
    assert ctc.ctc_loss(modules, labels.astype("i8"), logits, lengths, **given) is NotImplemented
    assert ctc.ctc_loss(modules, labels, logits, lengths.astype("i8"), **given) is NotImplemented
    assert ctc.ctc_loss(modules, labels, logits[:0], lengths, **given) is NotImplemented
    assert ctc.ctc_loss_grad(modules, g.astype("f8"), labels, logits, lengths, **given) is NotImplemented
