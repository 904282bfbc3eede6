"""Attention: softmax of scaled products of queries and keys, times values, as one op with one gradient.

A kernel of its own need not have the matrix of all weights in memory at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from agog_core.calls.broadcasting import sum_to
from agog_core.calls.call import call, call_several
from agog_core.dispatch.op import Op
from agog_core.dtypes import FLOATING, DType
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, expand_dims, zeros
from agog_core.ops.array import range as numbers
from agog_core.ops.linalg.matmul import matmul
from agog_core.ops.math import where
from agog_core.ops.nn.affine import broadcasts
from agog_core.ops.nn.fused import differentiated
from agog_core.ops.nn.recurrent import check_sources, in_order
from agog_core.ops.nn.softmax import softmax, softmax_grad
from agog_core.shapes import Shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

_OF_ATTENTION = ("query", "key", "value", "bias")
_SOURCES = _OF_ATTENTION[:3]


def dot_product_attention(
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    mask: TensorLike | None = None,
    factor: float | None = None,
    is_causal: bool = False,
) -> Tensor:
    """Means of values: ``softmax(factor * query @ key^T + mask) @ value`` for each head of each example.

    A. Vaswani et al., "Attention is all you need", NIPS 2017.

    Args:
        query: floats of shape (..., queries, depth).
        key: of shape (..., keys, depth); ``value``: of shape (..., keys, any size).
        mask: what is added to the scores, in a shape that broadcasts to theirs, (..., queries, keys); or booleans,
            False for keys that a query does not see. A query that sees none gets the mean of all.
        factor: what products are multiplied by; by default ``1 / sqrt(depth)``.
        is_causal: whether a query sees only the keys up to its own place.

    >>> print(dot_product_attention([[100.0, 0.0]], [[1.0, 2.0], [0.0, 1.0]], [[3.0], [4.0]]))
    tf.Tensor([[3.]], shape=(1, 1), dtype=float32)
    """
    q, k, v = (convert_to_tensor(each) for each in (query, key, value))
    if factor is None:
        factor = float(q._shape[-1]) ** -0.5 if q._shape and q._shape[-1] else 1.0
    return call(_attention, q, k, v, additive(mask, q.dtype), factor=float(factor), is_causal=bool(is_causal))


def additive(mask: TensorLike | None, dtype: DType) -> Tensor:
    """What is added to scores; nothing without elements."""
    if mask is None:
        return zeros((0,), dtype)
    tensor = convert_to_tensor(mask)
    if not tensor.dtype.is_bool:
        return tensor
    lowest = -0.7 * float(dtype.max)  # as Keras has it: a score more does not overflow
    return (1 - cast(tensor, dtype)) * lowest


def _check(op: str, query: Shape, key: Shape, value: Shape, bias: Shape) -> None:
    fits = len(query) == len(key) == len(value) >= 2 and query[:-2] == key[:-2] == value[:-2]
    if not fits or query[-1] != key[-1] or key[-2] != value[-2]:
        raise InvalidArgumentError(
            f"{op}: query must be of shape (..., queries, depth), key of shape (..., keys, depth) and value of shape "
            f"(..., keys, any size); got shapes {query}, {key} and {value}."
        )
    scores = (*query[:-1], key[-2])
    if 0 not in bias and not broadcasts(bias, scores):
        raise InvalidArgumentError(f"{op}: mask must broadcast to the scores' shape {scores}; got shape {bias}.")


def _shape(query: Shape, key: Shape, value: Shape, bias: Shape, factor: float, is_causal: bool) -> Shape:
    _check("dot_product_attention", query, key, value, bias)
    return (*query[:-1], value[-1])


def _vjp(
    g: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor,
    factor: float,
    is_causal: bool,
    needed: tuple[str, ...],
) -> tuple[Tensor | None, ...]:
    tensors = g, query, key, value, bias
    if "bias" in needed:
        return _gradients(*tensors, factor, is_causal, needed)
    found = call_several(_attention_grad, *tensors, factor=factor, is_causal=is_causal, sources=needed)
    return in_order(found, needed, _OF_ATTENTION)


def _gradients(
    g: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor,
    factor: float,
    is_causal: bool,
    needed: Sequence[str],
) -> tuple[Tensor | None, ...]:
    """By ops that are differentiable to any order."""
    scores = matmul(query, key, transpose_b=True) * factor
    if all(bias._shape):
        scores = scores + bias
    if is_causal:
        queries, keys = query._shape[-2], key._shape[-2]
        scores = where(expand_dims(numbers(queries), 1) >= numbers(keys), scores, float("-inf"))
    weights = softmax(scores)
    slopes = softmax_grad(matmul(g, value, transpose_b=True), weights)
    return (
        matmul(slopes, key) * factor if "query" in needed else None,
        matmul(slopes, query, transpose_a=True) * factor if "key" in needed else None,
        matmul(weights, g, transpose_a=True) if "value" in needed else None,
        sum_to(slopes, bias._shape) if "bias" in needed else None,
    )


_attention = Op(
    "dot_product_attention",
    dot_product_attention,
    inputs=_OF_ATTENTION,
    shape=_shape,
    dtypes=FLOATING,
    vjp={_OF_ATTENTION: _vjp},
)


def dot_product_attention_grad(
    gradients: TensorLike,
    query: TensorLike,
    key: TensorLike,
    value: TensorLike,
    mask: TensorLike | None = None,
    factor: float = 1.0,
    is_causal: bool = False,
    sources: Sequence[str] | None = None,
) -> tuple[Tensor, ...]:
    """The gradients of `dot_product_attention` with respect to ``query``, ``key`` and ``value``, or only to those that
    ``sources`` names.

    >>> print(dot_product_attention_grad([[1.0]], [[2.0]], [[3.0]], [[4.0]], sources=["value"])[0])
    tf.Tensor([[1.]], shape=(1, 1), dtype=float32)
    """
    g, q, k, v = (convert_to_tensor(each) for each in (gradients, query, key, value))
    of = check_sources("dot_product_attention_grad", sources, _SOURCES)
    form = {"factor": float(factor), "is_causal": bool(is_causal)}
    return call_several(_attention_grad, g, q, k, v, additive(mask, q.dtype), **form, sources=of)


def _grad_shape(
    gradients: Shape,
    query: Shape,
    key: Shape,
    value: Shape,
    bias: Shape,
    factor: float,
    is_causal: bool,
    sources: tuple[str, ...],
) -> list[Shape]:
    _check("dot_product_attention_grad", query, key, value, bias)
    expected = (*query[:-1], value[-1])
    if gradients != expected:
        raise InvalidArgumentError(
            f"dot_product_attention_grad: gradients must be of shape {expected}; got {gradients}."
        )
    known = zip(_SOURCES, (query, key, value), strict=True)
    return [shape for name, shape in known if name in sources]


def _grad_vjp(
    g: list[Tensor | None],
    gradients: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor,
    factor: float,
    is_causal: bool,
    sources: tuple[str, ...],
    needed: tuple[str, ...],
) -> tuple[Tensor | None, ...]:
    inputs: dict[str, Tensor | None] = {"gradients": gradients}
    inputs |= {"query": query, "key": key, "value": value, "bias": bias}
    by_ops = partial(_gradients, factor=factor, is_causal=is_causal, needed=sources)
    return differentiated(by_ops, g, inputs, needed)


_attention_grad: Op = Op(
    "dot_product_attention_grad",
    dot_product_attention_grad,
    inputs=["gradients", *_OF_ATTENTION],
    shape=_grad_shape,
    dtypes=FLOATING,
    vjp={("gradients", *_OF_ATTENTION): _grad_vjp},
)
