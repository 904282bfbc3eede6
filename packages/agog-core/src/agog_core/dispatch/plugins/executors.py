"""Executors: what runs traced functions in place of one kernel after the other, which plugins bring."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agog_core.dispatch.plugins.ranking import check_brought, decided, explain_ranking, ranked
from agog_core.dispatch.plugins.unavailability import available

if TYPE_CHECKING:
    from agog_core.dispatch.plugins.compilers import Compiler
    from agog_core.tracing.graphs.graph import Graph, Node

Run = Callable[[Sequence[Any], Sequence[Any]], Any]


@dataclass(frozen=True, slots=True)
class Executable:
    """What an executor makes of a graph: the function, and what is said of it.

    Args:
        run: ``run(inputs, variables)``; see `Executor`.
        summary: what it does, in a sentence.
        explain: gives for each node pairs of what runs it, and why that is no compiler's.
        timed: gives a function like ``run`` that calls `tell` after each of its steps; None where there is none.
    """

    run: Run
    summary: str = "each kernel is called by itself; nothing is planned or fused"
    explain: Callable[[], Mapping[Node, list[tuple[str, str]]]] = dict
    timed: Callable[[], Run] | None = None

    @classmethod
    def of(cls, found: Executable | Run | None) -> Executable | None:
        """What `Executor.prepare` has given."""
        return cls(found) if callable(found) else found


@dataclass(frozen=True, kw_only=True)
class Executor:
    """What runs traced functions on one device type. Without one, their kernels are called one after the other.

    ``prepare(graph, compilers)`` gives a function ``run(inputs, variables)`` of the arrays of ``graph.inputs`` and
    ``graph.variables``. It returns the arrays of ``graph.outputs`` and of ``graph.finals``, or the number of the guard
    that failed, before it has written anything. It may write a final into the variable's own array. Several threads
    may call it at once. An `Executable` in its place tells more of it.

    Args:
        name: its name, such as ``"numpy"``, for errors and ``explain``.
        device: the device type, such as ``"cpu"``.
        prepare: a `Graph` and the compilers for its device, best first, to the function that runs it, with the parts
            of it compiled that these take; or to None, which leaves the graph to the executor next in rank. A
            ``"module:attribute"`` string is imported when the first function is compiled.
        priority: among several, the highest is asked first; that of agog-cpu-executor is 0.
        unavailable: returns a sentence that says why it cannot be used here, or None.

    Raises:
        ValueError: the device type is not one lower-case word.
        TypeError: an argument is of a wrong type.

    >>> Executor(name="fast", device="cpu", prepare="my_executor:prepare").priority
    100
    """

    name: str
    device: str
    prepare: Callable[[Graph, Sequence[Compiler]], Executable | Run | None] | str
    priority: int = 100
    unavailable: Callable[[], str | None] = available

    def __post_init__(self) -> None:
        check_brought(self, example="numpy")

    @property
    def references(self) -> tuple[str, ...]:
        """The names of what may be imported late."""
        return ("prepare",)


def executors_of(device: str) -> list[Executor]:
    """The executors for a device type that can be used, best first; AmbiguousKernelError for two of equal rank."""
    return [found.what for found in decided(ranked("executors", device), device)]


def explain_executors(device: str) -> str:
    """Say which executors run traced functions on a device type, in which order, and why others do not."""
    return explain_ranking("executors", device, "none: each kernel is called, and no compiler is asked")
