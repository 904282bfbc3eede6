"""Template: the traced tensors in records, which stand for those of each call in turn."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from functools import partial
from sys import getrefcount
from types import CellType, FunctionType, MethodType
from typing import Any

from agog_core.interrupts import begins_in_peace
from agog_core.tensors.indexed_slices import IndexedSlices
from agog_core.tensors.sparse_tensor import SparseTensor
from agog_core.tensors.tensor import Tensor
from agog_core.tracing.state.device import TracedArray
from agog_core.tracing.traces.trace import Trace

# What records keep tensors in. Other objects may belong to the program, so what they hold is held outside too.
_CONTAINERS = (
    tuple,
    list,
    dict,
    set,
    frozenset,
    CellType,
    FunctionType,
    MethodType,
    partial,
    IndexedSlices,
    SparseTensor,
)


class Template:
    """The traced tensors that the records of a trace keep.

    Args:
        trace: the trace, whose function has returned; nobody holds its results any more.
        records: the records.
    """

    def __init__(self, trace: Trace, records: Sequence[Any]) -> None:
        self._counts = _tensors(records, trace)
        self.tensors = [tensor for tensor, _ in self._counts.values()]
        # What no container leads to may be kept by an object of the program, which a gradient of its own asks.
        reached = {id(tensor._array) for tensor in self.tensors}
        if any(id(array) not in reached for array in _of_graph(trace)):
            gc.collect()  # what only a circle holds is used by nobody
        self.hidden = [array for array in _of_graph(trace) if id(array) not in reached]

    @property
    def arrays(self) -> list[TracedArray]:
        """The traced arrays."""
        return [*(x._array for x in self.tensors), *self.hidden]

    def let_go(self, inherited: Sequence[TracedArray]) -> list[str]:
        """Let go of the arrays of the call that was traced, but for those that the program holds; the lines of these.

        Whoever calls this holds none of the tensors. ``inherited`` are of the trace that this one goes on with.
        """
        known = {id(array) for array in inherited}
        arrays = {id(array): array for array in self.arrays}
        if self._held() - known:
            gc.collect()  # what only a circle holds is used by nobody
        held = self._held()
        lines = []
        for key in arrays.keys() - known:
            array = arrays[key]
            if key in held:
                node = None if array.value is None else array.value.node
                lines.append("an argument" if node is None else node.line)
            else:
                array.array = None
            array.tracer = array.value = None
        self._counts.clear()
        return lines

    def _held(self) -> set[int]:
        """The ids of the arrays that something beside the records holds."""
        found = {id(array) for array in self.hidden}
        for key, (tensor, count) in self._counts.items():
            identity = id(tensor._array)
            del tensor
            if _references(self._counts, key) - _OWN_REFERENCES > count:
                found.add(identity)
        return found


def _of_graph(trace: Trace) -> list[TracedArray]:
    """The arrays that something holds and that are no constants."""
    return [array for array in trace.alive() if array.value is not None]


def _references(counts: dict[int, tuple[Tensor, int]], key: int) -> int:
    return getrefcount(counts[key][0])


def _own_references() -> int:
    """The references to a tensor that a template has, as this interpreter counts them."""
    counts = {0: (object.__new__(Tensor), 0)}
    tensors = [tensor for tensor, _ in counts.values()]
    found = _references(counts, 0)
    del tensors
    return found


_OWN_REFERENCES = _own_references()


def _tensors(records: Sequence[Any], trace: Trace) -> dict[int, tuple[Tensor, int]]:
    """The tensors of a trace that records lead to, by their ids, and how many containers hold each."""
    counts: dict[int, tuple[Tensor, int]] = {}
    seen: dict[int, Any] = {}
    waiting: list[Any] = [records]
    while waiting:
        for each in _contents(waiting.pop()):
            if type(each) is Tensor:
                if type(each._array) is TracedArray and each._array.tracer is trace:
                    counts[id(each)] = each, counts.get(id(each), (each, 0))[1] + 1
            elif isinstance(each, _CONTAINERS) and id(each) not in seen:
                seen[id(each)] = each
                waiting.append(each)
    return counts


def _contents(container: Any) -> list[Any]:
    if isinstance(container, FunctionType):  # not its globals
        return [container.__closure__, container.__defaults__, container.__kwdefaults__]
    return [container.__func__] if isinstance(container, MethodType) else gc.get_referents(container)


class Binding:
    """A ``with`` block in which traced arrays stand for those of one call.

    Args:
        arrays: the traced arrays.
        tensors: what each stands for.
    """

    def __init__(self, arrays: Sequence[TracedArray], tensors: Sequence[Tensor]) -> None:
        self._pairs = list(zip(arrays, tensors, strict=True))
        self._before: list[tuple[TracedArray, Any, Any, Any]] = []

    def begin(self, trace: Trace) -> None:
        """Make the arrays inputs of a trace."""
        for array, tensor in self._pairs:
            self._before.append((array, array.array, array.tracer, array.value))
            array.array, array.tracer = tensor._array, trace
            array.value = trace.argument(tensor._table, tensor._array)

    def __enter__(self) -> Binding:
        return self

    @begins_in_peace
    def __exit__(self, *error: object) -> None:
        while self._before:
            array, *before = self._before[-1]
            array.array, array.tracer, array.value = before
            self._before.pop()
