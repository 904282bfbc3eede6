"""Weighted candidates: samplers of classes with weights, and of all classes; accidental hits."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from agog_core.calls.docstrings import documented
from agog_core.dtypes import float32, int32, int64
from agog_core.errors import InvalidArgumentError
from agog_core.files import file_path, open_file
from agog_core.ops.nn.candidates import SAMPLER, Sampled, sample, true_tensor
from agog_core.recording import source_line
from agog_core.tensors import Tensor, TensorLike, constant
from agog_core.tensors.convert import computed, convert_to_tensor
from agog_core.tracers import present_recorder
from agog_core.tracing.errors import limit

__all__ = [
    "all_candidate_sampler",
    "compute_accidental_hits",
    "fixed_unigram_candidate_sampler",
    "learned_unigram_candidate_sampler",
]

_learned: dict[tuple[Any, ...], list[float]] = {}  # by the arguments of learned_unigram_candidate_sampler


def fixed_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
) -> Sampled:
    """Draw classes with given weights.

    Args:
        vocab_file: a file with a line for each class, whose weight is behind the last comma.
        distortion: the exponent of the weights; 0 makes all classes equally likely.
        num_reserved_ids: how many classes that are never drawn come before those with weights.
        num_shards: how many samplers share the classes.
        shard: which of them this is: it draws classes that leave this rest when divided by ``num_shards``.
        unigrams: the weights, in place of the file.
        Other arguments: see `uniform_candidate_sampler`.

    Returns:
        See `uniform_candidate_sampler`.

    Raises:
        InvalidArgumentError: the number of weights is wrong, both kinds are given, fewer classes than drawn have a
            positive weight, or a shape does not fit.

    >>> print(fixed_unigram_candidate_sampler([[1]], 1, 3, False, 2, unigrams=[0.0, 2.0])[0])
    tf.Tensor([1 1 1], shape=(3,), dtype=int64)
    """
    if bool(vocab_file) == bool(len(unigrams)):
        both = "both" if vocab_file else "neither"
        raise InvalidArgumentError(f"fixed_unigram_candidate_sampler: give vocab_file or unigrams; got {both}.")
    if vocab_file:
        with open_file(file_path("fixed_unigram_candidate_sampler", vocab_file), encoding="utf-8") as file:
            unigrams = [float(line.rsplit(",", 1)[-1]) for line in file if line.strip()]
    if num_reserved_ids + len(unigrams) != range_max:
        raise InvalidArgumentError(
            f"fixed_unigram_candidate_sampler: range_max is {range_max}, but there are {num_reserved_ids} reserved "
            f"classes and {len(unigrams)} weights."
        )
    every = [0.0] * num_reserved_ids + [float(weight) ** distortion for weight in unigrams]
    weights = [weight if k % num_shards == shard else 0.0 for k, weight in enumerate(every)]
    arguments = (true_classes, num_true, num_sampled, unique, range_max, seed)
    return _sample_weighted("fixed_unigram_candidate_sampler", arguments, weights)


@documented(SAMPLER)
def learned_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Sampled:
    """Draw classes with weights that count how often they were true in the calls before, and one more.

    Calls with the same arguments beside the true classes share the counts.

    >>> drawn, _, _ = learned_unigram_candidate_sampler([[0]], 1, 3, True, 3)
    >>> sorted(drawn.numpy().tolist())
    [0, 1, 2]
    """
    weights = _learned.setdefault((num_true, num_sampled, unique, range_max, seed), [1.0] * range_max)
    arguments = (true_classes, num_true, num_sampled, unique, range_max, seed)
    sampled = _sample_weighted("learned_unigram_candidate_sampler", arguments, weights)
    classes = convert_to_tensor(true_classes)
    if present_recorder() is not None:  # the counts grow at each call
        limit("read", source_line(), classes)
    for k in np.asarray(classes).reshape(-1).tolist():
        weights[k] += 1
    return sampled


def all_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Sampled:
    """Take all classes, each once.

    Args:
        true_classes: int64 of shape (batch, num_true).
        num_true: how many true classes an example has.
        num_sampled: how many classes there are.

    Returns:
        See `uniform_candidate_sampler`; all are expected once.

    Raises:
        InvalidArgumentError: a shape does not fit.

    >>> print(all_candidate_sampler([[2]], 1, 4, True)[0])
    tf.Tensor([0 1 2 3], shape=(4,), dtype=int64)
    """
    true = true_tensor("all_candidate_sampler", true_classes, num_true)
    every = np.arange(num_sampled, dtype=np.int64)
    return constant(every), constant(np.ones(true._shape, np.float32)), constant(np.ones(every.shape, np.float32))


def compute_accidental_hits(
    true_classes: TensorLike,
    sampled_candidates: TensorLike,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Where sampled classes are true ones.

    Args:
        true_classes: int64 of shape (batch, num_true).
        sampled_candidates: int64 of shape (num_sampled,).
        num_true: how many true classes an example has.

    Returns:
        For each hit the number of the example, int32; the position among the sampled classes, int64; and the lowest
        float32 number, to be added to the logit.

    Raises:
        InvalidArgumentError: a shape does not fit.

    >>> examples, positions, _ = compute_accidental_hits([[3], [4]], [4, 0], 1)
    >>> print(examples.numpy(), positions.numpy())
    [1] [0]
    """
    true = true_tensor("compute_accidental_hits", true_classes, num_true)

    def found(true: Any, sampled: Any) -> list[Any]:
        examples, _, positions = np.nonzero(true[:, :, None] == sampled)
        return [examples, positions, np.full(len(examples), np.finfo(np.float32).min)]

    kinds = [int32, int64, float32]
    examples, places, lowest = computed(found, [true, convert_to_tensor(sampled_candidates)], kinds, has_sizes=True)
    return examples, places, lowest


def _sample_weighted(op: str, arguments: tuple[Any, ...], weights: Sequence[float]) -> Sampled:
    _, _, num_sampled, unique, _, _ = arguments
    possible = [k for k, weight in enumerate(weights) if weight > 0]
    if not possible or (unique and num_sampled > len(possible)):
        raise InvalidArgumentError(
            f"{op}: {num_sampled} classes cannot be drawn of the {len(possible)} whose weight is above 0."
        )
    upper = list(accumulate(weights))
    whole, last = upper[-1], possible[-1]
    # The last class takes what rounding may leave.
    return sample(op, arguments, lambda u: min(bisect_right(upper, u * whole), last), lambda k: weights[k] / whole)
