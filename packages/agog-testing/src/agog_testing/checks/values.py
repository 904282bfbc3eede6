"""Values: results compared with the reference, for samples, sizes and layouts of the inputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from agog_core.dtypes import DType, as_dtype
from agog_testing.checks.recording import recording, runs
from agog_testing.comparison import close
from agog_testing.opinfo import Sample
from agog_testing.subject import Array, Run, Subject, Violation, map_arrays

VALUE = "a kernel's result is the reference's, within the tolerance"


def check_value(subject: Subject) -> None:
    """Compare results with the reference; some sample has to reach the kernel."""
    reached = False
    for sample, run in runs(subject):
        reached = reached or bool(run.calls)
        compare(subject, sample, run, VALUE)
    if not reached:
        raise Violation("the samples of an op reach its kernel", "all", "a call of the kernel", "none")
    for sample in _with_gradients_of_ones(subject):
        compare(subject, sample, subject.run(sample), VALUE)


def _with_gradients_of_ones(subject: Subject) -> Iterator[Sample]:
    """Samples whose incoming gradients are all ones, as those of a sum are."""
    names = subject.info.op.inputs
    if subject.info.op.updates or not any(name.startswith("grad") for name in names):
        return

    def ones(array: Array) -> Array:
        name = next(remaining, "")
        return np.ones_like(array) if name.startswith("grad") else array

    for attempt in recording(subject).attempts[:12]:
        sample, remaining = attempt.sample, iter(names)
        args = tuple(map_arrays(ones, value) for value in sample.args)
        kwargs = {key: map_arrays(ones, value) for key, value in sample.kwargs.items()}
        yield dataclasses.replace(sample, name=f"{sample.name}, gradients of ones", args=args, kwargs=kwargs)


def check_bits(subject: Subject) -> None:
    """Compare results, bit by bit, with those of all other backends, for ops whose results are the same everywhere."""
    for sample, run in runs(subject):
        if sample.digest is not None:
            (output,) = run.outputs
            digest = sha256(np.ascontiguousarray(output).tobytes()).hexdigest()
            if digest != sample.digest:
                rule = "the result has the same bits on every backend"
                raise Violation(rule, sample.name, f"bytes with SHA-256 {sample.digest}", digest)


def compare(
    subject: Subject,
    sample: Sample,
    run: Run,
    rule: str,
    name: str | None = None,
    expected: tuple[Array, ...] | None = None,
) -> None:
    """Raise `Violation` where a run's results are not the expected ones, by default the reference's."""
    expected = subject.expected(sample) if expected is None else expected
    where = name or sample.name
    if len(run.outputs) != len(expected):
        raise Violation(rule, where, f"{len(expected)} results", f"{len(run.outputs)} results")
    for output, wanted, dtype in zip(run.outputs, expected, run.dtypes, strict=True):
        if output.shape != wanted.shape:
            raise Violation(rule, where, f"shape {wanted.shape}", f"shape {output.shape}")
        with np.errstate(all="ignore"):
            rounded = wanted.astype(dtype.numpy_dtype)
        subject.accuracy.see(output, rounded)
        differing(subject, output, rounded, rule, where)


def compare_all(subject: Subject, pairs: Sequence[tuple[Sample, tuple[Array, ...]]], rule: str) -> None:
    """Compare the results for many samples with the expected ones: all at once, and one by one where some are wrong."""
    found = list(subject.run_all(sample for sample, _ in pairs))
    if not _are_close(subject, found, [expected for _, expected in pairs]):
        for (sample, expected), run in zip(pairs, found, strict=True):
            compare(subject, sample, run, rule, expected=expected)


def _are_close(subject: Subject, found: Sequence[Run], expected: Sequence[tuple[Array, ...]]) -> bool:
    """Whether all results have the wanted shapes and values."""
    outputs: dict[DType, tuple[list[Array], list[Array]]] = {}
    with np.errstate(all="ignore"):
        for run, wanted in zip(found, expected, strict=True):
            if [output.shape for output in run.outputs] != [array.shape for array in wanted]:
                return False
            for output, array, dtype in zip(run.outputs, wanted, run.dtypes, strict=True):
                of_dtype = outputs.setdefault(dtype, ([], []))
                of_dtype[0].append(output.ravel())
                of_dtype[1].append(array.ravel().astype(dtype.numpy_dtype))
        ends = [tuple(map(np.concatenate, of_dtype)) for of_dtype in outputs.values()]
        for output, rounded in ends:
            subject.accuracy.see(output, rounded)
        return all(_is_close(subject, output, rounded).all() for output, rounded in ends)


def _is_close(subject: Subject, output: Array, wanted: Array) -> Array:
    """Where elements of an array are the wanted ones, within the tolerance of its dtype."""
    rtol, atol = subject.tolerance(as_dtype(wanted.dtype).name)
    with np.errstate(all="ignore"):
        return close(output, wanted, rtol, atol, subject.info.signed_zeros)


def differing(subject: Subject, output: Array, wanted: Array, rule: str, where: str) -> None:
    """Raise `Violation` where elements of an array are not the wanted ones, within the tolerance of its dtype."""
    is_wrong = ~_is_close(subject, output, wanted)
    if is_wrong.any():
        rtol, atol = subject.tolerance(as_dtype(wanted.dtype).name)
        index: Any = tuple(int(i) for i in np.argwhere(is_wrong)[0])
        at = f" at {index}" if index else ""
        more = f" ({np.count_nonzero(is_wrong)} of {output.size} elements are wrong; rtol {rtol:g}, atol {atol:g})"
        raise Violation(rule, where, f"{wanted[index]!r}{at}", f"{output[index]!r}{at}{more}")
