"""Gradients and variables: the checked gradients and variables of a step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agog_core import IndexedSlices, Tensor, TensorLike, Variable, convert_to_tensor
from agog_core.errors import InvalidArgumentError

__all__ = ["checked", "pairs_of"]

_ZIP = "Write apply_gradients(zip(gradients, variables))."


def pairs_of(name: str, grads_and_vars: Iterable[tuple[TensorLike, Variable]]) -> list[tuple[Any, Variable]]:
    """The (gradient, variable) pairs; a TypeError says how gradients alone, say, are paired. ``name`` is the
    optimizer's."""
    given: list[Any] = []
    try:
        given = list(grads_and_vars)
        if Tensor in map(type, given):  # a vector of two numbers is no pair
            raise TypeError("a gradient without a variable")
        return [(gradient, variable) for gradient, variable in given]
    except (TypeError, ValueError) as error:
        what: Any = grads_and_vars
        if not isinstance(grads_and_vars, Tensor):
            what = next((each for each in given if not _is_pair(each)), grads_and_vars)
        if given and _is_pair(what):
            raise
        raise TypeError(
            f"{name}: apply_gradients takes (gradient, variable) pairs; got {what!r} of type {type(what).__name__}. "
            f"{_ZIP}"
        ) from error


def _is_pair(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 2


def checked(name: str, gradient: TensorLike, variable: Variable) -> Any:
    """The gradient of a variable as a tensor or `IndexedSlices` of its shape and dtype."""
    if not isinstance(variable, Variable):
        kind = NotImplementedError if isinstance(variable, Tensor) else TypeError  # as in TensorFlow
        is_swapped = isinstance(gradient, Variable)
        raise kind(
            f"{name}: apply_gradients takes (gradient, variable) pairs; got {variable!r} of type "
            f"{type(variable).__name__} as a variable{', and a variable as its gradient' if is_swapped else ''}. {_ZIP}"
        )
    value = variable._current()
    if type(gradient) is Tensor and gradient._table is value._table and gradient._shape == value._shape:
        return gradient
    is_ready = type(gradient) is Tensor or type(gradient) is IndexedSlices
    tensor: Any = gradient if is_ready else convert_to_tensor(gradient, preferred_dtype=variable.dtype)
    if type(tensor) is IndexedSlices and tensor._shape is None and tensor.values._shape[1:] == value._shape[1:]:
        tensor = IndexedSlices(tensor.values, tensor.indices, value._shape)
    if tensor._shape != value._shape or tensor.dtype is not value.dtype:
        raise InvalidArgumentError(
            f"{name}: variable {variable.name!r} has shape {variable.shape} and dtype {variable.dtype.name}; its "
            f"gradient has shape {tensor.shape} and dtype {tensor.dtype.name}, and both must agree."
        )
    return tensor
