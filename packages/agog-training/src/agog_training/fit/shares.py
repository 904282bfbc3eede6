"""Shares: the rows of a batch that each process takes, where a model was made in the scope of a strategy.

A process without a row computes with one that does not count, so that all call the same collectives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from agog_core import Tensor, cast, convert_to_tensor, div_no_nan, nest, reduce_sum, stack, unstack, zeros
from agog_core.replicas import Replicas, is_idle, replicas_of_step
from agog_training.fit.batches import Batch, OwnBatch
from agog_training.fit.meters import Answer


def share(batch: Batch, replicas: Replicas) -> OwnBatch:
    """The neighbouring rows for this process; of a batch that is its own already, all."""
    if isinstance(batch, OwnBatch):
        return batch if batch.rows else _cut(batch, _row_of_zeros, 0)
    size, rank = batch.size, replicas.rank
    begin, end = (-(-number * size // replicas.size) for number in (rank, rank + 1))
    own = slice(begin, end) if begin < end else slice(0, 1)
    return _cut(batch, lambda leaf: leaf[own], end - begin)


def _cut(batch: Batch, cut: Callable[[Any], Any], rows: int) -> OwnBatch:
    parts = (nest.map_structure(lambda leaf: None if leaf is None else cut(leaf), part) for part in batch)
    return OwnBatch.of(parts, rows)


def _row_of_zeros(leaf: Any) -> Tensor:
    return zeros([1, *leaf.shape[1:]], leaf.dtype)


def gathered(outputs: Any, rows: int, replicas: Replicas) -> Any:
    """The outputs of the whole batch, in its order."""

    def whole(leaf: Tensor) -> Tensor:
        return replicas.gather_rows(leaf[:rows])

    return nest.map_structure(whole, outputs)


@contextmanager
def step_of(model: Any, batch: Batch, replicas: Replicas) -> Iterator[OwnBatch]:
    """A ``with`` block for a step by a batch; it gives the part of it that this process computes."""
    own = share(batch, replicas)
    if vars(model).get("_objective") is not None:
        model.objective.take(own.rows)
    token = is_idle.set(own.rows == 0)
    try:
        with replicas.step():
            yield own
    finally:
        is_idle.reset(token)


def loss_shares(losses: Sequence[Any], answers: Sequence[Answer], rows: int | None) -> list[Tensor]:
    """The shares of this process in the losses of the outputs, and last in further terms.

    The sum over the processes of what they are multiplied with is that of the whole batch, however many rows each has.
    """
    replicas = replicas_of_step()
    counts = [_divisor(loss, answer) for loss, answer in zip(losses, answers, strict=True)]
    own = stack([*counts, _divisor(None, answers[0]._replace(weights=None))]) * float(rows != 0)
    shares: list[Tensor] = unstack(div_no_nan(own, own if replicas is None else replicas.all_reduce(own)))
    for number, loss in enumerate(losses):
        if getattr(loss, "reduction", None) == "sum":  # nothing was divided
            shares[number] = convert_to_tensor(float(rows != 0))
    return shares


def _divisor(loss: Any, answer: Answer) -> Tensor:
    """What a batch's loss was divided by: the number of examples, or the sum of the weights where it is a function."""
    if answer.weights is None or hasattr(loss, "reduction"):
        return convert_to_tensor(answer.output.shape[0] or 0, "float32")
    return reduce_sum(cast(answer.weights, "float32"))


def of_whole_batch(losses: Mapping[str, Tensor], rows: int | None, size: int) -> tuple[dict[str, Tensor], Tensor]:
    """The losses of the whole batch, of which each process has its part, and the number of its examples."""
    replicas = replicas_of_step()
    own = [cast(part, "float64") for part in (*losses.values(), convert_to_tensor(size if rows is None else rows))]
    *parts, examples = unstack(stack(own) if replicas is None else replicas.all_reduce(stack(own)))
    return dict(zip(losses, parts, strict=True)), examples
