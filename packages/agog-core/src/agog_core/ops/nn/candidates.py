"""Candidates: losses on a random sample of many classes, and the samplers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from agog_core import dtypes
from agog_core.calls.docstrings import documented
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, concat, expand_dims, ones_like, reshape, zeros_like
from agog_core.ops.indexing.embedding import embedding_lookup
from agog_core.ops.linalg.matmul import matmul
from agog_core.ops.math import equal, log
from agog_core.ops.nn.losses import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits
from agog_core.ops.random.uniform_and_normal import random_uniform
from agog_core.ops.reduce.reduction import reduce_sum
from agog_core.tensors.convert import computed, convert_to_tensor
from agog_core.tensors.tensor import Tensor, TensorLike
from agog_core.tracers import late

__all__ = ["log_uniform_candidate_sampler", "nce_loss", "sampled_softmax_loss", "uniform_candidate_sampler"]

Sampled = tuple[Tensor, Tensor, Tensor]

SAMPLER = """
    Args:
        true_classes: int64 of shape (batch, num_true).
        num_true: how many true classes an example has.
        num_sampled: how many classes are drawn.
        unique: whether no class is drawn twice.
        range_max: how many classes there are.
        seed: the op's seed.

    Returns:
        The classes drawn, int64 of shape (num_sampled,); how often each true class is expected among them, of shape
        (batch, num_true), and each of the drawn, of shape (num_sampled,), as float32.

    Raises:
        InvalidArgumentError: more different classes are to be drawn than there are, or a shape does not fit.
"""

_LOSS = """
    Args:
        weights: of shape (num_classes, dim), or a list of parts of it.
        biases: of shape (num_classes,).
        labels: int64 of shape (batch, num_true): the true classes.
        inputs: of shape (batch, dim).
        num_sampled: how many classes are sampled for the batch.
        num_classes: how many classes there are.
        num_true: how many true classes an example has.
        sampled_values: what a sampler returned; None for `log_uniform_candidate_sampler`, without repetitions.
        remove_accidental_hits: whether sampled classes that are true ones of an example do not count for it.
        partition_strategy: ``"mod"`` or ``"div"``: how the weights are distributed over a list.{more}

    Returns:
        The losses, of shape (batch,).

    Raises:
        InvalidArgumentError: shapes do not fit.
