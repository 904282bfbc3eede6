"""Input shapes: one shape, or a list of them."""

from __future__ import annotations

from typing import Any

from agog_core import TensorShape, zeros
from agog_layers.serialization.memory_limit import allowance

__all__ = ["each_shape", "is_list_of_shapes", "zeros_of_shape"]


def each_shape(shape: Any) -> list[TensorShape]:
    """List the shapes in an argument that is one shape or a list of them.

    >>> each_shape([None, 3]), each_shape([(2, 3), (4,)])
    ([TensorShape([None, 3])], [TensorShape([2, 3]), TensorShape([4])])
    """
    if is_list_of_shapes(shape):
        return [each for part in shape for each in each_shape(part)]
    return [TensorShape(shape)]


def zeros_of_shape(shape: Any, dtype: Any, unknown: int = 32) -> Any:
    """Make zeros to run a layer on, of a shape or a list of shapes; an unknown batch counts as 1, other sizes as 32.

    >>> zeros_of_shape((None, None, 3), "float32").shape
    TensorShape([1, 32, 3])
    """
    if is_list_of_shapes(shape):
        return [zeros_of_shape(part, dtype, unknown) for part in shape]
    sizes = [(unknown if axis else 1) if size is None else size for axis, size in enumerate(TensorShape(shape))]
    allowance.get().check("the input", lambda: [TensorShape(sizes)])
    return zeros(sizes, dtype)


def is_list_of_shapes(shape: Any) -> bool:
    """Whether an argument is a list of shapes, and not one.

    >>> is_list_of_shapes([(2, 3), (4,)]), is_list_of_shapes((2, 3))
    (True, False)
    """
    return isinstance(shape, (list, tuple)) and any(isinstance(size, (TensorShape, list, tuple)) for size in shape)
