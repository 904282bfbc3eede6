"""Defun: what turns functions into graphs in TensorFlow. Here it checks the arguments, and calls the function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, update_wrapper
from types import MethodType
from typing import Any, NoReturn

import numpy as np

from agog_core import nest
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.tensor import Tensor
from agog_core.tensors.tensor_spec import TensorSpec
from agog_core.variables.variable import Variable

__all__ = ["defun"]


class DefinedFunction:
    """A function that `defun` has wrapped; it also works as a method."""

    def __init__(self, python_function: Callable[..., Any], input_signature: Sequence[Any] | None = None) -> None:
        self._python_function = python_function
        self._input_signature = None if input_signature is None else tuple(input_signature)
        update_wrapper(self, python_function)

    @property
    def python_function(self) -> Callable[..., Any]:
        """The function that is called."""
        return self._python_function

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """What the arguments must be; None for anything."""
        return self._input_signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function: arrays among its arguments, and numbers, arrays and variables among its results, become
        tensors. Arguments that are neither tensors nor hashable, and results that are no tensors, are a TypeError."""
        if self._input_signature is not None:
            args = self._checked(args, kwargs)
        else:
            args, kwargs = nest.map_structure(self._argument, (args, kwargs))
        return nest.map_structure(self._result, self._python_function(*args, **kwargs))

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise: there is no graph of the function.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            f"get_concrete_function: there is no graph of {self._shown()}, since defun calls the function each time; "
            "call it itself."
        )

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return DefinedFunction(MethodType(self._python_function, instance), self._input_signature)

    def _argument(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return convert_to_tensor(value)
        try:
            hash(value)
        except TypeError:
            raise TypeError(
                f"defun: the arguments of {self._shown()} must be tensors, or hashable; got a {type(value).__name__}. "
                "Pass it as a tuple, or as a tensor."
            ) from None
        return value

    def _checked(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        if kwargs:
            raise ValueError(
                f"defun: {self._shown()} has an input signature, so it takes no keyword arguments; got "
                f"{', '.join(kwargs)}."
            )
        signature = self._input_signature or ()
        if len(args) != len(signature):
            raise ValueError(
                f"defun: the input signature of {self._shown()} has {len(signature)} arguments; got {len(args)}."
            )
        return tuple(
            self._fitting(spec, value, f"argument {place}")
            for place, (spec, value) in enumerate(zip(signature, args, strict=True))
        )

    def _fitting(self, spec: Any, value: Any, where: str) -> Any:
        if isinstance(spec, TensorSpec):
            tensor = convert_to_tensor(value)
            if not spec.is_compatible_with(tensor):
                raise ValueError(
                    f"defun: {where} of {self._shown()} must be a tensor of shape {spec.shape} and dtype "
                    f"{spec.dtype.name}, by its input signature; got shape {tensor.shape} and dtype "
                    f"{tensor.dtype.name}."
                )
            return tensor
        if nest.is_mapping(spec) and nest.is_mapping(value) and spec.keys() == value.keys():
            return {key: self._fitting(spec[key], value[key], f"{where}[{key!r}]") for key in value}
        is_pair = isinstance(spec, (list, tuple)) and isinstance(value, (list, tuple))
        if is_pair and len(spec) == len(value):
            parts = [self._fitting(*pair, f"{where}[{n}]") for n, pair in enumerate(zip(spec, value, strict=True))]
            return nest.pack(value, nest.flatten(parts))
        raise ValueError(
            f"defun: {where} of {self._shown()} must have the structure {spec!r}, by its input signature; got a "
            f"{type(value).__name__}."
        )

    def _result(self, value: Any) -> Any:
        if isinstance(value, (bool, int, float, complex, str, bytes, np.ndarray, np.generic, Variable)):
            return convert_to_tensor(value)
        if value is None or isinstance(value, Tensor) or hasattr(value, "dtype"):
            return value
        raise TypeError(
            f"defun: {self._shown()} must return tensors, structures of them, or None; it returned a "
            f"{type(value).__name__}."
        )

    def _shown(self) -> str:
        return getattr(self._python_function, "__name__", repr(self._python_function))

    def __repr__(self) -> str:
        return f"<DefinedFunction {self._shown()}>"


def defun(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    compiled: bool = False,
) -> Any:
    """Wrap a function as if to make a graph of it; there are no graphs, so each call runs the function.

    Args:
        func: a function of tensors; None to use `defun` as a decorator with arguments.
        input_signature: a list with a `TensorSpec`, or a structure of them, for each argument; None for anything.

    Returns:
        A `DefinedFunction`, or a decorator that makes one.

    Raises:
        TypeError: the input signature is no list or tuple, or holds something else.

    >>> import agog_core as ag
    >>> @defun
    ... def double(x):
    ...     return x * 2
    >>> print(double(ag.constant(2.0)))
    tf.Tensor(4.0, shape=(), dtype=float32)
    """
    if input_signature is not None:
        is_list = isinstance(input_signature, (list, tuple))
        if not is_list or not all(isinstance(leaf, TensorSpec) for leaf in nest.flatten(input_signature)):
            raise TypeError(
                "defun: input_signature must be a list or tuple of TensorSpec, or of structures of them; got "
                f"{input_signature!r}."
            )
    if func is None:
        return partial(defun, input_signature=input_signature)
    return DefinedFunction(func, input_signature)