"""


@documented(SAMPLER)
def uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Sampled:
    """Draw classes, each with the same probability.

    >>> drawn, _, _ = uniform_candidate_sampler([[0]], 1, 3, True, 3)
    >>> sorted(drawn.numpy().tolist())
    [0, 1, 2]
    """
    return sample(
        "uniform_candidate_sampler",
        (true_classes, num_true, num_sampled, unique, range_max, seed),
        lambda u: int(u * range_max),
        lambda k: 1 / range_max,
    )


@documented(SAMPLER)
def log_uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Sampled:
    """Draw classes, those with small numbers more often, as suits words that are sorted by falling frequency.

    The probability of class k is ``log((k + 2) / (k + 1)) / log(range_max + 1)``.

    >>> drawn, _, _ = log_uniform_candidate_sampler([[0]], 1, 3, True, 3)
    >>> sorted(drawn.numpy().tolist())
    [0, 1, 2]
    """
    whole = math.log(range_max + 1)
    return sample(
        "log_uniform_candidate_sampler",
        (true_classes, num_true, num_sampled, unique, range_max, seed),
        lambda u: min(int(math.exp(u * whole)) - 1, range_max - 1),
        lambda k: math.log((k + 2) / (k + 1)) / whole,
    )


def sample(
    op: str,
    arguments: tuple[TensorLike, int, int, bool, int, int | None],
    draw: Callable[[float], int],
    probability: Callable[[int], float],
) -> Sampled:
    """The results of samplers, drawn on the host, so that they are the same on every backend. ``arguments`` are a
    sampler's; ``draw`` maps a number in [0, 1) to a class, ``probability`` a class to its probability.
    """
    true_classes, num_true, num_sampled, unique, range_max, seed = arguments
    true = true_tensor(op, true_classes, num_true)
    if unique and num_sampled > range_max:
        raise InvalidArgumentError(
            f"{op}: {num_sampled} different classes cannot be drawn of {range_max}. Draw fewer, or give unique=False."
        )

    def draws() -> tuple[list[int], int]:
        drawn: list[int] = []
        known: set[int] = set()
        tries = 0
        while len(drawn) < num_sampled:
            for u in random_uniform((num_sampled,), dtype=dtypes.float64, seed=seed).numpy().tolist():
                tries += 1
                candidate = draw(u)
                if not (unique and candidate in known):
                    known.add(candidate)
                    drawn.append(candidate)
                if len(drawn) == num_sampled:
                    break
        return drawn, tries

    def found(true: Any, drawn: tuple[list[int], int]) -> list[Any]:
        sampled, tries = drawn

        def expected(candidate: int) -> float:
            p = probability(candidate)
            return -math.expm1(tries * math.log1p(-p)) if unique and p < 1 else 1.0 if unique else p * num_sampled

        true_expected = np.array([expected(k) for k in true.reshape(-1).tolist()], np.float32).reshape(true.shape)
        return [sampled, true_expected, np.array([expected(k) for k in sampled], np.float32)]

    kinds = [dtypes.int64, dtypes.float32, dtypes.float32]
    drawn, true_expected, sampled_expected = computed(found, [true], kinds, drawn=late(draws))
    return drawn, true_expected, sampled_expected


def true_tensor(op: str, true_classes: TensorLike, num_true: int) -> Tensor:
    """The true classes, after a check of their shape."""
    true = convert_to_tensor(true_classes)
    if len(true._shape) != 2 or true._shape[1] != num_true:
        raise InvalidArgumentError(f"{op}: true_classes must be of shape (batch, {num_true}); got {true._shape}.")
    return true


@documented(_LOSS, more="")
def nce_loss(
    weights: Any,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sampled | None = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str | None = None,
) -> Tensor:
    """Noise-contrastive estimation: tell the true classes from sampled ones, each by a sigmoid.

    M. Gutmann and A. Hyvarinen, "Noise-contrastive estimation", AISTATS 2010.

    >>> sampled = tuple(map(convert_to_tensor, (np.array([1]), [[1.0]], [1.0])))
    >>> print(nce_loss([[0.0], [0.0]], [0.0, 0.0], [[0]], [[1.0]], 1, 2, sampled_values=sampled))
    tf.Tensor([1.3862944], shape=(1,), dtype=float32)
    """
    logits, targets = _sampled_logits(
        (weights, biases, labels, inputs, num_sampled, num_classes, num_true),
        (sampled_values, remove_accidental_hits, partition_strategy, None),
    )
    return reduce_sum(sigmoid_cross_entropy_with_logits(labels=targets, logits=logits), 1)


@documented(_LOSS, more="\n    seed: the seed of the sampler.")
def sampled_softmax_loss(
    weights: Any,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sampled | None = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str | None = None,
    seed: int | None = None,
) -> Tensor:
    """Cross entropy with the softmax over the true classes and sampled ones only; for training, not for evaluation.

    S. Jean et al., "On using very large target vocabulary for neural machine translation", ACL 2015.

    >>> sampled = tuple(map(convert_to_tensor, (np.array([1]), [[1.0]], [1.0])))
    >>> print(sampled_softmax_loss([[0.0], [0.0]], [0.0, 0.0], [[0]], [[1.0]], 1, 2, sampled_values=sampled))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    logits, targets = _sampled_logits(
        (weights, biases, labels, inputs, num_sampled, num_classes, num_true),
        (sampled_values, remove_accidental_hits, partition_strategy, seed),
    )
    return softmax_cross_entropy_with_logits(labels=targets, logits=logits)


def _sampled_logits(
    arguments: tuple[Any, TensorLike, TensorLike, TensorLike, int, int, int],
    options: tuple[Sampled | None, bool, str, int | None],
) -> tuple[Tensor, Tensor]:
    """The logits of the true and of the sampled classes, and the probabilities that they should have."""
    weights, biases, labels, inputs, num_sampled, num_classes, num_true = arguments
    sampled_values, remove_accidental_hits, strategy, seed = options
    x, true = convert_to_tensor(inputs), cast(labels, dtypes.int64)
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(true, num_true, num_sampled, True, num_classes, seed)
    sampled, true_expected, sampled_expected = (convert_to_tensor(value) for value in sampled_values)
    flat = reshape(true, (-1,))
    true_weights = reshape(embedding_lookup(weights, flat, strategy), (-1, num_true, x._shape[-1]))
    true_logits = reduce_sum(expand_dims(x, 1) * true_weights, 2)
    true_logits = true_logits + reshape(embedding_lookup(biases, flat, strategy), (-1, num_true))
    sampled_logits = matmul(x, embedding_lookup(weights, sampled, strategy), transpose_b=True)
    sampled_logits = sampled_logits + embedding_lookup(biases, sampled, strategy)
    if remove_accidental_hits:
        is_hit = cast(equal(expand_dims(true, 2), reshape(sampled, (1, 1, -1))), x.dtype)
        sampled_logits = sampled_logits - reduce_sum(is_hit, 1) * 1e30
    true_logits = true_logits - log(cast(true_expected, x.dtype))
    sampled_logits = sampled_logits - log(cast(sampled_expected, x.dtype))
    targets = concat([ones_like(true_logits) / num_true, zeros_like(sampled_logits)], 1)
    return concat([true_logits, sampled_logits], 1), targets
