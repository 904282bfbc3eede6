"""Embedding: looking up rows of tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from agog_core.dtypes import bool_, int64
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, concat, ones, reshape, zeros_like
from agog_core.ops.array.creation import range as numbers
from agog_core.ops.indexing.gathering import gather, index_tensor
from agog_core.ops.indexing.indexing import boolean_mask, getitem
from agog_core.ops.indexing.scattering import scatter_nd
from agog_core.ops.indexing.sorted_segments import segment_mean, segment_sum, sparse_segment_sqrt_n
from agog_core.ops.math import equal, maximum, sqrt, square, where
from agog_core.ops.reduce.norm_clipping import clip_by_norm
from agog_core.tensors import SparseTensor, Tensor, TensorLike
from agog_core.tensors.convert import computed, convert_to_tensor, decided, failing, host_value
from agog_core.variables.variable import Variable

__all__ = ["embedding_lookup", "embedding_lookup_sparse", "safe_embedding_lookup_sparse"]


def embedding_lookup(
    params: TensorLike | Sequence[TensorLike],
    ids: TensorLike,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: float | None = None,
) -> Tensor:
    """Look up rows of a table, which may be spread over several tensors or variables.

    Args:
        params: a table of shape ``(size, ...)``, or a list of tables, whose rows together are the table's.
        ids: the rows' numbers, int32 or int64, of any shape.
        partition_strategy: how a list of n tables shares the rows: ``"mod"``: row i is in table ``i % n``; ``"div"``:
            neighbouring rows are in one table, and the first tables have one more where the sizes differ.
        max_norm: the largest L2 norm of a row; longer ones are scaled down. None for any.

    Returns:
        A tensor of shape ``ids.shape + params.shape[1:]``. Its gradients with respect to the tables are
        `IndexedSlices`.

    Raises:
        ValueError: there is no table, or the strategy is another.
        InvalidArgumentError: a number is out of range.

    >>> print(embedding_lookup([[1.0, 2.0], [3.0, 4.0]], [1, 1]))
    tf.Tensor(
    [[3. 4.]
     [3. 4.]], shape=(2, 2), dtype=float32)
    """
    tables = _tables(params)
    at = index_tensor("embedding_lookup", "ids", ids)
    if partition_strategy not in ("mod", "div"):
        raise ValueError(f"embedding_lookup: partition_strategy must be 'mod' or 'div'; got {partition_strategy!r}.")
    if len(tables) == 1:
        return _limited(gather(tables[0], at), len(at._shape), max_norm)
    flat = reshape(at, (-1,))
    table, row = _by_division(tables, flat) if partition_strategy == "div" else _by_remainder(tables, flat)
    chosen = [equal(table, number) for number in range(len(tables))]
    found = concat([gather(each, boolean_mask(row, mask)) for each, mask in zip(tables, chosen, strict=True)], 0)
    # Row n of `found` belongs to place order[n] of the result.
    order = concat([boolean_mask(numbers(flat._shape[0]), mask) for mask in chosen], 0)
    inverse = scatter_nd(reshape(order, (-1, 1)), numbers(flat._shape[0]), flat._shape)
    rows = gather(found, inverse)
    return _limited(reshape(rows, (*at._shape, *rows._shape[1:])), len(at._shape), max_norm)


def embedding_lookup_sparse(
    params: TensorLike | Sequence[TensorLike],
    sp_ids: SparseTensor,
    sp_weights: SparseTensor | None,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Tensor:
    """Look up several rows of a table for each example, and combine them.

    Args:
        sp_ids: the rows' numbers, int32 or int64: row i holds those of example i.
        sp_weights: a weight for each number, at the same places; None for ones.
        combiner: ``"sum"``, ``"mean"`` (the default; divided by the sum of the weights) or ``"sqrtn"`` (divided by the
            root of the sum of their squares).
        Other arguments: see `embedding_lookup`.

    Returns:
        A tensor of shape ``(last example with a number + 1, ...)``; 0 for an example without numbers where there are no
        weights.

    Raises:
        TypeError: the numbers or weights are no `SparseTensor`.
        ValueError: there is no such combiner or strategy, or the weights lie elsewhere.
        InvalidArgumentError: a number is out of range, or the examples are not in order.

    >>> ids = SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 1, 1], [2, 2])
    >>> print(embedding_lookup_sparse([[1.0], [3.0]], ids, None))
    tf.Tensor(
    [[2.]
     [3.]], shape=(2, 1), dtype=float32)
    """
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError(f"embedding_lookup_sparse: sp_ids must be a SparseTensor; got {type(sp_ids).__name__}.")
    if combiner not in (None, "sum", "mean", "sqrtn"):
        raise ValueError(f"embedding_lookup_sparse: combiner must be 'sum', 'mean' or 'sqrtn'; got {combiner!r}.")
    rows = embedding_lookup(params, sp_ids.values, partition_strategy, max_norm=max_norm)
    examples = getitem(sp_ids.indices, (slice(None), 0))
    if sp_weights is None:
        if combiner == "sqrtn":
            return sparse_segment_sqrt_n(rows, numbers(rows._shape[0]), examples)
        return segment_sum(rows, examples) if combiner == "sum" else segment_mean(rows, examples)
    values = cast(_weights("embedding_lookup_sparse", sp_ids, sp_weights), rows.dtype)
    weights = reshape(values, (-1, *(1,) * (len(rows._shape) - 1)))  # it broadcasts with the rows
    total = segment_sum(rows * weights, examples)
    if combiner == "sum":
        return total
    if combiner == "sqrtn":
        return total / sqrt(segment_sum(square(weights), examples))
    return total / segment_sum(weights, examples)


def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike | Sequence[TensorLike],
    sparse_ids: SparseTensor,
    sparse_weights: SparseTensor | None = None,
    combiner: str = "mean",
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Tensor:
    """Look up several rows of a table for each example, where examples may have none and numbers may be negative.

    Args:
        embedding_weights: a table of shape ``(size, ...)``, or a list of tables.
        sparse_ids: the rows' numbers; those on one row of the last axis belong to one example. Negative ones are left
            out.
        sparse_weights: a weight for each number, at the same places; None for ones. Unless the combiner is ``"sum"``,
            numbers whose weight is not above 0 are left out.
        default_id: the number for examples without one; None for zeros.
        Other arguments: see `embedding_lookup_sparse`.

    Returns:
        A tensor of shape ``sparse_ids.shape[:-1] + (...)``.

    Raises:
        TypeError: the numbers or weights are no `SparseTensor`.
        ValueError: there is no such combiner or strategy, or the weights lie elsewhere.
        InvalidArgumentError: a number is out of range.

    >>> ids = SparseTensor([[0, 0], [0, 1], [2, 0]], [0, 1, -1], [3, 2])
    >>> safe_embedding_lookup_sparse([[1.0], [3.0]], ids).numpy().tolist()
    [[2.0], [0.0], [0.0]]
    """
    if not isinstance(sparse_ids, SparseTensor):
        raise TypeError(
            f"safe_embedding_lookup_sparse: sparse_ids must be a SparseTensor; got {type(sparse_ids).__name__}."
        )
    outer: list[int] = host_value(sparse_ids.dense_shape).tolist()[:-1]
    values = None
    if sparse_weights is not None:
        values = _weights("safe_embedding_lookup_sparse", sparse_ids, sparse_weights)

    def chosen(places: Any, ids: Any, weights: Any = None) -> list[Any]:
        examples = np.zeros(len(places), np.int64)
        for axis, size in enumerate(outer):
            examples = examples * size + places[:, axis]
        kept = ids >= 0 if weights is None or combiner == "sum" else (ids >= 0) & (weights > 0)
        entries = np.flatnonzero(kept)
        missing = np.setdiff1d(np.arange(math.prod(outer)), examples[kept])
        of_entries = np.concatenate([examples[entries], missing])
        order = np.argsort(of_entries, kind="stable")
        at = np.stack([of_entries[order], np.arange(len(order))], 1)
        all_ids = np.concatenate([ids[entries], np.full(len(missing), default_id or 0, ids.dtype)])[order]
        # A 1 for the missing ones is behind the weights.
        position = np.concatenate([entries, np.full(len(missing), len(ids))])[order]
        return [at, all_ids, position, np.isin(np.arange(math.prod(outer)), missing)]

    given = [sparse_ids.indices, sparse_ids.values, *([] if values is None else [values])]
    kinds = [int64, sparse_ids.values.dtype, int64, bool_]
    at, all_ids, position, is_missing = computed(chosen, given, kinds, has_sizes=True)
    shape = [math.prod(outer), at._shape[0]]
    weights = None
    if values is not None:
        weights = SparseTensor(at, gather(concat([values, ones((1,), values.dtype)], 0), position), shape)
    found = embedding_lookup_sparse(
        embedding_weights, SparseTensor(at, all_ids, shape), weights, partition_strategy, None, combiner, max_norm
    )
    if default_id is None and decided(lambda host: bool(host.any()), is_missing):
        found = where(is_missing, zeros_like(found), found)
    return reshape(found, (*outer, *found._shape[1:]))


def _weights(op: str, sp_ids: SparseTensor, sp_weights: Any) -> Tensor:
    """The weights, after a check that they lie where the numbers do."""
    if not isinstance(sp_weights, SparseTensor):
        raise TypeError(f"{op}: sp_weights must be None or a SparseTensor; got {type(sp_weights).__name__}.")
    if not decided(_are_equal, sp_ids.indices, sp_weights.indices):
        of_ids, of_weights = failing(sp_ids.indices).tolist(), failing(sp_weights.indices).tolist()
        raise ValueError(
            f"{op}: sp_weights must have a weight at each place of sp_ids; the ids lie at {of_ids}, the weights at "
            f"{of_weights}."
        )
    return sp_weights.values


def _are_equal(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other))


def _tables(params: Any) -> list[Any]:
    """The tables; what is no list of tensors, variables or arrays is one table."""
    if not isinstance(params, (list, tuple)):
        return [params]
    if not params:
        raise ValueError("embedding_lookup: params is an empty list; give at least one table.")
    is_list = any(isinstance(each, (Tensor, Variable)) or hasattr(each, "dtype") for each in params)
    return list(params) if is_list else [params]


def _by_remainder(tables: Sequence[Any], ids: Tensor) -> tuple[Tensor, Tensor]:
    return ids % len(tables), ids // len(tables)


def _by_division(tables: Sequence[Any], ids: Tensor) -> tuple[Tensor, Tensor]:
    size = sum(convert_to_tensor(each)._shape[0] for each in tables)
    share, extra = divmod(size, len(tables))
    rest = ids - extra
    # Tables below `extra` have one row more than the others.
    table = maximum(ids // (share + 1), rest // max(share, 1))
    if not decided(lambda host: not host.size or bool(host.min() >= 0 and host.max() < size), ids):
        raise InvalidArgumentError(f"embedding_lookup: ids must be in [0, {size}), the rows of all tables together.")
    return table, where(table < extra, ids % (share + 1), rest % max(share, 1))


def _limited(rows: Tensor, axes: int, max_norm: float | None) -> Tensor:
    if max_norm is None:
        return rows
    return clip_by_norm(rows, max_norm, axes=list(range(axes, len(rows._shape))))
