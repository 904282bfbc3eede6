"""Convolution forms: sizes at which kernels of convolutions may go wrong, and the three sums by hand in float64."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Form:
    """A convolution: the shapes of its input and filter, and how the window goes."""

    input: Shape
    filter: Shape
    strides: Shape
    paddings: tuple[tuple[int, int], ...]
    dilations: Shape
    groups: int = 1

    @property
    def output(self) -> Shape:
        """The shape of the output."""
        axes = zip(self.input[1:-1], self.filter, self.strides, self.paddings, self.dilations, strict=False)
        places = [(size + sum(pair) - (n - 1) * rate - 1) // step + 1 for size, n, step, pair, rate in axes]
        return self.input[0], *places, self.filter[-1]

    @property
    def attributes(self) -> dict[str, Any]:
        """What kernels are given of it."""
        names = "strides", "paddings", "dilations", "groups"
        return {name: getattr(self, name) for name in names}

    def arrays(self, dtype: Any = np.float32, seed: int = 0) -> tuple[Array, Array, Array]:
        """An input, a filter and a gradient of the output."""
        rng = np.random.default_rng(seed)
        x, w, g = (rng.uniform(-1, 1, shape).astype(dtype) for shape in (self.input, self.filter, self.output))
        return x, w, g

    def padded(self, x: Array) -> Array:
        """The input in float64, with zeros around."""
        return np.pad(x.astype(np.float64), ((0, 0), *self.paddings, (0, 0)))

    def places(self) -> Iterator[tuple[Any, Any, Any]]:
        """Of each place of the window and each group: the part of the padded input, of outputs, of the filter."""
        inner, outer = self.filter[-2], self.filter[-1] // self.groups
        for place in np.ndindex(*self.filter[:-2]):
            axes = zip(place, self.output[1:-1], self.strides, self.dilations, strict=True)
            taken = [slice(n * rate, n * rate + (count - 1) * step + 1, step) for n, count, step, rate in axes]
            for group in range(self.groups):
                source = slice(group * inner, (group + 1) * inner)
                to = slice(group * outer, (group + 1) * outer)
                yield (slice(None), *taken, source), (..., to), (*place, ..., to)

    def convolution(self, x: Array, w: Array) -> Array:
        """The output."""
        padded, out = self.padded(x), np.zeros(self.output)
        for source, to, weights in self.places():
            out[to] += padded[source] @ w.astype(np.float64)[weights]
        return out

    def filter_gradient(self, x: Array, g: Array) -> Array:
        """The gradient of the filter."""
        padded, out = self.padded(x), np.zeros(self.filter)
        for source, to, weights in self.places():
            part, outer = padded[source], g.astype(np.float64)[to]
            out[weights] = part.reshape(-1, part.shape[-1]).T @ outer.reshape(-1, outer.shape[-1])
        return out

    def input_gradient(self, g: Array, w: Array) -> Array:
        """The gradient of the input."""
        out = np.zeros_like(self.padded(np.zeros(self.input)))
        for source, to, weights in self.places():
            out[source] += g.astype(np.float64)[to] @ w.astype(np.float64)[weights].T
        inside = [slice(low, low + size) for size, (low, _) in zip(self.input[1:-1], self.paddings, strict=True)]
        return out[(slice(None), *inside)]


def same(window: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Paddings of two axes by which an output is as large as its input."""
    return ((window // 2, (window - 1) // 2),) * 2


NONE = (0, 0), (0, 0)
DENSE = (
    Form((2, 28, 28, 1), (5, 5, 1, 32), (1, 1), same(5), (1, 1)),
    Form((3, 14, 14, 32), (5, 5, 32, 64), (1, 1), same(5), (1, 1)),
    Form((5, 7, 7, 20), (3, 3, 20, 19), (1, 1), same(3), (1, 1)),
    Form((5, 9, 8, 17), (3, 2, 17, 3), (2, 3), ((0, 1), (1, 1)), (1, 1)),
    Form((2, 9, 8, 3), (3, 2, 3, 33), (2, 1), ((0, 1), (1, 1)), (2, 2)),
    Form((1, 23, 19, 3), (7, 7, 3, 64), (2, 2), same(7), (1, 1)),
    Form((5, 9, 8, 24), (3, 2, 8, 36), (1, 1), ((3, 1), (1, 4)), (2, 2), 3),
    Form((2, 9, 9, 8), (3, 3, 2, 8), (2, 2), same(3), (1, 1), 4),
    Form((5, 29, 31, 24), (1, 1, 24, 36), (1, 1), NONE, (1, 1)),
    Form((5, 9, 9, 24), (1, 1, 24, 70), (2, 2), NONE, (1, 1)),
    Form((4, 1, 1, 5), (3, 3, 5, 6), (1, 1), same(3), (1, 1)),
    Form((2, 5, 5, 1), (1, 1, 1, 1), (1, 1), NONE, (1, 1)),
    Form((1, 3, 40, 128), (3, 3, 128, 130), (1, 1), same(3), (1, 1)),
    Form((1, 6, 6, 2), (2, 2, 2, 3), (3, 3), ((4, 0), (0, 5)), (1, 1)),
    Form((2, 12, 12, 9), (4, 4, 9, 16), (2, 2), ((1, 1), (1, 1)), (1, 1)),
    Form((2, 67, 3), (5, 3, 4), (1,), ((2, 2),), (1,)),
    Form((2, 1000, 3), (5, 3, 4), (1,), ((2, 2),), (1,)),
    Form((1, 1000, 20), (4, 10, 16), (2,), ((3, 0),), (2,), 2),
    Form((2, 67, 30), (5, 30, 40), (3,), ((4, 0),), (2,)),
    Form((2, 6, 7, 8, 9), (3, 2, 3, 9, 17), (2, 1, 1), ((1, 1), (0, 1), (2, 2)), (1, 2, 1)),
    Form((2, 6, 7, 8, 2), (3, 2, 3, 2, 17), (2, 1, 1), ((1, 1), (0, 1), (2, 2)), (1, 2, 1)),
    Form((2, 6, 7, 8, 20), (3, 2, 3, 10, 4), (1, 2, 1), ((1, 1), (0, 1), (2, 2)), (1, 1, 2), 2),
)
"""Dense convolutions and those of groups."""

DEPTHWISE = (
    Form((2, 28, 28, 64), (3, 3, 1, 64), (1, 1), same(3), (1, 1), 64),
    Form((3, 9, 8, 19), (3, 3, 1, 19), (1, 1), same(3), (1, 1), 19),
    Form((2, 14, 15, 40), (3, 3, 1, 40), (2, 2), same(3), (1, 1), 40),
    Form((2, 14, 15, 33), (5, 4, 1, 33), (1, 2), ((2, 2), (0, 1)), (2, 1), 33),
    Form((2, 9, 9, 6), (3, 3, 1, 12), (1, 1), same(3), (1, 1), 6),
    Form((1, 8, 7, 5), (2, 2, 1, 15), (2, 2), ((1, 0), (0, 1)), (1, 1), 5),
    Form((3, 1, 1, 20), (3, 3, 1, 20), (1, 1), same(3), (1, 1), 20),
    Form((1, 7, 5, 3), (7, 1, 1, 3), (1, 1), ((3, 3), (0, 0)), (1, 1), 3),
    Form((2, 40, 18), (5, 1, 18), (2,), ((4, 0),), (1,), 18),
    Form((2, 5, 6, 7, 20), (3, 2, 3, 1, 20), (1, 2, 1), ((1, 1), (0, 1), (2, 2)), (1, 1, 2), 20),
)
"""Convolutions whose groups have one channel each."""


def scale(exact: Array) -> float:
    """What errors are relative to."""
    return float(abs(exact).max()) or 1.0


def name(form: Form) -> str:
    """What a test is called."""
    return f"{form.input}-{form.filter}-{math.prod(form.strides)}"
