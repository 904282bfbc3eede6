"""Sizes: calls of an op to time, small and large, made of its samples."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from agog_testing.opinfo import Sample
from agog_testing.subject import Array, Subject, Violation, arrays_of, map_arrays

Lengthen = Callable[[list[Array], int], list[Array]]

# How many elements the longest input has, of the sample that is made longer, and then.
_SHORT, _LONG = 100, 1_000_000
# What takes longer is not made longer still.
_SECONDS = 0.05


def calls_to_time(subject: Subject) -> Iterator[tuple[str, Sample]]:
    """Calls from small to large, each with its arrays' shapes: those that the op's facts name, or made of samples."""
    info = subject.info
    if info.timed is not None:
        found = list(info.timed(subject.dtype, np.random.default_rng(subject.seed)))
    else:
        found = _of_samples(subject)
    for sample in found:
        yield shapes(sample), sample


def shapes(sample: Sample) -> str:
    """The label of a call: the shapes of its arrays, or its name if it has none."""
    return ", ".join(str(array.shape) for array in arrays_of(sample)) or sample.name


def _of_samples(subject: Subject) -> list[Sample]:
    """A short sample, and the same made longer as far as its op allows; else a small, a middle and a large sample."""
    usual = [sample for sample in subject.samples() if sample.smooth and all(array.size for array in arrays_of(sample))]
    usual = sorted(usual or subject.samples(), key=_elements)
    short = next((sample for sample in reversed(usual) if _elements(sample) <= _SHORT), usual[0])
    for lengthen in (_rows_of_all, _rows_of_first, _batches):
        if longer := _lengthened(subject, short, lengthen):
            return _three([short, *longer])
    return _three(usual)


def _three(samples: list[Sample]) -> list[Sample]:
    """The first, the middle and the last of some; fewer if there are no three."""
    return [samples[n] for n in sorted({0, len(samples) // 2, len(samples) - 1})]


def _lengthened(subject: Subject, sample: Sample, lengthen: Lengthen) -> list[Sample]:
    """A sample in 10, 100, ... times its length, as far as the op takes that and is done soon."""
    found: list[Sample] = []
    times, seconds = 10, 0.0
    while 0 < _elements(sample) * times <= _LONG and seconds < _SECONDS:
        longer = _with_arrays(sample, lengthen(arrays_of(sample), times))
        start = time.perf_counter()
        try:
            subject.run(longer)
        except Violation:  # the op does not take it
            break
        seconds = time.perf_counter() - start
        found.append(longer)
        times *= 10
    return found


def _rows_of_all(arrays: list[Array], times: int) -> list[Array]:
    """Each array several times, one after the other."""
    return [np.concatenate([array] * times) if array.ndim else array for array in arrays]


def _rows_of_first(arrays: list[Array], times: int) -> list[Array]:
    """The first array several times."""
    return [*_rows_of_all(arrays[:1], times), *arrays[1:]]


def _batches(arrays: list[Array], times: int) -> list[Array]:
    """A batch of equal arrays in place of each."""
    return [np.stack([array] * times) for array in arrays]


def _with_arrays(sample: Sample, arrays: list[Array]) -> Sample:
    """A sample with other arrays in place of its own."""
    others = iter(arrays)
    args = tuple(map_arrays(lambda _: next(others), value) for value in sample.args)
    kwargs = {key: map_arrays(lambda _: next(others), value) for key, value in sample.kwargs.items()}
    return replace(sample, args=args, kwargs=kwargs)


def _elements(sample: Sample) -> int:
    return max((array.size for array in arrays_of(sample)), default=0)
