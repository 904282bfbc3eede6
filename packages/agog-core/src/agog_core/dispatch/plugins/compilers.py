"""Compilers: what turns a part of a traced function into one function; plain data, which plugins bring and take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agog_core.dispatch.fields import TOLERANCES, check_fields
from agog_core.dispatch.plugins.backend import dtype_names
from agog_core.dispatch.plugins.ranking import check_brought, decided, explain_ranking, ranked
from agog_core.dispatch.plugins.unavailability import available
from agog_core.dtypes import ALL

if TYPE_CHECKING:
    from agog_core.tracing.graphs.graph import Graph, Node, Value

Compiled = Callable[..., None]


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """The dtype, shape and strides (in bytes) of an array, all of them known when it is compiled for."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Primitive:
    """One step of a `Subgraph`, in the terms of NumPy.

    Args:
        kind: ``"ufunc"`` and ``"reduce"`` (of the ufunc ``name``), ``"where"``, ``"cast"`` (to the output's dtype),
            ``"bits"`` (the same bytes as the output's dtype, of the same size) or ``"copy"`` (of the input, broadcast,
            into the output's layout).
        name: of the ufunc, such as ``"add"``; else empty.
        inputs: numbers of the subgraph's values.
        output: the number of the value that it computes.
        options: of ``"reduce"``: ``axis`` (a tuple of ints), ``dtype`` (a name, or None), ``keepdims`` and, where there
            is one, ``initial``.
    """

    kind: str
    name: str
    inputs: tuple[int, ...]
    output: int
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A part of a traced function that a compiler may turn into one function.

    What comes out is called as ``run(*inputs, *outputs)``: an array for each input, a NumPy scalar for one of rank 0,
    and an array for each output, which it fills; it returns None. The arrays have the strides that are said here, and
    no two of them share memory, except that an output may be the very memory of an input in ``overwrites``.

    Args:
        values: the dtype, shape and strides of each value.
        constants: values known now, by their numbers: NumPy arrays that nobody writes.
        inputs: numbers of the values that the function takes.
        outputs: numbers of those that it fills.
        primitives: its steps, in an order in which they can run.
        overwrites: pairs of an output and an input of one spec: the caller may pass the same memory for both.
        exact: whether each value has to have the very bits that NumPy's functions, called one by one, give. It is False
            only for compilers that declare tolerances, in functions whose user has asked for it.
    """

    values: tuple[ArraySpec, ...]
    constants: Mapping[int, Any]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    primitives: tuple[Primitive, ...]
    overwrites: tuple[tuple[int, int], ...] = ()
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Claim:
    """Nodes of a graph that a compiler runs by one function of its own, in place of their ops' kernels.

    What is claimed are nodes that compute: none that guards, writes variables, draws random numbers, keeps a reserve
    for its gradient's, or has an attribute that is known late. No guard or write may stand between them, and no node
    that takes what one of them gives and gives what one of them takes. A claim that is none is warned of.

    Args:
        nodes: nodes of the graph, in any order.
        compile: ``(inputs, outputs)`` to a function ``run(*inputs, *outputs)``, which fills its outputs as that of a
            `Subgraph` does, or to None, which leaves the nodes to others. ``inputs`` are the values that the nodes take
            from outside, without constants, whose ``array`` is known; ``outputs`` are those that are used outside.
            Each value has a ``shape`` and a ``layout``, its strides; its dtype is ``table.dtype``.
    """

    nodes: Sequence[Node]
    compile: Callable[[Sequence[Value], Sequence[Value]], Compiled | None]


@dataclass(frozen=True, kw_only=True)
class Compiler:
    """What turns parts of traced functions into single functions on one device type.

    Args:
        name: its name, such as ``"llvm"``, for errors and ``explain``.
        device: the device type, such as ``"cpu"``.
        compile: a `Subgraph` to a function, or None where it does not take it. A ``"module:attribute"`` string is
            imported when the first function is compiled.
        takes: ``(primitive, values)`` to whether it could compile a primitive: groups are made of those that it takes.
            A function, or a ``"module:attribute"`` string.
        priority: among several, the highest is asked first.
        claims: ``(graph)`` to nodes of a traced function that it runs as a whole (`Claim`), such as an attention. They
            are asked for before anything is taken apart. A function, or a ``"module:attribute"`` string; None: none.
        tolerances: per dtype name the pair (rtol, atol) within which results may differ from NumPy's in a function of
            ``exact=False``; with none, the compiler is exact there too.
        unavailable: returns a sentence that says why it cannot be used here, or None.

    Raises:
        ValueError: the device type is not one lower-case word, or a dtype with a tolerance does not exist.
        TypeError: an argument is of a wrong type.

    >>> Compiler(name="fast", device="cpu", compile="my_compiler:compile", takes="my_compiler:takes").priority
    100
    """

    name: str
    device: str
    compile: Callable[[Subgraph], Compiled | None] | str
    takes: Callable[[Primitive, Sequence[ArraySpec]], bool] | str
    priority: int = 100
    claims: Callable[[Graph], Iterable[Claim]] | str | None = None
    tolerances: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    unavailable: Callable[[], str | None] = available

    def __post_init__(self) -> None:
        check_brought(self, example="llvm")
        owner = f"Compiler(name={self.name!r})"
        check_fields(owner, {"tolerances": TOLERANCES}, vars(self))
        dtype_names(f"{owner}: tolerances", self.tolerances, ALL)

    @property
    def references(self) -> tuple[str, ...]:
        """The names of what may be imported late."""
        return ("compile", "takes") if self.claims is None else ("compile", "takes", "claims")


def compilers_of(device: str) -> list[Compiler]:
    """The compilers for a device type that can be used, best first; AmbiguousKernelError for two of equal rank."""
    return [found.what for found in decided(ranked("compilers", device), device)]


def explain_compilers(device: str) -> str:
    """Say which compilers traced functions are handed to on a device type, in which order, and why others are not."""
    none = "none: each step runs by the functions of the array library"
    return explain_ranking("compilers", device, none)
