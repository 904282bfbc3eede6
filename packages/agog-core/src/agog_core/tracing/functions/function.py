"""Function: `function` traces a Python function once for each kind of arguments, and runs the traces again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any

from agog_core import nest
from agog_core.dispatch.devices.lookup import scopes
from agog_core.dispatch.kernels.coats import is_checked
from agog_core.recording import Recording, active, tapes_of_context
from agog_core.settable import changes
from agog_core.settings import present, used
from agog_core.tensors.tensor import Tensor
from agog_core.tensors.tensor_spec import TensorSpec
from agog_core.tracers import present_tracer, tracing
from agog_core.tracing.errors import OtherWayError, is_undone
from agog_core.tracing.functions.arguments import Arguments, key_of_call
from agog_core.tracing.functions.concrete_function import ConcreteFunction, spec_of
from agog_core.tracing.functions.eager_mode import eagerly
from agog_core.tracing.functions.memory import Memories, Memory, TraceInfo
from agog_core.tracing.graphs.graph import Graph
from agog_core.tracing.state.python_results import handing_on
from agog_core.tracing.tapes.calls import Taped
from agog_core.tracing.tapes.first_call import AGAIN, Function, trace_taped
from agog_core.tracing.tapes.tangents import Tangent, key_of_tangents, tangents_of
from agog_core.tracing.tapes.twins import key_of_tapes
from agog_core.tracing.tapes.walks import walk
from agog_core.tracing.traces.concrete import Concrete
from agog_core.tracing.traces.first_call import first_call

if TYPE_CHECKING:
    from agog_core.observers.graph_node import GraphNode

__all__ = ["function"]

# Known of a function that does with the tapes around it what later calls could not repeat.
_EAGERLY = object()


class DefinedFunction:
    """A function that `function` or `defun` has wrapped; it also works as a method."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        input_signature: Sequence[Any] | None = None,
        owner: str = "function",
        check: bool | None = None,
        exact: bool = True,
    ) -> None:
        self._check = is_checked() if check is None else check
        self._exact = exact or self._check  # bits are compared
        self._warned: set[str] = set()
        self._python_function = python_function
        self._name = getattr(python_function, "__name__", repr(python_function))
        self._input_signature = None if input_signature is None else tuple(input_signature)
        self._owner = owner
        self._arguments = Arguments(owner, self._name, self._input_signature)
        self._memory = Memory()
        self._memories = Memories()  # those of instances, where the function is a method
        update_wrapper(self, python_function)

    @property
    def python_function(self) -> Callable[..., Any]:
        """The function that is called."""
        return self._python_function

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """What the arguments must be; None for anything."""
        return self._input_signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, or run what it did before for arguments of the same kind; arrays among its arguments, and
        numbers, arrays and variables among its results, become tensors."""
        if (tracing and present_tracer() is not None) or eagerly:
            return self._called(*self._arguments.taken(args, kwargs))
        memory = self._memory
        if active and (tapes := tapes_of_context()):
            match, found, version, settings = memory.latest_taped
            if version == changes[0] and not scopes and (not used or settings == present()):
                matched = match(args, kwargs, tapes)
                if matched is not None and (not found.entries or found.fits(matched[1])):
                    try:
                        result = found.run(matched[1], tapes, None, matched[0])
                    except Exception as error:
                        if not is_undone(error):
                            raise
                        failure = error
                    else:
                        return result if type(result) is not int else self._under_tapes(args, kwargs, tapes)
                    return self._again(found, failure, args, kwargs)
            return self._under_tapes(args, kwargs, tapes)
        match, found, version, settings = memory.latest
        if version == changes[0] and not scopes and (not used or settings == present()):
            matched = match(args, kwargs)
            if matched is not None:
                latest = found.latest
                try:
                    result = latest.run(matched[0], matched[1])
                    if type(result) is not int:
                        return result
                    return self._branched(found, latest, result, matched[1], args, kwargs)
                except Exception as error:
                    if not is_undone(error):
                        raise
                    failure = error
                return self._again(found, failure, args, kwargs)
        if memory.retracing.skips():
            return self._called(*self._arguments.taken(args, kwargs))
        called_with = args, kwargs
        args, kwargs, tensors = self._arguments.given(args, kwargs)
        version = changes[0]
        kind = memory.with_reads(key_of_call(args, kwargs))
        found = memory.traces.get(kind)
        if found is None:
            return self._trace(kind, args, kwargs, None, 0)
        if not (scopes or self._check) and (match := memory.matcher(found, *called_with, self._input_signature)):
            memory.latest = match, found, version, present()
        return self._run(found, tensors, args, kwargs)

    def _run(self, found: Concrete, tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Any:
        """Run a trace, or the one of its branches that ran last."""
        if self._check:
            return self._compared(found, tensors, args, kwargs)
        latest = found.latest
        try:
            result = latest.run([x._array for x in tensors], tensors)
            if type(result) is not int:
                self._memory.retracing.found()
                return result
            return self._branched(found, latest, result, tensors, args, kwargs)
        except Exception as error:
            if not is_undone(error):
                raise
            failure = error
        return self._again(found, failure, args, kwargs)

    def _again(self, found: Any, failure: Exception, args: Any, kwargs: Any) -> Any:
        """Call the function where a trace has failed and done nothing."""
        given = self._arguments.both(args, kwargs)
        return self._memory.again(self._name, found, failure, self._called, *given)

    @handing_on
    def _branched(
        self, first: Concrete, at: Concrete, guard: int, tensors: Sequence[Tensor], args: Any, kwargs: Any
    ) -> Any:
        """Where a guard has failed in the trace that ran last, run the one for the way that the branches go now."""
        memory, arrays, failed = self._memory, [x._array for x in tensors], int(at is not first)
        now, result = (at, guard) if at is first else (first, first.run(arrays, tensors))
        while type(result) is int:
            at, guard, failed = now, result, failed + 1
            if (other := at.branches.get(guard)) is None:
                break
            now, result = other, other.run(arrays, tensors)
        is_astray = memory.goes_astray(first, at, guard, failed, self._name)
        if type(result) is int:
            given = self._arguments.both(args, kwargs)
            return self._called(*given) if is_astray else self._trace(first.key, *given, at, guard)
        first.latest = now
        memory.retracing.found(failed)
        return result

    @handing_on
    def _compared(self, found: Concrete, tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Any:
        """Run a trace beside an eager call, and raise where they part."""
        from agog_core.tracing.functions.check import Shadow

        shadow = Shadow(self._called, self._python_function, args, kwargs)
        try:
            while type(result := found.run([x._array for x in tensors], tensors)) is int:
                if result not in found.branches:  # the call that is traced now is an eager one
                    return self._trace(found.key, args, kwargs, found, result)
                found = found.branches[result]
        except OtherWayError as failure:
            return self._again(found, failure, args, kwargs)
        self._memory.retracing.found()
        shadow.warn(self._warned)
        shadow.compare(result, found.graph)
        return result

    def _trace(self, key: Any, args: Any, kwargs: Any, parent: Concrete | None, guard: int) -> Any:
        """Call the function and record what it does."""
        memory = self._memory
        memory.note_kind(args, kwargs)
        if not memory.allows(key, parent, guard, self._name):
            return self._called(args, kwargs)
        place = key, id(parent), guard
        with key[1].noted():
            call = first_call(self._called, args, kwargs, may_create=place not in memory.created)
        call.concrete.key, call.concrete.graph.exact = key, self._exact
        if call.failed is not None:
            memory.note_failure(self._name, key, call.failed, call.concrete.graph)
            call.concrete.untie()
            # Another thread may have changed a variable meanwhile, so that nothing was kept.
            return call.result if call.is_kept else self._called(args, kwargs)
        if call.has_created:
            memory.created.add(place)
            memory.note(key, parent, guard, call.concrete.graph, has_created=True)
        elif not memory.unite(parent, guard, call.concrete):
            known, at = (memory.traces, key) if parent is None else (parent.branches, guard)
            memory.keep(known, at, call.concrete, key, parent, guard)
        if call.is_kept:
            if call.has_created:
                call.concrete.untie()
            return call.result
        # Another thread has changed a variable meanwhile: nothing was kept, and the call is run on what is there now.
        return self._run(call.concrete, call.tensors, args, kwargs)

    def _under_tapes(self, args: Any, kwargs: Any, tapes: Sequence[Recording]) -> Any:
        """Call the function under tapes as one record whose walk back is traced when it is asked for."""
        memory, called_with = self._memory, (args, kwargs)
        if memory.retracing.skips():
            return self._called(*self._arguments.taken(args, kwargs))
        tapes = [tape for tape in tapes if tape.is_open]
        args, kwargs, tensors = self._arguments.given(args, kwargs)
        tangents: list[Tangent] = []
        if any(tape.is_forward for tape in tapes) and (tangents := tangents_of(tapes, tensors)):
            tensors = (*tensors, *(each.tensor for each in tangents))
        version, watching = changes[0], key_of_tapes(tapes, tensors)
        key: Any = memory.with_reads((watching, key_of_tangents(tangents), key_of_call(args, kwargs)))
        known, place, parent = memory.taped, key, None
        while (found := known.get(place)) is not None:
            if found is _EAGERLY or not found.fits(tensors):
                return self._called(args, kwargs)
            try:
                result = found.run(tensors, tapes)
            except Exception as error:
                if not is_undone(error):
                    raise
                failure = error
                break
            if type(result) is not int:
                memory.retracing.found()
                is_plain = tapes and not (scopes or self._check or any(tape.is_forward for tape in tapes))
                if is_plain and (match := memory.matcher(found, *called_with, self._input_signature, tapes)):
                    memory.latest_taped = match, memory.taped[key], version, present()
                return result
            known, place, parent = found.branches, result, found
        else:
            return self._trace_taped(known, place, key, parent, args, kwargs, tapes, tangents)
        return self._again(memory.taped.get(key), failure, args, kwargs)

    @handing_on
    def _trace_taped(
        self,
        known: dict[Any, Any],
        place: Any,
        key: Any,
        parent: Taped | None,
        args: Any,
        kwargs: Any,
        tapes: Sequence[Recording],
        tangents: Sequence[Tangent],
    ) -> Any:
        """Call the function under tapes and record what it does, for a place among what is known."""
        memory, guard = self._memory, 0 if parent is None else place
        memory.note_kind(args, kwargs)
        if not memory.allows(key, parent, guard, self._name):
            return self._called(args, kwargs)
        where = key, id(parent), guard
        full_name = f"{getattr(self._python_function, '__module__', None)}.{self._name}"
        made = Function(self._called, full_name, walk, where not in memory.created, self._exact)
        with key[1].noted():
            found = trace_taped(made, args, kwargs, tapes, tangents=tangents)
        if found is None:
            known[place] = _EAGERLY
            memory.retracing.tell("asks", function=self._name)
            return self._called(args, kwargs)
        if found.failed is not None:
            memory.note_failure(self._name, key, found.failed, found.taped.graph)
        elif found.captures:
            known[place] = _EAGERLY
            memory.retracing.tell("captures", function=self._name)
        elif found.has_created:
            memory.note(key, parent, guard, found.taped.graph, has_created=True)
            memory.created.add(where)
        else:
            memory.keep(known, place, found.taped, key, parent, guard)
        return self._under_tapes(args, kwargs, tapes) if found.result is AGAIN else found.result

    def _called(self, args: Any, kwargs: Any) -> Any:
        result = self._python_function(*args, **kwargs)
        return result if type(result) is Tensor else nest.map_structure(self._arguments.returned, result)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        bound = object.__new__(DefinedFunction)
        vars(bound).update(vars(self))
        bound._python_function = bound.__wrapped__ = MethodType(self._python_function, instance)  # type: ignore[attr-defined]  # as `update_wrapper` sets
        bound._memory = self._memories.of(instance)
        return bound

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function for arguments of one kind alone; it is traced when it is called first.

        Args:
            *args: tensors, or a `TensorSpec` for each; variables and Python values, which are bound; or structures.
            **kwargs: others, by name.

        Returns:
            A `ConcreteFunction`, which says what it takes and returns; TypeError where it takes other arguments.
        """
        given = args or (() if kwargs else self._input_signature or ())
        args, kwargs = nest.map_structure(spec_of, (tuple(given), kwargs))
        whole = DefinedFunction(self._python_function, None, self._owner, self._check, self._exact)
        return ConcreteFunction(whole, args, kwargs, self._owner)

    memory = property(lambda self: self._memory, doc="The traces.")

    def traces(self) -> list[TraceInfo]:
        """The traces of the function.

        Returns:
            A `TraceInfo` for each, in the order in which they were made.
        """
        return list(self._memory.infos)

    def graph(self, *args: Any, **kwargs: Any) -> Graph:
        """The graph of a trace.

        Args:
            *args: arguments of the kind that was traced; none for the last trace.
            **kwargs: others.

        Returns:
            The graph.

        Raises:
            ValueError: the function was not traced, or not for such arguments.
        """
        if not args and not kwargs and self._memory.infos:
            return self._memory.infos[-1].graph
        found = self._memory.traces.get(self._memory.with_reads(key_of_call(*self._arguments.both(args, kwargs))))
        if found is None:
            raise ValueError(f"{self._owner}: {self._name} has no trace for these arguments; call it with them first.")
        return found.graph

    def __graph_nodes__(self) -> list[GraphNode]:
        return self.graph().__graph_nodes__()

    def __repr__(self) -> str:
        return f"<DefinedFunction {self._name}>"


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    *,
    check: bool | None = None,
    exact: bool = True,
    owner: str = "function",
) -> Any:
    """Trace a function: it runs as it is for arguments of a new kind, and what it did runs again for others like them.

    Args:
        func: a function of tensors; None to use `function` as a decorator with arguments.
        input_signature: a list with a `TensorSpec`, or a structure of them, for each argument; None for anything.
        autograph: accepted; Python is never rewritten: write `while_loop` for a loop of any length in one trace.
        check: whether each call is compared with an eager one, bit by bit, on copies of what it changes: where they
            part, a TracingError names the line, and what Python has read; a warning names what Python changes. None
            asks the environment variable ``AGOG_CHECK``.
        exact: whether results have the very bits of eager calls. False lets compilers differ from them within the
            tolerances that they declare, such as by multiplying and adding with one rounding; calls that are compared
            stay exact.

    Returns:
        A `DefinedFunction`, or a decorator that makes one.

    Raises:
        TypeError: the input signature is no list or tuple, or holds something else.
        ValueError: ``check`` is True and ``exact`` False.

    >>> import agog_core as ag
    >>> @function
    ... def double(x):
    ...     return x * 2
    >>> print(double(ag.constant(2.0)), double(ag.constant(3.0)))
    tf.Tensor(4.0, shape=(), dtype=float32) tf.Tensor(6.0, shape=(), dtype=float32)
    """
    if input_signature is not None:
        is_list = isinstance(input_signature, (list, tuple))
        if not is_list or not all(isinstance(leaf, TensorSpec) for leaf in nest.flatten(input_signature)):
            raise TypeError(
                f"{owner}: input_signature must be a list or tuple of TensorSpec, or of structures of them; got "
                f"{input_signature!r}."
            )
    if check and not exact:
        raise ValueError(f"{owner}: check=True compares bits, and exact=False lets them differ; give one of the two.")
    if func is None:
        return partial(function, input_signature=input_signature, check=check, exact=exact, owner=owner)
    return DefinedFunction(func, input_signature, owner, check, exact)
