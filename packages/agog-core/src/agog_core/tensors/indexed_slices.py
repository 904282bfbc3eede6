"""IndexedSlices: the gradient of a lookup, with few rows that are not zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agog_core.dtypes import DType, as_dtype, int64
from agog_core.shapes import Shape, TensorShape
from agog_core.tensors.constant import constant
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["IndexedSlices", "convert_to_tensor_or_indexed_slices"]


class IndexedSlices:
    """Some rows of a large tensor, the others being zero; rows that are named twice are added up.

    Wherever an op takes a tensor, it takes one of these as the whole tensor.

    Args:
        values: the rows, of shape ``(n, ...)``.
        indices: their positions on axis 0, integers of shape ``(n,)``.
        dense_shape: the whole tensor's shape; None if it is not known, and then there is no tensor of them.

    Raises:
        ValueError: the shapes do not fit together.

    >>> rows = IndexedSlices([[1.0], [2.0]], [2, 2], (3, 1))
    >>> print(convert_to_tensor(rows))
    tf.Tensor(
    [[0.]
     [0.]
     [3.]], shape=(3, 1), dtype=float32)
    """

    __slots__ = ("_shape", "indices", "values")

    def __init__(self, values: TensorLike, indices: TensorLike, dense_shape: Any = None) -> None:
        self.values: Tensor = convert_to_tensor(values)
        self.indices: Tensor = convert_to_tensor(indices)
        self._shape: Shape | None = None if dense_shape is None else tuple(int(size) for size in dense_shape)
        rows = self.values._shape
        if self._shape is None:
            if len(self.indices._shape) != 1 or rows[:1] != self.indices._shape:
                raise ValueError(
                    f"IndexedSlices: values of shape {rows} and indices of shape {self.indices._shape} do not fit; "
                    "values must be of shape (n, ...) and indices of shape (n,)."
                )
            return
        if len(self.indices._shape) != 1 or rows != (*self.indices._shape, *self._shape[1:]):
            raise ValueError(
                f"IndexedSlices: values of shape {rows} and indices of shape {self.indices._shape} are no rows of a "
                f"tensor of shape {self._shape}; values must be of shape (n, {', '.join(map(str, self._shape[1:]))}) "
                "and indices of shape (n,)."
            )

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        """The whole tensor's shape; the number of its rows is unknown if there is no dense shape."""
        return TensorShape([None, *self.values._shape[1:]] if self._shape is None else self._shape)

    @property
    def dense_shape(self) -> Tensor | None:
        """The whole tensor's shape, as a tensor of int64, or None."""
        return None if self._shape is None else constant(self._shape, int64)

    @property
    def device(self) -> str:
        """The full name of the device that holds the rows."""
        return self.values.device

    def numpy(self) -> Any:
        """The whole tensor on the host.

        Returns:
            A read-only `numpy.ndarray`.
        """
        return self.__tensor__().numpy()

    if TYPE_CHECKING:  # attached by agog_core.ops.operators

        def __tensor__(self) -> Tensor: ...

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.__tensor__().__array__(dtype, copy)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self.values, self.indices, self._shape)

    def __repr__(self) -> str:
        return f"IndexedSlices(indices={self.indices!r}, values={self.values!r}, dense_shape={self._shape})"


def convert_to_tensor_or_indexed_slices(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Make a tensor of a value, unless it is `IndexedSlices`.

    Args:
        value: `IndexedSlices`, or what `convert_to_tensor` takes.
        dtype: the dtype to convert to; that of `IndexedSlices` must be the same.

    Returns:
        A tensor, or the `IndexedSlices`.

    Raises:
        ValueError: `IndexedSlices` are of another dtype.

    >>> convert_to_tensor_or_indexed_slices(1.0).shape
    TensorShape([])
    """
    if not isinstance(value, IndexedSlices):
        return convert_to_tensor(value, dtype)
    if dtype is not None and as_dtype(dtype) is not value.dtype:
        raise ValueError(
            f"convert_to_tensor_or_indexed_slices: the IndexedSlices are of dtype {value.dtype.name}; "
            f"{as_dtype(dtype).name} is asked for. Cast their values."
        )
    return value
