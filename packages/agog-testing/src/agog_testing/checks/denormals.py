"""Denormals: inputs next to zero, which libraries take for zero if their compiler or the processor is told to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import ml_dtypes
import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.checks.recording import recording
from agog_testing.comparison import close
from agog_testing.opinfo import Sample
from agog_testing.subject import Array, Subject, Violation, arrays_of, map_arrays

WITHOUT = {
    *(
        "random_gamma",
        "cholesky",
        "matrix_determinant",
        "matrix_solve_ls",
        "matrix_triangular_solve",
        "matrix_inverse",
        "matrix_solve",
    ),
    *("matrix_square_root", "log_matrix_determinant", "qr", "svd", "self_adjoint_eig"),
    *("betainc", "igamma", "igammac", "polygamma", "zeta", "reduce_extremum_grad", "gru_grad", "lstm_grad"),
    *("resample", "resample_grad"),
}
"""Ops whose results there hang on what is too small for any number, or whose references do not reach that far."""

# The largest samples that are not too large are made of denormal numbers.
_SAMPLES = 3
_MOST_ELEMENTS = 400
# Each step of a sum of products rounds to a multiple of the smallest number; the sums of samples have fewer steps.
_STEPS = 64


def check_denormals(subject: Subject) -> None:
    """Compare results for denormal inputs with the reference; what is next to zero too has the same relative error."""
    rule = "a kernel computes with denormal numbers, and takes none for zero"
    for sample in _denormal_samples(subject):
        run = subject.run(sample)
        for output, wanted, dtype in zip(run.outputs, subject.expected(sample), run.dtypes, strict=True):
            if not dtype.is_floating:
                continue
            if output.shape != wanted.shape:
                raise Violation(rule, sample.name, f"shape {wanted.shape}", f"shape {output.shape}")
            rtol, atol = subject.tolerance(dtype.name)
            limits = ml_dtypes.finfo(dtype.numpy_dtype)  # type: ignore[no-untyped-call]  # it has no annotations
            with np.errstate(all="ignore"):
                rounded = wanted.astype(dtype.numpy_dtype)
                is_tiny = np.abs(rounded.astype(np.float64)) < min(1e-3, 4 * np.sqrt(float(limits.smallest_normal)))
                least = close(output, rounded, rtol, _STEPS * float(limits.smallest_subnormal))
                is_wrong = ~np.where(is_tiny, least, close(output, rounded, rtol, atol))
            if is_wrong.any():
                index = tuple(int(n) for n in np.argwhere(is_wrong)[0])
                raise Violation(rule, sample.name, f"{rounded[index]!r} at {index}", f"{output[index]!r} at {index}")


def _denormal_samples(subject: Subject) -> Iterator[Sample]:
    """Samples with denormal numbers in all inputs that are floats, and in the first of them alone."""
    smooth = [attempt.sample for attempt in recording(subject).attempts if attempt.sample.smooth]
    usual = [sample for sample in smooth if sample.digest is None and 0 < _elements(sample) <= _MOST_ELEMENTS]
    for sample in sorted(usual, key=_elements, reverse=True)[:_SAMPLES]:
        arrays = arrays_of(sample)
        floats = [n for n, array in enumerate(arrays) if as_dtype(array.dtype).is_floating]
        if floats and all(array.size for array in arrays):
            yield _made_denormal(sample, floats, "all inputs")
            if len(floats) > 1:
                yield _made_denormal(sample, floats[:1], "the first input")


def _made_denormal(sample: Sample, chosen: list[int], where: str) -> Sample:
    """A sample with some of its arrays divided by one number: equal elements stay equal, and signs what they are."""
    arrays = [array.astype(np.float64) for n, array in enumerate(arrays_of(sample)) if n in chosen]
    largest = max(float(np.max(np.abs(array), initial=0)) for array in arrays) or 1.0
    positions = iter(range(len(arrays_of(sample))))

    def divided(array: Array) -> Array:
        if next(positions) not in chosen:
            return array
        limits = ml_dtypes.finfo(array.dtype)  # type: ignore[no-untyped-call]  # it has no annotations
        return (array.astype(np.float64) / largest * (0.9 * float(limits.smallest_normal))).astype(array.dtype)

    args = tuple(map_arrays(divided, value) for value in sample.args)
    kwargs = {key: map_arrays(divided, value) for key, value in sample.kwargs.items()}
    return replace(sample, name=f"{sample.name}, denormal numbers in {where}", args=args, kwargs=kwargs)


def _elements(sample: Sample) -> int:
    return sum(array.size for array in arrays_of(sample))
