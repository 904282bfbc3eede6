"""Affine: standardization with a scale and an offset behind it in one op, as layers of normalization have it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from agog_core.calls.broadcasting import broadcast_to, sum_to
from agog_core.calls.call import call_several
from agog_core.dispatch.op import Op, define
from agog_core.dtypes import FLOATING
from agog_core.errors import InvalidArgumentError
from agog_core.ops.math.elementary import sqrt
from agog_core.ops.nn.standardization import standardize_grad
from agog_core.ops.reduce.reduction import reduce_mean, reduce_sum
from agog_core.shapes import Shape, normalize_axes, reduced_shape
from agog_core.tensors import Tensor, TensorLike, convert_to_tensor


def standardize_affine(
    x: TensorLike, scale: TensorLike, offset: TensorLike, axes: int | Sequence[int], epsilon: float = 1e-3
) -> tuple[Tensor, Tensor, Tensor]:
    """`standardize`, then multiply by a scale and add an offset. Both are of one shape, that broadcasts to x's.

    >>> out, mean, variance = standardize_affine([[1.0, 3.0]], [10.0, 10.0], [5.0, 6.0], 1, epsilon=0.0)
    >>> print(out)
    tf.Tensor([[-5. 16.]], shape=(1, 2), dtype=float32)
    """
    tensors = [convert_to_tensor(each) for each in (x, scale, offset)]
    over = normalize_axes("standardize_affine", axes, len(tensors[0]._shape))
    out, mean, variance = call_several(_standardize_affine, *tensors, axes=over, epsilon=float(epsilon))
    return out, mean, variance


def broadcasts(weight: Shape, x: Shape) -> bool:
    """Whether a shape broadcasts to another one."""
    sizes = zip(reversed(weight), reversed(x), strict=False)
    return len(weight) <= len(x) and all(size in (1, wanted) for size, wanted in sizes)


def _check(op: str, x: Shape, scale: Shape, offset: Shape) -> None:
    if scale != offset or not broadcasts(scale, x):
        raise InvalidArgumentError(
            f"{op}: scale and offset must be of one shape, which broadcasts to x's; got scale {scale}, offset {offset} "
            f"and x {x}."
        )


def _shape(x: Shape, scale: Shape, offset: Shape, axes: Shape, epsilon: float) -> list[Shape]:
    _check("standardize_affine", x, scale, offset)
    kept = reduced_shape(x, axes, True)
    return [x, kept, kept]


def _vjp(
    g: list[Tensor | None],
    x: Tensor,
    scale: Tensor,
    out: tuple[Tensor, Tensor, Tensor],
    axes: Shape,
    epsilon: float,
    needed: tuple[str, ...],
) -> tuple[Tensor | None, ...]:
    of_out, of_mean, of_variance = g
    _, mean, variance = out
    of_x = of_scale = of_offset = None
    if of_out is not None:
        of_x, of_scale, of_offset = standardize_affine_grad(of_out, x, scale, mean, variance, axes, epsilon)
    if "x" in needed and (of_mean is not None or of_variance is not None):
        count = math.prod([x._shape[axis] for axis in axes])
        if of_mean is not None:
            part = broadcast_to(of_mean / count, x._shape)
            of_x = part if of_x is None else of_x + part
        if of_variance is not None:
            part = (x - mean) * (of_variance / (count / 2))
            of_x = part if of_x is None else of_x + part
    return of_x, of_scale, of_offset


def _parts(run: Callable[..., Any], x: Any, scale: Any, offset: Any, *, axes: Shape, epsilon: float) -> Any:
    standardized, mean, variance = run("standardize", x, axes=axes, epsilon=epsilon)
    return run("add", run("multiply", standardized, scale), offset), mean, variance


_standardize_affine = define(
    standardize_affine,
    shape=_shape,
    dtypes=FLOATING,
    vjp={("x", "scale", "offset"): _vjp},
    parts=("standardize", _parts),
)


def standardize_affine_grad(
    gradients: TensorLike,
    x: TensorLike,
    scale: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    axes: int | Sequence[int],
    epsilon: float = 1e-3,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of `standardize_affine` with respect to x, the scale and the offset, by its first output.

    >>> of_x, of_scale, of_offset = standardize_affine_grad([[1.0, 0.0]], [[1.0, 3.0]], [2.0, 2.0], [[2.0]], [[1.0]], 1)
    >>> print(of_offset)
    tf.Tensor([1. 0.], shape=(2,), dtype=float32)
    """
    tensors = [convert_to_tensor(each) for each in (gradients, x, scale, mean, variance)]
    over = normalize_axes("standardize_affine_grad", axes, len(tensors[1]._shape))
    of_x, of_scale, of_offset = call_several(_standardize_affine_grad, *tensors, axes=over, epsilon=float(epsilon))
    return of_x, of_scale, of_offset


def _grad_shape(
    gradients: Shape, x: Shape, scale: Shape, mean: Shape, variance: Shape, axes: Shape, epsilon: float
) -> list[Shape]:
    _check("standardize_affine_grad", x, scale, scale)
    if gradients != x or not mean == variance == reduced_shape(x, axes, True):
        raise InvalidArgumentError(
            "standardize_affine_grad: gradients and x must be of one shape, and mean and variance of that shape with "
            f"size 1 along axes {axes}; got gradients {gradients}, x {x}, mean {mean} and variance {variance}."
        )
    return [x, scale, scale]


def _grad_vjp(
    g: list[Tensor | None],
    gradients: Tensor,
    x: Tensor,
    scale: Tensor,
    mean: Tensor,
    variance: Tensor,
    axes: Shape,
    epsilon: float,
) -> tuple[Tensor | None, ...]:
    """By its parts: s, what was standardized, and ``h = gradients * scale``, of which the first output is made."""
    of_x, of_scale, of_offset = g
    factor = 1 / sqrt(variance + epsilon)
    s = (x - mean) * factor
    to_gradients: list[Tensor] = []
    to_s: list[Tensor] = []
    to_scale = to_variance = None
    if of_x is not None:
        h = gradients * scale
        to_h = standardize_grad(of_x, s, variance, axes, epsilon)
        to_gradients.append(to_h * scale)
        to_scale = sum_to(to_h * gradients, scale._shape)
        both = of_x * reduce_mean(h * s, axes, True) + h * reduce_mean(of_x * s, axes, True)
        to_s.append(both * factor * -1)
        out = standardize_grad(h, s, variance, axes, epsilon)
        to_variance = reduce_sum(of_x * out, axes, True) / ((variance + epsilon) * -2)
    if of_scale is not None:
        to_gradients.append(s * of_scale)
        to_s.append(gradients * of_scale)
    if of_offset is not None:
        to_gradients.append(broadcast_to(of_offset, x._shape))
    to_x = to_mean = None
    if to_s:
        of_s = _total(to_s)
        to_x = of_s * factor
        to_mean = reduce_sum(to_x, axes, True) * -1
        by_s = reduce_sum(of_s * s, axes, True) / ((variance + epsilon) * -2)
        to_variance = by_s if to_variance is None else to_variance + by_s
    return _total(to_gradients) if to_gradients else None, to_x, to_scale, to_mean, to_variance


def _total(parts: list[Tensor]) -> Tensor:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


_standardize_affine_grad: Op = define(
    standardize_affine_grad,
    shape=_grad_shape,
    dtypes=FLOATING,
    vjp={("gradients", "x", "scale", "mean", "variance"): _grad_vjp},
)
