"""Check: an eager call beside each traced one, on copies of what it changes, to find where they differ."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from agog_core.errors import TracingError, TracingWarning
from agog_core.tensors.tensor import Tensor
from agog_core.tracing.functions.side_effects import Watch, names_read
from agog_core.tracing.graphs.graph import Effect, Graph, Late, LateItem, Node, Value
from agog_core.tracing.graphs.passes import frozen, optimize
from agog_core.tracing.state.device import untraced
from agog_core.tracing.state.leaves import Packing
from agog_core.tracing.traces.display import kind_of
from agog_core.tracing.traces.first_call import Recorded

_ADVICE = (
    "Something that Python reads - the time, a global, an attribute, a random number, an environment variable - is "
    "another than when the function was traced. Pass it as an argument, or keep it in a tf.Variable."
)
_CHANGES = (
    "{line}: {name} changes while {function} runs, which calls that run its trace do not do. Return the value, or keep "
    "it in a tf.Variable."
)


class Shadow:
    """An eager call whose writes nobody sees; made before the call that it is compared with.

    Args:
        function: what to call, as ``function(args, kwargs)``.
        python_function: the function of the program, whose names are looked at.
        args: its positional arguments.
        kwargs: its other arguments.
    """

    def __init__(self, function: Callable[[Any, Any], Any], python_function: Any, args: Any, kwargs: Any) -> None:
        self._python_function = python_function
        self._name = getattr(python_function, "__name__", repr(python_function))
        self.watch = Watch(python_function)

        def watched(args: Any, kwargs: Any) -> Any:
            with self.watch:
                return function(args, kwargs)

        recorded = Recorded(watched, args, kwargs, may_create=False)
        trace = recorded.trace
        trace.put_back()  # the call itself draws the same bits
        self.outputs = [untraced(x) for x in recorded.results.tensors]
        self.finals = trace.written()
        self._graph = trace.graph
        with warnings.catch_warnings():  # of tensors that are kept, the first call has warned
            warnings.simplefilter("ignore", TracingWarning)
            recorded.end()
        optimize(self._graph)

    def warn(self, known: set[str]) -> None:
        """Warn of what the function changes beside variables; of each line and name once."""
        for line, name in self.watch.changes:
            text = _CHANGES.format(line=line, name=name, function=self._name)
            if text not in known:
                known.add(text)
                warnings.warn(text, TracingWarning, stacklevel=5)

    def compare(self, result: Any, graph: Graph) -> None:
        """Raise TracingError where a call of the trace had other results, or wrote other values."""
        differing = self._differing(result, graph)
        if differing is not None:
            where = _first_difference(graph, self._graph)
            if where is None:
                raise TracingError(
                    f"{self._name}: {differing} is not what the eager call gives, though both run the same ops on the "
                    "same values. A kernel or a compiler is wrong, or not deterministic."
                )
            captured = self._captured(where.value)
            raise TracingError(
                f"{where.line}: {where.text} {captured}{_ADVICE} ({differing} of {self._name} is not what the eager "
                "call gives.)"
            )

    def _differing(self, result: Any, graph: Graph) -> str | None:
        """What differs first."""
        pairs = zip_longest(Packing(result).tensors, self.outputs)
        for number, (ours, eager) in enumerate(pairs):
            if ours is None or eager is None or not _are_equal(ours, eager):
                return f"output {number}"
        for variable in {**self.finals, **graph.finals}:
            eager = self.finals.get(variable)
            if eager is None or not _are_equal(variable._current(), eager):
                return f"variable {variable.name!r}"
        return None

    def _captured(self, value: Any) -> str:
        """Which of the names that the function reads has a value, in a sentence."""
        if value is None:
            return ""
        names = [name for name, held in names_read(self._python_function).items() if _is(held, value)]
        return f"It is the value of {', '.join(names)}. " if names else ""


class _Difference(NamedTuple):
    line: str
    text: str
    value: Any = None  # of Python, which was another when the function was traced


def _first_difference(old: Graph, new: Graph) -> _Difference | None:
    """Where two calls of one function begin to do different things."""
    for before, now in zip_longest(old.nodes, new.nodes):
        if now is None:
            return _Difference(before.line, f"{kind_of(before)} ran when the function was traced, and does not now.")
        if before is None:
            return _Difference(now.line, f"{kind_of(now)} runs, and did not when the function was traced.")
        found = _node_difference(before, now)
        if found is not None:
            return found
    for number, (a, b) in enumerate(zip(old.outputs, new.outputs, strict=False)):
        if (constant := _value_difference(a, b)) is not None:
            return _Difference("at the end", f"output {number} is {constant[0]}.", constant[1])
    return None


def _node_difference(before: Node, now: Node) -> _Difference | None:
    kind = kind_of(now)
    if kind != kind_of(before):
        text = f"{kind} runs where {kind_of(before)}, at {before.line}, ran when the function was traced."
        return _Difference(now.line, text)
    for name, value in now.attributes.items():
        old = before.attributes.get(name)
        if now.effect is Effect.HOST or isinstance(value, (Late, LateItem)) or isinstance(old, (Late, LateItem)):
            continue
        if frozen(value) != frozen(old):
            text = f"{kind} gets {name}={value!r}, and got {old!r} when the function was traced."
            return _Difference(now.line, text, value)
    for a, b in zip(before.inputs, now.inputs, strict=False):
        if (found := _value_difference(a, b)) is not None:
            return _Difference(now.line, f"{kind} takes {found[0]}.", found[1])
    return None


def _value_difference(before: Value, now: Value) -> tuple[str, Any] | None:
    """How a constant differs from what it was, and what it is now."""
    if before.kind != "constant" or now.kind != "constant":
        return None
    old, new = (each.table.device.to_host(each.array) for each in (before, now))
    if old.shape == new.shape and old.dtype == new.dtype and old.tobytes() == new.tobytes():
        return None
    return f"{_shown(new)}, and took {_shown(old)} when the function was traced", new


def _shown(host: np.ndarray[Any, Any]) -> str:
    if host.size == 1:
        return f"the constant {host.reshape(())[()]!s}"
    return f"a constant of shape {host.shape} and dtype {host.dtype}"


def _are_equal(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same bits."""
    if one._table is not other._table or one._shape != other._shape:
        return False
    a, b = (x._table.device.to_host(x._array) for x in (one, other))
    return bool(a.dtype.hasobject and np.array_equal(a, b)) or (not a.dtype.hasobject and a.tobytes() == b.tobytes())


def _is(held: Any, value: Any) -> bool:
    """Whether what a name holds is a value that came up in a call."""
    try:
        array = np.asarray(value)
        other = np.asarray(held, array.dtype) if isinstance(held, (int, float, bool, np.generic, np.ndarray)) else None
        return other is not None and other.shape == array.shape and bool((other == array).all())
    except (TypeError, ValueError, OverflowError):
        return False
