"""Host nodes: functions of our own that compute on the host, as nodes of a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from agog_core import nest
from agog_core.dispatch.devices.lookup import current_device
from agog_core.dispatch.devices.table import KernelTable
from agog_core.dtypes import DType, bool_
from agog_core.recording import source_line
from agog_core.tensors.convert import decided, fixed, from_host
from agog_core.tensors.sparse_tensor import SparseTensor
from agog_core.tensors.tensor import Tensor
from agog_core.tracers import Tracer, apart
from agog_core.tracing.execution.kernels import run_on_host
from agog_core.tracing.graphs.graph import Effect, Node, present_attributes
from agog_core.tracing.state.device import real_table, untraced
from agog_core.tracing.state.leaves import Packing
from agog_core.tracing.state.python_results import HandedOn

if TYPE_CHECKING:
    from agog_core.tracing.traces.trace import Trace


def hosted(tracer: Tracer, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """A structure of tensors that a function makes of arguments, which is called as in eager code at each run.

    The sizes of what it makes are compared with those of the call that is traced.
    """
    for each in nest.flatten(arguments):
        if type(each) is SparseTensor:
            fixed(each.dense_shape)  # of which the structure has the value
    form = Packing(list(arguments))
    tensors = form.tensors
    form.release()
    if not any(x._table.traces for x in tensors):
        return function(*arguments)
    tables = [real_table(x) for x in tensors]

    def parts(*tensors: Tensor) -> tuple[Packing, list[Any]]:
        found = function(*form(tensors))
        return Packing(found), [np.array(x.dense_shape) for x in nest.flatten(found) if type(x) is SparseTensor]

    with tracer.eager_scope():
        try:
            packing, sizes = parts(*map(untraced, tensors))
        except Exception:
            tracer.note_failure()
            raise
    kinds = [x.dtype for x in packing.tensors]

    def run(*hosts: Any) -> list[Any]:
        given = [from_host(np.array(host, order="C"), table) for host, table in zip(hosts, tables, strict=True)]
        now, present = parts(*given)
        are_equal = len(present) == len(sizes) and all(map(np.array_equal, present, sizes))
        return [*[x._host() for x in now.tensors], are_equal]

    *found, has_sizes = tracer.host(run, tensors, [*kinds, bool_], has_sizes=True, may_fail=True)
    if sizes:
        decided(bool, has_sizes)
    packing.release()
    return packing(found)


def node_on_host(
    trace: Trace,
    function: Callable[..., Any],
    inputs: Sequence[Tensor],
    dtypes: Sequence[DType],
    has_sizes: bool,
    may_fail: bool,
    attributes: Mapping[str, Any],
) -> list[Tensor]:
    """See `agog_core.tensors.convert.computed`."""
    with trace.eager_scope():
        given = list(map(untraced, inputs))
        try:
            there = run_on_host(partial(function, **present_attributes(attributes)), given, dtypes)
        except Exception:
            trace.note_failure()
            raise
    node = Node(Effect.HOST, None, None, list(map(trace.value_of, inputs)), {"function": function, **attributes})
    node.fails = may_fail
    trace.note_risk(may_fail)
    found = [trace._tensor(out, table) for out, (table, _) in zip(trace._add(node, there), there, strict=True)]
    if has_sizes:
        for tensor in found:
            trace._guard(trace.value_of(tensor), tensor._shape)
    return found


def called_in_trace(
    handed: HandedOn, function: Callable[..., Any], inputs: Sequence[Tensor], dtypes: Sequence[DType]
) -> list[tuple[KernelTable, Any]]:
    """What a function of the program gives, as arrays of tables; as in eager code, which no trace sees."""
    home = inputs[0]._table.device if inputs else current_device()

    def call() -> Sequence[Any]:
        with apart():
            return [array for _, array in run_on_host(function, inputs, dtypes)]

    arrays = handed.result(source_line(), call)
    return [(home.table(dtype), array) for dtype, array in zip(dtypes, arrays, strict=True)]
