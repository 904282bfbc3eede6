"""Neural-network ops: activations, softmax and its losses, dropout."""

from __future__ import annotations

from typing import Any

from agog_core.call import call
from agog_core.convert import convert_to_tensor
from agog_core.dtypes import FLOATING, ORDERED
from agog_core.elementwise import binary, unary
from agog_core.errors import InvalidArgumentError
from agog_core.op import Op
from agog_core.ops.array import expand_dims, reshape, stop_gradient
from agog_core.ops.creation import one_hot
from agog_core.ops.elementary import exp, floor
from agog_core.ops.math import add, multiply, negative, realdiv, subtract
from agog_core.ops.random import random_uniform
from agog_core.ops.reduction import reduce_sum
from agog_core.shapes import Shape, normalize_axis
from agog_core.tensor import Tensor, TensorLike


@unary(lambda g, out: relu_grad(g, out), dtypes=ORDERED)
def relu(features: TensorLike, name: str | None = None) -> Tensor:
    """Rectified linear unit, elementwise; its gradient at 0 is 0.

    Args:
        features: a tensor of numbers.
        name: not used; kept for compatibility.

    Returns:
        ``max(features, 0)``; NaN for NaN.

    >>> print(relu([-1.0, 2.0]))
    tf.Tensor([0. 2.], shape=(2,), dtype=float32)
    """


@binary(x=lambda g, features: relu_grad(g, features), dtypes=ORDERED)
def relu_grad(gradients: TensorLike, features: TensorLike, name: str | None = None) -> Tensor:
    """The gradient of `relu`, elementwise.

    Args:
        gradients: the gradient of the output.
        features: the input or the output of `relu`.
        name: not used; kept for compatibility.

    Returns:
        ``gradients`` where ``features`` is positive, else 0.

    >>> print(relu_grad([5.0, 5.0], [-1.0, 2.0]))
    tf.Tensor([0. 5.], shape=(2,), dtype=float32)
    """


def bias_add(value: TensorLike, bias: TensorLike, data_format: str | None = None, name: str | None = None) -> Tensor:
    """Add a bias to each channel.

    Args:
        value: a tensor whose channels are the last axis, or axis 1 for ``"NCHW"``.
        bias: a tensor of rank 1, as long as there are channels.
        data_format: ``"NHWC"`` (the default) or ``"NCHW"``.
        name: not used; kept for compatibility.

    Returns:
        The sum, of ``value``'s shape.

    Raises:
        InvalidArgumentError: the bias is not of rank 1, or not as long as there are channels.
        ValueError: ``data_format`` is something else.

    >>> print(bias_add([[1.0, 2.0]], [10.0, 20.0]))
    tf.Tensor([[11. 22.]], shape=(1, 2), dtype=float32)
    """
    x, b = convert_to_tensor(value), convert_to_tensor(bias)
    if data_format not in (None, "NHWC", "NCHW"):
        raise ValueError(f"bias_add: data_format must be 'NHWC' or 'NCHW'; got {data_format!r}.")
    axis = 1 if data_format == "NCHW" else -1
    if len(b._shape) != 1 or len(x._shape) < 2 or b._shape[0] != x._shape[axis]:
        raise InvalidArgumentError(
            f"bias_add: bias of shape {b._shape} does not fit the channels (axis {axis}) of value of shape {x._shape}."
        )
    if axis == 1:
        b = reshape(b, (-1, *[1] * (len(x._shape) - 2)))
    return add(x, b)


