"""Steps: what a function does, in the order of the program, before it is data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agog_core.variables.variable import Variable


@dataclass(eq=False, slots=True)
class Block:
    """Steps that run one after the other; those of a block inside take the values of the blocks around it.

    Args:
        inputs: the numbers of the values that it is given.
        steps: what it does.
        outputs: the numbers of its results; of a way that ends the program, what `structure` makes of the result.
    """

    inputs: list[int] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    outputs: Any = None


@dataclass(eq=False, slots=True)
class Step:
    """One step.

    Args:
        kind: ``op``, ``create``, ``update``, ``read``, ``assign``, ``temporary``, ``key``, ``copy``, ``host``,
            ``fixed``, ``branch``, ``cond``, ``while`` or ``rows``.
        name: of its op, or of its function on the host.
        inputs: the numbers of the values that it takes.
        outputs: and of those that it makes.
        attributes: the rest, by name.
        variables: those that it reads or writes.
        blocks: the steps inside it; None for a way that nobody has recorded.
        line: of the program.
        shapes: of the outputs.
        is_kept: whether it runs whoever uses its outputs.
    """

    kind: str
    name: str = ""
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    blocks: list[Block | None] = field(default_factory=list)
    line: str = ""
    shapes: list[tuple[int, ...]] = field(default_factory=list)
    is_kept: bool = True


def drop_dead(block: Block, used: set[int]) -> None:
    """Leave out steps whose outputs nobody uses; ``used`` are the numbers that are used behind the block."""
    kept = []
    for step in reversed(block.steps):
        if step.is_kept or not used.isdisjoint(step.outputs):
            for inner in step.blocks:
                if inner is not None:
                    used.update(numbers(inner.outputs))
                    drop_dead(inner, used)
            used.update(step.inputs)
            kept.append(step)
    block.steps = kept[::-1]


def numbers(outputs: Any) -> list[int]:
    """The numbers of the values in the outputs of a block."""
    if isinstance(outputs, dict):
        tensors: Sequence[int] = outputs.get("tensors", ())
        return list(tensors)
    return list(outputs or ())
