"""Softmax, its logarithm, and their gradients."""

from __future__ import annotations

from agog_core.calls.call import call
from agog_core.calls.docstrings import documented_like
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import FLOATING
from agog_core.errors import InvalidArgumentError
from agog_core.ops.math.elementary import exp
from agog_core.ops.reduce.reduction import reduce_sum
from agog_core.shapes import Shape, normalize_axis
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor

__all__ = ["log_softmax", "softmax"]


def softmax(logits: TensorLike, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Tensor:
    """Exponentials divided by their sum along an axis.

    Args:
        logits: a tensor of floats.
        axis: the axis; the last by default. Older name: ``dim``.

    Returns:
        A tensor of the same shape that sums to 1 along the axis; NaN along an axis with NaN or an infinite maximum.

    Raises:
        InvalidArgumentError: the axis is out of range.

    >>> print(softmax([0.0, 0.0]))
    tf.Tensor([0.5 0.5], shape=(2,), dtype=float32)
    """
    x = convert_to_tensor(logits)
    return call(_softmax, x, axis=chosen_axis("softmax", x, axis, dim))


def chosen_axis(op: str, x: Tensor, axis: int | None, dim: int | None) -> int:
    """The axis of ``axis`` or its older name ``dim``, counted from the front; the last one if both are None."""
    if axis is None:
        axis = dim
    if axis is None and x._shape:
        return len(x._shape) - 1
    return normalize_axis(op, -1 if axis is None else axis, len(x._shape))


def _softmax_shape(logits: Shape, axis: int) -> Shape:
    return logits


_softmax = define(
    softmax,
    shape=_softmax_shape,
    dtypes=FLOATING,
    vjp={"logits": lambda g, out, axis: call(_softmax_grad, g, out, axis=axis)},
)


def softmax_grad(gradients: TensorLike, softmax: TensorLike, axis: int = -1, name: str | None = None) -> Tensor:
    """The gradient of `softmax`. By its output: ``softmax * (gradients - sum(gradients * softmax))``.

    >>> print(softmax_grad([1.0, 0.0], [0.5, 0.5]))
    tf.Tensor([ 0.25 -0.25], shape=(2,), dtype=float32)
    """
    g, out = convert_to_tensor(gradients), convert_to_tensor(softmax)
    return call(_softmax_grad, g, out, axis=normalize_axis("softmax_grad", axis, len(out._shape)))


def _softmax_grad_shape(gradients: Shape, softmax: Shape, axis: int) -> Shape:
    if gradients != softmax:
        raise InvalidArgumentError(
            f"softmax_grad: gradients and softmax must be of one shape; got {gradients} and {softmax}."
        )
    return softmax


def _softmax_grad_vjp(g: Tensor, gradients: Tensor, softmax: Tensor, axis: int) -> Tensor:
    """With respect to the softmax."""
    first = g * (gradients - reduce_sum(gradients * softmax, axis, True))
    return first - gradients * reduce_sum(g * softmax, axis, True)


_softmax_grad: Op = define(
    softmax_grad,
    shape=_softmax_grad_shape,
    dtypes=FLOATING,
    vjp={
        "gradients": lambda g, softmax, axis: call(_softmax_grad, g, softmax, axis=axis),
        "softmax": _softmax_grad_vjp,
    },
)


@documented_like(softmax)
def log_softmax(logits: TensorLike, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Tensor:
    """The logarithm of `softmax`, without overflow.

    Returns:
        A tensor of the same shape; NaN along an axis with NaN or an infinite maximum.

    >>> print(log_softmax([0.0, 0.0]))
    tf.Tensor([-0.6931472 -0.6931472], shape=(2,), dtype=float32)
    """
    x = convert_to_tensor(logits)
    return call(_log_softmax, x, axis=chosen_axis("log_softmax", x, axis, dim))


_log_softmax = define(
    log_softmax,
    shape=_softmax_shape,
    dtypes=FLOATING,
    vjp={"logits": lambda g, out, axis: call(_log_softmax_grad, g, out, axis=axis)},
)


def log_softmax_grad(gradients: TensorLike, log_softmax: TensorLike, axis: int = -1, name: str | None = None) -> Tensor:
    """The gradient of `log_softmax`. By its output: ``gradients - exp(log_softmax) * sum(gradients)``.

    >>> print(log_softmax_grad([1.0, 0.0], log_softmax([0.0, 0.0])))
    tf.Tensor([ 0.5 -0.5], shape=(2,), dtype=float32)
    """
    g, out = convert_to_tensor(gradients), convert_to_tensor(log_softmax)
    return call(_log_softmax_grad, g, out, axis=normalize_axis("log_softmax_grad", axis, len(out._shape)))


def _log_softmax_grad_shape(gradients: Shape, log_softmax: Shape, axis: int) -> Shape:
    if gradients != log_softmax:
        raise InvalidArgumentError(
            f"log_softmax_grad: gradients and log_softmax must be of one shape; got {gradients} and {log_softmax}."
        )
    return log_softmax


def _log_softmax_grad_vjp_gradients(g: Tensor, log_softmax: Tensor, axis: int) -> Tensor:
    return g - reduce_sum(g * exp(log_softmax), axis, True)


def _log_softmax_grad_vjp_log_softmax(g: Tensor, gradients: Tensor, log_softmax: Tensor, axis: int) -> Tensor:
    return -(g * exp(log_softmax) * reduce_sum(gradients, axis, True))


_log_softmax_grad: Op = define(
    log_softmax_grad,
    shape=_log_softmax_grad_shape,
    dtypes=FLOATING,
    vjp={"gradients": _log_softmax_grad_vjp_gradients, "log_softmax": _log_softmax_grad_vjp_log_softmax},
)
