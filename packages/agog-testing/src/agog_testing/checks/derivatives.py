"""Derivatives: an op's, compared with numerical differentiation and with each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

import agog_core as ag
from agog_core import nest
from agog_core.errors import InvalidArgumentError, MissingKernelError
from agog_testing import stopwatch
from agog_testing.checks import reference_derivatives
from agog_testing.checks.reference_derivatives import Derivatives, Differences
from agog_testing.gradcheck import GradientCheckError, gradcheck, jvpcheck
from agog_testing.opinfo import Sample, reference_array
from agog_testing.subject import Array, NotChecked, Subject, Violation, map_arrays

# Numerical differentiation calls the op twice for each element of each input.
_MOST_ELEMENTS_TO_DIFFERENTIATE = 70
# What is known of the derivatives in float64 holds in other dtypes, of which so many samples are enough then.
_FEW = 6
_WIDE = ("float64", "complex128")
# The truncation of central differences; what rounding adds is the kernel's tolerance over the step.
_TRUNCATION = 1e-6


def check_facts(subject: Subject) -> None:
    """Refuse facts that do not fit the op: they would leave a gradient unchecked."""
    rule = "the facts about an op say differentiable=True where it has a vjp, and only there"
    wanted, got = (
        f"OpInfo(differentiable={x})" for x in (subject.info.op.is_differentiable, subject.info.differentiable)
    )
    if wanted != got:
        raise Violation(rule, "none", wanted, got)


@contextmanager
def _on_device(subject: Subject) -> Iterator[None]:
    """A block in which ops run on the device, this one by the kernel; others it need not have."""
    try:
        with ag.device(subject.device.name), subject.chosen():
            yield
    except MissingKernelError as error:
        raise NotChecked(f"a vjp calls another op: {str(error).splitlines()[0]}") from error
    except InvalidArgumentError as error:
        if f"dtype {subject.dtype} is not supported" not in str(error):
            raise
        raise NotChecked(f"a vjp calls another op: {error}") from error


def check_gradient(subject: Subject) -> None:
    """Compare first and second derivatives: in float64 and complex128 with those of the op itself, in other dtypes with
    those of its reference.
    """
    check_facts(subject)
    if subject.dtype not in _WIDE:
        _compare_with_reference(subject, _check_reverse)
        return
    atol = subject.tolerance(subject.dtype)[0] / subject.info.eps
    for each in _smooth(subject):
        with _on_device(subject):
            try:
                gradcheck(
                    each.function(), each.inputs, eps=subject.info.eps, atol=atol, rtol=_TRUNCATION, seed=subject.seed
                )
            except GradientCheckError as error:
                rule = "first and second derivatives are those of numerical differentiation"
                raise Violation(rule, each.sample.name, "the central differences", str(error)) from error


def check_forward(subject: Subject) -> None:
    """Compare the derivative in one direction, in forward mode, with numerical differentiation and reverse mode."""
    if subject.dtype not in _WIDE:
        _compare_with_reference(subject, reference_derivatives.check_forward, most=None)
        return
    atol = subject.tolerance(subject.dtype)[0] / subject.info.eps
    for each in _smooth(subject, most=None):
        with _on_device(subject):
            try:
                jvpcheck(
                    each.function(), each.inputs, eps=subject.info.eps, atol=atol, rtol=_TRUNCATION, seed=subject.seed
                )
            except GradientCheckError as error:
                rule = "forward mode gives the derivative of numerical differentiation, and that of reverse mode"
                raise Violation(rule, each.sample.name, "the central difference", str(error)) from error


def check_linear(subject: Subject) -> None:
    """Check that gradients are linear in the incoming ones; gradients of ones may take a shortcut."""
    rule = "the gradient for incoming gradients of 1 is the difference of those for 1 + w and for w"
    rng = np.random.default_rng(subject.seed)
    for each in _smooth(subject, most=None):
        with _on_device(subject):
            sources = [ag.constant(array) for array in each.inputs]
            with ag.GradientTape(persistent=True) as tape:
                tape.watch(sources)
                outs = nest.flatten(each.function()(*sources))
            if any(out.dtype.name != subject.dtype for out in outs):
                continue
            weights = [rng.uniform(0.5, 1.5, out.shape.as_list()) for out in outs]
            of_ones = _gradients(tape, outs, sources, None)
            above = _gradients(tape, outs, sources, [1 + weight for weight in weights])
            below = _gradients(tape, outs, sources, weights)
        allowed = 1e-12 if subject.dtype in _WIDE else 8 * subject.tolerance(subject.dtype)[0]
        for position, (found, high, low) in enumerate(zip(of_ones, above, below, strict=True)):
            scale = 1 + np.max(np.abs(high) + np.abs(low), initial=0)
            is_wrong = ~(np.abs(found - (high - low)) <= allowed * scale)
            if is_wrong.any():
                index = tuple(int(n) for n in np.argwhere(is_wrong)[0])
                name = f"{each.sample.name}, gradient {position} at {index}"
                raise Violation(rule, name, f"{high[index] - low[index]!r}", f"{found[index]!r}")


def _gradients(
    tape: ag.GradientTape, outs: list[ag.Tensor], sources: list[ag.Tensor], weights: list[Array] | None
) -> list[Array]:
    seeds = None
    if weights is not None:
        seeds = [ag.constant(weight.astype(out.dtype.numpy_dtype)) for weight, out in zip(weights, outs, strict=True)]
    found = tape.gradient(outs, sources, seeds, unconnected_gradients="zero")
    return [ag.convert_to_tensor(gradient).numpy() for gradient in found]


class Smooth(NamedTuple):
    """A sample as a function of its differentiable inputs.

    Args:
        subject: the subject.
        sample: the sample.
        inputs: the arrays that the function takes.
        is_source: for each array of the sample, whether it is one of them.
    """

    subject: Subject
    sample: Sample
    inputs: list[Array]
    is_source: list[bool]

    def function(self) -> Callable[..., Any]:
        """The op as a function of tensors."""
        fixed = iter(self.is_source)
        arrays = [array for array in _arrays(self.sample) if not next(fixed)]
        constants = list(map(ag.constant, arrays))

        def function(*sources: ag.Tensor) -> Any:
            return self._called(self.subject.info.call, sources, constants)

        function.__name__ = self.subject.info.name
        return function

    def at(self, sample: Sample) -> Smooth:
        """The function at another sample of the same shapes."""
        arrays = zip(_arrays(sample), self.is_source, strict=True)
        return self._replace(sample=sample, inputs=[array for array, wanted in arrays if wanted])

    def reference(self, *sources: Array) -> tuple[Array, ...]:
        """The reference as a function of arrays in float64."""
        fixed = iter(self.is_source)
        constants = [reference_array(array) for array in _arrays(self.sample) if not next(fixed)]
        with stopwatch.stopped():
            result = self._called(self.subject.info.reference, sources, constants)
        return result if isinstance(result, tuple) else (result,)

    def _called(self, function: Callable[..., Any], sources: Any, fixed: Any) -> Any:
        from_sources, from_fixed = iter(sources), iter(fixed)
        given = iter([next(from_sources if wanted else from_fixed) for wanted in self.is_source])
        args = [map_arrays(lambda _: next(given), value) for value in self.sample.args]
        kwargs = {key: map_arrays(lambda _: next(given), value) for key, value in self.sample.kwargs.items()}
        return function(*args, **kwargs)


def _smooth(subject: Subject, most: int | None = _MOST_ELEMENTS_TO_DIFFERENTIATE) -> Iterator[Smooth]:
    """The samples that can be differentiated, of at most so many elements; raises `NotChecked` where there is none."""
    op, found = subject.info.op, []
    for sample in subject.samples():
        arrays = _arrays(sample)
        names = op.inputs * len(arrays) if op.variadic else op.inputs
        is_source = [name in op.differentiable_inputs for name, _ in zip(names, arrays, strict=False)]
        inputs = [array for array, wanted in zip(arrays, is_source, strict=True) if wanted]
        size = sum(array.size for array in inputs)
        if sample.smooth and size and (most is None or size <= most):
            found.append(Smooth(subject, sample, inputs, is_source))
    if not found:
        limit = "" if most is None else f", with at most {most} elements"
        raise NotChecked(f"none of the samples in the op's facts is smooth{limit}")
    if subject.dtype not in _WIDE and set(_WIDE) & set(subject.dtypes or subject.info.dtypes):
        found = found[:: -(-len(found) // _FEW)]
    yield from found


def _compare_with_reference(
    subject: Subject,
    check: Callable[[str, Derivatives, Differences, float], None],
    most: int | None = _MOST_ELEMENTS_TO_DIFFERENTIATE,
) -> None:
    """Compare derivatives of samples with those of the reference; raises `NotChecked` where it has none."""
    are_checked = False
    for each in _smooth(subject, most):
        with _on_device(subject):
            function = each.function()
            derivatives = Derivatives(function, each.inputs, np.random.default_rng(subject.seed))
            if not derivatives.outs:
                continue
            point = list(map(reference_array, each.inputs))
            differences = Differences(derivatives.of_differentiable(each.reference), point, derivatives.weights)
            if not differences.is_smooth(derivatives.first):
                continue
            dtypes = {subject.dtype, *(out.dtype.name for out in derivatives.outs)}
            check(each.sample.name, derivatives, differences, max(subject.tolerance(name)[0] for name in dtypes))
        are_checked = True
    if not are_checked:
        raise NotChecked("the reference has a kink at each of the samples in the op's facts")


def _check_reverse(name: str, derivatives: Derivatives, differences: Differences, rtol: float) -> None:
    reference_derivatives.check_first(name, derivatives, differences, rtol)
    reference_derivatives.check_second(name, derivatives, differences, rtol)


def _arrays(sample: Sample) -> list[Array]:
    found: list[Array] = []
    for value in (*sample.args, *sample.kwargs.values()):
        map_arrays(found.append, value)
    return found
