"""Concrete: one trace of a function, with what runs its graph on tensors and variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agog_core.dispatch.devices.lookup import forgotten
from agog_core.random import generator
from agog_core.shapes import intern_shape
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.tracing.errors import OtherWayError, is_undone, written_before
from agog_core.tracing.execution.executors import executable
from agog_core.tracing.execution.hotness import compiled, warming
from agog_core.tracing.execution.loops import note_draws, putting_back
from agog_core.tracing.execution.portable import Run
from agog_core.tracing.execution.source import Source
from agog_core.tracing.graphs.graph import Effect, Graph, RandomKey, Value
from agog_core.tracing.graphs.passes import optimize
from agog_core.tracing.state.leaves import written
from agog_core.tracing.traces.aliases import Echoes
from agog_core.tracing.traces.matching import Matcher, matcher
from agog_core.tracing.traces.union import Whole
from agog_core.variables.memory import give_back, take, updating


class Concrete:
    """One trace of a function.

    Args:
        graph: the graph, after the passes.
        pack: makes the function's result of its tensors; None where arrays are wanted.
        is_portable: whether kernels are called one by one, whatever the backend could do.
        echoes: the results that are other tensors, not new ones; None where there are none.
        whole: what may go both ways where it branches; None where that is nowhere.
    """

    def __init__(
        self,
        graph: Graph,
        pack: Callable[[list[Tensor]], Any] | None,
        is_portable: bool = False,
        echoes: Echoes | None = None,
        whole: Whole | None = None,
    ) -> None:
        graph.variables = {
            **{variable: graph.variables[variable] for variable in graph.finals},
            **graph.variables,
        }
        self.graph = graph
        self.branches: dict[int, Concrete] = {}  # what to run instead, by the number of the guard that fails
        self.whole = whole
        self.key: Any = None  # what of a call has decided that this is its trace
        self.latest = self  # of a first trace: which of it and its branches ran to the end last
        self._pack = pack
        self._is_portable = is_portable
        self._outputs = [(value.table, intern_shape(value.shape)) for value in graph.outputs]
        self._echoes = echoes
        self._only = self._outputs[0] if len(self._outputs) == 1 and echoes is None else None
        self._is_bare = getattr(pack, "single", False)  # whether the result is the tensor itself
        self._calls_python = graph.calls_python
        in_parts = self._calls_python  # which read and write variables, and draw of random streams, by themselves
        self._written = [] if in_parts else list(graph.finals)
        self._read = [] if in_parts else [variable for variable in graph.variables if variable not in graph.finals]
        self._draws = any(late.draws for late in graph.lates)  # see `_going_back`
        is_counted = not in_parts and not self._draws
        self._keys = [x for x in graph.lates if is_counted and type(x) is RandomKey and not x.is_behind]
        for late in () if in_parts else graph.lates:
            if type(late) is RandomKey and late.is_behind:
                note_draws(late)
        self.guards = [node for node in graph.nodes if node.effect is Effect.GUARD]
        self._run: Run
        self._result: Callable[[Sequence[Any], Sequence[Tensor]], Any] | None = None  # see `_write_result`
        self._version = -1  # of what the run was made for
        self._is_hot = False
        self._matchers: dict[tuple[type, ...], Matcher | None] = {}  # by the types of arguments

    def run(self, arrays: Sequence[Any], tensors: Sequence[Tensor] = ()) -> Any:
        """Run on the arrays of the arguments, and the tensors that some results are: the function's result, or the
        arrays of one, or the number of a guard that failed."""
        run = self._run if self._version == forgotten[0] else self._compiled()
        written, echoes = self._written, self._echoes
        values = None if echoes is None else echoes.present()
        try:
            if written:
                with updating:
                    finals = None
                    try:
                        variables = take(written)
                        for variable in self._read:
                            variables.append(variable._current()._array)
                        found = run(arrays, variables)
                        if type(found) is tuple:
                            finals = found[1]
                    except Exception as error:
                        finals = written_before(error)
                        raise
                    finally:
                        give_back(written, finals)
            elif self._read:
                found = run(arrays, [variable._current()._array for variable in self._read])
            else:
                found = run(arrays, ())
        except Exception as error:
            if is_undone(error):
                self._put_back()
            if isinstance(error, OtherWayError):
                error.trace = self
            raise
        if type(found) is int:
            self._put_back()
            return found
        outputs = found[0]
        if self._result is not None:
            return self._result(outputs, tensors)
        pack = self._pack
        if pack is None:
            return outputs
        if self._only is not None:
            table, shape = self._only
            result = wrap(outputs[0], table, shape)
            return result if self._is_bare else pack([result])
        results = self.tensors(outputs)
        if echoes is not None and values is not None:
            given = dict(zip(written, found[1], strict=True)) if written else {}
            results = echoes(results, tensors, values, given)
        return pack(results)

    def tensors(self, arrays: Sequence[Any]) -> list[Tensor]:
        """The tensors of arrays that it has given."""
        return [wrap(array, *kind) for array, kind in zip(arrays, self._outputs, strict=True)]

    def matcher(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], signature: Any) -> Matcher | None:
        """What takes such arguments; None where only the key can tell."""
        types = tuple(map(type, args))
        if types not in self._matchers:
            self._result = self._write_result()
            self._matchers[types] = matcher(args, kwargs, signature is not None)
        return self._matchers[types]

    def _write_result(self) -> Callable[[Sequence[Any], Sequence[Tensor]], Any] | None:
        """A function that is written to make the result of arrays; None where some are values of variables."""
        if self._pack is None:
            return None
        source = Source("result(arrays, tensors)", {})
        values = self.graph.outputs
        names = [f"arrays[{place}]" for place in range(len(values))]
        if self._echoes is not None:
            others = self._echoes.names(names, source)
            if others is None:
                return None
            names = others
        made: dict[str, str] = {}
        for name, value in zip(names, values, strict=True):
            if name not in made:
                made[name] = source.made(name, value) if name.startswith("arrays") else name
        source.add(f"return {written(self._pack, [made[name] for name in names], source)}")
        return source.function()

    def _put_back(self) -> None:
        """Put back what a run has drawn of random streams, because it comes to nothing."""
        for key in self._keys:
            generator().put_back(key.op_seed, key.values)

    def _compiled(self) -> Run:
        version = forgotten[0]
        run = None if self._is_hot else warming(self.graph, self._heat)
        run = compiled(self.graph, self._make) if run is None else run
        if self._draws:
            self._run = _going_back(run)
        else:
            self._run = putting_back(run) if any(node.draws for node in self.graph.nodes) else run
        self._version = version  # last: other threads take the run from here on
        return self._run

    def _make(self, graph: Graph) -> Run:
        if graph.calls_python:
            from agog_core.tracing.traces.segments import Segments  # whose parts are such traces

            return Segments(graph, self._is_portable)
        return executable(graph, self._is_portable)

    def _heat(self) -> None:
        """Let the next run be compiled."""
        self._is_hot, self._version = True, -1

    def united(self, other: Concrete) -> Concrete | None:
        """What runs the one or the other trace; None where they differ elsewhere than where they branch."""
        if self.whole is None or other.whole is None or (whole := self.whole.united(other.whole)) is None:
            return None
        graph = whole.runnable()
        optimize(graph)
        graph.exact = self.graph.exact
        made = Concrete(graph, self._pack, self._is_portable, self._echoes, whole)
        made.key = self.key
        return made

    def untie(self) -> None:
        """Break the circles of a trace that nobody will run: its variables' memory is free with the function."""
        self.latest = None  # type: ignore[assignment]  # nobody will ask
        for node in (*self.graph.nodes, *(self.whole.graph.nodes if self.whole is not None else ())):
            for value in node.outputs:
                value.node = None

    @property
    def values(self) -> list[Value]:
        """The values of the arguments."""
        return self.graph.inputs


def _going_back(run: Run) -> Run:
    """A run after which random streams are where they were before, where it comes to nothing."""

    def call(inputs: Sequence[Any], variables: Sequence[Any]) -> Any:
        source = generator()
        mark = source.mark()
        try:
            found = run(inputs, variables)
        except Exception as error:
            if is_undone(error):
                source.go_back(mark)
            raise
        if type(found) is int:
            source.go_back(mark)
        return found

    return call
