"""Kinds of samples and dtypes, for a quick run: one of each."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from agog_core.dtypes import as_dtype
from agog_testing.opinfo import Sample

QUICK = "one sample of each kind, one dtype of each kind"
"""What a quick run is, in reports."""

# Of each kind of dtypes the one that most programs use; numerical differentiation needs float64.
_USUAL = ("float64", "float32", "int32", "complex64")


def dtypes_of_each_kind(names: Iterable[str]) -> set[str]:
    """One dtype of each kind: floating-point, integer, complex, and each other one; float64 beside."""
    chosen: dict[Hashable, str] = {}
    for name in sorted(names, key=lambda name: (name not in _USUAL, name)):
        dtype = as_dtype(name)
        kind = (dtype.is_floating, dtype.is_integer, dtype.is_complex)
        chosen.setdefault(kind if any(kind) and name != "float64" else name, name)
    return {*chosen.values()}


def samples_of_each_kind(samples: Sequence[Sample]) -> list[int]:
    """The positions of the first sample of each kind: its arrays' axes, emptiness and finiteness, and its options."""
    found: dict[Hashable, int] = {}
    for position, sample in enumerate(samples):
        arguments = (*sample.args, *sorted(sample.kwargs.items()))
        kind = (sample.smooth, sample.digest is None, repr([_kind(value) for value in arguments]))
        found.setdefault(kind, position)
    return list(found.values())


def _kind(value: Any) -> Any:
    """What a value has in common with others of its kind; numbers are of their type's."""
    if isinstance(value, np.ndarray):
        return value.ndim, value.size == 0, _is_finite(value)
    if isinstance(value, (list, tuple)):
        return [_kind(part) for part in value]
    return value if value is None or isinstance(value, (bool, str)) else type(value).__name__


def _is_finite(array: np.ndarray[Any, Any]) -> bool:
    return not as_dtype(array.dtype).is_differentiable or bool(np.isfinite(array.astype(np.complex128)).all())
