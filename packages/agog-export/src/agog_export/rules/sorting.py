"""Sorting: rules of order, search and unique values."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_export.writer import Operand, Writer

__all__ = ["argsort", "in_top_k", "nth_element", "sort", "top_k"]


def sort(op: Writer, values: Operand, *, descending: bool) -> Any:
    return _sorted(op, values, descending)[0]


def argsort(op: Writer, values: Operand, *, descending: bool) -> Any:
    return op.cast(_sorted(op, values, descending)[1], op.out.dtype)


def _sorted(op: Writer, values: Operand, descending: bool) -> Any:
    return op.TopK(values, [values.shape[-1]], outputs=2, sorted=1, largest=descending)


def in_top_k(op: Writer, predictions: Operand, targets: Operand, *, k: int) -> Any:
    """Whether fewer than k others are larger."""
    target = op.GatherElements(predictions, op.Unsqueeze(op.cast(targets, np.int64), [1]), axis=1)
    larger = op.ReduceSum(op.cast(op.Greater(predictions, target), np.int64), [1], keepdims=0)
    return op.Less(larger, np.int64(k))


def nth_element(op: Writer, input: Operand, *, n: int) -> Any:
    return op.Gather(_sorted(op, input, False)[0], np.int64(n), axis=-1)


def top_k(op: Writer, input: Operand, *, k: int) -> list[Any]:
    values, places = op.TopK(input, [k], outputs=2, sorted=1)
    return [values, op.cast(places, op.outputs[1].dtype)]
