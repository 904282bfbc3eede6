"""Calls: each kernel call of an op's samples, forward and for the gradient, as a traced function."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import agog_core as ag
from agog_core.compiler import Compiler, Effect, Executable, Executor, Graph, Late, Node, Value
from agog_core.dispatch.devices.device import Device
from agog_core.dispatch.devices.lookup import default_device, get_device
from agog_core.dispatch.kernels.observation import KernelCall, observe, unobserve
from agog_core.dispatch.plugins.executors import executors_of
from agog_core.dtypes import as_dtype
from agog_core.plugin import PluginWarning, load_reference
from agog_testing.compilers.agreement import Call, Run, Tolerances, can_be_followed, compare, eager, follower
from agog_testing.opinfo import OpInfo, Sample
from agog_testing.subject import Subject, Violation

Prepare = Callable[[Graph, Sequence[Compiler]], Any]


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
        known: kinds of calls compared already, which are left out; those of this op are added.
        tolerances: per dtype name the pair (rtol, atol) within which results are equal, in functions of
            ``exact=False``; None: bits are compared.
        executor: what runs the calls that it takes; by default the first of the device.

    Returns:
        How many kinds of calls were compared.
    """
    device_type = next((each.device for each in (executor, *compilers) if each is not None), None)
    device = default_device() if device_type is None else get_device(device_type)
    known = set() if known is None else known
    way = Way(load_reference((executor or executors_of(device.type)[0]).prepare), compilers, tolerances)
    runs: dict[Any, Run | None] = {}
    for each in (seed, seed + 1):  # the second in what was made for the first
        for sample in info.samples(dtype, np.random.default_rng(each)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for call in list(calls_of(info, dtype, sample, device)):
                    if kind_of(call) in runs or kind_of(call) not in known:
                        way.check(call, sample.name, runs)
    known |= runs.keys()
    return sum(run is not None for run in runs.values())


def kind_of(call: Call) -> Any:
    """What calls have in common for which a traced function is compiled once."""
    arrays = tuple((array.dtype, array.shape, _strides(array)) for array in call.arrays)
    return call.op.name, arrays, repr(sorted(call.attributes.items())), call.has_lates, call.is_followed


@dataclass(frozen=True)
class Way:
    """How traced functions are run: by an executor, with compilers; exactly, or within tolerances."""

    prepare: Prepare
    compilers: Sequence[Compiler] = ()
    tolerances: Tolerances | None = None

    def check(self, call: Call, sample: str, runs: dict[Any, Run | None]) -> None:
        """Compare a call in each of its forms with the kernels; ``runs`` keeps what was made for calls like it."""
        for form in self._forms(call):
            kind = kind_of(form)
            if kind not in runs:
                runs[kind] = self._run(form, sample)
            if (run := runs[kind]) is not None:
                compare(run, form, sample, self.tolerances)

    def _forms(self, call: Call) -> Iterator[Call]:
        yield call
        if late_attributes(call):
            yield call._replace(has_lates=True)
        if self.compilers and can_be_followed(call):
            yield call._replace(is_followed=True)

    def _run(self, call: Call, sample: str) -> Run | None:
        """What runs calls like one; None where the executor leaves them to others."""
        if call.op.random or call.op.is_paired:
            return None
        graph = graph_of(call, *eager(call))
        graph.exact = self.tolerances is None
        with warnings.catch_warnings():
            warnings.simplefilter("error", PluginWarning)
            try:
                made = Executable.of(self.prepare(graph, self.compilers))
                return None if made is None else made.run
            except PluginWarning as warning:
                rule = "a compiler returns a function for what it is given, or None"
                raise Violation(rule, sample, "no error", str(warning)) from warning


def calls_of(info: OpInfo, dtype: str, sample: Sample, device: Device) -> Iterator[Call]:
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
    return (Call(call.op, call.table, call.arrays, call.attributes) for call in calls)


def _flat(values: Any) -> list[ag.Tensor]:
    if isinstance(values, list):
        return [tensor for value in values for tensor in _flat(value)]
    return [values] if isinstance(values, ag.Tensor) else []


def graph_of(call: Call, results: Sequence[Any], several: bool) -> Graph:
    """A call as the graph of a traced function: what an op updates are variables, the rest are arguments."""
    op, graph, inputs = call.op, Graph(), []
    updates, attributes = len(op.updates), dict(call.attributes)
    for name in late_attributes(call) if call.has_lates else ():
        number = attributes[name]
        attributes[name] = Late(lambda number=number: number, number, is_never_zero=True)
        graph.lates.append(attributes[name])
    for number, array in enumerate(call.arrays):
        value = _value(number, "variable" if number < updates else "input", array, call)
        inputs.append(value)
        if number < updates:
            graph.variables[object()] = value  # type: ignore[index]  # all that is asked of it is to be a key
        else:
            graph.inputs.append(value)
    effect = Effect.UPDATE if updates else Effect.VIEW if op.views else Effect.NONE
    node = Node(effect, op, call.table, inputs, attributes, variables=list(graph.variables), several=several)
    node.outputs = [_value(len(inputs) + n, "node", array, call) for n, array in enumerate(results)]
    graph.nodes.append(node)
    if updates:
        graph.finals = dict(zip(graph.variables, node.outputs, strict=True))
    else:
        graph.outputs = node.outputs
    if call.is_followed:
        next_op = follower(call, results[0])
        then = Node(Effect.NONE, next_op.op, next_op.table, node.outputs[:1], {})
        then.outputs = [_value(len(inputs) + len(results), "node", next_op.run(results[0]), call)]
        graph.nodes.append(then)
        graph.outputs = [*node.outputs, *then.outputs]
    return graph


def late_attributes(call: Call) -> list[str]:
    """The attributes of a call that a traced function may know late: numbers that are not zero."""
    return [name for name in call.op.late if type(x := call.attributes.get(name)) in (int, float) and x]


def _value(number: int, kind: str, array: Any, call: Call) -> Value:
    host = array if isinstance(array, np.ndarray) else call.table.device.to_host(array)
    table = call.table.device.table(as_dtype("string" if host.dtype == object else host.dtype))
    return Value(number, kind, table, host.shape, array, _strides(array))


def _strides(array: Any) -> tuple[int, ...] | None:
    """The strides of an array in bytes; None for a device's own, which need not have any."""
    return array.strides if isinstance(array, np.ndarray) else None
