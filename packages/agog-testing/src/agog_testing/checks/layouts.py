"""Layouts: inputs of any strides, identical inputs, and read-only inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agog_testing.checks.recording import (
    input_name,
    is_host_memory,
    kernel_calls,
    on_device,
    recording,
    repeat,
)
from agog_testing.checks.values import compare, differing
from agog_testing.comparison import same, shown
from agog_testing.subject import Array, KernelCall, Subject, Violation, layouts

STRIDES = "a kernel reads inputs of any strides"


def check_strides(subject: Subject) -> None:
    """Compare results for inputs that are not contiguous with those for contiguous ones."""
    if all(is_host_memory(subject, call.arrays) for _, call in kernel_calls(subject)):
        for sample, call in kernel_calls(subject):
            wanted = _result(subject, call, call.before)
            for name, layout in _LAYOUTS.items():
                laid = _laid(subject, call.before, layout)
                _compare_calls(subject, call, laid, wanted, STRIDES, f"{sample.name}, inputs {name}")
            values = [_constant_along_an_axis(array) for array in call.before]
            laid = _laid(subject, values, _broadcast)
            wanted = _result(subject, call, values)
            _compare_calls(subject, call, laid, wanted, STRIDES, f"{sample.name}, inputs of stride 0")
        return
    for attempt in recording(subject).attempts:
        expected = subject.expected(attempt.sample)
        for name, tensors in layouts().items():
            run = subject.run(attempt.sample, tensors)
            compare(subject, attempt.sample, run, STRIDES, f"{attempt.sample.name}, inputs {name}", expected)


def check_same_array(subject: Subject) -> None:
    """Compare the result for one array as several inputs with that for copies of it."""
    rule = "a kernel takes one array as several inputs"
    for sample, call in kernel_calls(subject):
        updates = subject.info.op.updates
        read = [n for n in range(len(call.before)) if input_name(subject, n) not in updates]
        first, *others = read or [0]
        alike = [n for n in others if _is_alike(call.before[n], call.before[first])]
        if alike:
            values = [call.before[first] if n in alike else array for n, array in enumerate(call.before)]
            shared = on_device(subject, values)
            for n in alike:
                shared[n] = shared[first]
            wanted = _result(subject, call, values)
            _compare_calls(subject, call, shared, wanted, rule, f"{sample.name}, one array as several inputs")


def check_inputs(subject: Subject) -> None:
    """Check that the kernel changes no input, not even temporarily, except those declared as updated."""
    op = subject.info.op
    for sample, call in kernel_calls(subject):
        for position, (array, before) in enumerate(zip(call.arrays, call.before, strict=True)):
            name = input_name(subject, position)
            if name not in op.updates and not same(before, subject.host(array)):
                rule = "a kernel changes no input but those that its op updates"
                raise Violation(rule, sample.name, f"{name} stays {shown(before)}", shown(subject.host(array)))
        if is_host_memory(subject, call.arrays):
            arrays = on_device(subject, call.before)
            for position, array in enumerate(arrays):
                array.flags.writeable = input_name(subject, position) in op.updates
            try:
                subject.kernel(*arrays, **call.attributes)
            except Exception as error:
                rule = "a kernel writes to no input, not even for a while: memory of a mapped file is read-only"
                got = f"{type(error).__name__}: {error}"
                raise Violation(rule, f"{sample.name}, inputs read-only", "a result", got) from error


def _laid(subject: Subject, values: Sequence[Array], layout: Callable[[Array], Array]) -> list[Array]:
    """The arrays in a layout; updated ones are always contiguous."""
    updates = subject.info.op.updates
    return [np.array(x, order="C") if input_name(subject, n) in updates else layout(x) for n, x in enumerate(values)]


def _result(subject: Subject, call: KernelCall, values: Sequence[Array]) -> list[Array] | None:
    """The kernel's results for contiguous arrays; None if it refuses their values."""
    try:
        return repeat(subject, on_device(subject, values), call.attributes)
    except Exception:
        return None


def _compare_calls(
    subject: Subject, call: KernelCall, arrays: Sequence[Any], wanted: list[Array] | None, rule: str, where: str
) -> None:
    if wanted is None:
        return
    try:
        found = repeat(subject, arrays, call.attributes)
    except Exception as error:
        raise Violation(rule, where, "a result", f"{type(error).__name__}: {error}") from error
    for output, expected in zip(found, wanted, strict=True):
        if output.shape != expected.shape:
            raise Violation(rule, where, f"shape {expected.shape}", f"shape {output.shape}")
        differing(subject, output, expected, rule, where)


def _is_alike(first: Array, second: Array) -> bool:
    return first.shape == second.shape and bool(first.dtype == second.dtype)


def _transposed(array: Array) -> Array:
    return np.array(array.T, order="C").T


def _stepped(array: Array) -> Array:
    if not array.ndim:
        return array.copy()
    mixed = np.stack([array, array[..., ::-1]], -1).reshape(*array.shape[:-1], 2 * array.shape[-1])
    return np.asarray(mixed[..., ::2])


def _reversed(array: Array) -> Array:
    return np.array(array[::-1])[::-1] if array.ndim else array.copy()


def _offset(array: Array) -> Array:
    """Contiguous, but at an address that no vector register is aligned to."""
    memory = np.empty(array.size + 1, array.dtype)
    memory[1:] = array.ravel()
    return memory[1:].reshape(array.shape)


_LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "transposed": _transposed,
    "every second element": _stepped,
    "reversed": _reversed,
    "one element after the start": _offset,
}


def _constant_along_an_axis(array: Array) -> Array:
    """The array with the first of its slices in the place of all others."""
    return np.array(np.broadcast_to(array[:1], array.shape), order="C") if array.ndim and array.size else array


def _broadcast(array: Array) -> Array:
    return np.broadcast_to(np.array(array[:1]), array.shape) if array.ndim and array.size else array.copy()
