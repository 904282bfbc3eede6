"""Sizes: results compared with the reference at sizes where fast loops switch their path."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

import agog_core as ag
from agog_testing.checks.values import VALUE, compare_all
from agog_testing.opinfo import Sample
from agog_testing.subject import Array, Subject, arrays_of, map_arrays

SIZES = (*range(1, 71), 127, 128, 129, 4097)
"""Around all lengths of vector registers, unrolled loops and blocks."""
_QUICK_SIZES = (1, 3, 8, 17, 64, 65, 129, 4097)
MIDDLE_SIZE, _SECONDS_OF_SLOW_CALL = 129, 0.01

# For ops whose facts name no samples of a size. Their references may go from element to element, so these are fewer.
_SIZES_OF_ROWS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)
_SAMPLES_OF_ROWS = 2


def check_sizes(subject: Subject) -> None:
    """Compare results with the reference for inputs of many sizes."""
    sized, rng = subject.info.sized, np.random.default_rng(subject.seed)
    if sized is None:
        compare_all(subject, list(_of_many_rows(subject)), VALUE)
        return
    sizes = _QUICK_SIZES if subject.quick else SIZES
    if subject.quick and is_slow(subject):
        sizes = _QUICK_SIZES[:-1]
    samples = [sample for size in sizes for sample in sized(subject.dtype, rng, size)]
    compare_all(subject, list(zip(samples, _expected(subject, samples), strict=True)), VALUE)


def is_slow(subject: Subject) -> bool:
    """Whether a call of a middle size takes so long that the kernel must go from element to element in Python."""
    sized = subject.info.sized
    if sized is None:
        return False
    samples = list(sized(subject.dtype, np.random.default_rng(subject.seed), MIDDLE_SIZE))
    return processor_seconds(subject, samples) > _SECONDS_OF_SLOW_CALL * len(samples)


def processor_seconds(subject: Subject, samples: Sequence[Sample]) -> float:
    """The time of the processor that the calls of samples need."""
    start = time.process_time()
    for sample in samples:
        subject.attempt(sample)
    return time.process_time() - start


def _expected(subject: Subject, samples: list[Sample]) -> list[tuple[Array, ...]]:
    """The reference's results for each sample; an elementwise one is called once."""
    if not subject.info.elementwise:
        return [subject.expected(sample) for sample in samples]
    shapes = [np.broadcast_shapes(*(np.shape(value) for value in sample.args)) for sample in samples]
    flat = [
        np.concatenate([np.broadcast_to(value, shape).ravel() for value, shape in zip(column, shapes, strict=True)])
        for column in zip(*(sample.args for sample in samples), strict=True)
    ]
    (whole,) = subject.expected(Sample("all sizes", tuple(flat)))
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    return [(part.reshape(shape),) for part, shape in zip(np.split(whole, ends), shapes, strict=True)]


def _of_many_rows(subject: Subject) -> Iterator[tuple[Sample, tuple[Array, ...]]]:
    """Small samples with more rows, of all inputs or of one, if the op accepts that; and what the reference gives."""
    for sample in usual_samples(subject)[:_SAMPLES_OF_ROWS]:
        count = len(arrays_of(sample))
        for lengthened in ([*range(count)], *([n] for n in range(count) if count > 1)):
            if _taken(subject, of_rows(sample, lengthened, 6)) is not None:
                for size in _QUICK_SIZES[:-1] if subject.quick else _SIZES_OF_ROWS:
                    longer = of_rows(sample, lengthened, size)
                    if (expected := _taken(subject, longer)) is not None:
                        yield longer, expected


def usual_samples(subject: Subject) -> list[Sample]:
    """The samples whose arrays have rows, the smallest first."""
    usual = [sample for sample in subject.samples() if sample.smooth and sample.digest is None and _has_rows(sample)]
    return sorted(usual, key=lambda sample: sum(array.size for array in arrays_of(sample)))


def _taken(subject: Subject, sample: Sample) -> tuple[Array, ...] | None:
    """The reference's result, if it accepts the sample and the op does not refuse it for all kernels."""
    try:
        with ag.device(subject.device.name):
            args, kwargs, _ = subject.arguments(sample)
            subject.info.call(*args, **kwargs)
            subject.device.synchronize()  # a device may tell of wrong values when it is waited for
        expected = subject.expected(sample)
    except Exception:
        return None
    return expected if all(map(_is_finite, expected)) else None


def _is_finite(array: Array) -> bool:
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def of_rows(sample: Sample, lengthened: Sequence[int], size: int) -> Sample:
    """A sample in which some of the arrays have so many rows: their own, again and again."""
    positions = iter(range(len(arrays_of(sample))))

    def rows(array: Array) -> Array:
        if next(positions) not in lengthened or not array.ndim:
            return array
        return np.take(array, np.arange(size) % len(array), axis=0)

    args = tuple(map_arrays(rows, value) for value in sample.args)
    kwargs = {key: map_arrays(rows, value) for key, value in sample.kwargs.items()}
    return replace(sample, name=f"{sample.name}, {size} rows of inputs {lengthened}", args=args, kwargs=kwargs)


def _has_rows(sample: Sample) -> bool:
    arrays = arrays_of(sample)
    return all(array.size for array in arrays) and any(array.ndim for array in arrays)
