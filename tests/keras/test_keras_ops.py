"""Functions of ``tf.keras.ops``, against those of Keras on its NumPy backend, over dtypes and arguments."""

from __future__ import annotations

import os

os.environ["KERAS_BACKEND"] = "numpy"

import copy
import inspect
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np
import pytest
from ops_calls import NOT_CALLED, Call, calls

import agog as tf

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.skipif(keras.backend.backend() != "numpy", reason="Keras was imported with another backend"),
]
TOLERANCES = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-6}
CALLS: dict[str, list[Call]] = {}
for _call in calls():
    CALLS.setdefault(_call.name, []).append(_call)

# NumPy makes float16, float64 or cut integers of integers here. Keras's other backends, and agog, make float32 of them
# first, and so does what they are compared with.
OF_FLOATS = (
    *("cbrt", "celu", "cholesky", "deg2rad", "det", "eigh", "elu", "erf", "gelu", "glu", "hard_shrink"),
    *("hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh", "inv", "leaky_relu", "log_sigmoid", "log_softmax"),
    *("logsumexp", "moments", "normalize", "qr", "rad2deg", "reciprocal", "rms_normalization", "rsqrt", "selu"),
    *("sigmoid", "silu", "softmax", "soft_shrink", "softplus", "softsign", "solve", "solve_triangular"),
    *("sparse_plus", "sparse_sigmoid", "sparsemax", "squareplus", "svd", "swish", "tanh_shrink"),
)
FLOAT = np.dtype("float32")
# Functions of one tensor. Keras's other backends make tensors of lists and numbers; NumPy makes int64 and float64.
LISTED = frozenset(call.name for call in calls() if len(call.args) == 1 and type(call.args[0]) in (int, float)) - {
    *("arange", "ndim", "shape", "size", "eye", "tri")
}
# Functions whose values nobody needs.
UNKNOWN = ("empty", "empty_like")
_OF_BOOLS = "NumPy's dtypes of bools are int8 and float16; agog's are bool and int32"
_BY_ZERO = "an integer divided by zero is an error in agog, as in TensorFlow, and 0 in NumPy"
_NO_AXES = "numbers have no axis -1; NumPy takes one"
_PLACES = "NumPy's places are int64; agog's int32, as in Keras's other backends"
# Where agog differs: in how many calls, and why.
DELIBERATE = {
    "conj": (2, _OF_BOOLS),
    "conjugate": (2, _OF_BOOLS),
    "floor_divide": (60, f"{_BY_ZERO}; {_OF_BOOLS}"),
    "linspace": (1, "the distance is a float64 of NumPy's; agog's has the dtype of the numbers"),
    "log_softmax": (3, _NO_AXES),
    "mod": (60, _BY_ZERO),
    "normalize": (3, _NO_AXES),
    "power": (5, f"{_OF_BOOLS}; the NumPy backend takes int32 for int64"),
    "rms_normalization": (3, _NO_AXES),
    "round": (3, _OF_BOOLS),
    "saturate_cast": (4, "the NumPy backend gives the least integer for any integer that is cast to floats"),
    "segment_max": (
        15,
        "the NumPy backend makes float64 of all; agog keeps the dtype, and the least integer is the lowest",
    ),
    "soft_shrink": (1, "the NumPy backend gives 0 for NaN, and agog NaN"),
    "softmax": (3, _NO_AXES),
    "solve_triangular": (2, "the NumPy backend makes float32 of float16"),
    "sparsemax": (13, "the NumPy backend makes float64 of all"),
    "sparse_categorical_crossentropy": (4, "the NumPy backend makes float32 of float16"),
    "top_k": (15, _PLACES),
    "where": (9, _PLACES),
}
WIDE = {"int32": "int64", "float32": "float64"}
WIDE_REASON = (
    "Keras's NumPy backend makes int32 and float32 of NumPy's int64 and float64 in some functions; agog keeps both"
)


def leaves(value: Any) -> Iterator[Any]:
    for part in value if isinstance(value, (list, tuple)) else [value]:
        yield from leaves(part) if isinstance(part, (list, tuple)) else [part]


