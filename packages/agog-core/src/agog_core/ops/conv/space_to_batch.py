"""Space to batch: an op on every n-th element, by moving the others into the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.blocks import batch_to_space_nd, required_space_to_batch_paddings, space_to_batch_nd
from agog_core.tensors.convert import convert_to_tensor, host_value
from agog_core.tensors.tensor import Tensor, TensorLike

__all__ = ["with_space_to_batch"]


def with_space_to_batch(
    input: TensorLike,
    dilation_rate: Any,
    padding: str,
    op: Callable[..., Any],
    filter_shape: Any = None,
    spatial_dims: Any = None,
    data_format: str | None = None,
) -> Tensor:
    """Run an op with windows on every n-th element of the spatial axes.

    Args:
        input: a tensor of shape (batch, spatial axes, ...).
        dilation_rate: n for each of m spatial axes.
        padding: ``"SAME"`` or ``"VALID"``.
        op: a function ``op(tensor, num_spatial_dims, padding)``; it is called with ``"VALID"`` and the elements between
            in the batch, or, where all n are 1, as if there were nothing around it.
        filter_shape: for ``"SAME"``, the sizes of the windows, of which the first m count.
        spatial_dims: the m spatial axes, without axis 0; the first ones by default.
        data_format: a name that begins with ``"NC"`` when the spatial axes are behind the channels.

    Returns:
        What ``op`` returns, put back in order.

    Raises:
        InvalidArgumentError: arguments do not fit.

    >>> import agog_core as ag
    >>> pairs = lambda x, axes, padding: x[:, :-1] + x[:, 1:]
    >>> print(with_space_to_batch(ag.constant([[1, 2, 3, 4]]), [2], "VALID", pairs))
    tf.Tensor([[4 6]], shape=(1, 2), dtype=int32)
    """
    x = convert_to_tensor(input)
    rates = host_value(dilation_rate).tolist()
    count = len(rates)
    if padding not in ("SAME", "VALID") or min(rates, default=1) < 1:
        raise InvalidArgumentError(
            "with_space_to_batch: padding must be 'SAME' or 'VALID' and the rates at least 1; got "
            f"{padding!r} and {rates}."
        )
    first = 2 if (data_format or "").startswith("NC") else 1
    axes = list(range(first, first + count)) if spatial_dims is None else sorted(int(axis) for axis in spatial_dims)
    if len(axes) != count or min(axes, default=1) < 1 or max(axes, default=0) >= len(x._shape):
        raise InvalidArgumentError(
            f"with_space_to_batch: {count} rates need as many spatial axes of an input of shape {x._shape}; got {axes}."
        )
    if all(rate == 1 for rate in rates):
        return convert_to_tensor(op(x, count, padding))
    if padding == "VALID":
        wanted = [[0, 0]] * count
    elif filter_shape is None:
        raise InvalidArgumentError("with_space_to_batch: padding 'SAME' needs filter_shape.")
    else:
        missing = [rate * (size - 1) for rate, size in zip(rates, host_value(filter_shape).tolist(), strict=False)]
        wanted = [[more // 2, more - more // 2] for more in missing]
    paddings, crops = required_space_to_batch_paddings([x._shape[axis] for axis in axes], rates, wanted)
    # The axes from 1 to the last spatial one; those that are not spatial stay whole.
    block, padded, cropped = [1] * axes[-1], [[0, 0]] * axes[-1], [[0, 0]] * axes[-1]
    for axis, rate, around, crop in zip(axes, rates, paddings.numpy().tolist(), crops.numpy().tolist(), strict=True):
        block[axis - 1], padded[axis - 1], cropped[axis - 1] = rate, around, crop
    result = op(space_to_batch_nd(x, block, padded), count, "VALID")
    return batch_to_space_nd(result, block, cropped)
