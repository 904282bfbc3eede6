"""Steps: what a program does, step by step, and the values between them.

Classes are plain ones here: to make a dataclass takes as long as to record ten ops, and the first call of a traced
function waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from agog_core.compiler import Effect, Node, Subgraph
from agog_cpu_executor.program.kinds import Kind, Source

Array = np.ndarray[Any, Any]
View = tuple[str, Any]
"""A method of arrays that gives a view, and its argument: ``("reshape", (3, 1))``."""


class Value:
    """An array in a program: what it is given, knows, or computes in a step.

    ``array`` is the array itself of a constant, and else an array of no values that has its dtype, shape and strides. A
    number, which the host computes, has none.
    """

    __slots__ = "array", "base", "source", "step", "whole"

    def __init__(self, source: Source, array: Any, step: Step | None = None) -> None:
        self.source = source
        self.array = array
        self.step = step
        self.base: Value | None = None  # whose memory a view shows
        # Of which it is computed as a part, where a later step joins parts.
        self.whole: tuple[Value, View] | None = None

    @property
    def root(self) -> Value:
        """The value that owns the memory."""
        return self if self.base is None else self.base


class Step:
    """One thing to do. Kinds that inputs and outputs do not describe have classes of their own."""

    def __init__(self, kind: Kind, inputs: Sequence[Value], name: str = "", node: Node | None = None) -> None:
        self.kind, self.inputs, self.name = kind, tuple(inputs), name
        self.outputs: list[Value] = []
        self.node = node  # of the graph, whose line errors name

    @property
    def draws(self) -> bool:
        """Whether it is a kernel that draws random numbers."""
        return self.kind is Kind.KERNEL and self.node is not None and self.node.effect is Effect.RANDOM

    def on(self, inputs: Sequence[Value]) -> Step:
        """The same step for other inputs, without outputs."""
        made = object.__new__(type(self))
        made.__dict__ = {**self.__dict__, "inputs": tuple(inputs), "outputs": []}  # which takes a third of `copy`
        return made


class UfuncStep(Step):
    """A call of a ufunc; ``is_imposed`` says that its result has other strides than NumPy would choose."""

    def __init__(self, function: np.ufunc, inputs: Sequence[Value], is_imposed: bool = False) -> None:
        super().__init__(Kind.UFUNC, inputs, function.__name__)
        self.function, self.is_imposed = function, is_imposed


class ReduceStep(Step):
    """The reduction of a ufunc along axes, with NumPy's arguments."""

    def __init__(
        self, function: np.ufunc, x: Value, axis: Any, dtype: np.dtype[Any] | None, keepdims: bool, initial: Any = None
    ) -> None:
        super().__init__(Kind.REDUCE, (x,), function.__name__)
        self.function, self.axis, self.dtype, self.keepdims, self.initial = function, axis, dtype, keepdims, initial


class ViewStep(Step):
    """A view by a method of arrays, which is its name."""

    def __init__(self, x: Value, method: str, argument: Any) -> None:
        super().__init__(Kind.VIEW, (x,), method)
        self.argument = argument


class FullStep(Step):
    """An array of one number; of none where that is None."""

    def __init__(self, number: Any) -> None:
        super().__init__(Kind.FULL, ())
        self.number = number


class PutStep(Step):
    """A value with a part of it, the end of a path of views, replaced."""

    def __init__(self, inputs: Sequence[Value], path: tuple[View, ...]) -> None:
        super().__init__(Kind.PUT, inputs)
        self.path = path


class FunctionStep(Step):
    """A call of another function of NumPy; its inputs stand among the arguments, also in a tuple of them."""

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: Sequence[Value],
        arguments: tuple[Any, ...],
        keywords: Mapping[str, Any],
    ) -> None:
        super().__init__(Kind.FUNCTION, inputs)
        self.function, self.arguments, self.keywords = function, arguments, keywords


class NumberStep(Step):
    """What the host computes: a number known late, or arithmetic of such numbers and Python's, its operands."""

    def __init__(
        self, kind: Kind, inputs: Sequence[Value], function: Callable[..., Any], operands: Sequence[Any] = ()
    ) -> None:
        super().__init__(kind, inputs)
        self.function, self.operands = function, operands


class GuardStep(Step):
    """A comparison with the outcome when the function was traced; its number is what a failing run returns."""

    def __init__(self, x: Value, outcome: Any, number: int) -> None:
        super().__init__(Kind.GUARD, (x,))
        self.outcome, self.number = outcome, number


class CallStep(Step):
    """A call of what a node calls, with arrays and attributes.

    Args:
        kind: ``HOST``, ``UPDATE``, or the one of a subclass.
        node: of the graph.
        arrays: the arguments.
        lates: the attributes that are known late.
        known: the other ones.
    """

    node: Node

    def __init__(
        self, kind: Kind, node: Node, arrays: Sequence[Value], lates: Mapping[str, Value], known: Mapping[str, Any]
    ) -> None:
        super().__init__(kind, [*arrays, *lates.values()], "" if node.op is None else node.op.name, node)
        self.lates, self.known = lates, known
        self.count = len(arrays)

    @property
    def arrays(self) -> tuple[Value, ...]:
        """The inputs that are arguments."""
        return self.inputs[: self.count]


class KernelStep(CallStep):
    """A call of an op's kernel; ``fill`` writes its result into an array that is given."""

    def __init__(
        self, node: Node, arrays: Sequence[Value], lates: Mapping[str, Value], known: Mapping[str, Any]
    ) -> None:
        super().__init__(Kind.KERNEL, node, arrays, lates, known)
        self.fill: Callable[..., Any] | None = None


class LoopStep(CallStep):
    """A run of graphs, again and again, with NumPy's bits where it is exact."""

    def __init__(
        self,
        node: Node,
        arrays: Sequence[Value],
        lates: Mapping[str, Value],
        known: Mapping[str, Any],
        is_exact: bool,
    ) -> None:
        super().__init__(Kind.LOOP, node, arrays, lates, known)
        self.is_exact = is_exact


class GroupStep(Step):
    """A call of a function that a compiler, which is its name, has made.

    Args:
        compiler: the name.
        run: the function.
        inputs: its arguments.
        nodes: those of the graph that it computes.
        count: how many steps or nodes it replaces.
        overwrites: pairs of an output and the input whose memory it may take.
        subgraph: of which it was made; None for nodes that a compiler has claimed.
    """

    def __init__(
        self,
        compiler: str,
        run: Callable[..., Any],
        inputs: Sequence[Value],
        nodes: Sequence[Node],
        count: int,
        overwrites: Sequence[tuple[Value, Value]] = (),
        subgraph: Subgraph | None = None,
    ) -> None:
        super().__init__(Kind.GROUP, inputs, compiler, next(iter(nodes), None))
        self.run, self.nodes, self.count = run, nodes, count
        self.overwrites, self.subgraph = frozenset(overwrites), subgraph
