"""Arguments of ops with sliding windows: strides, paddings, dilations and data formats in TensorFlow's notation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from agog_core.errors import InvalidArgumentError
from agog_core.ops.array.reshaping import transpose
from agog_core.shapes import Shape
from agog_core.tensors.convert import host_value
from agog_core.tensors.tensor import Tensor

Pairs = tuple[tuple[int, int], ...]

CHANNELS_LAST = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
CHANNELS_FIRST = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


def check_choice(
    op: str, argument: str, value: Any, allowed: Iterable[str], error: type[Exception] = InvalidArgumentError
) -> None:
    """Raise an error of the given type when an argument is none of the strings that it may be."""
    names = tuple(allowed)
    if not isinstance(value, str) or value not in names:
        raise error(f"{op}: {argument} must be {' or '.join(map(repr, names))}; got {value!r}.")


def check_rank(op: str, argument: str, x: Tensor, rank: int, meaning: str) -> None:
    """Raise when a tensor does not have as many axes as an op needs; ``meaning`` says what they are."""
    if len(x._shape) != rank:
        raise InvalidArgumentError(f"{op}: {argument} must be of rank {rank} ({meaning}); got shape {x._shape}.")


def is_channels_first(op: str, data_format: Any, axes: int, error: type[Exception] = InvalidArgumentError) -> bool:
    """Whether a data format, such as ``"NCHW"`` where windows slide over two axes, has the channels as axis 1; None
    means that they come last. Other formats raise the given error.

    >>> is_channels_first("conv2d", "NCHW", 2)
    True
    """
    if data_format is None:
        return False
    check_choice(op, "data_format", data_format, (CHANNELS_LAST[axes], CHANNELS_FIRST[axes]), error)
    return bool(data_format == CHANNELS_FIRST[axes])


def channels_last(x: Tensor, channels_first: bool) -> Tensor:
    """Move the channels to the end where they are axis 1; a view."""
    return transpose(x, (0, *range(2, len(x._shape)), 1)) if channels_first else x


def as_before(x: Tensor, channels_first: bool) -> Tensor:
    """Undo `channels_last`."""
    return transpose(x, (0, len(x._shape) - 1, *range(1, len(x._shape) - 1))) if channels_first else x


def last_shape(shape: Shape, channels_first: bool) -> Shape:
    """A shape with the channels last, which may have been axis 1."""
    return (shape[0], *shape[2:], shape[1]) if channels_first else shape


def sizes_of(value: Any) -> Shape:
    """Read sizes that an op needs on the host: a sequence or a tensor of integers."""
    return tuple(int(size) for size in host_value(value).reshape(-1))


def per_axis(op: str, argument: str, values: Any, axes: int, channels_first: bool = False) -> Shape:
    """One positive integer for each spatial axis, given as one for all, one for each of them, or one for each axis of
    the input, with 1 for batch and channels.

    >>> per_axis("conv2d", "strides", [1, 2, 2, 1], 2)
    (2, 2)
    """
    listed = tuple(map(int, values)) if isinstance(values, Iterable) else (int(values),)
    return _per_axis(op, argument, listed, axes, channels_first)


@lru_cache(maxsize=4096)
def _per_axis(op: str, argument: str, listed: Shape, axes: int, channels_first: bool) -> Shape:
    if len(listed) == axes + 2:
        batch, *rest = listed
        channel = rest.pop(0 if channels_first else -1)
        if (batch, channel) != (1, 1):
            raise InvalidArgumentError(f"{op}: {argument} must be 1 for batch and channels; got {list(listed)}.")
        found = tuple(rest)
    else:
        found = listed * axes if len(listed) == 1 else listed
    if len(found) != axes or min(found) < 1:
        raise InvalidArgumentError(
            f"{op}: {argument} must be a positive integer, {axes} of them, or {axes + 2} of them with those of batch "
            f"and channels; got {list(listed)}."
        )
    return found


def pairs_of(
    op: str, padding: Any, sizes: Shape, window: Shape, strides: Shape, dilations: Shape, channels_first: bool = False
) -> Pairs:
    """A padding as pairs (before, after), one for each axis that windows slide over. In TensorFlow's notation it is
    ``"VALID"``, ``"SAME"``, which pads one more at the end where it has to, or pairs for all axes of the input.

    >>> pairs_of("conv2d", "SAME", (5, 5), (2, 3), (1, 1), (1, 1))
    ((0, 1), (1, 1))
    """
    if isinstance(padding, Sequence) and not isinstance(padding, str):
        return _explicit(op, padding, len(sizes), channels_first)
    check_choice(op, "padding", padding, ("SAME", "VALID"))
    return _same(sizes, window, strides, dilations) if padding == "SAME" else ((0, 0),) * len(sizes)


@lru_cache(maxsize=4096)
def _same(sizes: Shape, window: Shape, strides: Shape, dilations: Shape) -> Pairs:
    pairs = []
    for size, n, stride, dilation in zip(sizes, window, strides, dilations, strict=True):
        total = max(0, (-(-size // stride) - 1) * stride + (n - 1) * dilation + 1 - size)
        pairs.append((total // 2, total - total // 2))
    return tuple(pairs)


def _explicit(op: str, padding: Sequence[Any], axes: int, channels_first: bool) -> Pairs:
    pairs = [tuple(map(int, pair)) for pair in padding]
    around = [pairs[0], pairs[1 if channels_first else -1]] if len(pairs) == axes + 2 else []
    if around != [(0, 0), (0, 0)] or any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        raise InvalidArgumentError(
            f"{op}: explicit padding must be {axes + 2} pairs of numbers that are not negative, (0, 0) for batch and "
            f"channels; got {list(padding)}."
        )
    return tuple((low, high) for low, high in (pairs[2:] if channels_first else pairs[1:-1]))


def form_of(
    op: str, sizes: Shape, window: Shape, strides: Any, padding: Any, dilations: Any, channels_first: bool
) -> tuple[Shape, Pairs, Shape]:
    """Strides, paddings and dilations for each of the axes, of these sizes, that a window slides over."""
    steps = per_axis(op, "strides", strides, len(sizes), channels_first)
    rates = per_axis(op, "dilations", dilations, len(sizes), channels_first)
    return steps, pairs_of(op, padding, sizes, window, steps, rates, channels_first), rates


@lru_cache(maxsize=4096)
def output_sizes(op: str, shape: Shape, window: Shape, strides: Shape, paddings: Pairs, dilations: Shape) -> Shape:
    """How often a window fits along each axis of a padded input, whose shape has the channels last.

    >>> output_sizes("conv2d", (1, 5, 5, 1), (3, 3), (2, 2), ((0, 0), (0, 0)), (1, 1))
    (2, 2)
    """
    out = []
    axes = zip(shape[1:-1], window, strides, paddings, dilations, strict=True)
    for size, n, stride, (low, high), dilation in axes:
        extent, room = (n - 1) * dilation + 1, size + low + high
        if n < 1 or extent > room + stride:
            raise InvalidArgumentError(
                f"{op}: a window of shape {window} with dilations {dilations} does not fit into an input of shape "
                f"{shape} padded by {paddings}; use padding 'SAME' or a smaller window."
            )
        out.append(max(0, (room - extent) // stride + 1))
    return tuple(out)
