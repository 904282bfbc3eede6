"""Concrete function: a traced function for arguments of one kind, with their signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from agog_core import nest
from agog_core.dtypes import DType, string
from agog_core.ops.array.creation import fill, zeros
from agog_core.shapes import TensorShape
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.tensor import Tensor
from agog_core.tensors.tensor_spec import TensorSpec
from agog_core.tracing.functions.arguments import Arguments
from agog_core.tracing.graphs.graph import Graph
from agog_core.tracing.traces.first_call import Recorded
from agog_core.variables.variable import Variable

if TYPE_CHECKING:
    from agog_core.observers.graph_node import GraphNode
    from agog_core.tracing.functions.function import DefinedFunction
    from agog_core.tracing.functions.memory import TraceInfo

_POSITIONAL, _EITHER = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
_NAMED = inspect.Parameter.KEYWORD_ONLY
_SIZES = (2, 3)  # which stand for unknown ones, to see what depends on them


class ConcreteFunction:
    """A function for arguments of one kind. It is traced when it is called first.

    What it returns is known before: the function is called on zeros of the arguments' shapes and dtypes, and variables
    that it writes have their values from before again.

    Args:
        function: the traced function, without an input signature.
        args: its arguments: a `TensorSpec` for each tensor; variables and Python values are bound.
        kwargs: others, by name.
        owner: who has made it, for errors.
    """

    def __init__(self, function: DefinedFunction, args: tuple[Any, ...], kwargs: Mapping[str, Any], owner: str) -> None:
        self._function, self._owner = function, owner
        self._name = getattr(function.python_function, "__name__", repr(function.python_function))
        self._signature = inspect.signature(function.python_function)
        self._given = self._signature.bind(*args, **kwargs)
        self._specs = args, dict(kwargs)
        self._check = Arguments(owner, self._name, None)
        self._found: tuple[Any, Graph] | None = None
        # Of the last call with tensors alone, by their places: their kinds, what else is given, and where they stand.
        self._last: tuple[list[Any], list[Any], list[int]] = [], [], []

    @property
    def name(self) -> str:
        """The name of the function."""
        return self._name

    @property
    def python_function(self) -> Callable[..., Any]:
        """The function that is called."""
        return self._function.python_function

    @property
    def structured_input_signature(self) -> tuple[Any, Any]:
        """The arguments by their places and those by their names: specs of tensors, and what is bound."""
        return self._specs

    @property
    def inputs(self) -> list[TensorSpec]:
        """The specs of the tensors that it takes, in their order."""
        return [leaf for leaf in nest.flatten(self._specs) if isinstance(leaf, TensorSpec)]

    @property
    def structured_outputs(self) -> Any:
        """What it returns, with a spec in the place of each tensor."""
        return self._outputs()[0]

    @property
    def outputs(self) -> list[TensorSpec]:
        """The specs of the tensors that it returns, in their order."""
        return [leaf for leaf in nest.flatten(self.structured_outputs) if isinstance(leaf, TensorSpec)]

    @property
    def output_shapes(self) -> Any:
        """What it returns, with a shape in the place of each tensor."""
        return self._of_outputs(lambda spec: spec.shape)

    @property
    def output_dtypes(self) -> Any:
        """What it returns, with a dtype in the place of each tensor."""
        return self._of_outputs(lambda spec: spec.dtype)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that it reads or writes."""
        return tuple(self.graph().variables)

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those that are trainable."""
        return tuple(variable for variable in self.variables if variable.trainable)

    def graph(self) -> Graph:
        """What it does.

        Returns:
            The graph of its last trace; before its first call, of one on zeros.
        """
        infos = self._function.traces()
        return infos[-1].graph if infos else self._outputs()[1]

    def traces(self) -> list[TraceInfo]:
        """The traces.

        Returns:
            A `TraceInfo` for each, in the order in which they were made.
        """
        return self._function.traces()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function with its tensors. What is bound may be left out, or given as it was."""
        kinds, values, places = self._last
        is_plain = not kwargs and {Tensor}.issuperset(map(type, args))
        if is_plain and args and [(x._table, x._shape) for x in args] == kinds:
            values = values.copy()
            for place, x in zip(places, args, strict=True):
                values[place] = x
            return self._function(*values)
        given = self._bound(args, kwargs)
        for name, value in given.items():
            given[name] = self._check.fitting(self._given.arguments[name], value, f"argument {name!r}")
        whole = self._signature.bind_partial()
        whole.arguments.update(given)
        if is_plain and not whole.kwargs:
            places = [place for place, value in enumerate(whole.args) if any(value is x for x in args)]
            values = [None if place in places else value for place, value in enumerate(whole.args)]
            self._last = [(x._table, x._shape) for x in args], values, places
        return self._function(*whole.args, **whole.kwargs)

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by the names of parameters: by their places those of tensors alone, or all of them."""
        wanted = self._given.arguments
        free = [name for name, spec in wanted.items() if any(isinstance(x, TensorSpec) for x in nest.flatten(spec))]
        kinds = {name: parameter.kind for name, parameter in self._signature.parameters.items()}
        is_plain = all(kinds[name] in (_POSITIONAL, _EITHER, _NAMED) for name in wanted)
        try:
            if is_plain and len(args) <= len(free) and not any(name in kwargs for name in free[: len(args)]):
                given = {**dict(zip(free, args, strict=False)), **kwargs}
            else:
                given = dict(self._signature.bind_partial(*args, **kwargs).arguments)
            if missing := [name for name in free if name not in given]:
                raise TypeError(f"missing a required argument: {missing[0]!r}")
            if unknown := [name for name in given if name not in wanted]:
                raise TypeError(f"got an unexpected argument: {unknown[0]!r}")
        except TypeError as error:
            raise TypeError(f"{self._owner}: {self._name}: {error}; it takes {', '.join(free) or 'nothing'}.") from None
        return {name: given.get(name, spec) for name, spec in wanted.items()}

    def _of_outputs(self, part: Callable[[TensorSpec], TensorShape | DType]) -> Any:
        return nest.map_structure(lambda x: part(x) if isinstance(x, TensorSpec) else x, self.structured_outputs)

    def _outputs(self) -> tuple[Any, Graph]:
        """What it returns for zeros, as specs, and the graph of that call, of which nothing is left."""
        if self._found is None:
            calls = [self._on_zeros(size) for size in (_SIZES if self._has_unknown else _SIZES[:1])]
            self._found = nest.map_structure(_merged, *(found for found, _ in calls)), calls[0][1]
        return self._found

    @property
    def _has_unknown(self) -> bool:
        return any(not spec.shape.is_fully_defined() for spec in self.inputs)

    def _on_zeros(self, size: int) -> tuple[Any, Graph]:
        args, kwargs = nest.map_structure(lambda x: _zeros(x, size) if isinstance(x, TensorSpec) else x, self._specs)
        recorded = Recorded(self._function._called, args, kwargs, may_create=True)
        recorded.trace.put_back()
        found = nest.map_structure(_spec, recorded.results(recorded.results.tensors))
        recorded.end()
        return found, recorded.trace.graph

    def __graph_nodes__(self) -> list[GraphNode]:
        return self.graph().__graph_nodes__()

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self._name}{self._signature}>"


def _zeros(spec: TensorSpec, size: int) -> Tensor:
    """A tensor that fits a spec, with some size in the place of unknown ones."""
    lengths = [] if spec.shape.ndims is None else spec.shape.as_list()
    shape = [size if length is None else length for length in lengths]
    return fill(shape, b"") if spec.dtype is string else zeros(shape, spec.dtype)


def _spec(result: Any) -> Any:
    """The spec of a tensor, also of a sparse one; anything else as it is."""
    return TensorSpec(result.shape, result.dtype) if hasattr(result, "dtype") and hasattr(result, "shape") else result


def _merged(*specs: Any) -> Any:
    """The spec of what was returned for several sizes; sizes that differ are unknown."""
    first = specs[0]
    if not isinstance(first, TensorSpec):
        return first
    lists = [spec.shape.as_list() for spec in specs]
    if len({len(sizes) for sizes in lists}) > 1:
        return TensorSpec(None, first.dtype)
    return TensorSpec([sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*lists, strict=True)], first.dtype)


def spec_of(argument: Any) -> Any:
    """The spec of an argument that is a tensor or an array; another one as it is."""
    is_array = isinstance(argument, (Tensor, np.ndarray))
    return TensorSpec.from_tensor(convert_to_tensor(argument)) if is_array else argument
