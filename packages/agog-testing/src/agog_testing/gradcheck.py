"""Gradient checks: derivatives against numerical differentiation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import agog_core as ag
from agog_core import nest

__all__ = ["GradientCheckError", "gradcheck", "jvpcheck"]

Function = Callable[..., Any]
_ORDERS = {1: "gradient", 2: "second derivative"}


class GradientCheckError(AssertionError):
    """A gradient is not what numerical differentiation gives."""


def gradcheck(
    f: Function,
    inputs: Sequence[Any],
    order: int = 2,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    *,
    seed: int = 0,
) -> None:
    """Check the gradients of a function against central differences, in float64 and complex128.

    The results of ``f`` are summed with random weights, the sum is differentiated with respect to each element of each
    input, and compared with ``(f(x + eps) - f(x - eps)) / (2 * eps)``. Then the gradient, as a function of the inputs
    and the weights, is checked in the same way, up to ``order``.

    Central differences along two random directions come first. If both agree closely, single elements are skipped: an
    error beyond the tolerance would have to cancel in both.

    For complex results the sum is the real part of ``sum(conj(weight) * result)``. The derivative for a complex number
    is that along its real part plus 1j times that along its imaginary part: the direction of steepest ascent, a tape's
    gradient.

    Args:
        f: a function of tensors that returns a tensor, or a structure of them. It is smooth at the inputs, and gives
            the same result each time.
        inputs: its arguments: float64 or complex128 tensors or NumPy arrays, or Python numbers, with respect to which
            it is differentiated; tensors of integers and bools are passed as they are.
        order: the highest order of differentiation.
        eps: the step.
        atol: the allowed absolute difference.
        rtol: the allowed difference relative to the numerical derivative.
        seed: the seed of the weights.

    Raises:
        GradientCheckError: a derivative is wrong, has the wrong shape, or ``f`` gives another result each time.
        ValueError: there is no input to differentiate with respect to, or one is of another dtype than those.

    >>> import agog_core as ag
    >>> gradcheck(lambda x: ag.square(x) * 3.0, [[1.0, -2.0]])
    """
    tensors = [_tensor("gradcheck", f, position, value) for position, value in enumerate(inputs)]
    if not any(map(_is_source, tensors)):
        raise ValueError(f"gradcheck: {_name(f)} has no float64 or complex128 input to differentiate with respect to.")
    weights, directions = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    checker = _Checker(_name(f), order, eps, atol, rtol, weights, directions)
    checker.check(f, tensors, 1)


def jvpcheck(
    f: Function, inputs: Sequence[Any], eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3, *, seed: int = 0
) -> None:
    """Check the derivative of a function in a random direction, as `agog_core.ForwardAccumulator` computes it.

    It is compared with ``(f(x + eps * direction) - f(x - eps * direction)) / (2 * eps)``. Then the sum of the results
    with random weights is differentiated in reverse mode too: the gradient times the direction is the weights times the
    derivative.

    Args:
        seed: the seed of the direction and the weights.

    Other arguments: see `gradcheck`.

    Raises:
        GradientCheckError: the derivative is wrong, or has the wrong shape.
        ValueError: there is no input to differentiate with respect to, or one is of another dtype than those.

    >>> import agog_core as ag
    >>> jvpcheck(lambda x: ag.square(x) * 3.0, [[1.0, -2.0]])
    """
    tensors = [_tensor("jvpcheck", f, position, value) for position, value in enumerate(inputs)]
    sources = [x for x in tensors if _is_source(x)]
    if not sources:
        raise ValueError(f"jvpcheck: {_name(f)} has no float64 or complex128 input to differentiate with respect to.")
    rng = np.random.default_rng(seed)
    directions = [_like(x, _signed(rng, x)) for x in sources]
    with ag.ForwardAccumulator(sources, directions) as forward:
        outs = _results(f, tensors)
    tangents = forward.jvp(outs, unconnected_gradients="zero")
    hosts = [direction.numpy() for direction in directions]
    ends = zip(*(_results(f, _moved(tensors, hosts, step)) for step in (eps, -eps)), strict=True)
    for position, (out, tangent, (above, below)) in enumerate(zip(outs, tangents, ends, strict=True)):
        what = f"jvpcheck of {_name(f)}: the derivative of result {position}"
        if tangent.shape != out.shape:
            raise GradientCheckError(f"{what} has shape {tangent.shape}; the result has shape {out.shape}.")
        _compare(what, "forward mode", tangent.numpy(), (above.numpy() - below.numpy()) / (2 * eps), atol, rtol)
    weights = [_like(out, _signed(rng, out)) for out in outs]
    gradients = _gradient(lambda *inputs: _results(f, inputs), len(tensors))(*tensors, *weights)
    in_reverse = _products([gradient.numpy() for gradient in gradients], hosts)
    in_forward = _products([weight.numpy() for weight in weights], [tangent.numpy() for tangent in tangents])
    # Both are sums of exact derivatives, and differ by rounding.
    scale = np.abs([*in_reverse, *in_forward]).sum()
    if not abs(in_reverse.sum() - in_forward.sum()) <= 1e-8 * (1 + scale):
        raise GradientCheckError(
            f"jvpcheck of {_name(f)}: the gradient times the direction is {in_reverse.sum():.10g} in reverse mode; the "
            f"weights times the derivative are {in_forward.sum():.10g} in forward mode."
        )


@dataclass(frozen=True)
class _Checker:
    name: str
    highest_order: int
    eps: float
    atol: float
    rtol: float
    rng: np.random.Generator
    rng_of_directions: np.random.Generator

    def check(self, f: Function, inputs: list[ag.Tensor], order: int) -> None:
        """Check the gradient of ``f``, which is itself the derivative of one order less of the function under test."""
        out = nest.flatten(f(*inputs))
        again = nest.flatten(f(*inputs))
        if any(not np.array_equal(a.numpy(), b.numpy(), equal_nan=True) for a, b in zip(out, again, strict=True)):
            raise GradientCheckError(
                f"gradcheck of {self.name}: it gives another result each time; set the random seed inside of it."
            )
        weights = [_like(x, _signed(self.rng, x)) for x in out]
        gradient = _gradient(f, len(inputs))
        positions = [position for position, x in enumerate(inputs) if _is_source(x)]
        results = gradient(*inputs, *weights)
        name = _ORDERS.get(order, f"derivative of order {order}")
        whats = [f"gradcheck of {self.name}: the {name} with respect to input {position}" for position in positions]
        for what, position, result in zip(whats, positions, results, strict=True):
            if result.shape != inputs[position].shape:
                shapes = f"shape {result.shape}; the input has shape {inputs[position].shape}"
                raise GradientCheckError(f"{what} has {shapes}.")
        if not self._is_right_along_directions(f, inputs, weights, [result.numpy() for result in results]):
            for what, position, result in zip(whats, positions, results, strict=True):
                numeric = _differences(f, inputs, position, weights, self.eps)
                _compare(what, "the tape", result.numpy(), numeric, self.atol, self.rtol)
        if order < self.highest_order:
            self.check(gradient, [*inputs, *weights], order + 1)

    def _is_right_along_directions(
        self, f: Function, inputs: list[ag.Tensor], weights: list[ag.Tensor], gradients: list[np.ndarray[Any, Any]]
    ) -> bool:
        """Whether the derivatives along two random directions show no element to be wrong by more than is allowed."""
        sources = [x for x in inputs if _is_source(x)]
        first = [_signed(self.rng_of_directions, x) for x in sources]
        second = [
            1j * direction if x.dtype.is_complex else _signed(self.rng_of_directions, x)
            for x, direction in zip(sources, first, strict=True)
        ]
        allowed = min(np.min(self.atol + self.rtol * np.abs(each), initial=np.inf) for each in gradients)

        def error(directions: list[np.ndarray[Any, Any]]) -> float:
            above, below = (
                _weighted_sum(f, _moved(inputs, directions, step), weights) for step in (self.eps, -self.eps)
            )
            return float(abs(_products(gradients, directions).sum() - (above - below) / (2 * self.eps)))

        # Each direction moves each element by 0.5 or more; for a complex one, one of the two does so along its error.
        return all(error(directions) <= 0.5 * allowed for directions in (first, second))


def _signed(rng: np.random.Generator, x: ag.Tensor) -> np.ndarray[Any, Any]:
    """Random numbers for the elements of a tensor. None is small: a wrong derivative must not hide behind it."""
    shape = x._shape
    numbers = np.copysign(rng.uniform(0.5, 1.5, shape), rng.uniform(-1, 1, shape))
    if x.dtype.is_complex:
        return numbers + 1j * np.copysign(rng.uniform(0.5, 1.5, shape), rng.uniform(-1, 1, shape))
    return numbers


def _compare(
    what: str, mode: str, analytic: np.ndarray[Any, Any], numeric: np.ndarray[Any, Any], atol: float, rtol: float
) -> None:
    is_wrong = ~(np.abs(analytic - numeric) <= atol + rtol * np.abs(numeric))
    if not is_wrong.any():
        return
    index = tuple(int(i) for i in np.argwhere(is_wrong)[0])
    raise GradientCheckError(
        f"{what} is wrong at {np.count_nonzero(is_wrong)} of {is_wrong.size} elements, first at {index}: {mode} gives "
        f"{np.asarray(analytic)[index]:.6g}, central differences give {numeric[index]:.6g} (they may differ by "
        f"{atol:g} + {rtol:g} * {abs(numeric[index]):.6g})."
    )


def _results(f: Function, inputs: Sequence[ag.Tensor]) -> list[ag.Tensor]:
    """The results of a function that can have derivatives."""
    return [out for out in nest.flatten(f(*inputs)) if _is_source(out)]


def _products(first: Sequence[Any], second: Sequence[Any]) -> np.ndarray[Any, Any]:
    """The inner products of arrays, as pairs of real numbers."""
    return np.array([np.real(np.vdot(a, b)) for a, b in zip(first, second, strict=True)])


def _gradient(f: Function, count: int) -> Function:
    """The gradient of ``f`` as a function of its inputs and of the weights of its results."""

    def gradient(*args: ag.Tensor) -> list[ag.Tensor]:
        inputs, weights = args[:count], args[count:]
        sources = [x for x in inputs if _is_source(x)]
        with ag.GradientTape() as tape:
            tape.watch(sources)
            out = nest.flatten(f(*inputs))
        results = tape.gradient(out, sources, list(weights), unconnected_gradients="zero")
        return [ag.convert_to_tensor(result) for result in results]  # some may be sparse

    return gradient


def _moved(inputs: Sequence[ag.Tensor], directions: Sequence[np.ndarray[Any, Any]], step: float) -> list[ag.Tensor]:
    """The inputs, with those that can have derivatives a step further."""
    remaining = iter(directions)
    return [_like(x, x.numpy() + step * next(remaining)) if _is_source(x) else x for x in inputs]


def _weighted_sum(f: Function, arguments: list[ag.Tensor], weights: list[ag.Tensor]) -> float:
    """The real part of the sum of a function's results, each element times its conjugate weight."""
    results = nest.flatten(f(*arguments))
    scales = [np.conj(weight.numpy()).astype(_wide(weight)) for weight in weights]
    return float(sum(np.real(np.sum(scale * out.numpy())) for scale, out in zip(scales, results, strict=True)))


