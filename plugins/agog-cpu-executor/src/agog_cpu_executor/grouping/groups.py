"""Groups: steps that become one, in the terms of compilers, and what these make of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from agog_core.compiler import ArraySpec, Compiler, Primitive, Subgraph
from agog_core.plugin import PluginWarning
from agog_cpu_executor.program import layouts
from agog_cpu_executor.program.program import Step, Value

_MOST_ARRAYS = 24  # of one compiled function
_LARGE = 1 << 15  # elements from which on a step alone may be worth a function of its own


class Group:
    """Steps that become one: the shape of the elements, and the first of the axes that it reduces."""

    def __init__(self, shape: tuple[int, ...], steps: list[Step]) -> None:
        self.shape, self.steps = shape, steps
        self.first: int | None = None

    @property
    def rows(self) -> tuple[tuple[int, ...], ...]:
        """The shapes that one number per row may have."""
        if self.first is None:
            return ()
        return self.shape[: self.first], (*self.shape[: self.first], *[1] * (len(self.shape) - self.first))


def primitive_of(step: Step, numbers: dict[Value, int]) -> Primitive | None:
    """A step in the terms of compilers; None where they have none for it."""
    kind = "bits" if step.kind == "view" and step.name == "view" else step.kind
    if kind not in ("ufunc", "reduce", "where", "cast", "copy", "bits"):
        return None
    if kind in ("ufunc", "reduce") and getattr(np, step.name, None) is not step.options["function"]:
        return None  # one of SciPy's
    options: dict[str, Any] = {}
    if kind == "reduce":
        axis, dtype = step.options["axis"], step.options["dtype"]
        rank = step.inputs[0].array.ndim
        axes = range(rank) if axis is None else (axis,) if isinstance(axis, int) else axis
        options = {"axis": tuple(sorted(a % rank for a in axes)), "dtype": None if dtype is None else dtype.name}
        options |= {name: step.options[name] for name in ("keepdims", "initial") if name in step.options}
    name = step.name if kind in ("ufunc", "reduce") else ""
    return Primitive(kind, name, tuple(numbers[x] for x in step.inputs), numbers[step.outputs[0]], options)


def spec_of(value: Value) -> ArraySpec:
    """The dtype, shape and strides of a value."""
    array = value.array
    return _spec(array.dtype, array.shape, array.strides)


@lru_cache(1024)  # a dtype's name takes NumPy long to find
def _spec(dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]) -> ArraySpec:
    return ArraySpec(str(dtype.name), shape, strides)


def first_axis(step: Step) -> int | None:
    """The first of the axes of a reduction, where these are the last ones; else None."""
    primitive = primitive_of(step, {step.inputs[0]: 0, step.outputs[0]: 1})
    assert primitive is not None
    axes, rank = primitive.options["axis"], step.inputs[0].array.ndim
    return axes[0] if axes and axes == tuple(range(axes[0], rank)) else None


def is_of_rows(step: Step) -> bool:
    """Whether a step is a reduction that is done when all elements are."""
    return step.kind == "reduce" and first_axis(step) is None


def compiled(
    unit: Step | Group,
    users: Mapping[Value, set[Step | Group]],
    kept: set[Value],
    homes: dict[Value, Value],
    build: Any,
    compiler: Compiler,
    exact: bool,
) -> list[Step]:
    """A unit's steps: of a group that the compiler takes, one that calls what it has made."""
    if isinstance(unit, Step):
        return [unit]
    if not is_worth_it(unit):
        return unit.steps
    inside = {value for step in unit.steps for value in step.outputs}
    inputs = list(dict.fromkeys(x for step in unit.steps for x in step.inputs if x not in inside))
    constants = [value for value in inputs if value.kind == "constant"]
    inputs = [value for value in inputs if value.kind != "constant"]
    used = {x for x in inside if x in kept or users.get(x, {unit}) != {unit}}
    used |= {value.base for value in kept if value.base is not None}
    views = [step for step in unit.steps if step.kind == "view" and step.outputs[0] in used]
    outputs = [x for step in unit.steps if step.kind != "view" for x in step.outputs if x in used]
    outputs += [x for step in views for x in step.inputs if x in inside and x not in outputs]
    if any(x.base is not None for x in outputs) or len(inputs) + len(outputs) > _MOST_ARRAYS:
        return unit.steps
    values = [*constants, *inputs, *[x for step in unit.steps for x in step.outputs]]
    numbers = {value: n for n, value in enumerate(values)}
    given = {value for step in unit.steps if is_of_rows(step) for value in step.outputs}
    pairs = _overwrites(unit, users, inputs, [value for value in outputs if value not in given], kept, homes)
    subgraph = Subgraph(
        tuple(map(spec_of, values)),
        {numbers[value]: value.array for value in constants},
        tuple(numbers[value] for value in inputs),
        tuple(numbers[value] for value in outputs),
        tuple(p for step in unit.steps if (p := primitive_of(step, numbers)) is not None),
        tuple((numbers[output], numbers[given]) for output, given in pairs),
        exact or not compiler.tolerances,
    )
    run = _built(subgraph, build, compiler)
    if run is None:
        return unit.steps
    options = {"run": run, "overwrites": set(pairs), "subgraph": subgraph, "compiler": compiler.name}
    node = next((step.node for step in unit.steps if step.node is not None), None)
    return [Step("group", compiler.name, tuple(inputs), outputs, options | {"steps": unit.steps}, node), *views]


def is_worth_it(unit: Group) -> bool:
    """Whether a group takes less time compiled: it has several steps, or one that NumPy takes through buffers or in
    short rows, since it casts, repeats or reorders."""
    steps = [step for step in unit.steps if step.kind != "view"]
    if len(steps) != 1:
        return bool(steps)
    [step] = steps
    if step.kind == "reduce" or step.outputs[0].array.size < _LARGE:
        return False
    array = step.outputs[0].array
    given = [x.array for x in step.inputs if x.array.ndim]
    return any(x.shape != array.shape or x.dtype != given[0].dtype or not layouts.are_equal(x, array) for x in given)


def _built(subgraph: Subgraph, build: Any, compiler: Compiler) -> Any:
    """What the compiler makes of a subgraph; None where it does not take it, or fails, which is not silent."""
    try:
        return build(subgraph)
    except Exception as error:
        names = ", ".join(dict.fromkeys(each.name or each.kind for each in subgraph.primitives))
        warnings.warn(
            f"The compiler {compiler.name!r} failed, and a part of a traced function runs without it: "
            f"{type(error).__name__}: {error} (in {len(subgraph.primitives)} primitives: {names})",
            PluginWarning,
            stacklevel=2,
        )
        return None


def _overwrites(
    unit: Group,
    users: Mapping[Value, set[Step | Group]],
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    kept: set[Value],
    homes: dict[Value, Value],
) -> list[tuple[Value, Value]]:
    """For each output the input whose memory it may take: a variable's new value that of its old one."""
    roots = {value.root for value in kept}
    free = [
        value
        for value in inputs
        if value.base is None
        and value.kind in ("step", "variable")
        and value not in roots
        and not any(other.base is value for other in inputs)
    ]
    pairs = []
    for output in outputs:
        alike = [value for value in free if spec_of(value) == spec_of(output)]
        home = homes.get(output)
        chosen = home if home in alike else next((x for x in alike if users[x] == {unit} and x.kind == "step"), None)
        if chosen is not None:
            free.remove(chosen)
            pairs.append((output, chosen))
    return pairs
