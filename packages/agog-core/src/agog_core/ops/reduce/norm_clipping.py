"""Norm clipping: scaling tensors down to a maximal Euclidean norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core.ops.array.creation import ones_like
from agog_core.ops.math import add_n, maximum, minimum, reciprocal, rsqrt, sqrt, square, where
from agog_core.ops.reduce.reduction import reduce_sum
from agog_core.tensors import IndexedSlices, Tensor, TensorLike, convert_to_tensor

__all__ = ["clip_by_average_norm", "clip_by_global_norm", "clip_by_norm", "global_norm"]


def clip_by_norm(t: TensorLike, clip_norm: TensorLike, axes: Any = None, name: str | None = None) -> Tensor:
    """Scale a tensor down where its Euclidean norm is larger than a limit.

    Args:
        t: a tensor of floats.
        clip_norm: the limit, a positive number.
        axes: the axes to take the norm over; by default all.

    Returns:
        ``t * clip_norm / norm`` where the norm is larger than the limit, else ``t``.

    Raises:
        ValueError: ``clip_norm`` would broadcast ``t`` to another shape.

    >>> print(clip_by_norm([3.0, 4.0], 1.0))
    tf.Tensor([0.6 0.8], shape=(2,), dtype=float32)
    """
    x = convert_to_tensor(t)
    total = reduce_sum(square(x), axes, keepdims=True)
    # The root's derivative at 0 is infinite, so no root is taken there.
    is_positive = total > 0
    norm = where(is_positive, sqrt(where(is_positive, total, ones_like(total))), total)
    scaled: Tensor = x * clip_norm
    if scaled._shape != x._shape:
        raise ValueError(
            f"clip_by_norm: clip_norm would broadcast t of shape {x._shape} to shape {scaled._shape}; it must "
            "broadcast to t's shape."
        )
    return scaled / maximum(norm, clip_norm)


def clip_by_average_norm(t: TensorLike, clip_norm: TensorLike, name: str | None = None) -> Tensor:
    """Scale a tensor down where its Euclidean norm divided by its number of elements is larger than a limit.

    Args:
        t: a tensor of floats.
        clip_norm: the limit, a positive number.

    Returns:
        ``t * clip_norm / average`` where the average norm is larger than the limit, else ``t``.

    >>> print(clip_by_average_norm([6.0, 8.0], 1.0))
    tf.Tensor([1.2 1.6], shape=(2,), dtype=float32)
    """
    x = convert_to_tensor(t)
    count = x.shape.num_elements()
    inverse = rsqrt(reduce_sum(square(x))) * count
    limit = convert_to_tensor(clip_norm, preferred_dtype=x.dtype)
    return x * limit * minimum(inverse, reciprocal(limit))


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Tensor | None:
    """The Euclidean norm of several tensors together.

    Args:
        t_list: tensors of floats, `IndexedSlices`, and None, which counts as 0.

    Returns:
        The norm, a tensor of rank 0; None where ``t_list`` holds nothing but None.

    Raises:
        TypeError: ``t_list`` is not a sequence.

    >>> print(global_norm([[3.0], [[4.0]], None]))
    tf.Tensor(5.0, shape=(), dtype=float32)
    """
    _check_sequence("global_norm", t_list)
    rows = [t.values if isinstance(t, IndexedSlices) else t for t in t_list if t is not None]
    return sqrt(add_n([reduce_sum(square(row)) for row in rows])) if rows else None


def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: TensorLike, use_norm: TensorLike | None = None, name: str | None = None
) -> tuple[list[Any], Any]:
    """Scale several tensors down together where their common norm is larger than a limit.

    See Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks", 2013.

    Args:
        t_list: tensors of floats, `IndexedSlices`, and None.
        clip_norm: the limit, a positive number.
        use_norm: the norm, where it is known; by default `global_norm` of the tensors.

    Returns:
        The list of tensors, each multiplied by ``clip_norm / max(norm, clip_norm)``, and the norm; None stays None.

    Raises:
        TypeError: ``t_list`` is not a sequence.

    >>> clipped, norm = clip_by_global_norm([[3.0], [4.0]], 1.0)
    >>> print(clipped[1], norm)
    tf.Tensor([0.8], shape=(1,), dtype=float32) tf.Tensor(5.0, shape=(), dtype=float32)
    """
    _check_sequence("clip_by_global_norm", t_list)
    norm = global_norm(t_list) if use_norm is None else convert_to_tensor(use_norm)
    if norm is None:
        return list(t_list), norm
    limit = convert_to_tensor(clip_norm, preferred_dtype=norm.dtype)
    scale = limit * minimum(reciprocal(norm), reciprocal(limit))
    return [_scaled(t, scale) for t in t_list], norm


def _scaled(t: Any, scale: Tensor) -> Any:
    if t is None:
        return None
    if isinstance(t, IndexedSlices):
        return IndexedSlices(t.values * scale, t.indices, t._shape)
    return t * scale


def _check_sequence(op: str, t_list: Any) -> None:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(f"{op}: t_list should be a sequence; got {type(t_list).__name__}.")
