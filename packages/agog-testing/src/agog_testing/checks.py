"""Checks: what a kernel must do, rule by rule. Each raises `Violation`, which names rule, sample and numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

import numpy as np

import agog_core as ag
from agog_core.dtypes import DType, as_dtype
from agog_core.shapes import TensorShape
from agog_testing.comparison import close, same, share_memory, shown
from agog_testing.derivatives import check_forward, check_gradient
from agog_testing.opinfo import Sample
from agog_testing.subject import KernelCall, Run, Subject, Violation, layouts

Check = Callable[[Subject], None]


def check_value(subject: Subject) -> None:
    """Compare results with the reference; some sample has to reach the kernel."""
    reached = False
    for sample in subject.samples():
        run = subject.run(sample)
        reached = reached or bool(run.calls)
        _compare(subject, sample, run, "a kernel's result is the reference's, within the tolerance")
    if not reached:
        raise Violation("the samples of an op reach its kernel", "all", "a call of the kernel", "none")


def check_bits(subject: Subject) -> None:
    """Compare results, bit by bit, with those of all other backends, for ops whose results are the same everywhere."""
    for sample in subject.samples():
        if sample.digest is not None:
            (output,) = subject.run(sample).outputs
            digest = sha256(np.ascontiguousarray(output).tobytes()).hexdigest()
            if digest != sample.digest:
                rule = "the result has the same bits on every backend"
                raise Violation(rule, sample.name, f"bytes with SHA-256 {sample.digest}", digest)


def check_strides(subject: Subject) -> None:
    """Compare results for inputs that do not lie contiguously in memory with the reference."""
    for name, layout in layouts().items():
        for sample in subject.samples():
            run = subject.run(sample, layout)
            _compare(subject, sample, run, "a kernel reads inputs of any strides", f"{sample.name}, inputs {name}")


def check_type(subject: Subject) -> None:
    """Check that the kernel returns as many arrays as the op has outputs, of the device's array type."""
    rule = "a kernel returns arrays of its device's array type: one, or a tuple where the op has several outputs"
    for sample in subject.samples():
        with ag.device(subject.device.name):
            args, kwargs, _ = subject.arguments(sample)
            with subject.chosen() as calls:
                try:
                    subject.info.call(*args, **kwargs)
                except Exception as error:
                    if not calls:  # the kernel itself has raised
                        got = f"{type(error).__name__}: {error}"
                        raise Violation(
                            "a kernel computes every sample of its op", sample.name, "a result", got
                        ) from error
        for call in calls:
            _check_type(subject, sample, call, rule)


def _check_type(subject: Subject, sample: Sample, call: KernelCall, rule: str) -> None:
    shape = _declared_shape(subject, call)
    wanted = subject.device.array_type.__name__
    if isinstance(shape, list):
        if not isinstance(call.result, tuple) or len(call.result) != len(shape):
            got = f"{len(call.result)} arrays" if isinstance(call.result, tuple) else type(call.result).__name__
            raise Violation(rule, sample.name, f"a tuple of {len(shape)} arrays", got)
        results = call.result
    else:
        results = (call.result,)
    for result in results:
        if type(result) is not subject.device.array_type:
            try:
                subject.device.backend.as_array(result)
            except TypeError:
                raise Violation(rule, sample.name, wanted, type(result).__name__) from None


def check_shape(subject: Subject) -> None:
    """Compare the shapes of the arrays that the kernel returns with the op's shape rule."""
    for sample, call in _calls(subject):
        declared = _declared_shape(subject, call)
        shapes = declared if isinstance(declared, list) else [declared]
        for shape, array in zip(shapes, _arrays(subject, call), strict=True):
            if not TensorShape(shape).is_compatible_with(subject.host(array).shape):
                got = f"shape {subject.host(array).shape}"
                raise Violation("a result has the shape of the op's shape rule", sample.name, f"shape {shape}", got)


def check_dtype(subject: Subject) -> None:
    """Compare the dtypes of the arrays that the kernel returns with the op's dtype rule."""
    for sample, call in _calls(subject):
        arrays = _arrays(subject, call)
        declared: Any = subject.info.op.result_dtype(as_dtype(subject.dtype), _attributes(subject, call))
        dtypes: list[DType] = declared if isinstance(declared, list) else [declared] * len(arrays)
        for dtype, array in zip(dtypes, arrays, strict=True):
            if subject.host(array).dtype != dtype.numpy_dtype:
                got = f"dtype {subject.host(array).dtype}"
                raise Violation(
                    "a result has the dtype of the op's dtype rule", sample.name, f"dtype {dtype.name}", got
                )


def check_inputs(subject: Subject) -> None:
    """Check that the kernel changes no input but those that the op declares as updated."""
    op = subject.info.op
    for sample, call in _calls(subject):
        for position, (array, before) in enumerate(zip(call.arrays, call.before, strict=True)):
            name = op.inputs[0] if op.variadic else op.inputs[position]
            if name not in op.updates and not same(before, subject.host(array)):
                rule = "a kernel changes no input but those that its op updates"
                raise Violation(rule, sample.name, f"{name} stays {shown(before)}", shown(subject.host(array)))


