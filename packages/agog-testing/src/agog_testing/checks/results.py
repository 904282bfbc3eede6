"""Results: the type, shape, dtype and memory of a kernel's results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agog_core.dtypes import DType, as_dtype, variant
from agog_core.shapes import TensorShape
from agog_testing.checks.recording import input_name, kernel_calls, recording, results
from agog_testing.comparison import share_memory
from agog_testing.opinfo import Sample
from agog_testing.subject import KernelCall, Subject, Violation


def check_type(subject: Subject) -> None:
    """Check that the kernel returns as many arrays as the op has outputs, of the device's array type."""
    rule = "a kernel returns arrays of its device's array type: one, or a tuple where the op has several outputs"
    for attempt in recording(subject).attempts:
        if isinstance(attempt.outcome, Violation) and not attempt.calls:  # the kernel itself has raised
            raise attempt.outcome
        for call in attempt.calls:
            _check_type(subject, attempt.sample, call, rule)


def _check_type(subject: Subject, sample: Sample, call: KernelCall, rule: str) -> None:
    shape = _declared_shape(subject, call)
    wanted = subject.device.array_type.__name__
    if isinstance(shape, list):
        if not isinstance(call.result, tuple) or len(call.result) != len(shape):
            got = f"{len(call.result)} arrays" if isinstance(call.result, tuple) else type(call.result).__name__
            raise Violation(rule, sample.name, f"a tuple of {len(shape)} arrays", got)
        returned = call.result
    else:
        returned = (call.result,)
    for result in returned:
        if type(result) is not subject.device.array_type:
            try:
                subject.device.backend.as_array(result)
            except TypeError:
                raise Violation(rule, sample.name, wanted, type(result).__name__) from None


def check_shape(subject: Subject) -> None:
    """Compare the shapes of the arrays that the kernel returns with the op's shape rule."""
    for sample, call in kernel_calls(subject):
        declared = _declared_shape(subject, call)
        shapes = declared if isinstance(declared, list) else [declared]
        for shape, array in zip(shapes, results(subject, call.result), strict=True):
            if not TensorShape(shape).is_compatible_with(subject.host(array).shape):
                got = f"shape {subject.host(array).shape}"
                raise Violation("a result has the shape of the op's shape rule", sample.name, f"shape {shape}", got)


def check_dtype(subject: Subject) -> None:
    """Compare the dtypes of the arrays that the kernel returns with the op's dtype rule."""
    for sample, call in kernel_calls(subject):
        arrays = results(subject, call.result)
        declared: Any = subject.info.op.result_dtype(as_dtype(subject.dtype), _attributes(subject, call))
        dtypes: list[DType] = declared if isinstance(declared, list) else [declared] * len(arrays)
        dtypes = [dtype for dtype in dtypes if dtype is not variant]  # which is of the kernel's own
        for dtype, array in zip(dtypes, arrays, strict=True):
            if subject.host(array).dtype != dtype.numpy_dtype:
                got = f"dtype {subject.host(array).dtype}"
                raise Violation(
                    "a result has the dtype of the op's dtype rule", sample.name, f"dtype {dtype.name}", got
                )


def check_memory(subject: Subject) -> None:
    """Check that results can be written to, element by element: they become the memory of variables."""
    for sample, call in kernel_calls(subject):
        for array in results(subject, call.result):
            if type(array) is not np.ndarray:
                continue
            if not array.flags.writeable:
                raise Violation("a result is not read-only", sample.name, "memory that can be written", "read-only")
            if array.size and any(size > 1 and not step for size, step in zip(array.shape, array.strides, strict=True)):
                got = f"strides {array.strides} of shape {array.shape}"
                raise Violation("a result has memory for each element", sample.name, "no stride of 0", got)


def check_aliasing(subject: Subject) -> None:
    """Check that no result shares memory with an input, unless the op is a view."""
    for sample, call in _calls_to_write_to(subject):
        for array in results(subject, call.result):
            for position, source in enumerate(call.arrays):
                if share_memory(subject.device, array, source):
                    rule = "a result shares no memory with an input unless the op is a view"
                    got = f"the memory of {input_name(subject, position)}"
                    raise Violation(rule, sample.name, "memory of its own", got)


def _calls_to_write_to(subject: Subject) -> Iterator[tuple[Sample, KernelCall]]:
    """The recorded calls, or others where only writing to a result tells whether it shares memory."""
    if subject.device.backend.host_memory:
        yield from kernel_calls(subject)
        return
    for sample in subject.samples():
        for call in subject.run(sample).calls:
            yield sample, call


def _attributes(subject: Subject, call: KernelCall) -> dict[str, Any]:
    """The attributes that the op's rules take; an op without inputs tells its kernel dtype and device beside them."""
    told = () if subject.info.op.inputs else ("dtype", "index")
    return {name: value for name, value in call.attributes.items() if name not in told}


def _declared_shape(subject: Subject, call: KernelCall) -> Any:
    """The shape of the op's shape rule, or a list of them; a reserve's is of the kernel's own."""
    op = subject.info.op
    declared = op.shape(*(before.shape for before in call.before), **_attributes(subject, call))
    return declared if op.reserve is None else declared[:-1]