def softmax(logits: TensorLike, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Tensor:
    """Exponentials divided by their sum along an axis.

    Args:
        logits: a tensor of floats.
        axis: the axis; the last by default.
        name: not used; kept for compatibility.
        dim: the older name of ``axis``.

    Returns:
        A tensor of the same shape that sums to 1 along the axis.

    Raises:
        InvalidArgumentError: the axis is out of range.

    >>> print(softmax([0.0, 0.0]))
    tf.Tensor([0.5 0.5], shape=(2,), dtype=float32)
    """
    x = convert_to_tensor(logits)
    return call(_softmax, x, axis=_axis("softmax", x, axis, dim))


def _axis(op: str, x: Tensor, axis: int | None, dim: int | None) -> int:
    return normalize_axis(op, next((a for a in (axis, dim) if a is not None), -1), len(x._shape))


def _softmax_shape(logits: Shape, axis: int) -> Shape:
    return logits


def _softmax_vjp(g: Tensor, out: Tensor, axis: int) -> Tensor:
    return multiply(subtract(g, reduce_sum(multiply(g, out), axis, True)), out)


_softmax = Op(
    "softmax", softmax, inputs=["logits"], shape=_softmax_shape, dtypes=FLOATING, vjp={"logits": _softmax_vjp}
)


def log_softmax(logits: TensorLike, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Tensor:
    """The logarithm of `softmax`, without overflow.

    Args:
        logits: a tensor of floats.
        axis: the axis; the last by default.
        name: not used; kept for compatibility.
        dim: the older name of ``axis``.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: the axis is out of range.

    >>> print(log_softmax([0.0, 0.0]))
    tf.Tensor([-0.6931472 -0.6931472], shape=(2,), dtype=float32)
    """
    x = convert_to_tensor(logits)
    return call(_log_softmax, x, axis=_axis("log_softmax", x, axis, dim))


def _log_softmax_vjp(g: Tensor, out: Tensor, axis: int) -> Tensor:
    return subtract(g, multiply(exp(out), reduce_sum(g, axis, True)))


_log_softmax = Op(
    "log_softmax",
    log_softmax,
    inputs=["logits"],
    shape=_softmax_shape,
    dtypes=FLOATING,
    vjp={"logits": _log_softmax_vjp},
)


def softmax_cross_entropy_with_logits_v2(
    *, labels: TensorLike, logits: TensorLike, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Tensor:
    """Cross entropy between label distributions and the softmax of logits; gradients flow into both.

    Args:
        labels: probabilities, of the logits' shape and dtype.
        logits: a tensor of floats.
        axis: the axis of the classes; the last by default.
        name: not used; kept for compatibility.
        dim: the older name of ``axis``.

    Returns:
        ``-sum(labels * log_softmax(logits))`` without the axis.

    Raises:
        InvalidArgumentError: shapes or dtypes differ.

    >>> print(softmax_cross_entropy_with_logits_v2(labels=[[1.0, 0.0]], logits=[[0.0, 0.0]]))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    z = convert_to_tensor(logits)
    p = convert_to_tensor(labels, preferred_dtype=z.dtype)
    return call(_softmax_cross_entropy, p, z, axis=_axis("softmax_cross_entropy", z, axis, dim))


def softmax_cross_entropy_with_logits(
    *, labels: TensorLike, logits: TensorLike, dim: int = -1, name: str | None = None
) -> Tensor:
    """Cross entropy between label distributions and the softmax of logits; no gradient flows into the labels.

    Args:
        labels: probabilities, of the logits' shape and dtype.
        logits: a tensor of floats.
        dim: the axis of the classes.
        name: not used; kept for compatibility.

    Returns:
        ``-sum(labels * log_softmax(logits))`` without the axis.

    Raises:
        InvalidArgumentError: shapes or dtypes differ.

    >>> print(softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]], logits=[[0.0, 0.0]]))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    z = convert_to_tensor(logits)
    constant_labels = stop_gradient(convert_to_tensor(labels, preferred_dtype=z.dtype))
    return softmax_cross_entropy_with_logits_v2(labels=constant_labels, logits=z, axis=dim)


def _cross_entropy_shape(labels: Shape, logits: Shape, axis: int) -> Shape:
    if labels != logits:
        raise InvalidArgumentError(
            f"softmax_cross_entropy: labels and logits must be of one shape; got {labels} and {logits}."
        )
    return (*logits[:axis], *logits[axis + 1 :])


def _cross_entropy_vjp_logits(g: Tensor, labels: Tensor, logits: Tensor, axis: int) -> Tensor:
    total = reduce_sum(labels, axis, True)
    return multiply(expand_dims(g, axis), subtract(multiply(softmax(logits, axis), total), labels))


