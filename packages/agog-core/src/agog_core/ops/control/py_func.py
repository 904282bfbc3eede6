"""Py_func: Python functions among ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import wraps
from typing import Any

import numpy as np

from agog_core import nest
from agog_core.dtypes import DType, as_dtype
from agog_core.errors import InvalidArgumentError, UnknownError
from agog_core.ops.array.casting import cast
from agog_core.recording import tapes_of_context
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor
from agog_core.tracers import Tracer, present_recorder
from agog_core.variables.variable import Variable

__all__ = ["py_func"]

# Whether this thread or task calls a function of a dataset, which TensorFlow traces as a graph; agog_data writes it.
in_pipeline: ContextVar[bool] = ContextVar("agog_in_pipeline", default=False)

# What ``Tout`` is where none is given; None stands for results that do not matter.
_NONE_GIVEN: Any = object()


def _decorator(op: Callable[..., Any], func: Any, inp: Any, Tout: Any) -> Callable[..., Any]:
    """A decorator that makes an op of a function, for calls with ``Tout`` alone."""
    if func is not None or inp is not None or Tout is _NONE_GIVEN:
        raise TypeError(
            "py_func: func, inp and Tout must be given; or Tout alone and by name, as a decorator: "
            "@tf.py_function(Tout=tf.float32)."
        )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def called(*inputs: TensorLike) -> Any:
            return op(function, inputs, Tout)

        return called

    return decorate


def py_func(
    func: Callable[..., Any] | None = None,
    inp: Sequence[TensorLike] | None = None,
    Tout: Any = _NONE_GIVEN,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Call a Python function on NumPy arrays; no gradient flows through it.

    Args:
        func: takes arrays, which it may write to (NumPy scalars and bytes objects for scalars), and returns an array, a
            number, a list of those, or None. Without it, and without ``inp``, a decorator is returned.
        inp: its arguments.
        Tout: the dtype of its result, or a list of dtypes. It counts only in traced functions and in those of
            datasets, as in a graph.

    Returns:
        A tensor; or a list of tensors and None, where the function returns another number of results than one. The
        dtypes are those that the results have. In the functions of datasets: a tensor, or a list where ``Tout`` is one.

    Raises:
        TypeError: an argument is missing.
        InvalidArgumentError: in the function of a dataset, the results are not as many as the dtypes, or a result has
            another dtype. Python numbers take the dtype of ``Tout``.

    >>> import agog_core as ag
    >>> print(py_func(lambda x: x.sum(), [[1.0, 2.0]], ag.float32))
    tf.Tensor(3.0, shape=(), dtype=float32)
    """
    if func is None or inp is None or Tout is _NONE_GIVEN:
        return _decorator(py_func, func, inp, Tout)
    tensors = [convert_to_tensor(x) for x in inp]
    if (tracer := present_recorder()) is not None:
        return _at_each_run(tracer, func, tensors, Tout)
    result = func(*[_given(x.numpy()) for x in tensors])
    if in_pipeline.get():
        return _as_in_graph(result, Tout)
    found = [None if leaf is None else convert_to_tensor(leaf) for leaf in nest.flatten(result)]
    return found[0] if len(found) == 1 else found


def _given(value: Any) -> Any:
    """The function's argument for a tensor: an array that it may write to, or a scalar."""
    return (
        np.array(value)
        if isinstance(value, np.ndarray) and value.ndim
        else value[()]
        if isinstance(value, np.ndarray)
        else value
    )


def _at_each_run(tracer: Tracer, func: Callable[..., Any], inputs: Sequence[Tensor], Tout: Any) -> Any:
    """Call the function at each run of one that is being traced; as in a graph, its results have the dtypes of Tout."""
    dtypes = [as_dtype(dtype) for dtype in (Tout if isinstance(Tout, (list, tuple)) else [Tout])]

    def call(*arrays: Any) -> list[Any]:
        found = _as_in_graph(func(*map(_given, arrays)), dtypes)
        return [x.numpy() for x in found]

    tensors = tracer.python(call, inputs, dtypes)
    return tensors if isinstance(Tout, (list, tuple)) else tensors[0]


