"""Templates: the steps of a kernel, added again for inputs of the same layouts.

So programs of many equal parts, such as the steps of an LSTM, call the kernels of one part only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agog_core.compiler import Node
from agog_cpu_executor.program.kinds import REPEATABLE, Source
from agog_cpu_executor.program.program import Program
from agog_cpu_executor.program.steps import Step, Value, ViewStep


class Templates:
    """The templates of one graph."""

    def __init__(self) -> None:
        self._known: dict[Any, Template] = {}

    def find(self, node: Node, inputs: Sequence[Value]) -> Template | None:
        """The template of a node with such inputs."""
        return self._known.get(_key(node, inputs))

    def keep(self, node: Node, inputs: Sequence[Value], steps: Sequence[Step], outputs: Sequence[Value]) -> None:
        """Remember what a node's kernel did, where it may be done again."""
        inside = {*inputs, *[value for step in steps for value in step.outputs]}
        used = [*outputs, *[value for step in steps for value in step.inputs]]
        is_whole = all(value in inside or value.source is Source.CONSTANT for value in used)
        key = _key(node, inputs)
        if key is not None and is_whole and all(step.kind in REPEATABLE for step in steps):
            self._known[key] = Template(inputs, steps, outputs)


class Template:
    """The steps of a kernel."""

    def __init__(self, inputs: Sequence[Value], steps: Sequence[Step], outputs: Sequence[Value]) -> None:
        self._inputs, self._steps, self._outputs = inputs, steps, outputs

    def again(self, program: Program, inputs: Sequence[Value]) -> list[Value]:
        """The outputs for other inputs, by the same steps."""
        known = dict(zip(self._inputs, inputs, strict=True))
        for step in self._steps:
            given, [made] = [known.get(value, value) for value in step.inputs], step.outputs
            if isinstance(step, ViewStep):
                known[made] = program.view(given[0], [(step.name, step.argument)])
            else:
                [known[made]] = program.add(step.on(given), made.array)
        return [known.get(value, value) for value in self._outputs]


def _key(node: Node, inputs: Sequence[Value]) -> Any:
    """The key of a node with its inputs; None if its attributes have no plain representation."""
    if not all(map(_is_plain, node.attributes.values())):
        return None
    of_inputs = [
        id(value) if value.source is Source.CONSTANT else (value.array.dtype, value.array.shape, value.array.strides)
        for value in inputs
    ]
    same = [inputs.index(value) for value in inputs]  # an input that comes twice is one value of the steps
    return node.op, node.table, repr(node.attributes), *of_inputs, *same


def _is_plain(attribute: Any) -> bool:
    """Whether the representation of an attribute is all of it."""
    if isinstance(attribute, (tuple, list)):
        return all(map(_is_plain, attribute))
    return attribute is None or type(attribute) in (bool, int, float, str)
