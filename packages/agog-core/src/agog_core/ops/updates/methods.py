"""Methods: methods of variables by ops, attached to `Variable`: adding, subtracting, rows."""

from __future__ import annotations

from typing import Any

from agog_core.errors import OutOfRangeError
from agog_core.ops.indexing.gathering import gather
from agog_core.ops.updates import rows
from agog_core.ops.updates.descent import apply_add
from agog_core.tensors import IndexedSlices, Tensor, TensorLike
from agog_core.variables.memory import updating
from agog_core.variables.variable import Variable


def assign_add(
    self: Variable, delta: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
) -> Variable:
    """Add to the value.

    Args:
        delta: what to add, of the variable's shape and dtype.
        read_value: whether the variable is returned.

    Returns:
        The variable; None where ``read_value`` is false.

    Raises:
        ValueError: the shape is another.
        InvalidArgumentError: ``delta`` is a tensor of another dtype.
    """
    apply_add(self, self._operand("assign_add", delta), 1)
    return self if read_value else None  # type: ignore[return-value]  # few ask for nothing, and want no answer


def assign_sub(
    self: Variable, delta: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
) -> Variable:
    """Subtract from the value; see `Variable.assign_add`."""
    apply_add(self, self._operand("assign_sub", delta), -1)
    return self if read_value else None  # type: ignore[return-value]  # few ask for nothing, and want no answer


def sparse_read(self: Variable, indices: TensorLike, name: str | None = None) -> Tensor:
    """Look up rows; tapes see that the variable is read.

    Args:
        indices: positions on axis 0, int32 or int64, of any shape.

    Returns:
        A tensor of shape ``indices.shape + shape[1:]``.

    Raises:
        InvalidArgumentError: a position is out of range.
    """
    return gather(self, indices)


def scatter_add(
    self: Variable, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
) -> Variable:
    """Add to rows.

    Args:
        sparse_delta: the rows and their positions.

    Returns:
        The variable.

    Raises:
        ValueError: ``sparse_delta`` is no `IndexedSlices`.
        InvalidArgumentError: a position is out of range, or shapes or dtypes do not fit.
    """
    return rows.scatter_add(self, *_rows("scatter_add", sparse_delta))


def scatter_sub(
    self: Variable, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
) -> Variable:
    """Subtract from rows; see `Variable.scatter_add`."""
    return rows.scatter_sub(self, *_rows("scatter_sub", sparse_delta))


def scatter_update(
    self: Variable, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
) -> Variable:
    """Replace rows; see `Variable.scatter_add`."""
    return rows.scatter_update(self, *_rows("scatter_update", sparse_delta))


def scatter_nd_add(self: Variable, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Variable:
    """Add to elements or slices; see `agog_core.scatter_nd_add`."""
    return rows.scatter_nd_add(self, indices, updates)


def scatter_nd_sub(self: Variable, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Variable:
    """Subtract from elements or slices; see `agog_core.scatter_nd_sub`."""
    return rows.scatter_nd_sub(self, indices, updates)


def scatter_nd_update(self: Variable, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Variable:
    """Replace elements or slices; see `agog_core.scatter_nd_update`."""
    return rows.scatter_nd_update(self, indices, updates)


def count_up_to(self: Variable, limit: int) -> Tensor:
    """Add one to an integer, up to a limit; see `agog_core.count_up_to`."""
    with updating:  # two threads never count the same
        before = self.value()
        if int(before) >= limit:
            raise OutOfRangeError(f"count_up_to: variable {self.name!r} has reached the limit {limit}: it is {before}.")
        self.assign_add(1)
    return before


def load(self: Variable, value: TensorLike, session: Any = None) -> None:
    """Replace the value; see `Variable.assign`.

    Args:
        value: a value of the variable's shape and dtype.
    """
    self.assign(value)


def _rows(method: str, delta: Any) -> tuple[Tensor, Tensor]:
    if not isinstance(delta, IndexedSlices):
        raise ValueError(
            f"{method}: sparse_delta must be IndexedSlices; got {type(delta).__name__}. Use assign for whole values, "
            f"or tf.{method} for indices and updates."
        )
    return delta.indices, delta.values


for _method in (
    *(assign_add, assign_sub, sparse_read, scatter_add, scatter_sub, scatter_update),
    *(scatter_nd_add, scatter_nd_sub, scatter_nd_update, count_up_to, load),
):
    setattr(Variable, _method.__name__, _method)
