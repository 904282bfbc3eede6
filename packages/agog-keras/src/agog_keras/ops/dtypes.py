"""Dtypes: the compute dtype of ``tf.keras.ops`` for arguments of several dtypes, or integers.

Tensors have dtypes, and Python's numbers only kinds: an integer beside a tensor of floats becomes one of them, and a
float beside integers makes float32 of them. TensorFlow's ops ask for one dtype instead.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import agog_core as ag
from agog_core import DType, Tensor, as_dtype, convert_to_tensor

__all__ = ["alike", "floats", "promote", "result_dtype"]

# The kinds of numbers, each of which holds the ones before, and the dtypes of Python's.
_KINDS: tuple[type, ...] = (bool, int, float, complex)
_OF_KIND = ("bool", "int32", "float32", "complex64")
_SIGNED = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}


def result_dtype(*values: Any) -> DType:
    """The dtype that holds several values, as Keras and JAX promote them.

    Args:
        *values: tensors, arrays, dtypes, and Python's numbers or their types.

    Returns:
        The dtype.

    >>> result_dtype(ag.ones([1], "int32"), 0.5), result_dtype(ag.ones([1], "uint8"), ag.ones([1], "int8"))
    (tf.float32, tf.int16)
    """
    known: DType | None = None
    weak = -1
    for value in values:
        kind = value if isinstance(value, type) else type(value)
        if kind in _KINDS:
            weak = max(weak, _KINDS.index(kind))
        else:
            dtype = value if isinstance(value, DType) else convert_to_tensor(value).dtype
            known = dtype if known is None else _both(known, dtype)
    if known is None or weak > _rank(known):
        return as_dtype(_OF_KIND[max(weak, 0)])
    return known


def _rank(dtype: DType) -> int:
    return 3 if dtype.is_complex else 2 if dtype.is_floating else 1 if dtype.is_integer else 0


def _both(a: DType, b: DType) -> DType:
    """The dtype that holds the numbers of two."""
    if a is b:
        return a
    if _rank(a) != _rank(b):
        high, low = (a, b) if _rank(a) > _rank(b) else (b, a)
        return as_dtype("complex128") if high.is_complex and low == "float64" else high
    if a.is_integer and a.is_unsigned != b.is_unsigned:
        unsigned, signed = (a, b) if a.is_unsigned else (b, a)
        size = max(signed.size, 2 * unsigned.size)
        return as_dtype(_SIGNED.get(size, "float32"))
    if a.size == b.size:  # float16 and bfloat16
        return as_dtype("float32")
    return a if a.size > b.size else b


def alike(*values: Any, least: type = bool) -> list[Tensor]:
    """Values as tensors of the one dtype that holds them all, and numbers of a kind at least.

    >>> [x.dtype for x in alike([1, 2], 0.5)]
    [tf.float32, tf.float32]
    """
    dtype = result_dtype(*values, least)
    return [tensor_of(value, dtype) for value in values]


def tensor_of(value: Any, dtype: DType) -> Tensor:
    """A value as a tensor of a dtype."""
    return convert_to_tensor(value, dtype) if type(value) in (float, complex) else ag.cast(value, dtype)


def floats(x: Any) -> Tensor:
    """A tensor of floats or complex numbers: integers and bools become float32.

    >>> floats([1, 2]).dtype
    tf.float32
    """
    tensor = convert_to_tensor(x)
    return tensor if tensor.dtype.is_differentiable else ag.cast(tensor, "float32")


def numbers(x: Any) -> Tensor:
    """A tensor of numbers: bools become int32."""
    tensor = convert_to_tensor(x)
    return ag.cast(tensor, "int32") if tensor.dtype.is_bool else tensor


def _by_first(change: Callable[[Any], Tensor]) -> Callable[[Any], Any]:
    def take(function: Any) -> Any:
        @wraps(function)
        def of_changed(x: Any, *args: Any, **kwargs: Any) -> Any:
            return function(change(x), *args, **kwargs)

        return of_changed

    return take


def _by_pair(least: type) -> Callable[[Any], Any]:
    def take(function: Any) -> Any:
        @wraps(function)
        def of_one_dtype(x1: Any, x2: Any, *args: Any, **kwargs: Any) -> Any:
            a, b = alike(x1, x2, least=least)
            found = function(numbers(a), numbers(b), *args, **kwargs)
            return ag.cast(found, "bool") if a.dtype.is_bool else found

        return of_one_dtype

    return take


def _of_numbers(function: Any) -> Any:
    """A function of two tensors of one dtype, with int32 for bools."""

    @wraps(function)
    def of_numbers(x1: Any, x2: Any) -> Any:
        return function(*map(numbers, alike(x1, x2)))

    return of_numbers


def _of_tensors(least: type) -> Callable[[Any], Any]:
    """A function of two tensors, where Python's numbers are tensors too, of int32 or float32."""

    def take(function: Any) -> Any:
        @wraps(function)
        def of_tensors(x1: Any, x2: Any) -> Any:
            return function(*map(numbers, alike(convert_to_tensor(x1), convert_to_tensor(x2), least=least)))

        return of_tensors

    return take


