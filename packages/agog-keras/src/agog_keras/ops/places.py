"""Places: functions of ``tf.keras.ops`` that find and count the places of elements, split and join."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import agog_core as ag
from agog_core import Tensor, TensorLike, convert_to_tensor
from agog_core.calls.docstrings import documented_like

__all__ = [
    "argmax",
    "argmin",
    "concatenate",
    "convert_to_numpy",
    "fori_loop",
    "ndim",
    "one_hot",
    "shape",
    "size",
    "split",
]


def argmax(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The place of the largest element.

    Args:
        x: a tensor.
        axis: the axis to look along; None for all elements in a row.
        keepdims: whether the axis stays, with size 1.

    Returns:
        A tensor of int32.

    >>> int(argmax([[1, 2], [4, 3]]))
    2
    """
    return _place(ag.argmax, x, axis, keepdims)


@documented_like(argmax)
def argmin(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The place of the smallest element. See `argmax`."""
    return _place(ag.argmin, x, axis, keepdims)


def _place(find: Callable[..., Tensor], x: TensorLike, axis: int | None, keepdims: bool) -> Tensor:
    tensor = convert_to_tensor(x)
    place = find(ag.reshape(tensor, [-1]) if axis is None else tensor, axis or 0, output_type="int32")
    if not keepdims:
        return place
    return ag.reshape(place, [1] * tensor.ndim) if axis is None else ag.expand_dims(place, axis)


def concatenate(xs: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Join tensors along an axis.

    Args:
        xs: the tensors.
        axis: the axis.

    Returns:
        A tensor.

    >>> concatenate([[1], [2]]).numpy().tolist()
    [1, 2]
    """
    return ag.concat(xs, axis)


def convert_to_numpy(x: Any) -> Any:
    """The value of a tensor or variable as an array.

    Args:
        x: a tensor, a variable, or a number.

    Returns:
        An array of NumPy.

    >>> convert_to_numpy(ag.ones([2])).tolist()
    [1.0, 1.0]
    """
    return convert_to_tensor(x).numpy()


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """Run a function for each of some numbers, on what it returned before.

    Args:
        lower: the first number.
        upper: the number to end before.
        body_fun: a function of the number and of the value.
        init_val: the first value.

    Returns:
        The last value.

    >>> fori_loop(0, 4, lambda i, total: total + i, 0)
    6
    """
    value = init_val
    for number in range(int(lower), int(upper)):
        value = body_fun(number, value)
    return value


def ndim(x: TensorLike) -> int:
    """The number of axes.

    Args:
        x: a tensor.

    Returns:
        An integer.

    >>> ndim(ag.ones([2, 3]))
    2
    """
    return convert_to_tensor(x).ndim


def one_hot(x: TensorLike, num_classes: int, axis: int = -1, dtype: Any = None, sparse: bool = False) -> Tensor:
    """Vectors with a 1 in the place of a number, and 0 elsewhere.

    Args:
        x: integers.
        num_classes: the size of the vectors.
        axis: the axis along which they are.
        dtype: the dtype; None for float32.
        sparse: must be False.

    Returns:
        A tensor.

    Raises:
        NotImplementedError: a sparse tensor is asked for.

    >>> one_hot([1], 3).numpy().tolist()
    [[0.0, 1.0, 0.0]]
    """
    if sparse:
        raise NotImplementedError("one_hot: sparse=True is not supported; leave it out.")
    return ag.one_hot(x, num_classes, axis=axis, dtype=dtype or "float32")


def shape(x: Any) -> tuple[int | None, ...]:
    """The sizes along the axes.

    Args:
        x: a tensor, a variable, or what a layer made of a `tf.keras.Input`.

    Returns:
        A tuple of integers, with None for unknown ones.

    >>> shape(ag.ones([2, 3]))
    (2, 3)
    """
    return tuple(ag.TensorShape(x.shape if hasattr(x, "shape") else convert_to_tensor(x).shape).as_list())


@documented_like(ndim)
def size(x: TensorLike) -> int:
    """The number of elements.

    >>> size(ag.ones([2, 3]))
    6
    """
    return convert_to_tensor(x).shape.num_elements() or 0


def split(x: TensorLike, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Cut a tensor into parts.

    Args:
        x: a tensor.
        indices_or_sections: how many parts of one size; or where the parts begin but the first.
        axis: the axis.

    Returns:
        The parts.

    >>> [part.numpy().tolist() for part in split([1, 2, 3], [1])]
    [[1], [2, 3]]
    """
    tensor = convert_to_tensor(x)
    if isinstance(indices_or_sections, int):
        return list(ag.split(tensor, indices_or_sections, axis))
    places = [0, *indices_or_sections, tensor.shape[axis]]
    return list(ag.split(tensor, [end - begin for begin, end in pairwise(places)], axis))
