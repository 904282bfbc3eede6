"""Calls: each kernel call of an op's samples, forward and for the gradient, as a traced function."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import agog_core as ag
from agog_core.compiler import Compiler, Effect, Executable, Executor, Graph, Node, Value, adopted, kernel_of
from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.devices.lookup import default_device
from agog_core.dispatch.kernels.observation import KernelCall, observe, unobserve
from agog_core.dispatch.plugins.executors import executors_of
from agog_core.dtypes import as_dtype
from agog_core.plugin import load_reference
from agog_testing.opinfo import OpInfo, Sample
from agog_testing.subject import Subject, Violation

RULE = "a traced function gives the bits, shapes, dtypes and strides that eager calls give"
LOOSE_RULE = "a traced function of exact=False gives what eager calls give, within the compiler's tolerances"

Tolerances = Mapping[str, tuple[float, float]]


def check_calls(
    info: OpInfo,
    dtype: str,
    seed: int = 0,
    compilers: Sequence[Compiler] = (),
    known: set[Any] | None = None,
    tolerances: Tolerances | None = None,
    executor: Executor | None = None,
) -> int:
    """Run each call of a kernel by an executor, and compare it with the kernel; how many there were.

    Args:
        info: the op.
        dtype: the dtype of its samples.
        seed: of its samples.
        compilers: what compiles parts of the calls.
        known: kinds of calls compared already; those of this op are added: each is compared once.
        tolerances: per dtype name the pair (rtol, atol) within which results are equal, in functions of
            ``exact=False``; None: bits are compared.
        executor: what runs the calls that it takes; by default that of the device.

    Returns:
        How many calls were compared.
    """
    device, count, known = default_device(), 0, set() if known is None else known
    prepare = load_reference((executor or executors_of(device.type)[0]).prepare)
    for sample in info.samples(dtype, np.random.default_rng(seed)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for call in list(calls_of(info, dtype, sample, device)):
                if (kind := _kind(call)) not in known:
                    known.add(kind)
                    count += _check(call, sample, prepare, compilers, tolerances)
    return count


def calls_of(info: OpInfo, dtype: str, sample: Sample, device: Device) -> Iterator[KernelCall]:
    """The calls of kernels that a sample makes, with those for the gradients of its inputs."""
    calls: list[KernelCall] = []
    subject = Subject(info=info, dtype=dtype, device=device, kernel=lambda: None)
    with ag.device(device.name):
        args, kwargs, _ = subject.arguments(sample)
        observe(calls.append)
        try:
            with ag.GradientTape() as tape:
                sources = [x for x in _flat([args, list(kwargs.values())]) if x.dtype.is_floating or x.dtype.is_complex]
                for x in sources:
                    tape.watch(x)
                result = info.call(*args, **kwargs)
            if info.differentiable and sample.smooth and sources:
                tape.gradient(result, sources)
        except ag.errors.OpError:
            pass  # a gradient that the op has not got; what was called until then counts
        finally:
            unobserve(calls.append)
    return iter(calls)


def _kind(call: KernelCall) -> tuple[Any, ...]:
    arrays = tuple((array.dtype, array.shape, array.strides) for array in call.arrays)
    return call.op.name, arrays, repr(sorted(call.attributes.items()))


def _flat(values: Any) -> list[ag.Tensor]:
    if isinstance(values, list):
        return [tensor for value in values for tensor in _flat(value)]
    return [values] if isinstance(values, ag.Tensor) else []


def _check(
    call: KernelCall, sample: Sample, prepare: Any, compilers: Sequence[Compiler], tolerances: Tolerances | None
) -> int:
    op, table, updates = call.op, call.table, len(call.op.updates)
    if op.random or op.is_paired:
        return 0
    kernel, arrays = kernel_of(op, table), list(call.arrays)
    expected = [np.array(array) for array in arrays[:updates]]
    returned = adopted(op, table, kernel(*expected, *arrays[updates:], **call.attributes), kernel)
    several = isinstance(returned, tuple)
    if not updates:
        expected = list(returned) if several else [returned]
    graph = graph_of(call, expected, several)
    graph.exact = tolerances is None
    made = Executable.of(prepare(graph, compilers))
    if made is None:
        return 0
    for _ in range(2):  # the second time in memory that the first has left
        outputs, finals = made.run(arrays[updates:], [np.array(array) for array in arrays[:updates]])
        for want, got in zip(expected, finals if updates else outputs, strict=True):
            if not _is_same(want, got, op.views, tolerances):
                where = f"{op.name} in {sample.name!r}, of {[f'{a.dtype} {a.shape}' for a in arrays]}"
                raise Violation(RULE if tolerances is None else LOOSE_RULE, where, _shown(want), _shown(got))
    return 1


def graph_of(call: KernelCall, results: Sequence[Any], several: bool) -> Graph:
    """A call as the graph of a traced function: what an op updates are variables, the rest are arguments."""
    op, graph, inputs = call.op, Graph(), []
    updates = len(op.updates)
    for number, array in enumerate(call.arrays):
        value = _value(number, "variable" if number < updates else "input", array, call)
        inputs.append(value)
        if number < updates:
            graph.variables[object()] = value  # type: ignore[index]  # all that is asked of it is to be a key
        else:
            graph.inputs.append(value)
    effect = Effect.UPDATE if updates else Effect.VIEW if op.views else Effect.NONE
    node = Node(effect, op, call.table, inputs, call.attributes, variables=list(graph.variables), several=several)
    node.outputs = [_value(len(inputs) + n, "node", array, call) for n, array in enumerate(results)]
    graph.nodes.append(node)
    if updates:
        graph.finals = dict(zip(graph.variables, node.outputs, strict=True))
    else:
        graph.outputs = node.outputs
    return graph


def _value(number: int, kind: str, array: Any, call: KernelCall) -> Value:
    table = call.table.device.table(as_dtype("string" if array.dtype == object else array.dtype))
    return Value(number, kind, table, array.shape, array, array.strides)


def _is_same(want: Any, got: Any, is_view: bool, tolerances: Tolerances | None) -> bool:
    if (want.dtype, want.shape) != (got.dtype, got.shape):
        return False
    pairs = zip(want.shape, want.strides, got.strides, strict=True)
    if want.size and not is_view and any(size > 1 and one != other for size, one, other in pairs):
        return False
    return are_equal(want, got) if tolerances is None else _are_near(want, got, tolerances)


def _are_near(want: Any, got: Any, tolerances: Tolerances) -> bool:
    rtol, atol = tolerances.get(want.dtype.name, (0.0, 0.0))
    if not (rtol or atol):
        return are_equal(want, got)
    scale = np.max(np.abs(want), initial=1.0, where=np.isfinite(want))  # to which sums of many terms are rounded
    return bool(np.allclose(got, want, rtol, atol * scale, equal_nan=True))


def are_equal(want: Any, got: Any) -> bool:
    """Whether arrays of one dtype and shape have equal bits, except for the payloads of NaN."""
    if want.dtype == object or want.tobytes() == got.tobytes():
        return bool((want == got).all()) if want.dtype == object else True
    if want.dtype.kind not in "fcV":
        return False
    parts = [(want.real, got.real), (want.imag, got.imag)] if want.dtype.kind == "c" else [(want, got)]
    for one, other in parts:
        is_nan = one != one
        same_sign = np.signbit(one.astype("float64")) == np.signbit(other.astype("float64"))
        if not bool((np.where(is_nan, other != other, (one == other) & same_sign)).all()):
            return False
    return True


def _shown(array: Any) -> str:
    return f"{array.dtype} {array.shape} of strides {array.strides}: {array!r}"
