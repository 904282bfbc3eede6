"""Standardization along axes, and sums over neighbouring channels, for the normalizations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from agog_core.calls.broadcasting import broadcast_to
from agog_core.calls.call import call, call_several, call_with
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import FLOATING
from agog_core.errors import InvalidArgumentError
from agog_core.ops.math.elementary import sqrt
from agog_core.ops.reduce.reduction import reduce_mean, reduce_sum
from agog_core.shapes import Shape, normalize_axes, reduced_shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor


def standardize(
    x: TensorLike, axes: int | Sequence[int], epsilon: float = 1e-3, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Shift and scale to mean 0 and variance 1 along axes, in one op. The results are ``(x - mean) / sqrt(variance +
    epsilon)``, the mean, and the variance of the population, both with the axes, of size 1.

    S. Ioffe and C. Szegedy, "Batch normalization", ICML 2015, algorithm 1, without scale and offset.

    >>> standardized, mean, variance = standardize([[1.0, 3.0]], 1, epsilon=0.0)
    >>> print(standardized)
    tf.Tensor([[-1.  1.]], shape=(1, 2), dtype=float32)
    """
    tensor = convert_to_tensor(x)
    over = normalize_axes("standardize", axes, len(tensor._shape))
    out, mean, variance = call_several(_standardize, tensor, axes=over, epsilon=float(epsilon))
    return out, mean, variance


def _standardize_shape(x: Shape, axes: Shape, epsilon: float) -> list[Shape]:
    kept = reduced_shape(x, axes, True)
    return [x, kept, kept]


def _standardize_vjp(
    g: list[Tensor | None],
    out: tuple[Tensor, Tensor, Tensor],
    axes: Shape,
    epsilon: float,
    reserve: Tensor | None,
) -> Any:
    standardized, _, variance = out
    shape = standardized._shape
    count = math.prod([shape[axis] for axis in axes])
    of_standardized, of_mean, of_variance = g
    parts = []
    if of_standardized is not None:
        given = of_standardized, standardized, variance
        parts.append(call_with(reserve, _standardize_grad, *given, axes=axes, epsilon=epsilon))
    if of_mean is not None:
        parts.append(broadcast_to(of_mean / count, shape))
    if of_variance is not None:  # d variance / dx = 2 (x - mean) / count
        deviation = sqrt(variance + epsilon)
        parts.append(standardized * (of_variance / (count / 2) * deviation))
    total: Tensor | None = None
    for part in parts:
        total = part if total is None else total + part
    return total


_standardize = define(
    standardize,
    shape=_standardize_shape,
    dtype=lambda dtype, **names: [dtype] * 3,
    dtypes=FLOATING,
    vjp={"x": _standardize_vjp},
)


def standardize_grad(
    gradients: TensorLike,
    standardized: TensorLike,
    variance: TensorLike,
    axes: int | Sequence[int],
    epsilon: float = 1e-3,
    name: str | None = None,
) -> Tensor:
    """The gradient of `standardize`, by its first output. With that output, s, and the variance it is ``(gradients -
    mean(gradients) - s * mean(gradients * s)) / sqrt(variance + epsilon)``.

    >>> print(standardize_grad([[1.0, 0.0]], [[-1.0, 1.0]], [[1.0]], 1, epsilon=0.0))
    tf.Tensor([[0. 0.]], shape=(1, 2), dtype=float32)
    """
    g, s, v = convert_to_tensor(gradients), convert_to_tensor(standardized), convert_to_tensor(variance)
    over = normalize_axes("standardize_grad", axes, len(s._shape))
    return call(_standardize_grad, g, s, v, axes=over, epsilon=float(epsilon))


def _standardize_grad_shape(
    gradients: Shape, standardized: Shape, variance: Shape, axes: Shape, epsilon: float
) -> Shape:
    if gradients != standardized or variance != reduced_shape(standardized, axes, True):
        raise InvalidArgumentError(
            "standardize_grad: gradients and standardized must be of one shape, and variance of that shape with size 1 "
            f"along axes {axes}; got gradients {gradients}, standardized {standardized} and variance {variance}."
        )
    return gradients


def _standardize_grad_vjp_standardized(
    g: Tensor, gradients: Tensor, standardized: Tensor, variance: Tensor, axes: Shape, epsilon: float
) -> Tensor:
    first = g * reduce_mean(gradients * standardized, axes, True)
    second = gradients * reduce_mean(g * standardized, axes, True)
    return (first + second) / (sqrt(variance + epsilon) * -1)


def _standardize_grad_vjp_variance(g: Tensor, out: Tensor, variance: Tensor, axes: Shape, epsilon: float) -> Tensor:
    return reduce_sum(g * out, axes, True) / ((variance + epsilon) * -2)


_standardize_grad: Op = define(
    standardize_grad,
    shape=_standardize_grad_shape,
    dtypes=FLOATING,
    vjp={
        "gradients": lambda g, standardized, variance, axes, epsilon: call(
            _standardize_grad, g, standardized, variance, axes=axes, epsilon=epsilon
        ),
        "standardized": _standardize_grad_vjp_standardized,
        "variance": _standardize_grad_vjp_variance,
    },
    reserve_of="standardize",
)


def neighbor_sum(x: TensorLike, radius: int, name: str | None = None) -> Tensor:
    """Sum each element and its neighbours along the last axis. There are ``radius`` of them on each side, but none
    beyond the ends.

    >>> print(neighbor_sum([1.0, 2.0, 4.0, 8.0], 1))
    tf.Tensor([ 3.  7. 14. 12.], shape=(4,), dtype=float32)
    """
    return call(_neighbor_sum, convert_to_tensor(x), radius=int(radius))


def _neighbor_sum_shape(x: Shape, radius: int) -> Shape:
    if not x or radius < 0:
        raise InvalidArgumentError(
            f"neighbor_sum: x needs an axis, and the radius must not be negative; got shape {x} and radius {radius}."
        )
    return x


_neighbor_sum: Op = define(
    neighbor_sum,
    shape=_neighbor_sum_shape,
    dtypes=FLOATING,
    vjp={"x": lambda g, radius: call(_neighbor_sum, g, radius=radius)},
)
