"""First call: a real call of a function for arguments of a new kind, which is recorded."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from agog_core.errors import TracingError, TracingWarning
from agog_core.interrupts import begins_in_peace
from agog_core.named_tuple import Named
from agog_core.recording import source_line, stack
from agog_core.tensors.tensor import Tensor
from agog_core.tracers import tracer_of_context, tracing
from agog_core.tracing.errors import limit
from agog_core.tracing.graphs.passes import optimize
from agog_core.tracing.state.device import untraced
from agog_core.tracing.state.leaves import Packing, equals
from agog_core.tracing.state.variables import Failure
from agog_core.tracing.traces.aliases import Echoes
from agog_core.tracing.traces.concrete import Concrete
from agog_core.tracing.traces.trace import Trace
from agog_core.tracing.traces.union import Whole
from agog_core.variables.variable import Variable, creation_hooks

_ESCAPED = (
    "{line}: a tensor is still in use after the function that was traced: something outside, such as a list or an "
    "attribute, has kept it. It keeps the value of this call, and later calls do not renew it. Return it instead."
)


class FirstCall(Named):
    """A call that was recorded.

    Args:
        concrete: what runs it again.
        tensors: its arguments.
        result: what the function returned.
        has_created: whether it has created variables; then it is not what later calls do.
        is_kept: whether the variables that it writes were written; else another thread came in between.
        failed: why it is not run again, though it has come to its end, such as an error that the function has caught.
    """

    concrete: Concrete
    tensors: list[Tensor]
    result: Any
    has_created: bool
    is_kept: bool
    failed: Failure | None


def first_call(function: Callable[[Any, Any], Any], args: Any, kwargs: Any, may_create: bool) -> FirstCall:
    """Call ``function(args, kwargs)`` and record what it does.

    Args:
        function: what to call.
        args: its positional arguments, in which tensors are of devices themselves.
        kwargs: its other arguments.
        may_create: whether it may create variables.

    Returns:
        The call.

    Raises:
        TracingError: the function does what later calls could not do again.
    """
    recorded = Recorded(function, args, kwargs, may_create, unites=True)
    trace, results = recorded.trace, recorded.results
    try:
        values = [(v, x) for v, x in trace.entries.items() if v not in trace.graph.finals]
        finals = [(v, trace.state[v]) for v in trace.graph.finals if v in trace.state]
        echoes = Echoes(results.tensors, recorded.inputs, values, finals) or None
        del values, finals
        outputs = [untraced(x) for x in results.tensors]
        whole = Whole.of(trace, results(results.tensors), echoes or Echoes([], []))
        graph = trace.graph if whole is None else whole.runnable()
        optimize(graph)
        concrete = Concrete(graph, results, echoes=echoes, whole=whole)
        is_kept = trace.commit(merges=trace.graph.calls_python)
        if not is_kept:
            trace.put_back()
        if echoes is not None:
            outputs = echoes(outputs, recorded.tensors, trace.initial, {})
    except BaseException:  # a Ctrl-C
        trace.put_back()
        raise
    recorded.end()
    failed = next(iter(trace.failures), None)
    return FirstCall(concrete, recorded.tensors, results(outputs), bool(recorded.created), is_kept, failed)


class Recorded:
    """A function called once while a trace records it; see `first_call`.

    Attributes: ``trace``; ``tensors`` of the arguments, and ``inputs``, which stand for them; ``results``, which are
    the graph's outputs; and the variables that were ``created``.
    """

    def __init__(
        self, function: Callable[[Any, Any], Any], args: Any, kwargs: Any, may_create: bool, unites: bool = False
    ) -> None:
        self.trace = Trace()
        self.trace.unites = unites
        self.created: list[Variable] = []
        self._may_create = may_create
        packing = Packing((args, kwargs))
        self.tensors = packing.tensors
        inputs = [self.trace.input(x) for x in packing.tensors]
        self.inputs = [inputs[place] for place in equals(packing.tensors) or range(len(inputs))]
        with self.going_on():
            self.results = Packing(function(*packing(self.inputs)))
            self.trace.compare_loops()
            self.trace.graph.outputs = [self.trace.value_of(x) for x in self.results.tensors]

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """A block that is recorded too. A function that does what it may not leaves nothing behind; one that raises
        leaves what an eager call leaves.
        """
        try:
            with Recording(self.trace, self._note):
                yield
                if (refused := self.trace.refused) is not None:
                    raise refused  # which the function has caught
        except TracingError:
            self.trace.put_back()
            raise
        except Exception:
            self.trace.commit()
            raise
        except BaseException:  # a Ctrl-C
            self.trace.put_back()
            raise

    def _note(self, variable: Variable) -> None:
        tracer = tracer_of_context.get()
        if tracer is None or tracer.lifts:  # made by Python that is called at each run, or lifted out
            return
        if not self._may_create:
            limit("variable", source_line())
        self.created.append(variable)
        self.trace.made.add(variable)

    def release(self) -> None:
        """Hold none of the tensors of the trace any more."""
        self.results.release()
        self.inputs = []
        self.trace.release()

    def end(self) -> None:
        """Let go of all tensors of the trace; warn of those that others hold."""
        self.release()
        self.warn(self.trace.end())

    def warn(self, lines: Sequence[str]) -> None:
        """Warn of tensors that others hold, by the lines that they come from."""
        for line in dict.fromkeys(lines):
            warnings.warn(_ESCAPED.format(line=line), TracingWarning, stacklevel=5)


class Recording:
    """A block in which this thread or task records what it does; tapes outside see nothing of it."""

    def __init__(self, trace: Trace, note: Callable[[Variable], None]) -> None:
        self._trace, self._note = trace, note
        self._before = stack.get(), creation_hooks.get(), tracer_of_context.get()

    def __enter__(self) -> None:
        try:
            stack.set(())
            creation_hooks.set((*self._before[1], self._note))
            tracing.append(self._trace)
            tracer_of_context.set(self._trace)
        except BaseException:  # a Ctrl-C: nobody will leave the block
            self._leave()
            raise

    @begins_in_peace
    def __exit__(self, *error: object) -> None:
        try:
            self._leave()
        except BaseException:  # a Ctrl-C
            self._leave()
            raise

    def _leave(self) -> None:
        tapes, hooks, tracer = self._before
        tracer_of_context.set(tracer)
        if self._trace in tracing:
            tracing.remove(self._trace)
        creation_hooks.set(hooks)
        stack.set(tapes)
