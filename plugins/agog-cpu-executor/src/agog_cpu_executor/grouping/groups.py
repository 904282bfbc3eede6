"""Groups: steps that become one step, by a compiler's function of their subgraph."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from agog_core.compiler import Compiler, Subgraph
from agog_core.plugin import PluginWarning, describe_error, describe_value
from agog_cpu_executor.grouping.primitives import is_of_rows, primitive_of, spec_of
from agog_cpu_executor.program import layouts
from agog_cpu_executor.program.kinds import Kind, Source
from agog_cpu_executor.program.steps import GroupStep, Step, Value

_MOST_ARRAYS = 24  # of one compiled function
_LARGE = 1 << 15  # elements from which on a step alone may be worth a function of its own


class Group:
    """Steps that become one: their shape, and the first axis of their reductions."""

    def __init__(self, shape: tuple[int, ...], steps: list[Step]) -> None:
        self.shape, self.steps = shape, steps
        self.first: int | None = None

    @property
    def rows(self) -> tuple[tuple[int, ...], ...]:
        """The shapes of values with one number per row."""
        if self.first is None:
            return ()
        return self.shape[: self.first], (*self.shape[: self.first], *[1] * (len(self.shape) - self.first))


def compiled(
    unit: Step | Group,
    users: Mapping[Value, set[Step | Group]],
    kept: set[Value],
    homes: dict[Value, Value],
    build: Any,
    compiler: Compiler,
    exact: bool,
) -> list[Step]:
    """The steps of a unit; for a group that the compiler takes, the one that calls the compiled function."""
    if isinstance(unit, Step):
        return [unit]
    if not is_worth_it(unit):
        return unit.steps
    inside = {value for step in unit.steps for value in step.outputs}
    inputs = list(dict.fromkeys(x for step in unit.steps for x in step.inputs if x not in inside))
    constants = [value for value in inputs if value.source is Source.CONSTANT]
    inputs = [value for value in inputs if value.source is not Source.CONSTANT]
    used = {x for x in inside if x in kept or users.get(x, {unit}) != {unit}}
    used |= {value.base for value in kept if value.base is not None}
    views = [step for step in unit.steps if step.kind is Kind.VIEW and step.outputs[0] in used]
    outputs = [x for step in unit.steps if step.kind is not Kind.VIEW for x in step.outputs if x in used]
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
    nodes = list(dict.fromkeys(step.node for step in unit.steps if step.node is not None))
    made = GroupStep(compiler.name, run, inputs, nodes, len(unit.steps), pairs, subgraph)
    made.outputs = outputs
    return [made, *views]


def is_worth_it(unit: Group) -> bool:
    """Whether compilation pays: for several steps, and for a large one that casts, broadcasts or reorders, which NumPy
    computes in buffers or short rows."""
    steps = [step for step in unit.steps if step.kind is not Kind.VIEW]
    if len(steps) != 1:
        return bool(steps)
    [step] = steps
    if step.kind is Kind.REDUCE or step.outputs[0].array.size < _LARGE:
        return False
    array = step.outputs[0].array
    given = [x.array for x in step.inputs if x.array.ndim]
    return any(x.shape != array.shape or x.dtype != given[0].dtype or not layouts.are_equal(x, array) for x in given)


def _built(subgraph: Subgraph, build: Any, compiler: Compiler) -> Any:
    """The compiled function of a subgraph; None if the compiler rejects it, or fails, of which it warns."""
    try:
        if (run := build(subgraph)) is None or callable(run):
            return run
        why = f"compile must return a function or None; it returned {describe_value(run)}"
    except Exception as error:
        why = describe_error(error)
    names = ", ".join(dict.fromkeys(each.name or each.kind for each in subgraph.primitives))
    warnings.warn(
        f"The compiler {compiler.name!r} failed, and a part of a traced function runs without it: "
        f"{why} (in {len(subgraph.primitives)} primitives: {names})",
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
    """Pairs of an output and the input whose memory it may take; a variable's new value takes that of the old one."""
    roots = {value.root for value in kept}
    free = [
        value
        for value in inputs
        if value.base is None
        and value.source in (Source.STEP, Source.VARIABLE)
        and value not in roots
        and not any(other.base is value for other in inputs)
    ]
    pairs = []
    for output in outputs:
        alike = [value for value in free if spec_of(value) == spec_of(output)]
        home = homes.get(output)
        chosen = (
            home if home in alike else next((x for x in alike if users[x] == {unit} and x.source is Source.STEP), None)
        )
        if chosen is not None:
            free.remove(chosen)
            pairs.append((output, chosen))
    return pairs
