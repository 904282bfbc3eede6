"""Recording: a kernel's calls for the samples of its op, computed once for many checks, and repeated ones."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agog_testing.checks.process_state import State, process_state
from agog_testing.opinfo import Sample
from agog_testing.subject import Array, Attempt, KernelCall, Run, Subject, Violation


@dataclass(frozen=True)
class Recording:
    """A kernel's attempts at all samples, the state of the process before and after, and the warnings that came."""

    attempts: tuple[Attempt, ...]
    before: State
    after: State
    warned: tuple[tuple[Attempt, warnings.WarningMessage], ...]


# Checks of one kernel follow each other, so the last recording is enough, and memory does not grow.
_last: list[tuple[Subject, Recording]] = []


def recording(subject: Subject) -> Recording:
    """The recording of a subject's samples."""
    if not _last or _last[0][0] is not subject:
        _last.clear()
        _last.append((subject, _record(subject)))
    return _last[0][1]


def _record(subject: Subject) -> Recording:
    attempts, warned = [], []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        before = process_state()
        for sample in subject.samples():
            attempts.append(subject.attempt(sample))
            warned += [(attempts[-1], warning) for warning in caught]
            caught.clear()
        return Recording(tuple(attempts), before, process_state(), tuple(warned))


def runs(subject: Subject) -> Iterator[tuple[Sample, Run]]:
    """Each sample with its recorded run; raises `Violation` where the kernel raised."""
    for attempt in recording(subject).attempts:
        if isinstance(attempt.outcome, Violation):
            raise attempt.outcome
        yield attempt.sample, attempt.outcome


def kernel_calls(subject: Subject) -> Iterator[tuple[Sample, KernelCall]]:
    """Each sample with each of its recorded calls of the kernel."""
    for sample, run in runs(subject):
        for call in run.calls:
            yield sample, call


def results(subject: Subject, result: Any) -> list[Any]:
    """The arrays that a kernel returned, adopted where the backend does so; none for an op that only updates."""
    given = () if result is None else result if isinstance(result, tuple) else (result,)
    adopt = subject.device.backend.as_array
    return [one if type(one) is subject.device.array_type else adopt(one) for one in given]


def on_device(subject: Subject, host: Sequence[Array]) -> list[Any]:
    """Copies of host arrays as arrays of the device."""
    backend, index = subject.device.backend, subject.device.index
    return [backend.from_host(np.array(array, order="C"), index) for array in host]


def repeat(subject: Subject, arrays: Sequence[Any], attributes: Mapping[str, Any]) -> list[Array]:
    """A kernel's results and updates, on the host, for other arrays in a call like a recorded one."""
    returned = results(subject, subject.kernel(*arrays, **attributes))
    op = subject.info.op
    updated = [array for name, array in zip(op.inputs, arrays, strict=False) if name in op.updates]
    # A kernel may return new arrays in place of those that it was to update.
    return [subject.host(array) for array in (returned if op.updates and returned else (*returned, *updated))]


def input_name(subject: Subject, position: int) -> str:
    """The name of the input at a position among the arrays of a call."""
    op = subject.info.op
    return op.inputs[0] if op.variadic else op.inputs[position]


def is_host_memory(subject: Subject, arrays: Sequence[Any]) -> bool:
    """Whether arrays are NumPy's own, which can be laid out at will."""
    return subject.device.backend.host_memory and all(type(array) is np.ndarray for array in arrays)
