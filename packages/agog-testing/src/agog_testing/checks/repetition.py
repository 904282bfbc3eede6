"""Repetition: equal calls give equal bits, thousands of times, and from several threads at once."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from types import FrameType
from typing import Any

import numpy as np

from agog_testing.checks.recording import kernel_calls, on_device, repeat, results
from agog_testing.checks.sizes import is_slow
from agog_testing.checks.values import differing
from agog_testing.comparison import same, shown
from agog_testing.opinfo import Sample
from agog_testing.subject import Array, KernelCall, Subject, Violation, arrays_of

BITS = "calls with the same inputs give the same bits, unless the kernel says deterministic=False"

# One call in 300 that goes wrong is found with a probability of 99.9 %.
_REPETITIONS = 2100
# Slow kernels are called less often; float32, which most kernels are for, is called for longer.
_SECONDS, _SECONDS_OF_FLOAT32 = 0.01, 0.4
# They come at so many addresses in turn.
_COPIES = 16

_THREADS = 4
_CALLS_PER_THREAD = 30
_SECONDS_PER_THREAD = 0.5  # of its own work; a kernel that needs longer gives others many chances in each call
_PAUSES = 60
_LARGEST_IN_THREADS = 10_000


def check_repeated(subject: Subject) -> None:
    """Check that a kernel gives the same again: for each sample once more, and for a small one some thousand times."""
    calls = list(_calls_with_elements(subject))
    for sample, call in calls:
        _compare(subject, _again(subject, call), _again(subject, call), f"{sample.name}, twice")
    if calls:
        sample, call = min(calls, key=lambda found: _size(found[1]))
        again = _repeater(subject, call)
        first = again()
        end = time.perf_counter() + (_SECONDS_OF_FLOAT32 if subject.dtype == "float32" else _SECONDS)
        for _ in range(_REPETITIONS):
            _compare(subject, first, again(), f"{sample.name}, many times")
            if time.perf_counter() > end:
                break


def _repeater(subject: Subject, call: KernelCall) -> Callable[[], list[Array]]:
    """A function that makes a call again: with one of several copies of its inputs, or new ones of what it updates."""
    if subject.info.op.updates:
        return lambda: _again(subject, call)
    copies, kernel, attributes = _copies(subject, call), subject.kernel, call.attributes
    return lambda: [subject.host(array) for array in results(subject, kernel(*next(copies), **attributes))]


def _copies(subject: Subject, call: KernelCall) -> Iterator[list[Any]]:
    return cycle([on_device(subject, call.before) for _ in range(_COPIES)])


def check_threads(subject: Subject) -> None:
    """Check that simultaneous calls from several threads, with different values, give the results of one thread."""
    shares = _shares(subject)
    alone = [_again(subject, call) for _, call in shares]
    failures: list[Violation] = []
    ready = threading.Barrier(max(1, len(shares)))

    def work(number: int) -> None:
        sample, call = shares[number]
        ready.wait()
        try:
            sys.settrace(_pauses())
            for _ in range(_CALLS_PER_THREAD):
                _compare(subject, alone[number], _again(subject, call), f"{sample.name}, from {_THREADS} threads")
                if time.thread_time() > _SECONDS_PER_THREAD:
                    break
        except Violation as violation:
            failures.append(violation)
        except Exception as error:
            rule, got = "a kernel runs in several threads at a time", f"{type(error).__name__}: {error}"
            failures.append(Violation(rule, sample.name, "a result", got))
        finally:
            sys.settrace(None)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(shares))]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if failures:
        raise failures[0]


def _pauses() -> Callable[..., Any]:
    """A tracing function that lets other threads run between the first lines of a kernel; a lucky order would hide a
    fault. What a kernel does inside a library takes its chances.
    """
    left = iter(range(_PAUSES))

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            if next(left, None) is None:
                sys.settrace(None)
            else:
                time.sleep(1e-4)
        return None if frame.f_globals.get("__name__", "").startswith("agog_testing") else trace

    return trace


def _shares(subject: Subject) -> list[tuple[Sample, KernelCall]]:
    """A call for each thread: one sample, the largest that is not too large or slow, with other values in each."""
    samples: Callable[[Subject, int], list[Sample]] = Subject.samples if is_slow(subject) else _many_elements
    return [one for seed in range(_THREADS) for one in _largest(subject, samples(subject, seed))]


def _largest(subject: Subject, samples: list[Sample]) -> list[tuple[Sample, KernelCall]]:
    """The call for the largest of some samples that is not too large; none if there is none."""
    for sample in sorted(samples, key=lambda sample: sum(array.size for array in arrays_of(sample)), reverse=True):
        fitting = [call for call in subject.run(sample).calls if 0 < _size(call) <= _LARGEST_IN_THREADS]
        if fitting:
            return [(sample, max(fitting, key=_size))]
    return []


def _many_elements(subject: Subject, seed: int) -> list[Sample]:
    """Samples large enough that NumPy releases the GIL, if the kit has them."""
    sized = subject.info.sized
    found = list(sized(subject.dtype, np.random.default_rng(subject.seed + seed), 4097)) if sized else []
    return found or subject.samples(seed)


def _calls_with_elements(subject: Subject) -> Iterator[tuple[Sample, KernelCall]]:
    """The recorded calls that compute something."""
    for sample, call in kernel_calls(subject):
        if all(array.size for array in call.before):
            yield sample, call


def _size(call: KernelCall) -> int:
    return sum(array.size for array in call.before)


def _again(subject: Subject, call: KernelCall) -> list[Array]:
    return repeat(subject, on_device(subject, call.before), call.attributes)


def _compare(subject: Subject, wanted: list[Array], found: list[Array], where: str) -> None:
    for expected, output in zip(wanted, found, strict=True):
        if not subject.deterministic:
            differing(subject, output, expected, BITS, where)
        elif not same(expected, output):
            raise Violation(BITS, where, shown(expected), shown(output))
