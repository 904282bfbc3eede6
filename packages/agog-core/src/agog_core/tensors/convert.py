"""Convert: from Python and NumPy values to tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from agog_core import dtypes
from agog_core.dispatch.devices.lookup import current_device, device, scopes
from agog_core.dispatch.devices.table import KernelTable
from agog_core.dtypes import DType, as_dtype
from agog_core.errors import InvalidArgumentError
from agog_core.shapes import intern_shape
from agog_core.tensors.host_array import INT32_MAX, INT32_MIN, host_array
from agog_core.tensors.tensor import Tensor, TensorLike, wrap
from agog_core.tracers import present_recorder, present_tracer, tracing

__all__ = ["convert_to_tensor"]

T = TypeVar("T")

_NUMBERS = {np.dtype(dtype.name): dtype for dtype in (*dtypes.INTEGERS, dtypes.bool_, dtypes.float32, dtypes.float64)}

# Stacks tensors, for lists that hold some. Ops stand above conversion: agog_core.ops.array.joining hands its function.
stackers: list[Callable[[list[Tensor]], Tensor]] = []


def convert_to_tensor(
    value: TensorLike, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None
) -> Tensor:
    """Return a value as a tensor.

    Args:
        value: a `Tensor` (returned as it is), a `Variable` (its present value), a number, a string, a NumPy array, or a
            nested list of those.
        dtype: the dtype that the tensor must have.
        preferred_dtype: the dtype to convert to where the value allows it and ``dtype`` is None.

    Returns:
        The tensor.

    Raises:
        ValueError: the value is ragged, of mixed types or None, or a tensor of another dtype.
        TypeError: the value does not fit the dtype.
        RuntimeError: the current device does not exist.

    >>> convert_to_tensor(np.arange(3)).dtype
    tf.int64
    """
    if dtype is None and preferred_dtype is None:  # the most frequent values, without the questions that follow
        if type(value) is float and -3e38 < value < 3e38:
            return _placed(np.array(value, np.float32), dtypes.float32)
        if type(value) is np.ndarray and value.dtype in _NUMBERS:
            return _placed(np.array(value, order="C"), _NUMBERS[value.dtype])
    wanted = None if dtype is None else as_dtype(dtype)
    tensor = value if type(value) is Tensor else _as_tensor(value)
    if tensor is not None:
        if wanted is not None and tensor._table.dtype is not wanted:
            raise ValueError(
                f"Tensor conversion requested dtype {wanted.name} for a tensor of dtype {tensor.dtype.name} and shape "
                f"{tensor._shape}; "
                f"use tf.cast(x, tf.{wanted.name})."
            )
        return tensor
    if isinstance(value, (list, tuple)) and _holds_tensor(value):
        return _stack(value, wanted)
    if wanted is None and preferred_dtype is not None:
        try:
            return convert_to_tensor(value, preferred_dtype)
        except (TypeError, ValueError):
            pass
    host = host_array(value, wanted)
    return _placed(host, as_dtype(host.dtype))


def _placed(host: np.ndarray[Any, Any], dtype: DType) -> Tensor:
    """A tensor on the current device; where the scope's device cannot have it, the error is of TensorFlow's type."""
    try:
        return from_host(host, current_device().table(dtype))
    except InvalidArgumentError as error:
        text = f"Error copying tensor to device: {error}"
        raise (RuntimeError(text) if scopes else InvalidArgumentError(str(error))) from error


def from_host(host: np.ndarray[Any, Any], table: KernelTable) -> Tensor:
    """Make a tensor of a C-contiguous array of the table's dtype that nobody writes afterwards: it may be adopted."""
    return wrap(table.device.from_host(host), table, intern_shape(host.shape))


def host_value(value: TensorLike) -> np.ndarray[Any, Any]:
    """Read an argument that an op needs on the host, as an array not to be written; what is there goes to no device."""
    parts = value if type(value) in (list, tuple) else (value,)
    if parts and all(type(part) is int and INT32_MIN <= part <= INT32_MAX for part in parts):  # the usual case, fast
        return np.array(value, np.int32)
    if not _holds_tensor(value):
        return host_array(value, None)
    if not scopes:
        return fixed(convert_to_tensor(value))
    with device(None):  # numbers beside tensors of the host go to no device either
        return fixed(convert_to_tensor(value))


