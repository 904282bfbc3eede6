"""Single: an eager call of one op as a graph of one node, so that compilers run it too."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from operator import is_not
from typing import Any

from agog_core.dispatch.devices.lookup import forgotten, get_device
from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.kernels.observation import are_observed, are_steps_enough
from agog_core.dispatch.kernels.resolution import Chain
from agog_core.dispatch.op import Op, registry
from agog_core.dispatch.plugins.ranking import ranked
from agog_core.dtypes import as_dtype
from agog_core.errors import PluginWarning
from agog_core.shapes import intern_shape
from agog_core.tracing.graphs.graph import Effect, Graph, Late, LateItem, Node, Value
from agog_core.tracing.state.leaves import exact

_MOST = 64
"""Kinds of calls that are kept of one op; all others are declined."""

Arrays = Sequence[Any]
Run = Callable[[Arrays, Mapping[str, Any]], Any]


class SingleOp:
    """A kernel that runs an op as a compiled graph: that of the kernel which is next in rank, with its very bits.

    It takes calls whose first or last input is large, from the second of a kind on. All others the next kernel runs,
    and the first of a kind, which shows what results look like. Where that kernel cannot be recorded, it declines. A
    profile shows which of the two runs; calls of a new kind are not compiled under it.

    Args:
        op: the op's name.
        dtype: the name of its dtype.
        device: where it runs, such as ``"cpu:0"``.
        least: how many elements one of these two inputs has at least.
    """

    def __init__(self, op: str, dtype: str, device: str, *, least: int) -> None:
        self._op: Op = registry[op]
        self._table: KernelTable = get_device(device).table(as_dtype(dtype))
        self._least = least
        self._kept: dict[Any, Run | None] = {}  # what runs each kind of call; None where nothing does
        self._known = self._kept  # or none of them, while somebody observes who wants to see each kernel
        self._beneath: tuple[Any, ...] = ()  # what they are made of and by
        self._is_observed = False
        self._next: Callable[..., Any] = _decline
        self._version = -1
        self._here = threading.local()

    def __call__(self, *arrays: Any, **attributes: Any) -> Any:
        """Run a call, or let the next kernel run it."""
        if self._version != forgotten[0]:
            self._renew()
        if arrays[0].size < self._least and arrays[-1].size < self._least:
            return self._next(*arrays, **attributes)
        here = self._here
        if here.__dict__.get("runs"):
            here.was_called = True
            return NotImplemented
        late = {name: x for name, x in attributes.items() if name in self._op.late and _may_differ(x)}
        static = tuple([(name, exact(x)) for name, x in attributes.items() if name not in late])
        key = (static, tuple(map(type, late.values())), *[(a.dtype, a.shape, a.strides) for a in arrays])
        try:
            is_known = key in self._known
        except TypeError:  # an attribute that has no hash
            return NotImplemented
        run = self._known.get(key)
        if run is None and (is_known or self._is_observed or len(self._known) >= _MOST):
            return NotImplemented
        here.runs, here.was_called = True, False
        try:
            if run is None:
                result = self._next(*arrays, **attributes)
                if result is NotImplemented:
                    return result
                try:
                    self._known[key] = self._compiled(arrays, attributes, late, result)
                except Exception as error:  # the call itself has succeeded
                    self._known[key] = None
                    text = f"{self._op.name}: its kernel could not be compiled: {type(error).__name__}: {error}"
                    warnings.warn(text, PluginWarning, stacklevel=2)
            else:
                result = run(arrays, late)
                if here.was_called:  # the kernel could not be recorded, and is called whole
                    self._known[key] = None
        finally:
            here.runs = False
        return result

    def _renew(self) -> None:
        """Look for the kernel that is next in rank, because kernels were chosen anew; where it is another one, or other
        compilers are there, forget what was compiled.
        """
        version, is_observed = forgotten[0], are_observed()
        chain = self._table.chains.get(self._op.name) or Chain(self._op, self._table)
        count = len(chain.candidates)
        mine = next((n for n, each in enumerate(chain.candidates) if self in each.instances.values()), -1)
        compilers = [each.what for each in ranked("compilers", self._table.device.type)]
        beneath: tuple[Any, ...] = ()
        following = _decline
        for place in (*range(mine + 1, count), *range(mine)):
            if (kernels := chain.kernels(place)) is not None:
                beneath = chain.candidates[place].kernel, *compilers
                # Who looks on is told of the kernel that runs; one that keeps a reserve is asked for it by dispatch.
                has_reserve = beneath[0].reserve is not None
                following = _decline if is_observed or has_reserve else kernels[0]
                break
        if len(beneath) != len(self._beneath) or any(map(is_not, beneath, self._beneath)):
            self._beneath, self._kept = beneath, {}
        self._known = self._kept if are_steps_enough() else {}
        self._next, self._is_observed = following, is_observed
        self._version = version  # last: other threads then find all the rest

    def _compiled(self, arrays: Arrays, attributes: Mapping[str, Any], late: Mapping[str, Any], result: Any) -> Run:
        """What runs calls like this one."""
        from agog_core.tracing.execution.executors import executable  # here, because programs may do without

        local = threading.local()
        numbers = Late(lambda: local.numbers, dict(late), is_never_zero=True)
        graph = self._graph(arrays, attributes, numbers, result)
        run, count = executable(graph), len(self._op.updates)
        for value in (*graph.nodes[0].inputs, *graph.nodes[0].outputs):
            value.array = None  # which is the caller's
        is_several = isinstance(result, tuple)

        def call(arrays: Arrays, late: Mapping[str, Any]) -> Any:
            local.numbers = late
            outputs, finals = run(arrays[count:], arrays[:count])
            if not count:
                return outputs if is_several else outputs[0]
            is_in_place = all(final is array for final, array in zip(finals, arrays, strict=False))
            return None if is_in_place else finals

        return call

    def _graph(self, arrays: Arrays, attributes: Mapping[str, Any], numbers: Late, result: Any) -> Graph:
        op, count = self._op, len(self._op.updates)
        graph = Graph(lates=[numbers] if numbers.value else [])
        given = [self._value(n, "variable" if n < count else "input", array) for n, array in enumerate(arrays)]
        made = arrays[:count] if count else result if isinstance(result, tuple) else (result,)
        outputs = [self._value(len(given) + n, "node", array) for n, array in enumerate(made)]
        named = {name: LateItem(numbers, name) if name in numbers.value else x for name, x in attributes.items()}
        node = Node(Effect.UPDATE if count else Effect.NONE, op, self._table, given, named, outputs)
        node.several = isinstance(result, tuple)
        graph.nodes.append(node)
        graph.inputs = given[count:]
        variables: list[Any] = [object() for _ in range(count)]  # which stand for the variables
        node.variables = variables
        graph.variables = dict(zip(variables, given, strict=False))
        graph.finals = dict(zip(variables, outputs, strict=False))
        graph.outputs = [] if count else outputs
        return graph

    def _value(self, number: int, kind: str, array: Any) -> Value:
        table = self._table.device.table(as_dtype(array.dtype))
        return Value(number, kind, table, intern_shape(array.shape), layout=array.strides)


def _decline(*arrays: Any, **attributes: Any) -> Any:
    return NotImplemented


def _may_differ(number: Any) -> bool:
    """Whether an attribute that is known late is taken as such; kernels ask whether some are zero."""
    return type(number) in (int, float) and number != 0
