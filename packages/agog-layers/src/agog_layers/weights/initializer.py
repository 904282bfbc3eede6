"""Initializer: the base of initializers."""

from __future__ import annotations

from typing import Any, ClassVar

from agog_core import Tensor, as_dtype, dtypes
from agog_core.tensors.convert import whole
from agog_layers.serialization.description import Configured

__all__ = ["Initializer"]


class Initializer(Configured):
    """Base of initializers: objects that make a tensor of a shape and dtype.

    Args:
        dtype: the dtype of calls that give none.
    """

    described_kind: ClassVar[str] = "initializer"

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        """Make an initial value.

        Args:
            shape: the shape, fully known.
            dtype: the dtype; None for the initializer's own.

        Returns:
            A new tensor.
        """
        return self.fill(tuple(whole(size) for size in shape), self.dtype if dtype is None else as_dtype(dtype))

    def fill(self, shape: tuple[int, ...], dtype: dtypes.DType) -> Tensor:
        """Make an initial value; initializers say here how.

        Args:
            shape: the shape.
            dtype: the dtype.

        Returns:
            A new tensor.
        """
        raise NotImplementedError(
            f"{type(self).__name__}.fill is not implemented; it makes a tensor of a shape and dtype."
        )
