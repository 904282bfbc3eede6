"""SparseTensor: the elements of a mostly empty tensor, and their positions."""

from __future__ import annotations

from typing import Any

from agog_core import dtypes
from agog_core.dtypes import DType
from agog_core.named_tuple import Named
from agog_core.shapes import TensorShape
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["SparseTensor", "SparseTensorValue", "convert_to_tensor_or_sparse_tensor"]


class SparseTensorValue(Named):
    """The three parts of a `SparseTensor` as arrays."""

    indices: Any
    values: Any
    dense_shape: Any


class SparseTensor:
    """Three tensors for a tensor of rank r with n given elements.

    Args:
        indices: where the elements are, int64 of shape (n, r).
        values: the elements, of shape (n,).
        dense_shape: the shape that the indices lie in, int64 of shape (r,).

    >>> sparse = SparseTensor([[0, 1], [2, 0]], [5.0, 6.0], [3, 2])
    >>> sparse.shape, sparse.dtype
    (TensorShape([3, 2]), tf.float32)
    """

    def __init__(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike) -> None:
        self._indices = convert_to_tensor(indices, None if hasattr(indices, "dtype") else dtypes.int64)
        self._values = convert_to_tensor(values)
        self._dense_shape = convert_to_tensor(dense_shape, None if hasattr(dense_shape, "dtype") else dtypes.int64)

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """Make one of its parts.

        Args:
            sparse_tensor_value: a `SparseTensorValue` or a `SparseTensor`.

        Returns:
            A new `SparseTensor`.

        Raises:
            TypeError: it is something else.

        >>> SparseTensor.from_value(SparseTensorValue([[0]], [1.0], [2])).shape
        TensorShape([2])
        """
        if not isinstance(sparse_tensor_value, (SparseTensor, SparseTensorValue)):
            raise TypeError(
                f"SparseTensor.from_value: expected a SparseTensor or a SparseTensorValue; got {sparse_tensor_value!r} "
                f"of type {type(sparse_tensor_value).__name__}."
            )
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    @property
    def indices(self) -> Tensor:
        """Where the elements are, of shape (n, r)."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The elements, of shape (n,)."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape that the indices lie in, as a tensor."""
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape that the indices lie in."""
        sizes: list[Any] = self._dense_shape.numpy().tolist()
        return TensorShape(sizes)

    def get_shape(self) -> TensorShape:
        """The shape that the indices lie in.

        Returns:
            The same as `shape`.
        """
        return self.shape

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self._indices!r}, values={self._values!r}, dense_shape={self._dense_shape!r})"


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Make a tensor of a value, or a `SparseTensor` of one or of its parts.

    Args:
        value: a `SparseTensor`, a `SparseTensorValue`, or what `convert_to_tensor` takes.
        dtype: the dtype to convert to; that of sparse values must be the same.

    Returns:
        A tensor or a `SparseTensor`.

    Raises:
        RuntimeError: a sparse value is of another dtype.

    >>> convert_to_tensor_or_sparse_tensor(SparseTensorValue([[0]], [1.0], [2])).shape
    TensorShape([2])
    """
    if not isinstance(value, (SparseTensor, SparseTensorValue)):
        return convert_to_tensor(value, dtype)
    sparse = value if isinstance(value, SparseTensor) else SparseTensor.from_value(value)
    if dtype is not None and dtypes.as_dtype(dtype) is not sparse.dtype:
        raise RuntimeError(
            f"convert_to_tensor_or_sparse_tensor: the SparseTensor is of dtype {sparse.dtype.name}; "
            f"{dtypes.as_dtype(dtype).name} is asked for. Cast its values."
        )
    return sparse
