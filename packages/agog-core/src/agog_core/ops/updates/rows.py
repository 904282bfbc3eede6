"""Rows of variables, changed in place. Tapes do not see it.

Where a row is named several times, its updates are taken one after the other.
"""

from __future__ import annotations

from agog_core.calls.broadcasting import broadcast_to
from agog_core.calls.docstrings import documented
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import expand_dims, reshape, stack
from agog_core.ops.array.creation import range as numbers
from agog_core.ops.indexing.gathering import index_tensor
from agog_core.ops.indexing.scattering import scatter_variable
from agog_core.tensors.tensor import TensorLike
from agog_core.variables.variable import Variable

__all__ = [
    "batch_scatter_update",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd_add",
    "scatter_nd_sub",
    "scatter_nd_update",
    "scatter_sub",
    "scatter_update",
]


_ROWS = """
    Args:
        ref: a variable of {kind}, of rank at least 1.
        indices: positions on axis 0, int32 or int64, of any shape.
        updates: values of shape ``indices.shape + ref.shape[1:]``, or a scalar.

    Returns:
        The variable.

    Raises:
        InvalidArgumentError: a position is out of range, or shapes or dtypes do not fit.
"""

_ELEMENTS = """
    Args:
        ref: a variable.
        indices: positions of shape ``(..., depth)``, int32 or int64: each row names one position on each of the first
            ``depth`` axes.
        updates: values of shape ``indices.shape[:-1] + ref.shape[depth:]``, or a scalar.

    Returns:
        The variable.

    Raises:
        InvalidArgumentError: a position is out of range, or shapes or dtypes do not fit.
"""


@documented(_ROWS, kind="any dtype")
def scatter_update(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = True, name: str | None = None
) -> Variable:
    """Replace rows of a variable: ``ref[indices] = updates``.

    >>> v = Variable([1.0, 2.0, 3.0])
    >>> scatter_update(v, [0, 2], [9.0, 8.0]).numpy().tolist()
    [9.0, 2.0, 8.0]
    """
    return _scatter_rows(ref, indices, updates, "update")


