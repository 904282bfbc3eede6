"""Side effects: leftovers of a kernel's calls: memory, threads, warnings, changed states of other modules."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

from agog_testing.checks.recording import input_name, kernel_calls, on_device, recording, results
from agog_testing.subject import KernelCall, Subject, Violation

_STATES = {
    "numpy_random": "the state of np.random",
    "python_random": "the state of random",
    "numpy_errors": "NumPy's error handling",
    "numpy_printing": "NumPy's print options",
}


def check_surroundings(subject: Subject) -> None:
    """Check that a kernel leaves threads, random states and NumPy's settings as they were, and warns of nothing."""
    seen = recording(subject)
    for name, what in _STATES.items():
        if getattr(seen.before, name) != getattr(seen.after, name):
            raise Violation(f"a kernel leaves {what} as it was", "all", "the same", "another")
    started = sorted(thread.name for thread in seen.after.threads - seen.before.threads)
    if started and not subject.keeps_threads:
        rule = "a kernel leaves no thread behind, unless it says pool=True"
        raise Violation(rule, "all", "no new thread", ", ".join(started))
    for attempt, warning in seen.warned:
        # Infinities and NaN are results like others; a host library may warn of them, and that is no fault.
        if not issubclass(warning.category, RuntimeWarning):
            got = f"{warning.category.__name__}: {warning.message}"
            raise Violation("a kernel warns of nothing", attempt.sample.name, "no warning", got)


# An array takes more than a hundred bytes, however short it is; what libraries keep for other reasons is less.
_CALLS = 50
_BYTES_PER_CALL = 64
# What grows for a while, such as a cache, does not grow on and on.
_ROUNDS = 8


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

        for _ in range(_ROUNDS):
            grown = _growth(once)
            if grown < _CALLS * _BYTES_PER_CALL:
                return
        rule = "the memory of a kernel does not grow with the number of its calls"
        raise Violation(rule, sample.name, "no growth", f"{grown} bytes after {_CALLS} calls")


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


def _growth(call: Callable[[], Any]) -> int:
    """By how many bytes the memory of Python and NumPy is larger after some calls."""
    is_tracing = tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        for _ in range(_CALLS // 4):
            call()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(_CALLS):
            call()
        if tracemalloc.get_traced_memory()[0] - before >= _CALLS * _BYTES_PER_CALL:
            gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        if not is_tracing:
            tracemalloc.stop()
