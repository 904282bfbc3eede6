"""Dropout, and layers as functions: products with weights, and biases."""

from __future__ import annotations

from typing import Any

from agog_core import dtypes
from agog_core.calls.broadcasting import static_shape
from agog_core.calls.call import call, call_several
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import FLOATING
from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.reshaping import reshape
from agog_core.ops.linalg.matmul import matmul
from agog_core.ops.math.elementary import floor
from agog_core.ops.nn.activations import relu
from agog_core.ops.random.uniform_and_normal import random_uniform, words
from agog_core.random import stream
from agog_core.shapes import Shape
from agog_core.tensors.convert import computed, convert_to_tensor, decided, is_tensor
from agog_core.tensors.tensor import Tensor, TensorLike
from agog_core.tracers import recorded, tracing

__all__ = ["bias_add", "dropout", "relu_layer", "xw_plus_b"]


def bias_add(value: TensorLike, bias: TensorLike, data_format: str | None = None, name: str | None = None) -> Tensor:
    """Add a bias to each channel.

    Args:
        value: a tensor whose channels are the last axis, or axis 1 for ``"NCHW"``.
        bias: a tensor of rank 1, as long as there are channels.
        data_format: ``"NHWC"`` (the default) or ``"NCHW"``.

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
    return x + b


def xw_plus_b(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None) -> Tensor:
    """Multiply by weights and add biases.

    Args:
        x: a matrix of shape (batch, inputs).
        weights: a matrix of shape (inputs, outputs).
        biases: of shape (outputs,).

    Returns:
        ``x @ weights + biases``, of shape (batch, outputs).

    Raises:
        InvalidArgumentError: shapes or dtypes do not fit.

    >>> print(xw_plus_b([[1.0, 2.0]], [[3.0], [4.0]], [5.0]))
    tf.Tensor([[16.]], shape=(1, 1), dtype=float32)
    """
    return bias_add(matmul(x, weights), biases)


def relu_layer(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None) -> Tensor:
    """Multiply by weights, add biases and rectify.

    Args:
        x, weights, biases: see `xw_plus_b`.

    Returns:
        ``relu(x @ weights + biases)``, of shape (batch, outputs).

    Raises:
        InvalidArgumentError: shapes or dtypes do not fit.

    >>> print(relu_layer([[1.0, 2.0]], [[3.0], [4.0]], [-20.0]))
    tf.Tensor([[0.]], shape=(1, 1), dtype=float32)
    """
    return relu(xw_plus_b(x, weights, biases))


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
    if tracing and is_tensor(rate if keep_prob is None else keep_prob):
        return _dropout_by_ops(convert_to_tensor(x), keep_prob, rate, noise_shape, seed)
    keep = float(keep_prob) if keep_prob is not None else 1 - float(rate)  # type: ignore[arg-type]  # one of the two is given
    _check_keep(keep)
    tensor = convert_to_tensor(x)
    if keep == 1:
        return tensor
    sizes = tensor._shape if noise_shape is None else static_shape(noise_shape)
    if sizes == tensor._shape and tensor.dtype in FLOATING:
        return dropout_and_mask(tensor, keep, seed)[0]
    noise = random_uniform(sizes, dtype=tensor.dtype, seed=seed)
    return tensor / keep * floor(noise + keep)


def _check_keep(keep: float) -> None:
    if not 0 < keep <= 1:
        raise ValueError(f"dropout: keep_prob must be in (0, 1] and rate in [0, 1); got keep_prob={keep}.")


def _dropout_by_ops(x: Tensor, keep_prob: Any, rate: Any, noise_shape: Any, seed: int | None) -> Tensor:
    """Dropout with a rate that is another one in each call of a traced function: what `_dropout` does, by ops."""
    is_rate = keep_prob is None

    def share(host: Any) -> float:
        return 1 - float(host) if is_rate else float(host)

    def kept(host: Any) -> list[Any]:
        _check_keep(share(host))
        return [share(host)]

    given = convert_to_tensor(rate if is_rate else keep_prob)
    (keep,) = computed(kept, [given], [x.dtype], may_fail=True)
    if decided(lambda host: share(host) == 1, given):
        return x
    noise = random_uniform(x._shape if noise_shape is None else noise_shape, dtype=x.dtype, seed=seed)
    return x / keep * floor(noise + keep)


def dropout_and_mask(x: TensorLike, keep: float, seed: int | None = None) -> tuple[Tensor, ...]:
    """Dropout, and which elements it has kept, which the gradient needs.

    >>> _, mask = dropout_and_mask([4.0, 6.0], keep=1.0)
    >>> print(mask)
    tf.Tensor([ True  True], shape=(2,), dtype=bool)
    """
    tensor = recorded(convert_to_tensor(x))
    return call_several(_dropout, tensor, key=stream(seed)(words(tensor.dtype, tensor._shape)), keep=keep)


def dropout_grad(gradients: TensorLike, mask: TensorLike, keep: float) -> Tensor:
    """The gradient of dropout: what was dropped has none, and the others' are scaled as they were.

    >>> print(dropout_grad([1.0, 1.0], [True, False], keep=0.5))
    tf.Tensor([2. 0.], shape=(2,), dtype=float32)
    """
    return call(_dropout_grad, convert_to_tensor(gradients), convert_to_tensor(mask), keep=keep)


def _grad_shape(gradients: Shape, mask: Shape, keep: float) -> Shape:
    if gradients != mask:
        raise InvalidArgumentError(
            f"dropout_grad: gradients have shape {gradients}, and mask has shape {mask}; they must be equal."
        )
    return gradients


_dropout = Op(
    "dropout",
    dropout_and_mask,
    inputs=["x"],
    shape=lambda x, key, keep: [x, x],
    dtype=lambda given, key, keep: [given, dtypes.bool_],
    dtypes=FLOATING,
    vjp={"x": lambda g, out, keep: dropout_grad(g[0], out[1], keep)},
    random=True,
    late=["key"],
)
_dropout_grad = define(
    dropout_grad,
    shape=_grad_shape,
    dtypes=FLOATING,
    vjp={"gradients": lambda g, mask, keep: dropout_grad(g, mask, keep)},
    alike=["gradients"],
)
