"""Derivatives: an op's, compared with numerical differentiation and with each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import agog_core as ag
from agog_core import nest
from agog_testing.gradcheck import GradientCheckError, gradcheck, jvpcheck
from agog_testing.opinfo import Sample
from agog_testing.subject import Array, Subject, Violation, map_arrays

# Numerical differentiation calls the op twice for each element of each input.
_MOST_ELEMENTS_TO_DIFFERENTIATE = 70


def check_gradient(subject: Subject) -> None:
    """Compare first and second derivatives with numerical differentiation, in float64 or complex128."""
    for sample in subject.samples():
        function, inputs, fixed = _as_function(subject, sample)
        if not sample.smooth or sum(array.size for array in inputs) > _MOST_ELEMENTS_TO_DIFFERENTIATE:
            continue
        with ag.device(subject.device.name), subject.chosen():
            try:
                gradcheck(function(*map(ag.constant, fixed)), inputs, eps=subject.info.eps, seed=subject.seed)
            except GradientCheckError as error:
                rule = "first and second derivatives are those of numerical differentiation"
                raise Violation(rule, sample.name, "the central differences", str(error)) from error


def check_forward(subject: Subject) -> None:
    """Compare the derivative in one direction, in forward mode, with numerical differentiation and reverse mode."""
    for sample in subject.samples():
        function, inputs, fixed = _as_function(subject, sample)
        if not sample.smooth or not any(array.size for array in inputs):
            continue
        with ag.device(subject.device.name), subject.chosen():
            try:
                jvpcheck(function(*map(ag.constant, fixed)), inputs, eps=subject.info.eps, seed=subject.seed)
            except GradientCheckError as error:
                rule = "forward mode gives the derivative of numerical differentiation, and that of reverse mode"
                raise Violation(rule, sample.name, "the central difference", str(error)) from error


def check_linear(subject: Subject) -> None:
    """Check that gradients are linear in the incoming ones; gradients of ones may take a shortcut."""
    rule = "the gradient for incoming gradients of 1 is the difference of those for 1 + w and for w"
    rng = np.random.default_rng(subject.seed)
    for sample in subject.samples():
        function, inputs, fixed = _as_function(subject, sample)
        if not sample.smooth or not any(array.size for array in inputs):
            continue
        with ag.device(subject.device.name), subject.chosen():
            sources = [ag.constant(array) for array in inputs]
            with ag.GradientTape(persistent=True) as tape:
                tape.watch(sources)
                outs = nest.flatten(function(*map(ag.constant, fixed))(*sources))
            if any(out.dtype not in (ag.float64, ag.complex128) for out in outs):
                continue
            weights = [rng.uniform(0.5, 1.5, out.shape.as_list()) for out in outs]
            of_ones = _gradients(tape, outs, sources, None)
            above = _gradients(tape, outs, sources, [1 + weight for weight in weights])
            below = _gradients(tape, outs, sources, weights)
        for position, (found, high, low) in enumerate(zip(of_ones, above, below, strict=True)):
            scale = 1 + np.max(np.abs(high) + np.abs(low), initial=0)
            is_wrong = ~(np.abs(found - (high - low)) <= 1e-12 * scale)
            if is_wrong.any():
                index = tuple(int(n) for n in np.argwhere(is_wrong)[0])
                name = f"{sample.name}, gradient {position} at {index}"
                raise Violation(rule, name, f"{high[index] - low[index]!r}", f"{found[index]!r}")


def _gradients(
    tape: ag.GradientTape, outs: list[ag.Tensor], sources: list[ag.Tensor], weights: list[Array] | None
) -> list[Array]:
    seeds = None
    if weights is not None:
        seeds = [ag.constant(weight.astype(out.dtype.numpy_dtype)) for weight, out in zip(weights, outs, strict=True)]
    found = tape.gradient(outs, sources, seeds, unconnected_gradients="zero")
    return [ag.convert_to_tensor(gradient).numpy() for gradient in found]


def _as_function(
    subject: Subject, sample: Sample
) -> tuple[Callable[..., Callable[..., Any]], list[Array], list[Array]]:
    """A sample as a function of its differentiable inputs, after the others are given; and both kinds of inputs."""
    op = subject.info.op
    arrays: list[Array] = []
    for value in (*sample.args, *sample.kwargs.values()):
        map_arrays(arrays.append, value)
    names = op.inputs * len(arrays) if op.variadic else op.inputs
    is_source = [name in op.differentiable_inputs for name, _ in zip(names, arrays, strict=False)]

    def given(*fixed: ag.Tensor) -> Callable[..., Any]:
        def function(*sources: ag.Tensor) -> Any:
            from_sources, from_fixed = iter(sources), iter(fixed)
            tensors = iter([next(from_sources if wanted else from_fixed) for wanted in is_source])
            args = [map_arrays(lambda _: next(tensors), value) for value in sample.args]
            kwargs = {key: map_arrays(lambda _: next(tensors), value) for key, value in sample.kwargs.items()}
            return subject.info.call(*args, **kwargs)

        function.__name__ = subject.info.name
        return function

    inputs = [array for array, wanted in zip(arrays, is_source, strict=True) if wanted]
    return given, inputs, [array for array, wanted in zip(arrays, is_source, strict=True) if not wanted]