def check_aliasing(subject: Subject) -> None:
    """Check that no result shares memory with an input, for ops that are no views."""
    op = subject.info.op
    for sample, call in _calls(subject):
        for array in _arrays(subject, call):
            for position, source in enumerate(call.arrays):
                if share_memory(subject.device, array, source):
                    name = op.inputs[0] if op.variadic else op.inputs[position]
                    rule = "a result shares no memory with an input unless the op is a view"
                    raise Violation(rule, sample.name, "memory of its own", f"the memory of {name}")


def check_state(subject: Subject) -> None:
    """Check that a second call leaves the result of the first one alone, and shares no memory with it."""
    rule = "a kernel keeps no state: a later call leaves earlier results alone"
    for sample, other in zip(subject.samples(), subject.samples(seed=1), strict=True):
        first = subject.run(sample)
        held = [array for call in first.calls for array in _arrays(subject, call)]
        before = [subject.host(array) for array in held]
        second = subject.run(other)
        later = [array for call in second.calls for array in _arrays(subject, call)]
        for array, value in zip(held, before, strict=True):
            if not same(value, subject.host(array)):
                raise Violation(rule, sample.name, f"the first result stays {shown(value)}", shown(subject.host(array)))
            if any(share_memory(subject.device, array, another) for another in later):
                raise Violation(rule, sample.name, "memory of its own", "the memory of an earlier result")


def check_errors(subject: Subject) -> None:
    """Check that calls that must fail do, with the right type and the whole text."""
    rule = "a wrong call fails with the error that the op documents"
    for sample in subject.info.errors:
        if sample.dtype != subject.dtype:
            continue
        wanted = f"{sample.error.__name__}: {sample.text}"
        with ag.device(subject.device.name):
            args, kwargs, _ = subject.arguments(sample)
            with subject.chosen():
                try:
                    subject.info.call(*args, **kwargs)
                    subject.device.synchronize()  # a device may tell of wrong values when it is waited for
                except Exception as error:
                    got = f"{type(error).__name__}: {error}"
                    if type(error) is not sample.error or str(error) != sample.text:
                        raise Violation(rule, "an error", wanted, got) from error
                else:
                    raise Violation(rule, "an error", wanted, "no error")


def checks_for(subject: Subject) -> dict[str, Check]:
    """The checks that apply to a kernel, by name."""
    op, info = subject.info.op, subject.info
    found: dict[str, Check] = {"value": check_value, "inputs": check_inputs}
    if not op.updates:
        found |= {"type": check_type, "shape": check_shape, "dtype": check_dtype, "state": check_state}
        if not op.views and op.inputs:
            found["aliasing"] = check_aliasing
    if op.inputs:
        found["strides"] = check_strides
    if any(sample.digest for sample in subject.samples()):
        found["bits"] = check_bits
    if info.differentiable and subject.dtype in ("float64", "complex128"):
        found |= {"gradient": check_gradient, "forward": check_forward}
    if any(error.dtype == subject.dtype for error in info.errors):
        found["errors"] = check_errors
    return found


def _calls(subject: Subject) -> Iterator[tuple[Sample, KernelCall]]:
    for sample in subject.samples():
        for call in subject.run(sample).calls:
            yield sample, call


def _arrays(subject: Subject, call: KernelCall) -> list[Any]:
    """The arrays that the kernel returned, adopted where the backend does so."""
    results = call.result if isinstance(call.result, tuple) else (call.result,)
    adopt = subject.device.backend.as_array
    return [result if type(result) is subject.device.array_type else adopt(result) for result in results]


def _attributes(subject: Subject, call: KernelCall) -> dict[str, Any]:
    """The attributes that the op's rules take; an op without inputs tells its kernel dtype and device beside them."""
    told = () if subject.info.op.inputs else ("dtype", "index")
    return {name: value for name, value in call.attributes.items() if name not in told}


def _declared_shape(subject: Subject, call: KernelCall) -> Any:
    return subject.info.op.shape(*(before.shape for before in call.before), **_attributes(subject, call))


def _compare(subject: Subject, sample: Sample, run: Run, rule: str, name: str | None = None) -> None:
    expected = subject.expected(sample)
    where = name or sample.name
    if len(run.outputs) != len(expected):
        raise Violation(rule, where, f"{len(expected)} results", f"{len(run.outputs)} results")
    for output, wanted, dtype in zip(run.outputs, expected, run.dtypes, strict=True):
        if output.shape != wanted.shape:
            raise Violation(rule, where, f"shape {wanted.shape}", f"shape {output.shape}")
        rtol, atol = subject.tolerance(dtype.name)
        with np.errstate(all="ignore"):
            rounded = wanted.astype(dtype.numpy_dtype)
            is_wrong = ~close(output, rounded, rtol, atol)
        if is_wrong.any():
            index = tuple(int(i) for i in np.argwhere(is_wrong)[0])
            at = f" at {index}" if index else ""
            more = f" ({np.count_nonzero(is_wrong)} of {output.size} elements are wrong; rtol {rtol:g}, atol {atol:g})"
            raise Violation(rule, where, f"{rounded[index]!r}{at}", f"{output[index]!r}{at}{more}")
