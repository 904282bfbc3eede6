"""Samplers with weights against the distributions that they are to have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_core.ops.nn import weighted_candidates as unigrams
from agog_testing import says

SEED = 5
TRUE = np.array([[0, 3], [2, 2]])


def fixed(*arguments: Any, **options: Any) -> tuple[ag.Tensor, ag.Tensor, ag.Tensor]:
    return unigrams.fixed_unigram_candidate_sampler(*arguments, **options)


def test_frequencies_follow_the_weights() -> None:
    ag.set_random_seed(SEED)
    weights = np.array([0.0, 4.0, 1.0, 9.0])
    drawn, of_true, of_drawn = fixed(TRUE, 2, 4000, False, 4, distortion=0.5, unigrams=weights)
    p = np.sqrt(weights) / np.sqrt(weights).sum()
    counts = Counter(drawn.numpy().tolist())
    # Five standard deviations of a binomial distribution.
    for k, chance in enumerate(p):
        assert abs(counts[k] - 4000 * chance) <= 5 * np.sqrt(4000 * chance * (1 - chance)), (SEED, k, counts)
    np.testing.assert_allclose(of_true.numpy(), 4000 * p[TRUE], rtol=1e-6)
    np.testing.assert_allclose(of_drawn.numpy(), 4000 * p[drawn.numpy()], rtol=1e-6)


def test_each_once() -> None:
    ag.set_random_seed(SEED)
    drawn, of_true, _ = fixed(TRUE, 2, 4, True, 6, unigrams=[1.0, 1.0, 1.0, 1.0], num_reserved_ids=2)
    assert sorted(drawn.numpy().tolist()) == [2, 3, 4, 5]
    assert of_true.numpy()[0, 0] == 0.0
    assert 0 < of_true.numpy()[0, 1] < 1


def test_weights_of_a_file_and_shards(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("one,1\ntwo,2\nthree,3\n\n")
    drawn, of_true, _ = fixed([[0, 2]], 2, 2, True, 3, vocab_file=str(tmp_path / "words"), num_shards=2, shard=0)
    assert sorted(drawn.numpy().tolist()) == [0, 2]
    drawn, of_true, _ = fixed([[1, 2]], 2, 3, False, 3, str(tmp_path / "words"), num_shards=2, shard=1)
    assert drawn.numpy().tolist() == [1, 1, 1]
    assert of_true.numpy().tolist() == [[3.0, 0.0]]


def test_learning() -> None:
    ag.set_random_seed(SEED)
    arguments = (1, 1000, False, 3, SEED)
    _, before, _ = unigrams.learned_unigram_candidate_sampler([[1]] * 97, *arguments)
    np.testing.assert_allclose(before.numpy(), 1000 / 3, rtol=1e-6)
    drawn, after, _ = unigrams.learned_unigram_candidate_sampler([[1], [0]], *arguments)
    np.testing.assert_allclose(after.numpy(), [[980.0], [10.0]], rtol=1e-6)
    assert Counter(drawn.numpy().tolist())[1] > 950


def test_all() -> None:
    drawn, of_true, of_drawn = unigrams.all_candidate_sampler(TRUE, 2, 4, True)
    assert (drawn.numpy().tolist(), of_drawn.numpy().tolist()) == ([0, 1, 2, 3], [1.0] * 4)
    assert of_true.numpy().tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_hits() -> None:
    examples, positions, weights = unigrams.compute_accidental_hits(TRUE, [2, 9, 3], 2)
    assert (examples.numpy().tolist(), positions.numpy().tolist()) == ([0, 1, 1], [2, 0, 0])
    assert [each.dtype.name for each in (examples, positions, weights)] == ["int32", "int64", "float32"]
    assert weights.numpy().tolist() == [float(np.finfo(np.float32).min)] * 3


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: fixed(TRUE, 2, 1, True, 4),
            "fixed_unigram_candidate_sampler: give vocab_file or unigrams; got neither.",
        ),
        (
            lambda: fixed(TRUE, 2, 1, True, 4, "words", unigrams=[1.0]),
            "fixed_unigram_candidate_sampler: give vocab_file or unigrams; got both.",
        ),
        (
            lambda: fixed(TRUE, 2, 1, True, 4, unigrams=[1.0, 2.0], num_reserved_ids=1),
            "fixed_unigram_candidate_sampler: range_max is 4, but there are 1 reserved classes and 2 weights.",
        ),
        (
            lambda: fixed(TRUE, 2, 3, True, 4, unigrams=[1.0, 2.0, 0.0, 0.0]),
            "fixed_unigram_candidate_sampler: 3 classes cannot be drawn of the 2 whose weight is above 0.",
        ),
        (
            lambda: unigrams.all_candidate_sampler([1], 1, 3, True),
            "all_candidate_sampler: true_classes must be of shape (batch, 1); got (1,).",
        ),
    ],
)
def test_errors(call: Callable[[], Any], text: str) -> None:
    with says(InvalidArgumentError, text):
        call()
