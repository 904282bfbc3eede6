"""Losses from logits, as they are in ``tf.nn``: one number for each example."""

from __future__ import annotations

import math

from agog_core.calls.call import call
from agog_core.calls.docstrings import documented_like
from agog_core.calls.elementwise import binary
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import FLOATING
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array import cast, expand_dims, one_hot, ones_like, stop_gradient
from agog_core.ops.math.elementary import exp, log, sigmoid, softplus
from agog_core.ops.math.logic import where
from agog_core.ops.nn.softmax import chosen_axis, log_softmax, softmax, softmax_grad
from agog_core.ops.reduce.reduction import reduce_sum
from agog_core.shapes import Shape, normalize_axis
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = [
    "l2_loss",
    "log_poisson_loss",
    "sigmoid_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2",
    "sparse_softmax_cross_entropy_with_logits",
    "weighted_cross_entropy_with_logits",
]


def softmax_cross_entropy_with_logits_v2(
    *, labels: TensorLike, logits: TensorLike, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Tensor:
    """Cross entropy between label distributions and the softmax of logits; gradients flow into both.

    Args:
        labels: probabilities, of the logits' shape: floats, integers or bools, which are cast to the logits' dtype.
        logits: a tensor of floats.
        axis: the axis of the classes; the last by default. Older name: ``dim``.

    Returns:
        ``-sum(labels * log_softmax(logits))`` without the axis; a class of probability 0 adds nothing.

    Raises:
        InvalidArgumentError: the shapes differ, or the labels are no numbers.

    >>> print(softmax_cross_entropy_with_logits_v2(labels=[[1.0, 0.0]], logits=[[0.0, 0.0]]))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    z = convert_to_tensor(logits)
    p = _of_dtype("softmax_cross_entropy", "labels", labels, z)
    return call(_softmax_cross_entropy, p, z, axis=chosen_axis("softmax_cross_entropy", z, axis, dim))


@documented_like(softmax_cross_entropy_with_logits_v2)
def softmax_cross_entropy_with_logits(
    *, labels: TensorLike, logits: TensorLike, dim: int = -1, name: str | None = None
) -> Tensor:
    """Cross entropy between label distributions and the softmax of logits; no gradient flows into the labels.

    Args:
        dim: the axis of the classes.

    >>> print(softmax_cross_entropy_with_logits(labels=[[1.0, 0.0]], logits=[[0.0, 0.0]]))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    z = convert_to_tensor(logits)
    constant_labels = stop_gradient(convert_to_tensor(labels, preferred_dtype=z.dtype))
    return softmax_cross_entropy_with_logits_v2(labels=constant_labels, logits=z, axis=dim)


def _of_dtype(op: str, name: str, labels: TensorLike, logits: Tensor) -> Tensor:
    """Labels as a tensor of the logits' dtype, which tutorials leave to the loss."""
    y = convert_to_tensor(labels, preferred_dtype=logits.dtype)
    if y.dtype is logits.dtype:
        return y
    if not (y.dtype.is_floating or y.dtype.is_integer or y.dtype.is_bool):
        raise InvalidArgumentError(
            f"{op}: {name} must be floats, integers or bools; got dtype {y.dtype.name} and shape {y._shape}. Make "
            "numbers of strings with tf.string_to_number, and of complex numbers with tf.real or tf.abs."
        )
    return cast(y, logits.dtype)


def _cross_entropy_shape(labels: Shape, logits: Shape, axis: int) -> Shape:
    if labels != logits:
        raise InvalidArgumentError(
            f"softmax_cross_entropy: labels and logits must be of one shape; got {labels} and {logits}."
        )
    return (*logits[:axis], *logits[axis + 1 :])


_softmax_cross_entropy = Op(
    "softmax_cross_entropy",
    softmax_cross_entropy_with_logits_v2,
    inputs=["labels", "logits"],
    shape=_cross_entropy_shape,
    dtypes=FLOATING,
    vjp={
        "labels": lambda g, logits, axis: -(expand_dims(g, axis) * log_softmax(logits, axis)),
        "logits": lambda g, labels, logits, axis: call(_softmax_cross_entropy_grad, g, labels, logits, axis=axis),
    },
)


def softmax_cross_entropy_grad(
    gradients: TensorLike, labels: TensorLike, logits: TensorLike, axis: int = -1, name: str | None = None
) -> Tensor:
    """The gradient of `softmax_cross_entropy_with_logits_v2` with respect to the logits. It is ``gradients *
    (softmax(logits) * sum(labels) - labels)``, with the gradients repeated along the axis.

    >>> print(softmax_cross_entropy_grad([2.0], [[1.0, 0.0]], [[0.0, 0.0]]))
    tf.Tensor([[-1.  1.]], shape=(1, 2), dtype=float32)
    """
    g, y, z = convert_to_tensor(gradients), convert_to_tensor(labels), convert_to_tensor(logits)
    where = normalize_axis("softmax_cross_entropy_grad", axis, len(z._shape))
    return call(_softmax_cross_entropy_grad, g, y, z, axis=where)


def _cross_entropy_grad_shape(gradients: Shape, labels: Shape, logits: Shape, axis: int) -> Shape:
    if labels != logits or gradients != (*labels[:axis], *labels[axis + 1 :]):
        raise InvalidArgumentError(
            "softmax_cross_entropy_grad: labels and logits must be of one shape, and gradients of that shape without "
            f"axis {axis}; got labels {labels}, logits {logits} and gradients {gradients}."
        )
    return labels


def _cross_entropy_grad_vjp_gradients(g: Tensor, labels: Tensor, logits: Tensor, axis: int) -> Tensor:
    return reduce_sum(g * (softmax(logits, axis) * reduce_sum(labels, axis, True) - labels), axis)


def _cross_entropy_grad_vjp_labels(g: Tensor, gradients: Tensor, logits: Tensor, axis: int) -> Tensor:
    mean = reduce_sum(g * softmax(logits, axis), axis, True)
    return expand_dims(gradients, axis) * (mean - g)


def _cross_entropy_grad_vjp_logits(g: Tensor, gradients: Tensor, labels: Tensor, logits: Tensor, axis: int) -> Tensor:
    weights = expand_dims(gradients, axis) * reduce_sum(labels, axis, True)
    return softmax_grad(g * weights, softmax(logits, axis), axis)


_softmax_cross_entropy_grad: Op = define(
    softmax_cross_entropy_grad,
    shape=_cross_entropy_grad_shape,
    dtypes=FLOATING,
    vjp={
        "gradients": _cross_entropy_grad_vjp_gradients,
        "labels": _cross_entropy_grad_vjp_labels,
        "logits": _cross_entropy_grad_vjp_logits,
    },
)


def sparse_softmax_cross_entropy_with_logits(
    *, labels: TensorLike, logits: TensorLike, name: str | None = None
) -> Tensor:
    """Cross entropy between class numbers and the softmax of logits.

    Args:
        labels: integers in [0, classes), of shape (...).
        logits: a tensor of floats of shape (..., classes).

    Returns:
        ``-log_softmax(logits)[..., label]``, of the labels' shape.

    Raises:
        InvalidArgumentError: the shapes do not fit, the labels are not integers, or a label is out of range.

    >>> print(sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[0.0, 0.0]]))
    tf.Tensor([0.6931472], shape=(1,), dtype=float32)
    """
    y = labels if type(labels) is Tensor else convert_to_tensor(labels)
    z = logits if type(logits) is Tensor else convert_to_tensor(logits)
    if not y._table.dtype.is_integer:
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


_sparse_softmax_cross_entropy = Op(
    "sparse_softmax_cross_entropy",
    sparse_softmax_cross_entropy_with_logits,
    inputs=["labels", "logits"],
    shape=_sparse_shape,
    alike=["logits"],
    dtypes=FLOATING,
    vjp={"logits": lambda g, labels, logits: call(_sparse_softmax_cross_entropy_grad, g, labels, logits)},
    may_fail=True,
)


def sparse_softmax_cross_entropy_grad(
    gradients: TensorLike, labels: TensorLike, logits: TensorLike, name: str | None = None
) -> Tensor:
    """The gradient of `sparse_softmax_cross_entropy_with_logits` with respect to the logits. It is ``gradients *
    (softmax(logits) - one_hot(labels))``, with the gradients repeated along the last axis.

    >>> print(sparse_softmax_cross_entropy_grad([2.0], [0], [[0.0, 0.0]]))
    tf.Tensor([[-1.  1.]], shape=(1, 2), dtype=float32)
    """
    return call(
        _sparse_softmax_cross_entropy_grad,
        convert_to_tensor(gradients),
        convert_to_tensor(labels),
        convert_to_tensor(logits),
    )


def _sparse_grad_shape(gradients: Shape, labels: Shape, logits: Shape) -> Shape:
    if gradients != labels or labels != logits[:-1]:
        raise InvalidArgumentError(
            f"sparse_softmax_cross_entropy_grad: logits of shape {logits} need gradients and labels of shape "
            f"{logits[:-1]}; got gradients {gradients} and labels {labels}."
        )
    return logits


def _sparse_grad_vjp_gradients(g: Tensor, labels: Tensor, logits: Tensor) -> Tensor:
    target = one_hot(labels, logits._shape[-1], dtype=logits.dtype)
    return reduce_sum(g * (softmax(logits) - target), -1)


_sparse_softmax_cross_entropy_grad: Op = define(
    sparse_softmax_cross_entropy_grad,
    shape=_sparse_grad_shape,
    alike=["gradients", "logits"],
    dtypes=FLOATING,
    vjp={
        "gradients": _sparse_grad_vjp_gradients,
        "logits": lambda g, gradients, logits: softmax_grad(g * expand_dims(gradients, -1), softmax(logits)),
    },
    may_fail=True,
)


@binary(
    x=lambda g, logits: -(g * logits),
    y=lambda g, labels, logits: g * (sigmoid(logits) - labels),
    dtypes=FLOATING,
)
def sigmoid_cross_entropy(labels: TensorLike, logits: TensorLike, name: str | None = None) -> Tensor:
    """Cross entropy between probabilities and the sigmoid of logits, elementwise, with broadcasting. It is ``-labels *
    log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits))``, without overflow.

    >>> print(sigmoid_cross_entropy([1.0, 0.0], [0.0, 0.0]))
    tf.Tensor([0.6931472 0.6931472], shape=(2,), dtype=float32)
    """


@documented_like(softmax_cross_entropy_with_logits_v2)
def sigmoid_cross_entropy_with_logits(*, labels: TensorLike, logits: TensorLike, name: str | None = None) -> Tensor:
    """Cross entropy between probabilities and the sigmoid of logits, elementwise; classes need not exclude each other.

    Returns:
        The losses, of the logits' shape, without overflow.

    Raises:
        ValueError: the shapes differ.
        InvalidArgumentError: the labels are no numbers.

    >>> print(sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[0.0, 100.0]))
    tf.Tensor([  0.6931472 100.       ], shape=(2,), dtype=float32)
    """
    y, x = _of_one_shape("sigmoid_cross_entropy_with_logits", "labels", labels, "logits", logits)
    return sigmoid_cross_entropy(y, x)


def _of_one_shape(op: str, first: str, x: TensorLike, second: str, y: TensorLike) -> tuple[Tensor, Tensor]:
    b = convert_to_tensor(y)
    a = _of_dtype(op, first, x, b)
    if a._shape != b._shape:
        raise ValueError(f"{op}: {first} and {second} must have the same shape; got {a._shape} and {b._shape}.")
    return a, b


def weighted_cross_entropy_with_logits(
    targets: TensorLike, logits: TensorLike, pos_weight: TensorLike, name: str | None = None
) -> Tensor:
    """Cross entropy with the sigmoid of logits, elementwise, in which positive targets weigh more or less.

    Args:
        targets: probabilities, of the logits' shape: floats, integers or bools, which are cast to the logits' dtype.
        logits: a tensor of floats.
        pos_weight: the weight of the positive targets, which broadcasts with them.

    Returns:
        ``-pos_weight * targets * log(sigmoid(logits)) - (1 - targets) * log(1 - sigmoid(logits))``, without overflow.

    Raises:
        ValueError: the shapes differ.
        InvalidArgumentError: the targets are no numbers.

    >>> print(weighted_cross_entropy_with_logits([1.0, 0.0], [0.0, 0.0], 2.0))
    tf.Tensor([1.3862944 0.6931472], shape=(2,), dtype=float32)
    """
    z, x = _of_one_shape("weighted_cross_entropy_with_logits", "targets", targets, "logits", logits)
    # (1 - z) x + (1 + (q - 1) z) softplus(-x): the logarithms of both sigmoids are softplus, apart from the sign.
    more = convert_to_tensor(pos_weight, preferred_dtype=x.dtype) - 1
    weight = 1 + more * z
    return (1 - z) * x + weight * softplus(-x)


def log_poisson_loss(
    targets: TensorLike, log_input: TensorLike, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """Minus the logarithm of the likelihood of counts, given the logarithm of their mean, elementwise.

    Args:
        targets: counts, of the shape of ``log_input``: floats, integers or bools, which are cast to its dtype.
        log_input: logarithms of means.
        compute_full_loss: whether Stirling's approximation of ``log(targets!)`` is added, where a target exceeds 1.

    Returns:
        ``exp(log_input) - log_input * targets``, and ``targets * log(targets) - targets + 0.5 * log(2 pi targets)``.

    Raises:
        ValueError: the shapes differ.
        InvalidArgumentError: the targets are no numbers.

    >>> print(log_poisson_loss([2.0], [0.0]))
    tf.Tensor([1.], shape=(1,), dtype=float32)
    """
    z, c = _of_one_shape("log_poisson_loss", "targets", targets, "log_input", log_input)
    loss = exp(c) - c * z
    if not compute_full_loss:
        return loss
    is_large = (z < 0) | (z > 1)
    one = ones_like(z)
    count = where(is_large, z, one)  # the logarithm of 0 would make gradients NaN
    stirling = z * log(count) - z + 0.5 * log(2 * math.pi * count)
    return loss + where(is_large, stirling, one - one)


def l2_loss(t: TensorLike, name: str | None = None) -> Tensor:
    """Half the sum of the squares of all elements.

    Args:
        t: a tensor of floats.

    Returns:
        A scalar.

    >>> print(l2_loss([3.0, 4.0]))
    tf.Tensor(12.5, shape=(), dtype=float32)
    """
    return call(_l2_loss, convert_to_tensor(t))


_l2_loss = define(l2_loss, shape=lambda t: (), dtypes=FLOATING, vjp={"t": lambda g, t: g * t})
