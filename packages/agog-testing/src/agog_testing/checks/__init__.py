"""Checks: the rules for kernels. Each raises `Violation` with rule, sample and numbers.

A check is a function of a `Subject`; `checks_for` names those that apply to it.
"""

from __future__ import annotations

from collections.abc import Callable

from agog_core.dtypes import as_dtype
from agog_testing.checks.bounds import check_bounds
from agog_testing.checks.denormals import WITHOUT, check_denormals
from agog_testing.checks.derivatives import check_facts, check_forward, check_gradient, check_linear
from agog_testing.checks.errors import check_errors
from agog_testing.checks.large import check_large, has_large_call
from agog_testing.checks.layouts import check_inputs, check_same_array, check_strides
from agog_testing.checks.lowering import lowering_checks
from agog_testing.checks.multi_tensor import check_several
from agog_testing.checks.out_arrays import check_out
from agog_testing.checks.repetition import check_repeated, check_threads
from agog_testing.checks.reserves import check_reserve
from agog_testing.checks.results import check_aliasing, check_dtype, check_memory, check_shape, check_type
from agog_testing.checks.side_effects import check_leaks, check_surroundings
from agog_testing.checks.sizes import check_sizes
from agog_testing.checks.state import check_state, check_variables
from agog_testing.checks.trivial_values import check_shortcuts
from agog_testing.checks.values import check_bits, check_value
from agog_testing.subject import Subject

Check = Callable[[Subject], None]


def checks_for(subject: Subject) -> dict[str, Check]:
    """The applicable checks of a kernel, by name, in order."""
    op, info = subject.info.op, subject.info
    found: dict[str, Check] = {
        "value": check_value,
        "inputs": check_inputs,
        "surroundings": check_surroundings,
        "repeated": check_repeated,
        "threads": check_threads,
        "leaks": check_leaks,
    }
    if subject.fill is not None:
        found["out"] = check_out
    if subject.several is not None:
        found["several"] = check_several
    if subject.leading is not None:
        found |= lowering_checks(subject)
    if info.sized is not None or op.inputs:
        found["sizes"] = check_sizes
        if has_large_call(info, subject.dtype):
            found["large"] = check_large
    if as_dtype(subject.dtype).is_floating and op.inputs and not op.updates and op.name not in WITHOUT:
        found["denormals"] = check_denormals
    if not op.updates:
        found |= {"type": check_type, "shape": check_shape, "dtype": check_dtype, "memory": check_memory}
        found["state"] = check_state
        if op.inputs:
            found |= {"variables": check_variables, "shortcuts": check_shortcuts}
        if not op.views and op.inputs:
            found["aliasing"] = check_aliasing
    if op.inputs:
        found |= {"strides": check_strides, "same_array": check_same_array, "bounds": check_bounds}
    if any(sample.digest for sample in subject.samples()):
        found["bits"] = check_bits
    if as_dtype(subject.dtype).is_differentiable and info.differentiable:
        found |= {"gradient": check_gradient, "forward": check_forward, "linear": check_linear}
    elif as_dtype(subject.dtype).is_differentiable and op.is_differentiable:
        found["gradient"] = check_facts  # which they contradict
    if subject.keeping is not None and as_dtype(subject.dtype).is_differentiable:
        found["reserve"] = check_reserve
    if any(error.dtype == subject.dtype for error in info.errors):
        found["errors"] = check_errors
    return found
