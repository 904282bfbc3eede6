"""Graph node: a node of a tape or a model, for packages that draw graphs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, runtime_checkable

from agog_core.dtypes import DType
from agog_core.shapes import TensorShape


class GraphNode(NamedTuple):
    """A node of a graph: an op on a tape, the call of a layer in a model, or a variable.

    Args:
        name: the name, which no other node has; slashes make groups.
        op: what it does, such as ``"matmul"``, or ``"VariableV2"``.
        inputs: the names of the nodes whose outputs it takes.
        shapes: the shapes of its outputs; none if they are not known.
        dtype: the dtype of its outputs; None if it is not known.
        device: where its outputs are; empty if it is not known.
        attributes: whatever else there is to say.
    """

    name: str
    op: str
    inputs: tuple[str, ...] = ()
    shapes: tuple[TensorShape, ...] = ()
    dtype: DType | None = None
    device: str = ""
    attributes: Mapping[str, str] = MappingProxyType({})


@runtime_checkable
class HasGraph(Protocol):
    """An object with a graph: a tape or a model."""

    def __graph_nodes__(self) -> list[GraphNode]: ...


class UniqueNames:
    """Gives each node a name of its own: a number follows the second one on."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def __call__(self, name: str) -> str:
        """A name that was not given before.

        >>> unique = UniqueNames()
        >>> unique("add"), unique("add"), unique("add")
        ('add', 'add_1', 'add_2')
        """
        unique = name
        while unique in self._counts:
            unique = f"{name}_{self._counts[name]}"
            self._counts[name] += 1
        self._counts[unique] = 1
        return unique


def variable_node(variable: Any, name: str) -> GraphNode:
    """The node of a variable."""
    return GraphNode(name, "VariableV2", (), (variable.shape,), variable.dtype, variable.device)
