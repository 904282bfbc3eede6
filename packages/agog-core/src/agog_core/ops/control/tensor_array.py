"""TensorArray: a list of tensors, with TensorFlow's methods for loops."""

from __future__ import annotations

from typing import Any, NoReturn

from agog_core import dtypes
from agog_core.dtypes import DType, as_dtype
from agog_core.errors import InvalidArgumentError, OutOfRangeError
from agog_core.ops.array import concat, split, stack, unstack, zeros
from agog_core.shapes import TensorShape
from agog_core.tensors.convert import convert_to_tensor, host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["TensorArray"]


class TensorArray:
    """Tensors of one dtype in numbered places; gradients flow through them.

    Methods that write change the array in place and return it, so that programs for graphs, which use the returned one,
    work too.

    Args:
        dtype: the dtype of the tensors.
        size: the number of places.
        dynamic_size: whether writing past the end adds places.
        clear_after_read: whether a place can be read only once; None for True.
        handle: must be None; arrays are not made from handles.
        infer_shape: whether all tensors must have the shape of the first.
        element_shape: the shape of the tensors; places that were never written are then zeros.

    Raises:
        ValueError: a handle is given.

    >>> array = TensorArray("float32", size=2)
    >>> array = array.write(0, 1.0).write(1, 2.0)
    >>> print(array.stack())
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """

    def __init__(
        self,
        dtype: Any,
        size: TensorLike = 0,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: None = None,
        flow: TensorLike = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        if handle is not None:
            raise ValueError("TensorArray: handle must be None; an array that runs at once has none.")
        self._dtype = as_dtype(dtype)
        self._tensors: list[Tensor | None] = [None] * int(size or 0)
        self._read: set[int] = set()
        self._may_grow = bool(dynamic_size)
        self._clears = clear_after_read is None or clear_after_read
        self._shape = TensorShape(element_shape)
        self._infers_shape = infer_shape

    @property
    def dtype(self) -> DType:
        """The dtype of the tensors."""
        return self._dtype

    @property
    def flow(self) -> Tensor:
        """A scalar that stands for the order of reads and writes in graphs; here it means nothing."""
        return convert_to_tensor(0.0)

    @property
    def handle(self) -> None:
        """None: an array that runs at once has no handle."""

    def identity(self) -> TensorArray:
        """Return the array.

        Returns:
            The array itself.
        """
        return self

    def grad(self, source: str, flow: Any = None, name: str | None = None) -> NoReturn:
        """Raise: gradients flow through the array by themselves.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "TensorArray.grad is not supported when eager execution is enabled: a tf.GradientTape records reads and "
            "writes as it does ops, so differentiate what you compute from the array."
        )

    def size(self, name: str | None = None) -> Tensor:
        """The number of places.

        Returns:
            A scalar of int32.
        """
        return convert_to_tensor(len(self._tensors), dtypes.int32)

    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        """Read a tensor.

        Args:
            index: the place.

        Returns:
            The tensor; zeros where none was written and the shape is known.

        Raises:
            OutOfRangeError: there is no such place.
            InvalidArgumentError: the place was read already and is cleared, or was never written.
        """
        place = self._place("read", index)
        tensor = self._tensors[place]
        if tensor is None:
            if place in self._read:
                raise InvalidArgumentError(
                    f"TensorArray.read: Could not read index {place} twice because it was cleared after a previous "
                    "read (perhaps try setting clear_after_read = false?)"
                )
            tensor = self._zeros("read", place)
        if self._clears:
            self._tensors[place] = None
            self._read.add(place)
        return tensor

    def write(self, index: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """Write a tensor.

        Args:
            index: the place.
            value: a tensor of the array's dtype.

        Returns:
            The array.

        Raises:
            OutOfRangeError: there is no such place, and the array's size is fixed.
            InvalidArgumentError: the tensor's dtype is another.
            ValueError: the tensor's shape is another.
        """
        place = int(index)
        if place >= len(self._tensors) and self._may_grow:
            self._tensors.extend([None] * (place + 1 - len(self._tensors)))
        self._put(self._place("write", place), value)
        return self

    def stack(self, name: str | None = None) -> Tensor:
        """Stack all tensors.

        Returns:
            A tensor whose first axis is the places.

        Raises:
            InvalidArgumentError: a place was never written and its shape is unknown, or the array is empty.
        """
        return self.gather(range(len(self._tensors)))

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """Stack some of the tensors.

        Args:
            indices: the places.

        Returns:
            A tensor whose first axis is the places.

        Raises:
            OutOfRangeError: there is no such place.
            InvalidArgumentError: a place was never written and its shape is unknown, or there is no place.
        """
        tensors = self._all("gather", indices)
        return stack(tensors) if tensors else zeros([0, *self._known_shape("gather")], self._dtype)

    def concat(self, name: str | None = None) -> Tensor:
        """Join all tensors along their first axis.

        Returns:
            A tensor.

        Raises:
            InvalidArgumentError: a place was never written and its shape is unknown, or the array is empty.
        """
        tensors = self._all("concat", range(len(self._tensors)))
        for place, tensor in enumerate(tensors):
            if not tensor._shape:
                raise InvalidArgumentError(
                    f"TensorArray.concat: Concat saw a scalar shape at index {place} but requires at least vectors."
                )
        return concat(tensors, 0) if tensors else zeros([0, *self._known_shape("concat")[1:]], self._dtype)

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """Write the slices of a tensor along its first axis.

        Args:
            value: a tensor of the array's dtype, of shape (n, ...).

        Returns:
            The array.

        Raises:
            ValueError: there are fewer than n places, and the array's size is fixed.
        """
        slices = unstack(value)
        if len(slices) > len(self._tensors) and not self._may_grow:
            raise ValueError(
                f"TensorArray.unstack: {len(slices)} slices do not fit into {len(self._tensors)} places; pass "
                "dynamic_size=True to let the array grow."
            )
        return self._write_all(range(len(slices)), slices)

    def scatter(self, indices: Any, value: TensorLike, name: str | None = None) -> TensorArray:
        """Write the slices of a tensor along its first axis to given places.

        Args:
            indices: n places.
            value: a tensor of the array's dtype, of shape (n, ...).

        Returns:
            The array.

        Raises:
            ValueError: the number of places is not n.
            OutOfRangeError: there is no such place, and the array's size is fixed.
        """
        places, slices = _indices(indices), unstack(value)
        if len(places) != len(slices):
            raise ValueError(f"TensorArray.scatter: got {len(places)} indices for {len(slices)} slices.")
        return self._write_all(places, slices)

    def split(self, value: TensorLike, lengths: Any, name: str | None = None) -> TensorArray:
        """Write pieces of a tensor.

        Args:
            value: a tensor of the array's dtype.
            lengths: the sizes of the pieces along the first axis.

        Returns:
            The array.

        Raises:
            InvalidArgumentError: the pieces do not fill the axis, or there are not as many places as pieces and the
                array's size is fixed.
        """
        tensor, sizes = convert_to_tensor(value), host_value(lengths)
        if len(sizes.shape) != 1:
            raise InvalidArgumentError(
                f"TensorArray.split: Expected lengths to be a vector, received shape: {list(sizes.shape)}"
            )
        if not tensor._shape:
            raise InvalidArgumentError(
                f"TensorArray.split: Expected value to be at least a vector, but received shape: {list(tensor._shape)}"
            )
        if sizes.sum() != tensor._shape[0]:
            raise InvalidArgumentError(
                "TensorArray.split: Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                f"{sizes.sum()} and value's shape is: {list(tensor._shape)}"
            )
        pieces = split(tensor, _indices(sizes))
        if len({*sizes.tolist()}) > 1:
            self._infers_shape = False
        if len(pieces) != len(self._tensors) and not self._may_grow:
            raise InvalidArgumentError(
                f"TensorArray.split: TensorArray's size is not equal to the size of lengths ({len(self._tensors)} vs. "
                f"{len(pieces)}), and the TensorArray is not marked as dynamically resizeable; pass dynamic_size=True."
            )
        return self._write_all(range(len(pieces)), pieces)

    def close(self, name: str | None = None) -> None:
        """Let go of all tensors."""
        self._tensors.clear()

    def _write_all(self, places: Any, tensors: list[Tensor]) -> TensorArray:
        for place, tensor in zip(places, tensors, strict=True):
            self.write(place, tensor)
        return self

    def _put(self, place: int, value: TensorLike) -> None:
        is_text = isinstance(value, (str, bytes))
        tensor = convert_to_tensor(value, None if hasattr(value, "dtype") or is_text else self._dtype)
        if tensor.dtype is not self._dtype:
            raise InvalidArgumentError(
                f"TensorArray.write: TensorArray dtype is {self._dtype.name} but Op is trying to write dtype "
                f"{tensor.dtype.name}, of shape {tensor._shape}, for index {place}. Cast it with tf.cast."
            )
        if not self._shape.is_compatible_with(tensor._shape):
            raise ValueError(
                f"TensorArray.write: the tensors have shape {self._shape}; got one of shape {tensor.shape} for index "
                f"{place}. Pass infer_shape=False to the TensorArray to mix shapes."
            )
        if self._infers_shape:
            self._shape = tensor.shape
        self._tensors[place] = tensor

    def _place(self, method: str, index: TensorLike) -> int:
        place = int(index)
        if not 0 <= place < len(self._tensors):
            way = "write to" if method == "write" else "read from"
            advice = "; pass dynamic_size=True to let the array grow" if method == "write" else ""
            size = "array is not resizeable and size is" if method == "write" else "array size is"
            raise OutOfRangeError(
                f"TensorArray.{method}: Tried to {way} index {place} but {size}: {len(self._tensors)}{advice}."
            )
        return place

    def _all(self, method: str, indices: Any) -> list[Tensor]:
        found = []
        for index in _indices(indices):
            place = self._place(method, index)
            tensor = self._tensors[place]
            found.append(self._zeros(method, place) if tensor is None else tensor)
        return found

    def _zeros(self, method: str, place: int) -> Tensor:
        if not self._shape.is_fully_defined():
            raise InvalidArgumentError(
                f"TensorArray.{method}: index {place} was never written, and the shape of its tensor is unknown; "
                "write it first, or pass element_shape to the TensorArray."
            )
        return zeros(self._shape, self._dtype)

    def _known_shape(self, method: str) -> list[int | None]:
        if not self._shape.is_fully_defined():
            raise InvalidArgumentError(
                f"TensorArray.{method}: there is no tensor, and the shape of the tensors is unknown; pass "
                "element_shape to the TensorArray."
            )
        return self._shape.as_list()


def _indices(indices: Any) -> list[int]:
    return [int(index) for index in (indices if isinstance(indices, range) else host_value(indices).reshape(-1))]
