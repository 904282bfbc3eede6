"""Calls: of each function of ``keras.ops``, over dtypes and arguments, for Keras and agog alike."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

__all__ = ["NOT_CALLED", "Call", "calls"]

# What is not compared, and why.
NOT_CALLED = {
    "convert_to_numpy": "the test itself reads results with it",
    "custom_gradient": "Keras's NumPy backend has no gradients",
}

FLOATS = ("float16", "float32", "float64")
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", *FLOATS)
_NUMBERS = [[-2.5, -1.0, -0.5, 0.0], [0.25, 0.75, 1.5, 3.0]]
_INTEGERS = [[-100, -3, -1, 0], [1, 2, 7, 120]]
_UNSIGNED = [[0, 1, 2, 3], [7, 100, 200, 255]]

_ELEMENTWISE = """
    abs absolute angle arccos arccosh arcsin arcsinh arctan arctanh array cbrt ceil celu conj conjugate copy cos cosh
    deg2rad elu empty_like erf erfc exp exp2 expm1 floor gelu hard_shrink hard_sigmoid hard_silu hard_swish hard_tanh
    imag isfinite isinf isnan leaky_relu log log10 log1p log2 log_sigmoid log_softmax logical_not nan_to_num ndim
    negative nonzero normalize ones_like rad2deg ravel real reciprocal relu relu6 rms_normalization round rsqrt selu
    shape sigmoid sign silu sin sinh size soft_shrink softmax softplus softsign sparse_plus sparse_sigmoid sparsemax
    sqrt square squareplus squeeze stop_gradient swish tan tanh tanh_shrink transpose trunc unstack zeros_like
    convert_to_tensor fliplr flipud glu diag diagonal trace tril triu flip sort argsort diff cumsum cumprod
"""
_PAIRS = """
    add arctan2 divide equal floor_divide greater greater_equal less less_equal logaddexp logical_and logical_or
    logical_xor maximum minimum mod multiply not_equal power subtract true_divide isclose allclose
"""
_PRODUCTS = "dot inner matmul outer tensordot vdot cross"
_REDUCTIONS = """
    sum prod mean std var max min amax amin all any argmax argmin median average nansum nanmean count_nonzero logsumexp
"""


class Call(NamedTuple):
    """One call, to be made with arrays and numbers.

    Attributes:
        name: the function's.
        args: its arguments.
        kwargs: those by name.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def array(dtype: str, values: Any = None) -> np.ndarray[Any, Any]:
    """Numbers that suit a dtype, of shape (2, 4), or those that are given."""
    if values is None:
        values = _NUMBERS if dtype in FLOATS else _UNSIGNED if dtype == "uint8" else _INTEGERS
    return np.array(values).astype(dtype)


def calls() -> Iterator[Call]:
    """All calls."""
    yield from _elementwise()
    yield from _pairs()
    yield from _reductions()
    for name, *arguments in [*_arrays(), *_networks(), *_others()]:
        kwargs = arguments.pop() if arguments and type(arguments[-1]) is dict else {}
        yield Call(name, tuple(arguments), kwargs)


def _elementwise() -> Iterator[Call]:
    values: list[Any] = [array(dtype) for dtype in DTYPES]
    values += [np.array([np.nan, np.inf, -np.inf, -0.0], "float32"), 2, -1.5, True, [1, 2], [0.5, -2.0]]
    for name, x in product(_ELEMENTWISE.split(), values):
        yield Call(name, (x,), {})
    for name in ("abs", "angle", "conj", "exp", "imag", "negative", "real", "square", "sqrt", "sum", "prod"):
        yield Call(name, (np.array([1 + 2j, -3j, -1], "complex64"),), {})


