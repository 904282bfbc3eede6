"""TensorSpec: the dtype and shape of a function's argument."""

from __future__ import annotations

from typing import Any

from agog_core.dtypes import DType, as_dtype, float32
from agog_core.shapes import TensorShape
from agog_core.tensors.tensor import Tensor

__all__ = ["TensorSpec"]


class TensorSpec:
    """A shape, which may be partly unknown, and a dtype.

    Args:
        shape: the shape, or what the constructor of `TensorShape` takes.
        dtype: the dtype.
        name: a name for the tensor.

    >>> spec = TensorSpec([None, 2], "float32")
    >>> import agog_core as ag
    >>> spec.is_compatible_with(ag.ones([5, 2])), spec.is_compatible_with(ag.ones([5, 3]))
    (True, False)
    """

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> TensorSpec:
        """The spec that fits tensors like one.

        Args:
            tensor: a tensor.
            name: a name for the tensor.

        Returns:
            The spec.
        """
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> TensorSpec:
        """A spec like another one.

        Args:
            spec: the other one.
            name: the name; None for the other one's.

        Returns:
            The spec.
        """
        return cls(spec.shape, spec.dtype, name or spec.name)

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name."""
        return self._name

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether a tensor could be both.

        Args:
            spec_or_tensor: a tensor, a variable or a spec.

        Returns:
            True when the dtypes are one and the shapes are compatible.
        """
        return self._dtype == spec_or_tensor.dtype and self._shape.is_compatible_with(spec_or_tensor.shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and (self._shape, self._dtype) == (other._shape, other._dtype)

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"