def _differences(
    f: Function, inputs: list[ag.Tensor], position: int, weights: list[ag.Tensor], eps: float
) -> np.ndarray[Any, Any]:
    """Central differences of the weighted sum of the results, for each element of one input."""
    x = np.array(inputs[position].numpy())
    numeric = np.empty(x.shape, x.dtype)

    def total(value: np.ndarray[Any, Any]) -> float:
        arguments = [*inputs[:position], _like(inputs[position], value), *inputs[position + 1 :]]
        return _weighted_sum(f, arguments, weights)

    def difference(index: tuple[int, ...], step: complex) -> float:
        above, below = x.copy(), x.copy()
        above[index] += step
        below[index] -= step
        return (total(above) - total(below)) / (2 * eps)

    for index in np.ndindex(*x.shape):
        numeric[index] = difference(index, eps)
        if np.iscomplexobj(x):
            numeric[index] += 1j * difference(index, 1j * eps)
    return numeric


def _wide(x: ag.Tensor) -> type:
    return np.complex128 if x.dtype.is_complex else np.float64


def _tensor(check: str, f: Function, position: int, value: Any) -> ag.Tensor:
    is_python = not hasattr(value, "dtype")
    tensor = ag.convert_to_tensor(np.array(value) * 1.0 if is_python else value)
    if tensor.dtype.is_differentiable and not _is_source(tensor):
        raise ValueError(
            f"{check}: input {position} of {_name(f)} has dtype {tensor.dtype.name}; central differences need "
            "float64 or complex128."
        )
    return tensor


def _like(x: ag.Tensor, value: np.ndarray[Any, Any]) -> ag.Tensor:
    """A tensor of a value, of the dtype and on the device of another one."""
    with ag.device(x.device):
        return ag.constant(np.asarray(value).astype(x.dtype.numpy_dtype))


def _is_source(x: ag.Tensor) -> bool:
    return x.dtype in (ag.float64, ag.complex128)


def _name(f: Function) -> str:
    return getattr(f, "__name__", repr(f))