def theirs(call: Call) -> Any:
    """What Keras makes of a call; its NumPy backend writes into arguments."""
    args = list(copy.deepcopy(call.args))
    if call.name in LISTED and isinstance(args[0], (int, float, list)):
        args[0] = keras.ops.convert_to_tensor(args[0])
    if call.name in OF_FLOATS:
        args = [arg.astype("float32") if getattr(arg, "dtype", FLOAT).kind in "biu" else arg for arg in args]
    return getattr(keras.ops, call.name)(*args, **copy.deepcopy(call.kwargs))


def difference(call: Call, wanted: Any) -> str | None:
    """How agog's result differs from Keras's."""
    try:
        found = getattr(tf.keras.ops, call.name)(*call.args, **call.kwargs)
    except Exception as error:  # whatever it is
        return f"{type(error).__name__}: {error}"
    results, expected = list(leaves(found)), list(leaves(wanted))
    if len(results) != len(expected):
        return f"{len(results)} results, not {len(expected)}"
    for result, each in zip(results, expected, strict=True):
        got, want = np.asarray(result), np.asarray(each)
        if got.shape != want.shape:
            return f"shape {got.shape}, not {want.shape}"
        if got.dtype != want.dtype and not (isinstance(result, int) or is_wide(call, want.dtype.name, got.dtype.name)):
            return f"dtype {got.dtype}, not {want.dtype}"
        near = TOLERANCES.get(got.dtype.name, 2e-5) if got.dtype.kind in "fc" else 0.0
        close = np.allclose(got.astype("complex128"), want.astype("complex128"), near, near, equal_nan=True)
        if call.name not in UNKNOWN and not close:
            return f"{got.ravel()[:8]}, not {want.ravel()[:8]}"
    return None


def is_wide(call: Call, wanted: str, found: str) -> bool:
    """Whether a result has the dtype of an argument of NumPy's that Keras has made a narrower one of."""
    given = [getattr(each, "dtype", None) for each in leaves([*call.args, *call.kwargs.values()])]
    return WIDE.get(wanted) == found and any(dtype == found for dtype in given)


def text_of(call: Call) -> str:
    parts = [*((None, arg) for arg in call.args), *call.kwargs.items()]
    said = [
        (name, f"{arg.dtype}{list(arg.shape)}" if isinstance(arg, np.ndarray) else repr(arg)) for name, arg in parts
    ]
    return f"{call.name}({', '.join(what if name is None else f'{name}={what}' for name, what in said)})"


@pytest.mark.parametrize("name", CALLS)
def test_function(name: str) -> None:
    compared, differences = 0, []
    for call in CALLS[name]:
        try:
            with np.errstate(all="ignore"):
                wanted = theirs(call)
        except Exception:  # Keras does not take these arguments
            continue
        compared += 1
        if (text := difference(call, wanted)) is not None:
            differences.append(f"{text_of(call)}: {text}")
    print(f"{name}: {compared} calls compared, {len(differences)} differ")
    assert compared
    count, _ = DELIBERATE.get(name, (0, ""))
    assert len(differences) == count, "\n".join(differences)


def test_no_function_is_left_out() -> None:
    offered = set(tf.keras.ops.__all__)
    assert offered - set(CALLS) == set(NOT_CALLED)
    assert not offered & set(CALLS) - set(dir(keras.ops))
    assert set(DELIBERATE) <= offered


# Arguments of Keras's that agog has not.
LACKING = {
    "meshgrid": "x",  # it takes any number
    "cholesky": "upper",
    "convert_to_tensor": "ragged sparse",
    "cross": "axis axisa axisb axisc",
    "max": "initial",
    "min": "initial",
    "multi_hot": "sparse",
    "scatter_update": "reduction",
}


def test_arguments_have_keras_s_names() -> None:
    """What Keras takes by name agog takes by that name, as far as it takes names at all."""
    lacking: dict[str, str] = {}
    for name in CALLS:
        ways = [getattr(tf.keras.ops, name)]
        while hasattr(ways[-1], "__wrapped__"):
            ways.append(ways[-1].__wrapped__)
        taken = {each for way in ways for each in inspect.signature(way, follow_wrapped=False).parameters}
        lacks = (
            set(inspect.signature(getattr(keras.ops, name)).parameters)
            - taken
            - {"args", "kwargs", "operands", "subscripts"}
        )
        if lacks:
            lacking[name] = " ".join(sorted(lacks))
    assert lacking == LACKING