def _as_in_graph(result: Any, Tout: Any) -> Any:
    is_list = isinstance(Tout, (list, tuple))
    dtypes = [as_dtype(dtype) for dtype in (Tout if is_list else [Tout])]
    results = [] if result is None else list(result) if isinstance(result, (list, tuple)) else [result]
    if len(results) != len(dtypes):
        raise InvalidArgumentError(
            f"py_func: Tout has {len(dtypes)} dtypes; the function returned {len(results)} results."
        )
    tensors = [_of_dtype(*each) for each in zip(range(len(dtypes)), results, dtypes, strict=True)]
    return tensors if is_list else tensors[0]


def _of_dtype(number: int, value: Any, dtype: DType) -> Tensor:
    has_dtype = isinstance(value, (np.ndarray, np.generic, Tensor, bytes, str))
    tensor = convert_to_tensor(value) if has_dtype else convert_to_tensor(value, dtype)
    if tensor.dtype is not dtype:
        raise InvalidArgumentError(
            f"py_func: result {number} of the function has dtype {tensor.dtype.name}; Tout says {dtype.name}. Return "
            f"it as {dtype.name}, or change Tout."
        )
    return tensor


def eager_py_func(
    func: Callable[..., Any] | None = None,
    inp: Sequence[TensorLike] | None = None,
    Tout: Any = _NONE_GIVEN,
    name: str | None = None,
) -> Any:
    """Call a Python function on tensors; gradients of any order flow through the ops that it calls.

    A traced function calls it at each run. Only under a tape, where its ops are recorded for the gradient, it is
    traced too, and may not read values.

    Args:
        func: takes tensors, and returns one, or a list of them, or None. Without it, and without ``inp``, a decorator
            is returned.
        inp: its arguments.
        Tout: the dtype of its result, or a list of dtypes; an empty list or None where the result does not matter.

    Returns:
        A tensor of dtype ``Tout``, a list of tensors of those dtypes, which is empty where there are none, or None.

    Raises:
        TypeError: an argument is missing.
        UnknownError: the function returns a variable.
        ValueError: it returns another number of results.

    >>> import agog_core as ag
    >>> cube = lambda x: eager_py_func(lambda y: y * y * y, [x], ag.float32)
    >>> print(ag.gradients_function(cube)(2.0)[0])
    tf.Tensor(12.0, shape=(), dtype=float32)
    >>> @eager_py_func(Tout=ag.float32)
    ... def halved(x):
    ...     return x / 2.0
    >>> print(halved(3.0))
    tf.Tensor(1.5, shape=(), dtype=float32)
    """
    if func is None or inp is None or Tout is _NONE_GIVEN:
        return _decorator(eager_py_func, func, inp, Tout)
    tensors = [convert_to_tensor(x) for x in inp]
    if (tracer := present_recorder()) is not None and not tapes_of_context():
        return _on_tensors_at_each_run(tracer, func, tensors, Tout)
    return _as_told(func(*tensors), Tout)


def _on_tensors_at_each_run(tracer: Tracer, func: Callable[..., Any], inputs: Sequence[Tensor], Tout: Any) -> Any:
    """Call the function on tensors at each run of one that is being traced."""
    told = [] if Tout is None else Tout if isinstance(Tout, (list, tuple)) else [Tout]
    dtypes = [x.dtype for x in inputs]

    def call(*arrays: Any) -> list[Any]:
        return [x.numpy() for x in _as_told(func(*map(convert_to_tensor, arrays, dtypes)), told)]

    tensors = tracer.python(call, inputs, [as_dtype(dtype) for dtype in told])
    return None if Tout is None else tensors if isinstance(Tout, (list, tuple)) else tensors[0]


def _as_told(result: Any, Tout: Any) -> Any:
    """The function's results as tensors of the dtypes in ``Tout``."""
    if Tout is None or (isinstance(Tout, (list, tuple)) and not Tout):
        return Tout if Tout is None else []
    is_list = isinstance(Tout, (list, tuple))
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    dtypes = [as_dtype(dtype) for dtype in (Tout if is_list else [Tout])]
    if len(results) != len(dtypes):
        raise ValueError(f"py_func: Tout has {len(dtypes)} dtypes; the function returned {len(results)} results.")
    tensors = [_result(each, dtype) for each, dtype in zip(results, dtypes, strict=True)]
    return tensors if is_list else tensors[0]


def _result(value: Any, dtype: Any) -> Tensor:
    if isinstance(value, Variable):
        raise UnknownError(
            f"py_func: Attempting to return a variable, {value.name!r}, from the function; return its value, such as "
            "variable.value()."
        )
    tensor = convert_to_tensor(value)
    return tensor if tensor.dtype is dtype else cast(tensor, dtype)
