"""Differences of two checkpoints: of their keys, values and other state."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from agog.commands import wording
from agog_checkpoint import compact_json

_LONGEST_STATE = 100


def differences(
    one: str,
    arrays: Mapping[str, Any],
    states: Mapping[str, Any],
    other: str,
    other_arrays: Mapping[str, Any],
    other_states: Mapping[str, Any],
) -> list[str]:
    """A line for each difference of the checkpoints at two paths."""
    return [
        *_only(one, arrays, other_arrays),
        *_only(other, other_arrays, arrays),
        *(
            f"{key}: {difference}"
            for key in sorted(arrays.keys() & other_arrays.keys())
            if (difference := _difference(arrays[key], other_arrays[key])) is not None
        ),
        *_state_differences("", dict(states), dict(other_states)),
    ]


def _only(path: str, arrays: Mapping[str, Any], others: Mapping[str, Any]) -> list[str]:
    return [
        f"{key}: only in {path}, {arrays[key].dtype} {list(arrays[key].shape)}"
        for key in sorted(arrays.keys() - others.keys())
    ]


def _difference(one: Any, other: Any) -> str | None:
    if one.shape != other.shape:
        return f"shape {list(one.shape)} and {list(other.shape)}"
    if one.dtype != other.dtype:
        return f"dtype {one.dtype} and {other.dtype}"
    if one.dtype == object:
        count = sum(map(operator.ne, one.flat, other.flat))
        return f"{count} of {wording.counted(one.size, 'text')} differ" if count else None
    differing = one.tobytes() != other.tobytes() and ~((one == other) | ((one != one) & (other != other)))
    if differing is False:
        return None
    count = int(np.count_nonzero(differing))
    if not count:
        return "the same values in other bits (signed zeros or NaN)"
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    with np.errstate(invalid="ignore"):
        largest = np.max(np.abs(one.astype(wide) - other.astype(wide))[differing])
    return f"{count} of {wording.counted(one.size, 'value')} differ, by at most {largest:g}"


def _state_differences(label: str, one: Any, other: Any) -> Iterator[str]:
    """What differs in the innermost dicts, since the beginnings of long states are often the same."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted(one.keys() | other.keys()):
            yield from _state_differences(f"{label} {name}".lstrip(), one.get(name), other.get(name))
    elif one != other:
        yield f"{label}: {_short(one)} and {_short(other)}"


def _short(state: Any) -> str:
    text = "nothing" if state is None else compact_json.dump(state, ensure_ascii=False)
    return text if len(text) <= _LONGEST_STATE else f"{text[:_LONGEST_STATE]}..."
