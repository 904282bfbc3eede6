"""Out arrays: results written into a given array, compared bit by bit with returned ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.checks.recording import kernel_calls, on_device, repeat
from agog_testing.comparison import same, shown
from agog_testing.opinfo import Sample
from agog_testing.subject import Array, KernelCall, Subject, Untaken, Violation

RULE = "a kernel's `out` fills an array with what the kernel returns"


def check_out(subject: Subject) -> None:
    """Compare the results of `Kernel.out`, in arrays of ones, zeros, and NaN or large numbers, with returned ones."""
    has_taken = False
    for sample, call in kernel_calls(subject):
        (wanted,) = repeat(subject, on_device(subject, call.before), call.attributes)[:1]
        for before in (1, 0, _unlikely(wanted.dtype)):
            has_taken |= _check(subject, sample, call, wanted, before)
    if not has_taken:
        raise Untaken(RULE, "all", "results", "NotImplemented for each call")


def _unlikely(dtype: np.dtype[Any]) -> Any:
    """What a sum or a product with it shows: NaN, or the largest integer."""
    kind = as_dtype(dtype)
    if kind.is_differentiable:
        return np.nan
    return np.iinfo(dtype).max if kind.is_integer else 1


def _check(subject: Subject, sample: Sample, call: KernelCall, wanted: Array, before: Any) -> bool:
    assert subject.fill is not None
    arrays = on_device(subject, call.before)
    (out,) = on_device(subject, [np.full_like(wanted, before)])
    try:
        result = subject.fill(*arrays, out=out, **call.attributes)
    except Exception as error:
        raise Violation(RULE, sample.name, "a result", f"{type(error).__name__}: {error}") from error
    if result is NotImplemented:
        return False
    if result is not None:
        raise Violation(RULE, sample.name, "None, or NotImplemented", repr(result))
    pairs = [
        (subject.host(array), given, "a kernel does not change its inputs")
        for array, given in zip(arrays, call.before, strict=True)
    ]
    for got, expected, rule in (*pairs, (subject.host(out), wanted, RULE)):
        if not same(got, expected):
            raise Violation(rule, sample.name, shown(expected), shown(got))
    return True