@documented(_ROWS, kind="numbers")
def scatter_add(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Variable:
    """Add to rows of a variable: ``ref[indices] += updates``.

    >>> v = Variable([1.0, 2.0, 3.0])
    >>> scatter_add(v, [0, 2], [9.0, 8.0]).numpy().tolist()
    [10.0, 2.0, 11.0]
    """
    return _scatter_rows(ref, indices, updates, "add")


@documented(_ROWS, kind="numbers")
def scatter_sub(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Variable:
    """Subtract from rows of a variable: ``ref[indices] -= updates``.

    >>> v = Variable([1.0, 2.0, 3.0])
    >>> scatter_sub(v, [0, 2, 2], [1.0, 2.0, 3.0]).numpy().tolist()
    [0.0, 2.0, -2.0]
    """
    return _scatter_rows(ref, indices, updates, "subtract")


@documented(_ROWS, kind="numbers")
def scatter_mul(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Variable:
    """Multiply rows of a variable: ``ref[indices] *= updates``.

    >>> v = Variable([1.0, 2.0, 3.0])
    >>> scatter_mul(v, [0, 2, 2], [2.0, 3.0, 4.0]).numpy().tolist()
    [2.0, 2.0, 36.0]
    """
    return _scatter_rows(ref, indices, updates, "multiply")


@documented(_ROWS, kind="floats or complex numbers")
def scatter_div(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Variable:
    """Divide rows of a variable: ``ref[indices] /= updates``.

    >>> v = Variable([1.0, 2.0, 3.0])
    >>> scatter_div(v, [0, 2], [2.0, 2.0]).numpy().tolist()
    [0.5, 2.0, 1.5]
    """
    return _scatter_rows(ref, indices, updates, "divide")


@documented(_ROWS, kind="real numbers")
def scatter_min(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Variable:
    """Take the minimum of rows of a variable and updates: ``ref[indices] = minimum of itself and updates``.

    >>> v = Variable([1.0, 2.0, 3.0])
    >>> scatter_min(v, [0, 2], [0.5, 8.0]).numpy().tolist()
    [0.5, 2.0, 3.0]
    """
    return _scatter_rows(ref, indices, updates, "minimum")


@documented(_ROWS, kind="real numbers")
def scatter_max(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Variable:
    """Take the maximum of rows of a variable and updates: ``ref[indices] = maximum of itself and updates``.

    >>> v = Variable([1.0, 2.0, 3.0])
    >>> scatter_max(v, [0, 2], [0.5, 8.0]).numpy().tolist()
    [1.0, 2.0, 8.0]
    """
    return _scatter_rows(ref, indices, updates, "maximum")


@documented(_ELEMENTS)
def scatter_nd_update(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = True, name: str | None = None
) -> Variable:
    """Replace elements or slices of a variable, at positions along its first axes.

    >>> v = Variable([[1.0, 2.0], [3.0, 4.0]])
    >>> scatter_nd_update(v, [[0, 1], [1, 0]], [9.0, 8.0]).numpy().tolist()
    [[1.0, 9.0], [8.0, 4.0]]
    """
    return scatter_variable(ref, indices, updates, "update")


@documented(_ELEMENTS)
def scatter_nd_add(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Variable:
    """Add to elements or slices of a variable, at positions along its first axes.

    >>> v = Variable([[1.0, 2.0], [3.0, 4.0]])
    >>> scatter_nd_add(v, [[0, 1], [1, 0]], [9.0, 8.0]).numpy().tolist()
    [[1.0, 11.0], [11.0, 4.0]]
    """
    return scatter_variable(ref, indices, updates, "add")


@documented(_ELEMENTS)
def scatter_nd_sub(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
) -> Variable:
    """Subtract from elements or slices of a variable, at positions along its first axes.

    >>> v = Variable([[1.0, 2.0], [3.0, 4.0]])
    >>> scatter_nd_sub(v, [[0, 1], [1, 0]], [9.0, 8.0]).numpy().tolist()
    [[1.0, -7.0], [-5.0, 4.0]]
    """
    return scatter_variable(ref, indices, updates, "subtract")


def batch_scatter_update(
    ref: Variable, indices: TensorLike, updates: TensorLike, use_locking: bool = True, name: str | None = None
) -> Variable:
    """Replace rows of each variable of a batch; every one has indices of its own.

    Args:
        ref: a variable of shape ``(batch..., size, ...)``.
        indices: positions of shape ``(batch..., n)``, int32 or int64.
        updates: values of shape ``(batch..., n, ...)``.

    Returns:
        The variable.

    Raises:
        InvalidArgumentError: a position is out of range, or shapes or dtypes do not fit.

    >>> v = Variable([[1.0, 2.0], [3.0, 4.0]])
    >>> batch_scatter_update(v, [[1], [0]], [[9.0], [8.0]]).numpy().tolist()
    [[1.0, 9.0], [8.0, 4.0]]
    """
    at = index_tensor("batch_scatter_update", "indices", indices)
    batch = at._shape[:-1]
    if not at._shape or ref._current()._shape[: len(batch)] != batch:
        raise InvalidArgumentError(
            f"batch_scatter_update: indices of shape {at._shape} do not fit a variable of shape {ref.shape}; both must "
            "begin with the batch's shape."
        )
    batches = [numbers(size, dtype=at.dtype) for size in batch]
    places = [
        broadcast_to(reshape(each, (-1, *(1,) * (len(batch) - axis))), at._shape) for axis, each in enumerate(batches)
    ]
    return scatter_variable(ref, stack([*places, at], axis=len(at._shape)), updates, "update")


def _scatter_rows(ref: Variable, indices: TensorLike, updates: TensorLike, operation: str) -> Variable:
    rows = expand_dims(index_tensor("scatter_variable", "indices", indices), -1)
    return scatter_variable(ref, rows, updates, operation)
