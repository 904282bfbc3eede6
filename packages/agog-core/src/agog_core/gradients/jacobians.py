"""Jacobians, stacked from one gradient per element of a target."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from agog_core.calls.broadcasting import broadcast_to
from agog_core.ops.array import one_hot, reshape, stack
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, convert_to_tensor


def unit_tensors(like: Tensor, batch_axes: int) -> Iterator[Tensor]:
    """For each element behind the leading batch axes, a tensor that is one there and zero elsewhere."""
    shape = like._shape
    count = math.prod(shape[batch_axes:])
    for index in range(count):
        row = one_hot(index, count, dtype=like.dtype)
        yield broadcast_to(reshape(row, (*[1] * batch_axes, *shape[batch_axes:])), shape)


def stacked(shape: Shape, gradients: Sequence[Any], axis: int) -> Any:
    """The Jacobian of the gradients of all elements of a target, or None if there are none."""
    if gradients[0] is None:
        return None
    tensors = [convert_to_tensor(g) for g in gradients]
    stacked = stack(tensors, axis)
    of_source = tensors[0]._shape
    return reshape(stacked, (*of_source[:axis], *shape, *of_source[axis:]))
