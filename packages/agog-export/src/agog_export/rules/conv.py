"""Conv: rules of convolutions and pools, whose channels come last here and second there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_export.rules.nn import activated
from agog_export.writer import Operand, Writer

__all__ = ["avg_pool", "convolution", "convolution_bias", "max_pool"]

Sizes = Sequence[int]
Pairs = Sequence[Sequence[int]]


def avg_pool(op: Writer, input: Operand, *, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes) -> Any:
    form = {"kernel_shape": window, "strides": strides, "pads": _pads(paddings), "dilations": dilations}
    return _channels_last(op, op.AveragePool(_channels_second(op, input), **form, count_include_pad=0), input)


def max_pool(op: Writer, input: Operand, *, window: Sizes, strides: Sizes, paddings: Pairs, dilations: Sizes) -> Any:
    form = {"kernel_shape": window, "strides": strides, "pads": _pads(paddings), "dilations": dilations}
    return _channels_last(op, op.MaxPool(_channels_second(op, input), **form), input)


def convolution(
    op: Writer,
    input: Operand,
    filter: Operand,
    *,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
    groups: int,
) -> Any:
    return _channels_last(op, _convolved(op, input, filter, None, strides, paddings, dilations, groups), input)


def convolution_bias(
    op: Writer,
    input: Operand,
    filter: Operand,
    bias: Operand,
    *,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
    groups: int,
    activation: str,
) -> Any:
    convolved = _convolved(op, input, filter, bias, strides, paddings, dilations, groups)
    return _channels_last(op, activated(op, convolved, activation), input)


def _convolved(
    op: Writer,
    input: Operand,
    filter: Operand,
    bias: Operand | None,
    strides: Sizes,
    paddings: Pairs,
    dilations: Sizes,
    groups: int,
) -> Any:
    spatial = input.rank - 2
    weights = op.transpose(filter, [spatial + 1, spatial, *range(spatial)])
    form = {"strides": strides, "pads": _pads(paddings), "dilations": dilations, "group": groups}
    return op.Conv(_channels_second(op, input), weights, *([] if bias is None else [bias]), **form)


def _pads(paddings: Pairs) -> list[int]:
    return [*(before for before, _ in paddings), *(after for _, after in paddings)]


def _channels_second(op: Writer, x: Operand) -> Operand:
    return op.transpose(x, [0, x.rank - 1, *range(1, x.rank - 1)])


def _channels_last(op: Writer, found: Operand, x: Operand) -> Operand:
    return op.transpose(found, [0, *range(2, x.rank), 1])
