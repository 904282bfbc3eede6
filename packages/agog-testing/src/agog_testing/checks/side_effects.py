"""Side effects: leftovers of a kernel's calls: memory, threads, warnings, changed states of other modules."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

from agog_testing.checks.growth import CALLS, growth
from agog_testing.checks.process_state import DESCRIPTORS, THREADS
from agog_testing.checks.recording import input_name, kernel_calls, on_device, recording, results
from agog_testing.subject import KernelCall, Subject, Violation


def check_surroundings(subject: Subject) -> None:
    """Check that a kernel leaves the state of the process as it was, and warns of nothing."""
    seen = recording(subject)
    for what in seen.before:
        if what not in (THREADS, DESCRIPTORS) and seen.before[what] != seen.after[what]:
            raise Violation(f"a kernel does not change {what}", "all", "the same", "another")
    started = sorted(thread.name for thread in seen.after[THREADS] - seen.before[THREADS] if _stays(thread))
    if started and not subject.keeps_threads:
        rule = "a kernel leaves no thread behind, unless it says pool=True"
        raise Violation(rule, "all", "no new thread", ", ".join(started))
    opened = seen.after[DESCRIPTORS] - seen.before[DESCRIPTORS]
    if opened and not subject.is_made and subject.device.backend.host_memory:
        rule = "a kernel leaves no file open, unless `make` made it"
        raise Violation(rule, "all", "no new file descriptor", ", ".join(map(_file, sorted(opened))))
    for attempt, warning in seen.warned:
        # Infinities and NaN are results like others; a host library may warn of them, and that is no fault.
        if not issubclass(warning.category, RuntimeWarning):
            got = f"{warning.category.__name__}: {warning.message}"
            raise Violation("a kernel warns of nothing", attempt.sample.name, "no warning", got)


def _stays(thread: threading.Thread) -> bool:
    """Whether a thread goes on; one that is told to end, such as a timer, may need a moment."""
    thread.join(0.1)
    return thread.is_alive()


def _file(descriptor: int) -> str:
    """What a descriptor is of, where the system tells."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return f"descriptor {descriptor}"


def check_leaks(subject: Subject) -> None:
    """Check that a kernel keeps no reference to inputs or results, and that its memory does not grow with its calls."""
    calls = [(sample, call) for sample, call in kernel_calls(subject) if all(array.size for array in call.before)]
    for sample, call in calls:
        for name in _held(subject, call):
            rule = "a kernel holds no array after its call"
            raise Violation(rule, sample.name, f"{name} is gone when nobody else holds it", "it is held")
    if calls:
        sample, call = min(calls, key=lambda found: sum(array.nbytes for array in found[1].before))

        def once() -> None:
            subject.kernel(*on_device(subject, call.before), **call.attributes)
            subject.device.backend.synchronize(subject.device.index)

        if (grown := growth(once)) is not None:
            account, more = grown
            rule = f"{account.what} of a kernel does not grow with the number of its calls"
            raise Violation(rule, sample.name, "no growth", f"{more} {account.unit} after {CALLS} calls")


def _held(subject: Subject, call: KernelCall) -> list[str]:
    """The names of the inputs and results that somebody holds after a call."""
    arrays = on_device(subject, call.before)
    returned = results(subject, subject.kernel(*arrays, **call.attributes))
    subject.device.backend.synchronize(subject.device.index)  # work that is not done yet holds what it needs
    watched = [(input_name(subject, n), _reference(array)) for n, array in enumerate(arrays)]
    watched += [("a result", _reference(array)) for array in returned]
    del arrays, returned
    if any(reference() is not None for _, reference in watched):
        subject.device.synchronize()  # work that is under way may need them
        gc.collect()
    return [name for name, reference in watched if reference() is not None]


def _reference(array: Any) -> Callable[[], Any]:
    """A weak reference, or one to nothing if the array's type has none."""
    try:
        return weakref.ref(array)
    except TypeError:
        return lambda: None
