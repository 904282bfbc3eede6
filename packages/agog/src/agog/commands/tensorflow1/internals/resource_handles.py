"""Resource handles: the ops of TensorFlow's ``resource_variable_ops`` on handles, over variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core import TensorShape, gather
from agog_core.dtypes import DType, as_dtype
from agog_core.errors import InvalidArgumentError, NotFoundError
from agog_core.ops.updates import rows
from agog_core.tensors.constant import constant
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.tensor import Tensor, TensorLike
from agog_core.variables.variable import Variable

__all__ = [
    "assign_add_variable_op",
    "assign_sub_variable_op",
    "assign_variable_op",
    "destroy_resource_op",
    "read_variable_op",
    "resource_gather",
    "resource_scatter_add",
    "resource_scatter_div",
    "resource_scatter_max",
    "resource_scatter_min",
    "resource_scatter_mul",
    "resource_scatter_sub",
    "resource_scatter_update",
    "var_handle_op",
    "var_is_initialized_op",
]


class ResourceHandle:
    """What stands for a variable that is made when it is assigned first; `var_handle_op` makes it.

    Args:
        dtype: the variable's dtype.
        shape: its shape.
        name: what errors call it.
    """

    def __init__(self, dtype: DType, shape: TensorShape, name: str) -> None:
        self.dtype, self.shape, self.name = dtype, shape, name
        self.variable: Variable | None = None

    def __repr__(self) -> str:
        return f"<ResourceHandle {self.name!r} shape={self.shape} dtype={self.dtype.name}, numpy=<unprintable>>"


Resource = ResourceHandle | Variable


def var_handle_op(
    dtype: Any, shape: Any, container: str = "", shared_name: str = "", name: str | None = None
) -> ResourceHandle:
    """Make a handle of a variable that does not exist yet.

    Args:
        dtype: the variable's dtype.
        shape: its shape.

    Returns:
        The handle.

    >>> handle = var_handle_op("int32", [])
    >>> assign_variable_op(handle, 3)
    >>> print(read_variable_op(handle, "int32"))
    tf.Tensor(3, shape=(), dtype=int32)
    """
    return ResourceHandle(as_dtype(dtype), TensorShape(shape), shared_name or name or "VarHandleOp")


def _variable(op: str, resource: Resource) -> Variable:
    if isinstance(resource, Variable):
        return resource
    if not isinstance(resource, ResourceHandle):
        kind = type(resource).__name__
        raise TypeError(
            f"{op}: resource must be a handle of var_handle_op, or a variable; got {resource!r} of type {kind}."
        )
    if resource.variable is None:
        raise NotFoundError(f"{op}: Resource {resource.name!r} does not exist; assign_variable_op makes it.")
    return resource.variable


def assign_variable_op(resource: Resource, value: TensorLike, name: str | None = None) -> None:
    """Give a variable a value; the first one makes it.

    Args:
        resource: a handle, or a variable.
        value: the value.

    Raises:
        InvalidArgumentError: the value has another dtype.
        ValueError: it has another shape than the variable that exists.
    """
    tensor = convert_to_tensor(value, None if hasattr(value, "dtype") else resource.dtype)
    if tensor.dtype != resource.dtype:
        raise InvalidArgumentError(
            f"assign_variable_op: Trying to assign variable with wrong dtype. Expected {_c_name(resource.dtype)} got "
            f"{_c_name(tensor.dtype)}."
        )
    if isinstance(resource, ResourceHandle) and resource.variable is None:
        resource.variable = Variable(tensor, name=resource.name)
    else:
        _variable("assign_variable_op", resource).assign(tensor)


def _c_name(dtype: DType) -> str:
    """A dtype as TensorFlow's kernels call it."""
    return {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)


def assign_add_variable_op(resource: Resource, value: TensorLike, name: str | None = None) -> None:
    """See `Variable.assign_add`."""
    _variable("assign_add_variable_op", resource).assign_add(value)


def assign_sub_variable_op(resource: Resource, value: TensorLike, name: str | None = None) -> None:
    """See `Variable.assign_sub`."""
    _variable("assign_sub_variable_op", resource).assign_sub(value)


def read_variable_op(resource: Resource, dtype: Any, name: str | None = None) -> Tensor:
    """Read a variable.

    Args:
        resource: a handle, or a variable.
        dtype: its dtype.

    Returns:
        The value.

    Raises:
        InvalidArgumentError: it has another dtype.
        NotFoundError: nothing was assigned to the handle.
    """
    value = _variable("read_variable_op", resource).read_value()
    if value.dtype != as_dtype(dtype):
        raise InvalidArgumentError(
            f"read_variable_op: Trying to read variable with wrong dtype. Expected {_c_name(as_dtype(dtype))} got "
            f"{_c_name(value.dtype)}."
        )
    return value


def destroy_resource_op(resource: Resource, ignore_lookup_error: bool = True, name: str | None = None) -> None:
    """Let a handle forget its variable.

    Args:
        resource: the handle.
        ignore_lookup_error: whether it may have none.

    Raises:
        NotFoundError: it has none, and may not.
    """
    if not ignore_lookup_error:
        _variable("destroy_resource_op", resource)
    if isinstance(resource, ResourceHandle):
        resource.variable = None


def var_is_initialized_op(resource: Resource, name: str | None = None) -> Tensor:
    """Whether a handle has a variable.

    Returns:
        A scalar of bool.
    """
    return constant(isinstance(resource, Variable) or resource.variable is not None)


def resource_gather(
    resource: Resource, indices: TensorLike, dtype: Any, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """See `tf.gather`: rows of a variable."""
    return gather(read_variable_op(resource, dtype), indices)


def _scatter(change: Callable[..., Variable]) -> Callable[..., None]:
    """Make the op on handles of one that changes rows of a variable."""
    op = f"resource_{change.__name__}"

    def scatter(resource: Resource, indices: TensorLike, updates: TensorLike, name: str | None = None) -> None:
        change(_variable(op, resource), indices, updates)

    scatter.__name__ = scatter.__qualname__ = op
    scatter.__doc__ = f"See `tf.{change.__name__}`."
    return scatter


resource_scatter_add = _scatter(rows.scatter_add)
resource_scatter_div = _scatter(rows.scatter_div)
resource_scatter_max = _scatter(rows.scatter_max)
resource_scatter_min = _scatter(rows.scatter_min)
resource_scatter_mul = _scatter(rows.scatter_mul)
resource_scatter_sub = _scatter(rows.scatter_sub)
resource_scatter_update = _scatter(rows.scatter_update)
