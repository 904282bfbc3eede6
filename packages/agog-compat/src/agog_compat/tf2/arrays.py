"""Arrays: functions of ``tf`` that repeat, pad and tell what is a tensor."""

from __future__ import annotations

from typing import Any

from agog_core import IndexedSlices, SparseTensor, Tensor, TensorLike, Variable, convert_to_tensor, reshape
from agog_core.array_api.manipulation import repeat as repeat_elements
from agog_core.tensors.convert import whole

__all__ = ["is_tensor", "repeat"]


def repeat(input: TensorLike, repeats: TensorLike, axis: int | None = None, name: str | None = None) -> Tensor:
    """Repeat each element several times in a row.

    Args:
        input: a tensor.
        repeats: how many times: one integer for all, or one for each place along the axis.
        axis: the axis; None for the tensor as a vector.

    Returns:
        A tensor that is longer along the axis.

    >>> print(repeat([[1, 2], [3, 4]], [1, 2], axis=1))
    tf.Tensor(
    [[1 2 2]
     [3 4 4]], shape=(2, 3), dtype=int32)
    """
    times = convert_to_tensor(repeats)
    return repeat_elements(input, whole(reshape(times, [])) if times.size == 1 else times, axis=axis)


def is_tensor(x: Any) -> bool:
    """Whether a value is a tensor, a variable, a `SparseTensor` or `IndexedSlices`.

    Args:
        x: anything.

    Returns:
        True or False; False for arrays and numbers.

    >>> is_tensor(Variable(1.0)), is_tensor([1.0])
    (True, False)
    """
    return isinstance(x, (Tensor, Variable, SparseTensor, IndexedSlices))