def _renamed(names: dict[str, str]) -> Callable[[Any], Any]:
    """A function that takes arguments by Keras's names."""

    def take(function: Any) -> Any:
        @wraps(function)
        def with_keras_names(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **{names.get(name, name): value for name, value in kwargs.items()})

        signature, theirs = inspect.signature(function), {ours: name for name, ours in names.items()}
        parameters = [p.replace(name=theirs.get(p.name, p.name)) for p in signature.parameters.values()]
        with_keras_names.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # Python reads it
        return with_keras_names

    return take


def _comparing(function: Any) -> Any:
    """A comparison, in which no integer is bent to fit the other's dtype."""

    @wraps(function)
    def compared(x1: Any, x2: Any) -> Any:
        dtype = result_dtype(x1, x2)
        beyond = [
            convert_to_tensor(x)
            for x in (x1, x2)
            if type(x) is int and dtype.is_integer and not dtype.min <= x <= dtype.max
        ]
        dtype = result_dtype(dtype, *beyond)
        return function(*(numbers(tensor_of(x, dtype)) for x in (x1, x2)))

    return compared


def _product(function: Any) -> Any:
    """A product of matrices, whose sums of int8 are int32."""

    @wraps(function)
    def of_one_dtype(x1: Any, x2: Any) -> Any:
        return _products(function, [], [x1, x2])

    return of_one_dtype


def _equation(function: Any) -> Any:
    """Products behind an equation, whose sums of int8 are int32."""

    @wraps(function)
    def of_one_dtype(subscripts: str, *operands: Any) -> Any:
        return _products(function, [subscripts], operands)

    return of_one_dtype


def _products(function: Any, first: list[str], operands: Sequence[Any]) -> Any:
    given = [convert_to_tensor(each) for each in operands]
    tensors = alike(*given)
    small = tensors[0].dtype.is_bool or all(x.dtype == "int8" for x in given)
    found = function(*first, *(ag.cast(x, "int32") if small else x for x in tensors))
    return ag.cast(found, "bool") if tensors[0].dtype.is_bool else found


def _bools(x: Any) -> Tensor:
    return ag.cast(x, "bool")


def _of_bools(function: Any) -> Any:
    @wraps(function)
    def of_bools(x1: Any, x2: Any) -> Any:
        return function(_bools(x1), _bools(x2))

    return of_bools


def _as_bool(function: Any) -> Any:
    """A function of numbers that takes bools as such: what it makes of them is one again."""

    @wraps(function)
    def of_numbers(x: Any, *args: Any, **kwargs: Any) -> Any:
        tensor = convert_to_tensor(x)
        found = function(numbers(tensor), *args, **kwargs)
        return ag.cast(found, "bool") if tensor.dtype.is_bool else found

    return of_numbers


def _of_list(function: Any) -> Any:
    @wraps(function)
    def of_one_dtype(xs: Any, *args: Any, **kwargs: Any) -> Any:
        return function(xs if isinstance(xs, Tensor) else alike(*xs), *args, **kwargs)

    return of_one_dtype


_WAYS: dict[str, Callable[[Any], Any]] = {
    """arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh deg2rad erf erfc exp exp2 expm1 floor log log10
    log1p log2 rad2deg reciprocal rsqrt sin sinh sqrt tan tanh sigmoid silu swish selu softplus softsign celu glu
    hard_shrink hard_silu hard_swish hard_tanh log_sigmoid soft_shrink sparse_plus sparse_sigmoid sparsemax squareplus
    tanh_shrink normalize rms_normalization logsumexp median quantile isfinite isinf isnan cholesky det eigh
    inv""": _by_first(floats),
    "square negative sign argmax argmin": _by_first(numbers),
    "abs absolute relu relu6 max min amax amin sort conj conjugate real imag": _as_bool,
    "add subtract multiply maximum minimum dot inner outer tensordot vdot cross append": _by_pair(bool),
    "divide true_divide isclose allclose": _by_pair(float),
    "arctan2 logaddexp": _of_tensors(float),
    "mod": _of_tensors(bool),
    "power floor_divide": _of_numbers,
    "equal not_equal greater greater_equal less less_equal": _comparing,
    "matmul": _product,
    "einsum": _equation,
    "logical_and logical_or logical_xor": _of_bools,
    "all any logical_not": _by_first(_bools),
    "concatenate hstack vstack": _of_list,
    "stack": lambda function: _renamed({"x": "values"})(_of_list(function)),
    "broadcast_to copy repeat squeeze": _renamed({"x": "input"}),
    "ones_like zeros_like": _renamed({"x": "tensor"}),
    "convert_to_tensor saturate_cast unstack": _renamed({"x": "value"}),
    "diff": _renamed({"a": "x"}),
    "map": _renamed({"f": "fn", "xs": "elems"}),
    "reshape": _renamed({"x": "tensor", "newshape": "shape"}),
    "scatter_update": _renamed({"inputs": "tensor"}),
    "slice": _renamed({"inputs": "input_", "start_indices": "begin", "shape": "size"}),
    "stop_gradient": _renamed({"variable": "input"}),
    "transpose": _renamed({"x": "a", "axes": "perm"}),
}


def promote(namespace: dict[str, Any]) -> None:
    """Let the functions of a namespace take dtypes as Keras's functions of these names do."""
    for names, way in _WAYS.items():
        for name in names.split():
            namespace[name] = way(namespace[name])
