"""Arguments of losses: labels and predictions, checked."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from typing import cast as typed

from agog_core import Tensor, TensorLike, as_dtype, cast, convert_to_tensor, expand_dims, squeeze

__all__ = ["check_alike", "flat_classes", "floats", "given", "of_floats", "of_one_rank", "pair"]

_HALF = ("float16", "bfloat16")
_Function = TypeVar("_Function", bound=Callable[..., Tensor])


def floats(value: TensorLike) -> Tensor:
    """Convert to a tensor of floats: of float32 if it held no floats."""
    tensor = convert_to_tensor(value)
    return tensor if tensor.dtype.is_floating else cast(tensor, "float32")


def given(what: str, name: str, value: TensorLike) -> Tensor:
    """Convert an argument of a loss; raise a ValueError if it is None."""
    if value is None:
        raise ValueError(f"{what}: {name} must not be None.")
    return convert_to_tensor(value)


def pair(what: str, labels: TensorLike, outputs: TensorLike, names: tuple[str, str]) -> tuple[Tensor, Tensor]:
    """Convert labels and outputs of a loss to floats of the outputs' dtype.

    Raise a ValueError, with the names of both arguments, if the shapes differ or one is None.
    """
    label_name, output_name = names
    y, x = given(what, label_name, labels), floats(given(what, output_name, outputs))
    if y.shape != x.shape:
        raise ValueError(
            f"{what}: Shapes {x.shape} and {y.shape} are incompatible: {output_name} have the first, {label_name} the "
            "second."
        )
    return cast(y, x.dtype), x


def of_one_rank(y_true: TensorLike, y_pred: TensorLike) -> tuple[Tensor, Tensor]:
    """Give labels or predictions the last axis of size 1 that only the other has.

    Without it, ``(n,)`` and ``(n, 1)`` would broadcast to ``(n, n)``.

    >>> [x.shape for x in of_one_rank([1, 2], [[0.5], [1.5]])]
    [TensorShape([2, 1]), TensorShape([2, 1])]
    """
    y, x = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    if y.ndim == x.ndim + 1 and y.shape[-1] == 1:
        x = expand_dims(x, -1)
    elif x.ndim == y.ndim + 1 and x.shape[-1] == 1:
        y = expand_dims(y, -1)
    return y, x


def check_alike(title: str, y: Tensor, x: Tensor, sparse: str = "sparse_categorical_crossentropy") -> None:
    """Raise a ValueError if labels and predictions are not of one shape, and would broadcast to something that
    nobody meant; ``sparse`` is what takes class numbers. A last axis of size 1 may be missing on one side."""
    labels, output = list(y.shape), list(x.shape)
    if labels == output or [*labels, 1] == output or [*output, 1] == labels:
        return
    hint = "Make both of one shape."
    if output[:-1] in (labels, labels[:-1]) and (len(labels) < len(output) or labels[-1] == 1):
        hint = f"Class numbers go with {sparse}; other labels need as many numbers as the last layer has units."
    raise ValueError(
        f"{title} compares labels and output number by number; got labels of shape {y.shape} for an output of shape "
        f"{x.shape}. {hint}"
    )


def flat_classes(labels: Tensor, scores: Tensor) -> Tensor:
    """Take the last axis of size 1 from class numbers of shape ``(..., 1)``, of scores of shape ``(..., classes)``."""
    return squeeze(labels, -1) if labels.ndim == scores.ndim and labels.shape[-1] == 1 else labels


def of_floats(function: _Function) -> _Function:
    """Let a function of labels and predictions, tensors of the same dtype of floats, take any dtypes.

    It computes half precision in float32, and gives what the predictions' dtype is. Flat labels meet a column of
    predictions as a column, and the other way round; a single label or prediction meets all; what else is not of one
    shape is refused.

    >>> @of_floats
    ... def difference(y_true, y_pred):
    ...     return y_true - y_pred
    >>> print(difference(3, [1.0, 2.0]))
    tf.Tensor([2. 1.], shape=(2,), dtype=float32)
    """

    @wraps(function)
    def loss(y_true: TensorLike, y_pred: TensorLike, *args: Any, **kwargs: Any) -> Tensor:
        y, x = of_one_rank(y_true, floats(y_pred))
        if y._shape != x._shape and y._shape and x._shape:
            check_alike(function.__name__, y, x)
        wide = as_dtype("float32") if x.dtype.name in _HALF else x.dtype
        return cast(function(cast(y, wide), cast(x, wide), *args, **kwargs), x.dtype)

    return typed(_Function, loss)
