"""Bounds: inputs between margins, of which a kernel reads and writes nothing."""

from __future__ import annotations

import numpy as np

from agog_testing.checks.guarded_pages import check_pages
from agog_testing.checks.large import has_large_call
from agog_testing.checks.recording import input_name, is_host_memory, kernel_calls, repeat
from agog_testing.checks.values import differing
from agog_testing.comparison import same, shown
from agog_testing.subject import Array, KernelCall, Subject, Violation

# So many elements are before an array, and behind it; more than a vector register or an unrolled loop takes at once.
_MARGIN = 64
# Zeros; NaN and -1; and large numbers.
_FILLINGS = (0x00, 0xFF, 0x7F)


def check_bounds(subject: Subject) -> None:
    """Check that results do not hang on what lies before and behind the inputs, and that nothing there is touched."""
    rule = "a kernel reads nothing outside of its inputs"
    calls = [(sample, call) for sample, call in kernel_calls(subject) if _can_be_placed(subject, call)]
    for sample, call in calls:
        first, *others = (_results(subject, sample.name, call, filling) for filling in _FILLINGS)
        where = f"{sample.name}, inputs between other bytes"
        for expected, output in (pair for other in others for pair in zip(first, other, strict=True)):
            if not subject.deterministic:
                differing(subject, output, expected, rule, where)
            elif not same(expected, output):
                raise Violation(rule, where, shown(expected), shown(output))
    if has_large_call(subject.info, subject.dtype):  # a child process for each dtype would take as long as all the rest
        check_pages(subject, [(sample.name, call) for sample, call in calls])


def _can_be_placed(subject: Subject, call: KernelCall) -> bool:
    return is_host_memory(subject, call.arrays) and all(array.dtype != object for array in call.before)


def _results(subject: Subject, name: str, call: KernelCall, filling: int) -> list[Array]:
    """The results for inputs between margins of a byte, which have to stay what they are."""
    memories = [np.full((array.size + 2 * _MARGIN) * array.itemsize, filling, np.uint8) for array in call.before]
    arrays = [_placed(memory, array) for memory, array in zip(memories, call.before, strict=True)]
    found = repeat(subject, arrays, call.attributes)
    for position, (memory, array) in enumerate(zip(memories, call.before, strict=True)):
        size = _MARGIN * array.itemsize
        if (memory[:size] != filling).any() or (memory[len(memory) - size :] != filling).any():
            rule = "a kernel writes nothing outside of its arrays"
            got = f"bytes next to {input_name(subject, position)} are written"
            raise Violation(rule, name, "the bytes that were there", got)
    return found


def _placed(memory: Array, array: Array) -> Array:
    """A copy of an array in the middle of a memory."""
    copy: Array = np.ndarray(array.shape, array.dtype, memory, _MARGIN * array.itemsize)
    copy[...] = array
    return copy