def _pairs() -> Iterator[Call]:
    for name, first, second in product(_PAIRS.split(), DTYPES, DTYPES):
        yield Call(name, (array(first), array(second)[:, ::-1]), {})
        if first != "bool" and second != "bool":
            yield Call(name, (array(first), array(second, [[3, 1, 2, 5], [7, 4, 1, 2]])), {})
    scalars = (2, -1, 0.5, True, np.float32(0.5), np.int64(3))
    for name, dtype, scalar in product(_PAIRS.split(), DTYPES, scalars):
        yield Call(name, (array(dtype), scalar), {})
        yield Call(name, (scalar, array(dtype)), {})
    for name, first, second in product(_PRODUCTS.split(), DTYPES, DTYPES):
        a, b = array(first, [[1, 2, 0], [3, 1, 2], [0, 2, 5]]), array(second, [[1, 0, 1], [2, 1, 3], [1, 1, 0]])
        yield Call(name, (a, b), {"axes": 1} if name == "tensordot" else {})
    for name, first, second in product(("append", "concatenate", "hstack", "stack", "vstack"), DTYPES, DTYPES):
        both = (array(first), array(second))
        yield Call(name, both if name == "append" else (list(both),), {})
    for first, second in product(DTYPES, DTYPES):
        yield Call("where", (array("bool", [[1, 0, 1, 0]]), array(first), array(second)), {})
        yield Call("clip", (array(first), 1, array(second, 2)), {})


def _reductions() -> Iterator[Call]:
    for name, dtype, axis, keepdims in product(_REDUCTIONS.split(), DTYPES, (None, 0, -1, (0, 1)), (False, True)):
        options = {} if name in ("average", "count_nonzero") else {"keepdims": keepdims}
        yield Call(name, (array(dtype),), {"axis": axis, **options})
    wide = np.arange(1.0, 25.0).reshape(2, 3, 4)
    for name, axis in product(_REDUCTIONS.split(), (None, 1, -2, (0, 2))):
        yield Call(name, (wide.astype("float32"),), {"axis": axis})
    for dtype in DTYPES:
        yield Call("moments", (array(dtype), [0]), {"keepdims": True})
        yield Call("quantile", (array(dtype), [0.25, 0.5]), {"axis": 1})
        yield Call("quantile", (array(dtype), 0.3), {"keepdims": True})
        yield Call("average", (array(dtype),), {"axis": 0, "weights": [1.0, 3.0]})
        yield Call("average", (array(dtype),), {"axis": 1, "weights": array(dtype)})
        for order in (None, 1, 2, 3, 0, np.inf, -np.inf):
            yield Call("norm", (array(dtype),), {"ord": order, "axis": 1})
        for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
            yield Call("norm", (array(dtype),), {"ord": order})
            yield Call("norm", (array(dtype),), {"ord": order, "axis": (0, 1), "keepdims": True})


