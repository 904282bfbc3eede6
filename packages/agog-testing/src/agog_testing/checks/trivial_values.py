"""Trivial values: inputs of zeros and of ones, for which a kernel may have a shortcut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from agog_testing.checks.recording import input_name, kernel_calls, on_device, results
from agog_testing.comparison import share_memory
from agog_testing.subject import Array, KernelCall, Subject, Violation

# So many of a kernel's calls are repeated with trivial values.
_CALLS = 6


def check_shortcuts(subject: Subject) -> None:
    """Check that results for zeros and ones share no memory with an input, unless the op is a view, or each other."""
    for where, call, values in _trivial_calls(subject):
        try:
            arrays, others = on_device(subject, values), on_device(subject, values)
            first, second = (_results(subject, each, call) for each in (arrays, others))
            subject.device.synchronize()  # a device may tell of wrong values when it is waited for
        except Exception:  # the values may be wrong for the op, which tests of errors see
            continue
        for result, later in zip(first, second, strict=True):
            sources = () if subject.info.op.views else enumerate(arrays)
            for position, source in sources:
                if share_memory(subject.device, result, source):
                    rule = "a result shares no memory with an input unless the op is a view"
                    got = f"the memory of {input_name(subject, position)}"
                    raise Violation(rule, where, "memory of its own", got)
            if share_memory(subject.device, result, later):
                rule = "a result shares no memory with another one"
                raise Violation(rule, where, "memory of its own", "the memory of the result of an equal call")


def _results(subject: Subject, arrays: Sequence[Any], call: KernelCall) -> list[Any]:
    """The results of a kernel, without a reserve."""
    found = results(subject, subject.kernel(*arrays, **call.attributes))
    return found if subject.info.op.reserve is None else found[:-1]


def _trivial_calls(subject: Subject) -> Iterator[tuple[str, KernelCall, list[Array]]]:
    """Calls with zeros or ones in all inputs, or in one of several."""
    calls = [(sample, call) for sample, call in kernel_calls(subject) if _can_be_trivial(call.before)]
    for sample, call in calls[:: max(1, len(calls) // _CALLS)][:_CALLS]:
        for number, word in ((0, "zeros"), (1, "ones")):
            every = range(len(call.before))
            for chosen in [every] if len(every) == 1 else [every, *([n] for n in every)]:
                values = [_full(array, number) if n in chosen else array for n, array in enumerate(call.before)]
                inputs = "all inputs" if chosen is every else input_name(subject, chosen[0])
                yield f"{sample.name}, {word} in {inputs}", call, values


def _can_be_trivial(arrays: Sequence[Array]) -> bool:
    return bool(arrays) and all(array.size and array.dtype != object for array in arrays)


def _full(array: Array, number: Any) -> Array:
    return np.full_like(array, number)
