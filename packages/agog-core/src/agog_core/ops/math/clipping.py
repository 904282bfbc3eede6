"""Clipping: keeping values within limits, elementwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_core.dtypes import DType, as_dtype
from agog_core.ops.array.casting import cast
from agog_core.ops.math.arithmetic import maximum, minimum
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["clip_by_value", "saturate_cast"]


def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Tensor:
    """Bring values into a range, elementwise: what lies beyond an end becomes that end.

    Args:
        t: a tensor of real numbers.
        clip_value_min: the lower end, a number or a tensor that broadcasts to ``t``'s shape.
        clip_value_max: the upper end, of the same kind.

    Returns:
        The values, of ``t``'s shape and dtype.

    Raises:
        ValueError: an end would broadcast ``t`` to another shape.

    >>> print(clip_by_value([-2.0, 0.5, 3.0], 0.0, 1.0))
    tf.Tensor([0.  0.5 1. ], shape=(3,), dtype=float32)
    """
    x = convert_to_tensor(t)
    clipped = maximum(minimum(x, clip_value_max), clip_value_min)
    if clipped._shape != x._shape:
        raise ValueError(
            f"clip_by_value: clip_value_min and clip_value_max would broadcast t of shape {x._shape} to shape "
            f"{clipped._shape}; they must broadcast to t's shape."
        )
    return clipped


def saturate_cast(value: TensorLike, dtype: Any, name: str | None = None) -> Tensor:
    """Convert a tensor to a dtype; what is too large or too small for it becomes its largest or smallest number.

    Args:
        value: a tensor of real numbers.
        dtype: the dtype of real numbers to convert to.

    Returns:
        A tensor of that dtype.

    >>> print(saturate_cast([-1.5, 300.0], "uint8"))
    tf.Tensor([  0 255], shape=(2,), dtype=uint8)
    """
    tensor, wanted = convert_to_tensor(value), as_dtype(dtype)
    lowest, highest = _ends(tensor.dtype)
    low, high = _ends(wanted)
    if lowest < low:
        tensor = maximum(tensor, _inside(low, tensor.dtype, wanted))
    if highest > high:
        tensor = minimum(tensor, _inside(high, tensor.dtype, wanted))
    return cast(tensor, wanted)


def _ends(dtype: DType) -> tuple[Any, Any]:
    """The lowest and the highest number of a dtype, as Python numbers, which compare exactly."""
    number = int if dtype.is_integer else float
    return number(dtype.min), number(dtype.max)


def _inside(end: Any, given: DType, wanted: DType) -> Any:
    """The number of one dtype that is nearest to an end of another one's numbers, and not beyond it."""
    nearest = given.as_numpy_dtype(float(end) if given.is_floating else end)
    low, high = _ends(wanted)
    if wanted.is_integer and given.is_floating and np.isfinite(nearest) and not low <= int(float(nearest)) <= high:
        nearest = np.nextafter(nearest, given.as_numpy_dtype(0))
    return nearest