def _arrays() -> Iterator[tuple[Any, ...]]:
    """Of functions that make, move and choose elements: the name, the arguments, and those by name."""
    for bounds in ((4,), (1, 4), (0, 1, 0.25), (5, 0, -2), (0.5, 3.5), (2.0,), (0, 3.0, 1)):
        yield ("arange", *bounds)
        for dtype in DTYPES[1:]:
            yield ("arange", *bounds, {"dtype": dtype})
    for dtype in DTYPES:
        x = array(dtype)
        yield from (("cumsum", x, {"axis": 1}), ("cumprod", x, {"axis": 0}), ("sort", x, {"axis": 0}))
        yield from (("argsort", x, {"axis": None}), ("diff", x, {"axis": 0}), ("diff", x, {"n": 2}))
        yield from (
            ("flip", x, {"axis": 1}),
            ("roll", x, 1),
            ("roll", x, 3, {"axis": 1}),
            ("tril", x, 1),
            ("triu", x, -1),
        )
        yield from (("diagonal", x, 1), ("diag", x[0], -1), ("trace", x, 1), ("moveaxis", x, 0, -1), ("repeat", x, 2))
        yield from (("repeat", x, [1, 2], {"axis": 0}), ("tile", x, (2, 1)), ("tile", x, 2), ("swapaxes", x, 0, -1))
        yield from (("reshape", x, (4, -1)), ("expand_dims", x, 1), ("expand_dims", x, (0, 2)), ("squeeze", x[None], 0))
        yield from (("broadcast_to", x, (3, 2, 4)), ("pad", x, 1), ("pad", x, ((0, 1), (2, 0)), {"mode": "edge"}))
        yield from (("pad", x, ((1, 0), (0, 1)), {"mode": "reflect"}), ("pad", x, ((1, 0), (0, 1)), "constant", 3))
        yield from (
            ("take", x, [0, 5]),
            ("take", x, [[0, -1]], {"axis": 1}),
            ("take_along_axis", x, np.array([[0], [2]]), 1),
        )
        yield from (("split", x, 2), ("split", x, [1, 3], 1), ("slice", x, (0, 1), (2, 2)), ("unstack", x, {"axis": 1}))
        yield from (("slice_update", x, (0, 1), x[:, :2]), ("scatter_update", x, [[0, 1], [1, 0]], x[0, :2]))
        yield from (
            ("full_like", x, 2),
            ("full_like", x, 2, "float32"),
            ("ones_like", x, "int32"),
            ("full", (2,), x[0, 1]),
        )
        yield from (("zeros", (2, 1), dtype), ("ones", 3, dtype), ("empty", (2,), dtype), ("eye", 3, 4, 1, dtype))
        yield from (("tri", 3, 4, -1, dtype), ("full", (2, 2), 3, dtype), ("zeros_like", x, "float16"))
        yield from (("linspace", 0, 10, 5, {"dtype": dtype}), ("logspace", 0, 2, 3, {"dtype": dtype}))
        yield from (("meshgrid", x[0], x[1]), ("meshgrid", x[0], x[1], {"indexing": "ij"}))
        yield from (("isin", x, [0, 1]), ("isin", x, [0, 1], {"invert": True}), ("searchsorted", np.sort(x[0]), x[1]))
        yield from (("searchsorted", np.sort(x[0]), x[1], {"side": "right"}), ("nonzero", x), ("top_k", x, 2))
        yield from (("cast", x, each) for each in DTYPES)
        yield from (("saturate_cast", x, each) for each in DTYPES)
        yield from (("round", x, decimals) for decimals in (-1, 0, 1, 2))
        yield from (("nan_to_num", x, 1.0), ("transpose", x, (1, 0)), ("clip", x, 0, 2), ("clip", x, 0.5, 1.5))
        yield from (("linspace", x[0], x[1], 3), ("logspace", x[1], x[1], 2, {"base": 2}), ("where", x))
        yield from (("einsum", "ij,kj->ik", x, x), ("einsum", "ij->j", x), ("tensordot", x, x, [[1], [1]]))
    for ends in ((0, 10, 5), (0, 1, 5), (1.0, 2.0), (0, 1, 4, False), (5, 5, 1)):
        yield ("linspace", *ends)
        yield ("logspace", *ends)
    yield from (("linspace", 0, 10, 5, {"retstep": True}), ("linspace", [0.0, 1.0], [1.0, 3.0], 3, {"axis": 1}))
    yield from (
        ("full", (2,), 1),
        ("full", 3, 1.5),
        ("full", (2,), True),
        ("zeros", (2,)),
        ("eye", 2),
        ("tri", 2),
        ("ones", ()),
    )
    for decimals in (0, 1, -1):
        yield ("round", np.array([0.5, 1.5, 2.55, -14.9], "float32"), decimals)
    yield from (
        ("array", [1, 2.5]),
        ("array", [True, False]),
        ("array", [[1, 2]], "float16"),
        ("array", 3),
        ("array", 2.5),
    )
    yield from (("count_nonzero", [[0, 1], [2, 0]], axis) for axis in (None, 0, 1, (0, 1)))


