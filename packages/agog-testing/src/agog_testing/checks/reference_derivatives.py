"""Reference derivatives: an op's derivatives in its own dtype, compared with differences of its reference in float64.

The reference is as good in float64 for an op that has no float64, and its differences hold more digits than any other
dtype. A weighted sum of the results is differentiated along one random direction, and its derivative along another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import agog_core as ag
from agog_core import nest
from agog_testing.subject import Array, Violation

Function = Callable[..., Any]
Arrays = Sequence[Array]

FIRST = "a gradient in the op's own dtype is the derivative of the reference"
SECOND = "a second derivative in the op's own dtype is that of the reference"
FORWARD = "forward mode, in the op's own dtype, gives the derivative of the reference"

# The step of a difference; its error and that of a second one are below what float32 can tell.
_STEP = 1e-6
_STEP_OF_SECOND = 1e-5
# One-sided differences that are further apart tell of a kink: values that float16 rounds to one, for example.
_KINK = 1e-3
# How many roundings, of results as large as these can be, a derivative may differ by.
_ROUNDINGS = 8
# What rounding adds to differences of sums that are near 1.
_NOISE = 1e-6


@dataclass(frozen=True)
class Differences:
    """The derivatives of a weighted sum of a reference's results, at one point."""

    reference: Callable[..., tuple[Array, ...]]
    point: Arrays
    weights: Arrays

    def total(self, point: Arrays, weights: Arrays) -> float:
        """The weighted sum."""
        with np.errstate(all="ignore"):
            results = self.reference(*point)
            return float(sum(np.real(np.vdot(w, np.asarray(x))) for w, x in zip(weights, results, strict=True)))

    def slope(self, direction: Arrays, weights: Arrays | None = None, point: Arrays | None = None) -> float:
        """The derivative along a direction."""
        weights, point = self.weights if weights is None else weights, self.point if point is None else point
        step = _STEP if point is self.point else _STEP_OF_SECOND
        above, below = (self.total(_moved(point, direction, one), weights) for one in (step, -step))
        return (above - below) / (2 * step)

    def curvature(self, first: Arrays, second: Arrays, of_weights: Arrays) -> float:
        """The derivative, along a second direction of the point and one of the weights, of that along a first one."""
        ends = []
        for step in (_STEP_OF_SECOND, -_STEP_OF_SECOND):
            weights = _moved(self.weights, of_weights, step)
            ends.append(self.slope(first, weights, _moved(self.point, second, step)))
        return (ends[0] - ends[1]) / (2 * _STEP_OF_SECOND)

    def is_smooth(self, direction: Arrays) -> bool:
        """Whether there is no kink along a direction."""
        here = self.total(self.point, self.weights)
        ahead, behind = (self.total(_moved(self.point, direction, step), self.weights) for step in (_STEP, -_STEP))
        slopes = (ahead - here) / _STEP, (here - behind) / _STEP
        return bool(abs(slopes[0] - slopes[1]) <= _KINK * (1 + abs(slopes[0]) + abs(here)))


class Derivatives:
    """What the tape gives for a function of tensors, and how much of it can be rounding."""

    def __init__(self, function: Function, sources: Arrays, rng: np.random.Generator) -> None:
        self.function = function
        self.sources = [ag.constant(array) for array in sources]
        results = nest.flatten(function(*self.sources))
        self.is_kept = [out.dtype.is_differentiable for out in results]
        self.outs = [out for out, kept in zip(results, self.is_kept, strict=True) if kept]
        self.weights, self.first = ([_numbers(rng, x) for x in each] for each in (self.outs, self.sources))
        self.second, self.of_weights = ([_numbers(rng, x) for x in each] for each in (self.sources, self.outs))

    def of_differentiable(self, reference: Callable[..., tuple[Array, ...]]) -> Callable[..., tuple[Array, ...]]:
        """A reference without the results that have no derivative."""
        return lambda *point: tuple(x for x, kept in zip(reference(*point), self.is_kept, strict=True) if kept)

    def gradient(self) -> list[Array]:
        """The gradient of the weighted sum."""
        return _hosts(self._gradient(self.sources, list(map(_like, self.outs, self.weights))))

    def second_derivative(self) -> list[Array]:
        """The gradient, for the inputs and the weights, of the gradient times the first direction."""
        weights = list(map(_like, self.outs, self.weights))
        with ag.GradientTape() as tape:
            tape.watch([*self.sources, *weights])
            gradient = self._gradient(self.sources, weights)
        directions = list(map(_like, self.sources, self.first))
        return _hosts(tape.gradient(gradient, [*self.sources, *weights], directions, unconnected_gradients="zero"))

    def tangents(self) -> list[Array]:
        """The derivatives of the results along the first direction, in forward mode."""
        with ag.ForwardAccumulator(self.sources, list(map(_like, self.sources, self.first))) as forward:
            outs = [out for out in nest.flatten(self.function(*self.sources)) if out.dtype.is_differentiable]
        return _hosts(forward.jvp(outs, unconnected_gradients="zero"))

    def _gradient(self, sources: Sequence[ag.Tensor], weights: Sequence[ag.Tensor]) -> list[ag.Tensor]:
        with ag.GradientTape() as tape:
            tape.watch(sources)
            outs = [out for out in nest.flatten(self.function(*sources)) if out.dtype.is_differentiable]
        found = tape.gradient(outs, list(sources), list(weights), unconnected_gradients="zero")
        return [ag.convert_to_tensor(each) for each in found]  # some may be sparse


