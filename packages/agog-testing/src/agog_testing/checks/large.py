"""Large: a call of 100,003 elements, where kernels for large calls, threads and blocks come in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agog_testing.checks.sizes import MIDDLE_SIZE, is_slow, of_rows, processor_seconds, usual_samples
from agog_testing.checks.values import VALUE, compare
from agog_testing.opinfo import OpInfo, Sample
from agog_testing.subject import Array, Subject, Violation, arrays_of

SIZE = 100_003
# What takes longer goes from row to row in Python.
_MOST_SECONDS = 1.0
_DTYPES = ("float32", "int32", "string")


def has_large_call(info: OpInfo, dtype: str) -> bool:
    """Whether large calls are made with a dtype: one of each kind, as what a kernel does with others is the same."""
    return dtype in _DTYPES or (dtype in ("float64", "complex64") and "float32" not in info.dtypes)


def check_large(subject: Subject) -> None:
    """Compare the result of a large call with the reference, which is not asked for derivatives there."""
    if is_slow(subject):  # it has no other way for large calls, and would take minutes
        return
    for sample, expected in _large_sample(subject):
        attempt = subject.attempt(sample)
        if attempt.calls and isinstance(attempt.outcome, Violation):
            raise attempt.outcome
        if not isinstance(attempt.outcome, Violation):  # else the op has refused the shapes, before its kernel
            compare(subject, sample, attempt.outcome, VALUE, expected=expected)


def _large_sample(subject: Subject) -> Iterator[tuple[Sample, tuple[Array, ...]]]:
    """A sample of that size and what the reference gives; none where the op has no rows that are independent."""
    sized, rng = subject.info.sized, np.random.default_rng(subject.seed)
    found = next(iter(sized(subject.dtype, rng, SIZE)), None) if sized is not None else None
    if found is not None:
        yield found, subject.expected(found)
        return
    for sample in usual_samples(subject):
        rows = {len(array) for array in arrays_of(sample) if array.ndim}
        if len(rows) == 1 and (blocks := _blocks(subject, sample, *rows)) is not None:
            yield blocks
            return


def _blocks(subject: Subject, sample: Sample, rows: int) -> tuple[Sample, tuple[Array, ...]] | None:
    """A sample of the same rows again and again, with their results; None if rows change each other's, or take long."""
    every = list(range(len(arrays_of(sample))))
    size = SIZE * rows // max(array.size for array in arrays_of(sample))
    try:
        block = subject.expected(of_rows(sample, every, rows))
        longer = subject.expected(of_rows(sample, every, 2 * rows + 1))
    except Exception:  # the reference does not take so many rows
        return None
    if not all(array.ndim and len(array) == rows for array in block):
        return None
    for array, other in zip(block, longer, strict=True):
        if len(other) != 2 * rows + 1 or not np.array_equal(_again(array, 2 * rows + 1), other):
            return None
    middle = [of_rows(sample, every, MIDDLE_SIZE)]
    seconds = min(processor_seconds(subject, middle) for _ in range(2))  # the first may import something
    if seconds / MIDDLE_SIZE * size > _MOST_SECONDS:
        return None
    return of_rows(sample, every, size), tuple(_again(array, size) for array in block)


def _again(array: Array, size: int) -> Array:
    """So many rows: an array's own, again and again."""
    return np.take(array, np.arange(size) % len(array), axis=0)