def _networks() -> Iterator[tuple[Any, ...]]:
    """Of functions that networks are made of."""
    random = np.random.RandomState(0)
    for dtype in FLOATS:
        x = array(dtype)
        p = (np.abs(x) + 0.1) / (np.abs(x) + 0.1).sum(-1, keepdims=True)
        yield from (
            ("gelu", x, {"approximate": False}),
            ("gelu", x, {"approximate": True}),
            ("celu", x, {"alpha": 2.0}),
        )
        yield from (("elu", x, {"alpha": 0.5}), ("leaky_relu", x, {"negative_slope": 0.1}), ("glu", x, {"axis": 0}))
        yield from (("hard_shrink", x, 1.0), ("soft_shrink", x, 1.0), ("threshold", x, 0.5, -1.0), ("squareplus", x, 2))
        yield from (("softmax", x, {"axis": axis}) for axis in (0, 1, (0, 1), None))
        yield from (("log_softmax", x, {"axis": axis}) for axis in (0, 1, None))
        yield from (("sparsemax", x, {"axis": 0}), ("normalize", x, {"axis": 0, "order": 1}), ("logsumexp", x))
        yield from (("normalize", x, {"epsilon": 1.0}), ("rms_normalization", x, 2.0, {"axis": 0, "epsilon": 0.1}))
        for logits in (False, True):
            scores = x if logits else p
            yield ("binary_crossentropy", (x > 0).astype(dtype), scores, {"from_logits": logits})
            yield ("categorical_crossentropy", np.eye(4, dtype=dtype)[:2], scores, {"from_logits": logits})
            yield ("sparse_categorical_crossentropy", np.array([1, 3]), scores, {"from_logits": logits})
            yield ("sparse_categorical_crossentropy", np.array([[1], [3]]), scores, {"from_logits": logits})
        yield from (("in_top_k", np.array([1, 3]), x, k) for k in (1, 2, 4))
        yield from (("top_k", x, k, {"sorted": True}) for k in (1, 4))
        heads, seen = random.uniform(-1, 1, (2, 5, 3, 4)).astype(dtype), np.tri(5, 5, 2)[None, None] > 0
        yield from (("dot_product_attention", heads, heads, heads, {"is_causal": causal}) for causal in (False, True))
        yield ("dot_product_attention", heads, heads, heads, {"mask": seen, "scale": 2.0})
        image = random.uniform(-1, 1, (2, 7, 6, 3)).astype(dtype)
        first, kernel = image.transpose(0, 3, 1, 2), random.uniform(-1, 1, (3, 2, 3, 4)).astype(dtype)
        for padding, strides in product(("valid", "same"), (1, 2, (2, 1))):
            yield ("conv", image, kernel, strides, padding)
            for name in ("max_pool", "average_pool"):
                yield (name, image, (2, 3), strides, padding)
                yield (name, first, 2, {"padding": padding, "data_format": "channels_first"})
        yield from (("conv", image, kernel, 1, "same", {"dilation_rate": 2}), ("conv", image, kernel[:, :, :1, :3]))
        yield from (("conv", first, kernel, {"data_format": "channels_first"}), ("conv", image[0], kernel[0]))
    for dtype in ("int32", "int64", "uint8"):
        numbers = array(dtype, [0, 2, 1])
        for axis, kind in product((-1, 0), (None, *DTYPES)):
            yield ("one_hot", numbers, 3, {"axis": axis, "dtype": kind})
            yield ("multi_hot", array(dtype, [[0, 2], [1, 1]]), 3, {"axis": axis, **({"dtype": kind} if kind else {})})
        yield ("multi_hot", numbers, 4)
        yield ("one_hot", array(dtype, [[0, 5], [1, 1]]), 3)


def _others() -> Iterator[tuple[Any, ...]]:
    """Of segments, counts, matrices, and functions of functions."""
    for dtype in DTYPES[1:]:
        data, ids = array(dtype, [[1, 2], [3, 4], [5, 6]]), np.array([0, 2, 0], "int32")
        for name in ("segment_sum", "segment_max"):
            yield from (
                (name, data, ids),
                (name, data, ids, 4),
                (name, data[:, 0], np.array([0, 1, 1]), 3, {"sorted": True}),
            )
        yield ("scatter", [[0, 1], [1, 0], [0, 1]], data[:, 0], (2, 2))
        matrix = array(dtype, [[4, 1, 0], [1, 3, 1], [0, 1, 2]])
        for name in ("cholesky", "det", "eigh", "inv", "qr", "svd"):
            yield (name, matrix)
        yield from (("svd", matrix, {"compute_uv": False}), ("qr", matrix[:, :2], "complete"))
        yield from (
            ("svd", matrix[:2], {"full_matrices": False}),
            ("solve", matrix, matrix[:, :1]),
            ("solve", matrix, matrix[0]),
        )
        yield from (
            ("solve_triangular", np.tril(matrix), matrix, {"lower": True}),
            ("solve_triangular", matrix, matrix[0]),
        )
    for dtype in ("int32", "int64", "uint8"):
        rows = array(dtype, [[0, 1, 1], [3, 0, 0]])
        for weights in (None, np.ones((2, 3), "float32"), np.ones((2, 3), "int32")):
            yield from (
                ("bincount", rows, {"weights": weights}),
                ("bincount", rows, {"weights": weights, "minlength": 6}),
            )
            flat = None if weights is None else weights[0]
            yield from (("bincount", rows[0], {"weights": flat}), ("bincount", rows[0], flat, 5))
    yield ("cond", True, lambda: 1.0, lambda: 2.0)
    yield ("map", lambda x: x * 2, array("float32"))
    yield ("fori_loop", 0, 3, lambda i, total: total + i, np.int32(0))
    yield ("while_loop", lambda n: n < 5, lambda n: (n + 2,), (0,))