def _cross_entropy_vjp_labels(g: Tensor, logits: Tensor, axis: int) -> Tensor:
    return negative(multiply(expand_dims(g, axis), log_softmax(logits, axis)))


_softmax_cross_entropy = Op(
    "softmax_cross_entropy",
    softmax_cross_entropy_with_logits_v2,
    inputs=["labels", "logits"],
    shape=_cross_entropy_shape,
    dtypes=FLOATING,
    vjp={"labels": _cross_entropy_vjp_labels, "logits": _cross_entropy_vjp_logits},
)


def sparse_softmax_cross_entropy_with_logits(
    *, labels: TensorLike, logits: TensorLike, name: str | None = None
) -> Tensor:
    """Cross entropy between class numbers and the softmax of logits.

    Args:
        labels: integers in [0, classes), of shape (...).
        logits: a tensor of floats of shape (..., classes).
        name: not used; kept for compatibility.

    Returns:
        ``-log_softmax(logits)[..., label]``, of the labels' shape.

    Raises:
        InvalidArgumentError: the shapes do not fit, the labels are not integers, or a label is out of range.

    >>> print(sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[0.0, 0.0]]))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    y, z = convert_to_tensor(labels), convert_to_tensor(logits)
    if not y.dtype.is_integer:
        raise InvalidArgumentError(
            f"sparse_softmax_cross_entropy: labels must be integers; got dtype {y.dtype.name} and shape {y._shape}. "
            "For probabilities use "
            "softmax_cross_entropy_with_logits."
        )
    return call(_sparse_softmax_cross_entropy, y, z)


def _sparse_shape(labels: Shape, logits: Shape) -> Shape:
    if not logits or labels != logits[:-1]:
        raise InvalidArgumentError(
            f"sparse_softmax_cross_entropy: logits of shape {logits} need labels of shape {logits[:-1]}; got labels of "
            f"shape {labels}."
        )
    return labels


def _sparse_vjp(g: Tensor, labels: Tensor, logits: Tensor) -> Tensor:
    return multiply(
        expand_dims(g, -1), subtract(softmax(logits), one_hot(labels, logits._shape[-1], dtype=logits.dtype))
    )


_sparse_softmax_cross_entropy = Op(
    "sparse_softmax_cross_entropy",
    sparse_softmax_cross_entropy_with_logits,
    inputs=["labels", "logits"],
    shape=_sparse_shape,
    alike=["logits"],
    dtypes=FLOATING,
    vjp={"logits": _sparse_vjp},
)


def dropout(
    x: TensorLike,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
    rate: float | None = None,
) -> Tensor:
    """Set elements to zero at random, and scale the others so that the expected sum stays.

    N. Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting", JMLR 15, 2014.

    Args:
        x: a tensor of floats.
        keep_prob: the probability of an element to be kept, in (0, 1].
        noise_shape: the shape of the random choices, which broadcasts to ``x``'s; None for ``x``'s.
        seed: the op's seed.
        name: not used; kept for compatibility.
        rate: the probability of an element to be dropped; instead of ``keep_prob``.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: not exactly one of ``keep_prob`` and ``rate`` is given, or it is out of range.

    >>> print(dropout([1.0, 2.0], keep_prob=1.0))
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    """
    if (keep_prob is None) == (rate is None):
        raise ValueError(f"dropout: give either keep_prob or rate; got keep_prob={keep_prob} and rate={rate}.")
    keep = float(keep_prob) if keep_prob is not None else 1 - float(rate)  # type: ignore[arg-type]  # one of the two is given
    if not 0 < keep <= 1:
        raise ValueError(f"dropout: keep_prob must be in (0, 1] and rate in [0, 1); got keep_prob={keep}.")
    tensor = convert_to_tensor(x)
    if keep == 1:
        return tensor
    noise = random_uniform(tensor._shape if noise_shape is None else noise_shape, dtype=tensor.dtype, seed=seed)
    return multiply(realdiv(tensor, keep), floor(add(noise, keep)))
