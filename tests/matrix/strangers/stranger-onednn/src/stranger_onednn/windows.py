"""Windows: layouts and forms of what slides over channels-last images, in the terms of oneDNN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from stranger_onednn.api import any_layout, dims, strided
from stranger_onednn.plans import steps

Shape = tuple[int, ...]


class Form(NamedTuple):
    """Strides, paddings and dilations, as agog has them."""

    strides: Shape
    paddings: tuple[tuple[int, int], ...]
    dilations: Shape

    def native(self) -> tuple[Any, Any, Any, Any]:
        """Strides, dilations (which count from 0), and the paddings before and after."""
        before, after = zip(*self.paddings, strict=True)
        return dims(self.strides), dims([n - 1 for n in self.dilations]), dims(before), dims(after)

    def output_shape(self, input: Shape, window: Sequence[int], channels: int) -> Shape:
        """The shape of what windows make of an input."""
        axes = zip(input[1:-1], window, self.strides, self.paddings, self.dilations, strict=True)
        sizes = [max(0, (n + sum(pair) - (k - 1) * d - 1) // step + 1) for n, k, step, pair, d in axes]
        return (input[0], *sizes, channels)


def are_taken(*shapes: Sequence[int]) -> bool:
    """Whether oneDNN takes arrays of these shapes: one to three axes of windows, and nothing empty."""
    return 3 <= len(shapes[0]) <= 5 and not any(0 in shape for shape in shapes)


def image(shape: Shape) -> Any:
    """The layout of (batch, axes..., channels) as it lies, in oneDNN's order (batch, channels, axes...)."""
    first, *middle, last = steps(shape)
    return strided((shape[0], shape[-1], *shape[1:-1]), (first, last, *middle))


def filters(shape: Shape, groups: int) -> tuple[Any, Any]:
    """The layout of (window..., inputs, outputs) as it lies, and that which oneDNN may choose for it."""
    *window, inner, last = steps(shape)
    inputs, outputs = shape[-2:]
    sizes, strides = (outputs, inputs, *shape[:-2]), (last, inner, *window)
    if groups > 1:
        outputs //= groups
        sizes, strides = (groups, outputs, inputs, *shape[:-2]), (outputs, last, inner, *window)
    return strided(sizes, strides), any_layout(sizes)
