"""Graph: what a traced function did, op by op, as data that a device runs again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from agog_core.random import generator

if TYPE_CHECKING:
    from agog_core.dispatch.devices.table import KernelTable
    from agog_core.dispatch.op import Op
    from agog_core.observers.graph_node import GraphNode
    from agog_core.shapes import Shape
    from agog_core.variables.variable import Variable


class Effect(Enum):
    """What running a node does beside computing its outputs."""

    NONE = "none"
    VIEW = "view"  # the outputs share memory with the first input
    RANDOM = "random"  # it takes bits of a random stream: its key is a `Late`
    UPDATE = "update"  # it writes variables in place, by an op's kernel
    ASSIGN = "assign"  # its output is a C-contiguous copy of its input, which a variable will hold
    COPY = "copy"  # its output is its input on another device, that of the output's table
    HOST = "host"  # its outputs are what a function of ours, ``attributes["function"]``, makes of host arrays and of
    # nothing else; with an attribute ``"number"``, which is known late, its output is that number
    PYTHON = "python"  # its outputs are what a function of the program makes of host arrays, which may do anything
    READ = "read"  # its output is the value that a variable has behind a function of the program
    GUARD = "guard"  # it compares a value, or its shape, with what it was when the function was traced
    LOOP = "loop"  # it runs graphs again and again: ``attributes["loop"]``, an `agog_core.tracing.execution.loops.Loop`


PURE = (Effect.NONE, Effect.VIEW)
"""The effects of nodes that only compute."""

WRITES = (Effect.UPDATE, Effect.ASSIGN)
"""The effects of nodes that give variables new values."""


class Late:
    """What is computed on the host at each run: a number such as a learning rate, several by name, or a random key.

    ``function(*arrays)`` gives it, of the arrays of ``inputs``. All of `Graph.lates` are computed in each run, once and
    in their order, also those that nobody uses any more; those without inputs before all nodes. Those that come behind
    a loop which takes random numbers have a value of the loop as their last input, and keep their order.
    """

    __slots__ = ("calls_python", "draws", "function", "inputs", "is_behind", "is_never_zero", "value")

    def __init__(
        self, function: Callable[..., Any], value: Any, inputs: Sequence[Value] = (), *, is_never_zero: bool = False
    ) -> None:
        self.function = function
        self.value = value  # what it was when the function was traced
        self.inputs = tuple(inputs)
        self.calls_python = False  # whether functions of the program run
        self.draws = False  # whether it takes bits of random streams, in another way than as a `RandomKey`
        self.is_never_zero = is_never_zero  # whether each of its numbers is another one than 0 in each run
        self.is_behind = False  # whether it comes behind a loop that takes random numbers

    def put_behind(self, value: Value) -> None:
        """Let it be computed behind the loop that gives a value."""
        function, self.inputs, self.is_behind = self.function, (*self.inputs, value), True
        self.function = lambda *arrays: function(*arrays[:-1])


class RandomKey(Late):
    """The key of random bits, which the generator of the thread or task that runs hands out."""

    __slots__ = ("op_seed", "values")

    def __init__(self, op_seed: int | None, values: int, value: tuple[int, int, int]) -> None:
        super().__init__(lambda: generator().reserve(op_seed, values), value)
        self.op_seed = op_seed
        self.values = values


class LateItem:
    """One of the numbers of a `Late` that is a mapping: ``late.function(...)[name]``."""

    __slots__ = ("late", "name")

    def __init__(self, late: Late, name: str) -> None:
        self.late = late
        self.name = name


@dataclass(eq=False, slots=True)
class Value:
    """An array in a graph: an argument, a variable's value on entry, a constant, or what a node computes.

    Args:
        number: its number.
        kind: ``"input"``, ``"variable"``, ``"constant"`` or ``"node"``.
        table: the kernel table of its device and dtype.
        shape: its shape.
        array: what it was when the function was traced. Constants keep it, others lose it once the graph is compiled.
        layout: its strides in bytes, where the backend's arrays have strides.
        node: what computes it.
        variable: whose value it is on entry.
        base: the value whose memory it shares.
    """

    number: int
    kind: str
    table: KernelTable
    shape: Shape
    array: Any = None
    layout: tuple[int, ...] | None = None
    node: Node | None = None
    variable: Variable | None = None
    base: Value | None = None


@dataclass(eq=False, slots=True)
class Node:
    """One step of a graph.

    Args:
        effect: what it does beside computing its outputs.
        op: its op; None for assignments, copies, functions, guards and loops.
        table: the kernel table from which its kernel is taken.
        inputs: what it takes.
        attributes: of the op, by name; numbers that are known late are `Late` or `LateItem`.
        outputs: what it computes.
        variables: those that it writes or reads, whose values are its first outputs.
        line: of the program, such as ``"train.py:12"``.
        outcome: of a guard: what its input was, a bool; or a tuple, its shape.
        handed: of a guard of `cond`, where the function did nothing: an `agog_core.tracing.execution.branches.Handed`.
        several: whether the kernel returns a tuple.
        fails: of a function of ours: whether it raises for some values.
        is_caught: of an update that may fail: whether the function may go on then.
        turn: its place among the nodes in the order of the program.
        lates: how many numbers that are known late the program has asked for before it.
    """

    effect: Effect
    op: Op | None
    table: KernelTable | None
    inputs: list[Value]
    attributes: Mapping[str, Any]
    outputs: list[Value] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    line: str = "unknown"
    outcome: Any = None
    handed: Any = None
    several: bool = False
    fails: bool = False
    is_caught: bool = False
    turn: int = 0
    lates: int = 0

    @property
    def may_fail(self) -> bool:
        """Whether its kernel, a loop, or a function of ours raises for some values."""
        if self.op is None or self.table is None:
            return self.effect is Effect.LOOP or self.fails
        return self.table.dtype in self.op.may_fail

    @property
    def may_part(self) -> bool:
        """Whether a run may find at it that it has to go another way."""
        return self.effect is Effect.GUARD or (self.effect is Effect.LOOP and self.attributes["loop"].has_guards)

    @property
    def draws(self) -> bool:
        """Whether it is a loop that takes random numbers, as many as it has iterations."""
        return self.effect is Effect.LOOP and bool(self.attributes["loop"].draws)

    @property
    def leaves_writes(self) -> bool:
        """Whether it is an update that may fail, where what was written before it stays."""
        return bool(self.variables) and self.may_fail and not self.is_caught


@dataclass(eq=False, slots=True)
class Graph:
    """What a traced function did: its nodes in order, guards before all writes.

    Executors meet neither ``PYTHON`` nor ``READ``: what is between calls of Python is a graph of its own for them.

    Args:
        inputs: the arguments that are tensors.
        variables: those that are read or written, with their values on entry.
        finals: those that are written, with their values at the end.
        nodes: its steps, in an order in which they can run.
        outputs: what it gives.
        lates: numbers that are known late, in the order of the program.
        exact: whether results have the bits of eager calls, whatever compiles parts of it.
    """

    inputs: list[Value] = field(default_factory=list)
    variables: dict[Variable, Value] = field(default_factory=dict)
    finals: dict[Variable, Value] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    lates: list[Late] = field(default_factory=list)
    exact: bool = True

    @property
    def calls_python(self) -> bool:
        """Whether functions of the program are called."""
        return any(node.effect is Effect.PYTHON for node in self.nodes) or any(late.calls_python for late in self.lates)

    def before(self, late: Late) -> list[Late]:
        """Numbers that are to be computed before one, as the loops that they come behind are known to have run."""
        if not late.is_behind:
            return []
        return [x for x in self.lates[: self.lates.index(late)] if x.is_behind and len(x.inputs) == 1]

    def summary(self) -> str:
        """A table of the nodes, and what is planned to run them.

        Returns:
            A row for each node: what it does, from what to what, the shapes, and the line of the program; then how many
            there are of what, the steps and fused groups that run them, and the bytes of memory that stay between runs.

        >>> import agog_core as ag
        >>> double = ag.function(lambda x: x * 2.0)
        >>> _ = double(ag.constant([1.0, 2.0]))
        >>> print(double.graph().summary().splitlines()[1].rpartition("  ")[0].rstrip())
        multiply  input 0, constant 0  %0  (2,)
        """
        from agog_core.tracing.traces.display import summary

        return summary(self)

    def explain(self) -> str:
        """Say what runs each node, and why that is no compiler's.

        Returns:
            The compilers that are asked, then a row for each node: what it does, the line of the program, what runs it
            or the part of it, and why no compiler has taken that.

        >>> import agog_core as ag
        >>> @ag.function
        ... def product(x):
        ...     return ag.matmul(x, x)
        >>> _ = product(ag.ones([2, 2]))
        >>> print(product.graph().explain().splitlines()[-1].split("  ")[-1])
        numpy.dot: compilers have no primitive for it
        """
        from agog_core.tracing.traces.display import explain

        return explain(self)

    def draw(self, path: Any = None, format: str | None = None) -> str:
        """Draw the nodes as a graph.

        Args:
            path: a file to write the picture to, or None.
            format: ``"dot"``, ``"mermaid"`` or ``"svg"``; None for what the file's name ends with, or ``"dot"``.

        Returns:
            The picture's text.

        Raises:
            ValueError: the format is something else.
        """
        from agog_core.tracing.traces.display import draw

        return draw(self, path, format)

    def __graph_nodes__(self) -> list[GraphNode]:
        from agog_core.tracing.traces.display import nodes_of_graph

        return nodes_of_graph(self)

    def _repr_svg_(self) -> str | None:
        from agog_core.tracing.traces.display import svg_of_graph

        return svg_of_graph(self)


def present_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """A kernel's attributes with the numbers of the call that is traced."""
    return {name: present(each) for name, each in attributes.items()}


def present(attribute: Any) -> Any:
    """What a number that is known late was when the function was traced; what is none, itself."""
    if isinstance(attribute, Late):
        return attribute.value
    return attribute.late.value[attribute.name] if type(attribute) is LateItem else attribute