def fixed(tensor: Tensor) -> np.ndarray[Any, Any]:
    """The value of a tensor that an op needs on the host, as an array not to be written. A traced function is traced
    again for another value.
    """
    if tracing and (tracer := present_tracer()) is not None:
        found: np.ndarray[Any, Any] = tracer.fixed(tensor)
        return found
    return tensor._host()


def failing(tensor: Tensor) -> np.ndarray[Any, Any]:
    """The value of a tensor for the text of an error that is raised because of values. If a traced function catches the
    error, its further ops belong to this call alone.
    """
    if tracing and (tracer := present_tracer()) is not None:
        found: np.ndarray[Any, Any] = tracer.failing(tensor)
        return found
    return tensor._host()


def decided(function: Callable[..., T], *tensors: Tensor) -> T:
    """The result of a function of tensors' values on the host, if an op depends only on that.

    A traced function is traced again for another value.

    >>> decided(lambda host: int(host.max()), convert_to_tensor([1, 3, 2]))
    3
    """
    if tracing and (tracer := present_tracer()) is not None:
        outcome: T = tracer.decided(function, tensors)
        return outcome
    return function(*[tensor._host() for tensor in tensors])


def whole(value: Any) -> int:
    """An integer that an op needs on the host, such as a size or an axis, possibly from a tensor.

    >>> whole(convert_to_tensor(3)), whole(2)
    (3, 2)
    """
    return int(fixed(convert_to_tensor(value)).reshape(())[()]) if is_tensor(value) else int(value)


def computed(
    function: Callable[..., Any],
    tensors: list[Tensor],
    results: list[DType],
    has_sizes: bool = False,
    may_fail: bool = False,
    **late: Any,
) -> list[Tensor]:
    """The result of a function of tensors' values on the host, as tensors of these dtypes, unseen by tapes.

    In a traced function it is called at each run. ``has_sizes`` says that the sizes of what it makes
    depend on the values; where they are others, the function is traced again. ``may_fail`` says that it raises for
    some values. ``late`` is given to it too: what `agog_core.tracers.late` has returned.

    >>> computed(lambda x: [x + 1], [convert_to_tensor(2)], [dtypes.int32])[0].numpy()
    np.int32(3)
    """
    if (tracer := present_recorder()) is not None:
        return tracer.host(function, tensors, results, has_sizes, may_fail, **late)
    home = tensors[0]._table.device if tensors else current_device()
    found = function(*[tensor._host() for tensor in tensors], **late)
    arrays = [np.array(each, kind.numpy_dtype, order="C") for each, kind in zip(found, results, strict=True)]
    return [from_host(array, home.table(kind)) for array, kind in zip(arrays, results, strict=True)]


def at_each_run(function: Callable[..., T], *tensors: TensorLike) -> T:
    """What a function of ours makes of tensors: a structure of tensors, of which tapes see nothing. It may look at
    their values: in a traced function it is called, as it is, at each run.

    >>> at_each_run(lambda x: convert_to_tensor(int(x) + 1), convert_to_tensor(2)).numpy()
    np.int32(3)
    """
    tracer = present_recorder()
    if tracer is None:
        return function(*tensors)
    found: T = tracer.hosted(function, [convert_to_tensor(x) if is_tensor(x) else x for x in tensors])
    return found


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds_tensor(part) for part in value)
    return is_tensor(value)


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor, or an object that stands for one."""
    return type(value) is Tensor or hasattr(type(value), "__tensor__")


def _as_tensor(value: Any) -> Tensor | None:
    """The tensor that an object stands for, if it does: any class may say so by a method `__tensor__`."""
    method = getattr(type(value), "__tensor__", None)
    if method is None:
        return value if isinstance(value, Tensor) else None
    tensor: Tensor = method(value)
    return tensor


def _stack(value: Any, dtype: DType | None) -> Tensor:
    known = first_dtype(value) if dtype is None else dtype
    return stackers[0]([convert_to_tensor(part, known) for part in value])


def first_dtype(value: Any) -> DType | None:
    """The dtype of the first tensor in a list, whose parts may be lists; None if there is no tensor."""
    for part in value:
        found = (
            first_dtype(part)
            if isinstance(part, (list, tuple))
            else (_as_tensor(part) if type(part) is not Tensor else part)
        )
        if found is not None:
            return found if isinstance(found, DType) else found.dtype
    return None