def check_first(name: str, derivatives: Derivatives, differences: Differences, rtol: float) -> None:
    """Compare the gradient with the reference's, along a direction."""
    wanted, scale = differences.slope(derivatives.first), abs(differences.total(differences.point, differences.weights))
    _compare(FIRST, name, derivatives.gradient(), derivatives.first, wanted, rtol, scale)


def check_second(name: str, derivatives: Derivatives, differences: Differences, rtol: float) -> None:
    """Compare the second derivative with the reference's, along two directions."""
    wanted = differences.curvature(derivatives.first, derivatives.second, derivatives.of_weights)
    scale = abs(differences.slope(derivatives.first)) + abs(differences.total(differences.point, differences.weights))
    directions = [*derivatives.second, *derivatives.of_weights]
    _compare(SECOND, name, derivatives.second_derivative(), directions, wanted, rtol, scale)


def check_forward(name: str, derivatives: Derivatives, differences: Differences, rtol: float) -> None:
    """Compare the derivative in forward mode with the reference's."""
    wanted, scale = differences.slope(derivatives.first), abs(differences.total(differences.point, differences.weights))
    _compare(FORWARD, name, derivatives.tangents(), derivatives.weights, wanted, rtol, scale)


def _compare(rule: str, name: str, found: Arrays, directions: Arrays, wanted: float, rtol: float, scale: float) -> None:
    """Raise `Violation` where a derivative, times a direction, is not the wanted one."""
    terms = [np.real(np.conj(one) * _wide(other)) for one, other in zip(directions, found, strict=True)]
    got = float(sum(np.sum(each) for each in terms))
    size = scale + float(sum(np.sum(np.abs(each)) for each in terms))
    if not abs(got - wanted) <= _NOISE + _ROUNDINGS * rtol * size:
        raise Violation(rule, name, f"{wanted:.9g} along a random direction", f"{got:.9g}")


def _moved(point: Arrays, direction: Arrays, step: float) -> list[Array]:
    return [np.asarray(x + step * each) for x, each in zip(point, direction, strict=True)]


def _numbers(rng: np.random.Generator, x: ag.Tensor) -> Array:
    """Random numbers like a tensor's, none of them small, which its dtype holds."""
    shape = x._shape
    numbers: Any = np.copysign(rng.uniform(0.5, 1.5, shape), rng.uniform(-1, 1, shape))
    if x.dtype.is_complex:
        numbers = numbers + 1j * np.copysign(rng.uniform(0.5, 1.5, shape), rng.uniform(-1, 1, shape))
    return _wide(np.asarray(numbers).astype(x.dtype.numpy_dtype))


def _like(x: ag.Tensor, value: Array) -> ag.Tensor:
    with ag.device(x.device):
        return ag.constant(value.astype(x.dtype.numpy_dtype))


def _hosts(tensors: Sequence[Any]) -> list[Array]:
    return [np.asarray(ag.convert_to_tensor(tensor).numpy()) for tensor in tensors]


def _wide(array: Array) -> Array:
    return np.asarray(array).astype(np.complex128 if np.iscomplexobj(array) else np.float64)
