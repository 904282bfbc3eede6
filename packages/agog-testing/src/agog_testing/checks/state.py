"""State: no result depends on earlier calls, or changes with later writes to inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import agog_core as ag
from agog_core.errors import MissingKernelError
from agog_core.ops.updates.slices import assign_slice
from agog_testing.checks.recording import results
from agog_testing.checks.values import compare
from agog_testing.comparison import same, share_memory, shown
from agog_testing.opinfo import Sample
from agog_testing.subject import Array, Run, Subject, Violation, arrays_of, map_arrays

STATE = "a kernel keeps no state: a later call leaves earlier results alone"


def check_state(subject: Subject) -> None:
    """Check that a second call leaves the result of the first one alone, and shares no memory with it."""
    for sample, other in zip(subject.samples(), subject.samples(seed=1), strict=True):
        first = subject.run(sample)
        held = [array for call in first.calls for array in results(subject, call.result)]
        before = [subject.host(array) for array in held]
        second = subject.run(other)
        later = [array for call in second.calls for array in results(subject, call.result)]
        for array, value in zip(held, before, strict=True):
            if not same(value, subject.host(array)):
                got = shown(subject.host(array))
                raise Violation(STATE, sample.name, f"the first result stays {shown(value)}", got)
            if any(share_memory(subject.device, array, another) for another in later):
                raise Violation(STATE, sample.name, "memory of its own", "the memory of an earlier result")


def check_variables(subject: Subject) -> None:
    """Check that results follow in-place writes to variables, and that earlier results stay unchanged."""
    for sample, other in _pairs(subject):
        with ag.device(subject.device.name), subject.installed(subject.kernel):
            try:
                run = _run_in_variables(subject, sample, other)
            except MissingKernelError:  # a device need not have the kernels that write to variables
                return
        rule = "a result is that of the values that the inputs have now, also where memory or an object came before"
        compare(subject, other, run, rule, f"{other.name}, in variables that held other values before")


def _run_in_variables(subject: Subject, sample: Sample, other: Sample) -> Run:
    """Call the op with variables that hold a sample's arrays, write another's into them, and call it again."""
    variables: list[ag.Variable] = []

    def variable(array: Array) -> ag.Variable:
        variables.append(ag.Variable(array))
        return variables[-1]

    args, kwargs = _mapped(sample, variable)
    held = _tensors(subject.info.call(*args, **kwargs))
    before = list(map(_value, held))
    for written, array in zip(variables, arrays_of(other), strict=True):
        assign_slice(written, array, ...)
    for value, tensor in zip(before, held, strict=True):
        if not same(value, _value(tensor)):
            rule = "a result does not change when a variable that it was computed from is written to"
            raise Violation(rule, sample.name, f"the result stays {shown(value)}", shown(_value(tensor)))
    later = _tensors(subject.info.call(*args, **kwargs))
    return Run(tuple(map(_value, later)), tuple(tensor.dtype for tensor in later), ())


# So many samples of each op go into variables.
_PAIRS = 4


def _pairs(subject: Subject) -> list[tuple[Sample, Sample]]:
    """Samples with others in the same form whose arrays hold other values."""
    pairs = zip(subject.samples(), subject.samples(seed=1), strict=True)
    found = [(one, other) for one, other in pairs if one.smooth and _is_of_one_form(one, other)]
    return found[:: max(1, len(found) // _PAIRS)][:_PAIRS]


def _is_of_one_form(first: Sample, second: Sample) -> bool:
    arrays, others = arrays_of(first), arrays_of(second)
    forms = [_mapped(sample, lambda array: (array.shape, str(array.dtype))) for sample in (first, second)]
    is_other = any(not same(one, other) for one, other in zip(arrays, others, strict=False))
    return is_other and all(array.size for array in arrays) and repr(forms[0]) == repr(forms[1])


def _mapped(sample: Sample, function: Callable[[Array], Any]) -> tuple[list[Any], dict[str, Any]]:
    args = [map_arrays(function, value) for value in sample.args]
    return args, {key: map_arrays(function, value) for key, value in sample.kwargs.items()}


def _value(tensor: ag.Tensor) -> Array:
    return np.array(tensor.numpy(), tensor.dtype.numpy_dtype)


def _tensors(result: Any) -> list[ag.Tensor]:
    return list(result) if isinstance(result, (list, tuple)) else [result]
