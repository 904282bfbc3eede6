"""Writer: the lines of a function, and the names of values, buffers and views in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from sys import maxsize
from time import perf_counter_ns
from typing import Any

import numpy as np

from agog_core.compiler import tell
from agog_cpu_executor.lowering.graphs import LoweredGraph
from agog_cpu_executor.planning.places import Place, Plan
from agog_cpu_executor.program import layouts
from agog_cpu_executor.program.kinds import Home, Source
from agog_cpu_executor.program.program import see
from agog_cpu_executor.program.steps import Step, Value, View


class Writer:
    """The lines of a function, and the names in them."""

    def __init__(self, lowered: LoweredGraph, plan: Plan, is_timed: bool = False) -> None:
        self.lowered, self.plan, self.is_timed = lowered, plan, is_timed
        self.names: dict[str, Any] = {"__name__": __name__, "ndarray": np.ndarray, "asarray": np.asarray}
        self.names |= {"array": np.array, "copyto": np.copyto, "empty": np.empty, "where": np.where}
        self.names |= {"matmul": np.matmul, "full": np.full}
        self.names |= {"clock": perf_counter_ns, "tell": tell} if is_timed else {}
        self.static: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {}
        self.lines: list[str] = []
        self.steps: dict[int, Step | None] = {}
        self.step: Step | None = None
        self.present: dict[Step, list[tuple[int, str | None]]] = {}  # of updates that may fail: see `Emitter`
        self.arrays: dict[Value, str] = {}  # names of values as arrays
        self.scalars: dict[Value, str] = {}  # names of values of rank 0 as NumPy's scalars, and of numbers
        self.count = 0
        self.first_effect = maxsize  # the line of the first write of a variable, or call of a function of Python

    def source(self) -> str:
        """The text."""
        return "\n".join(self.lines) + "\n"

    # -- names -----------------------------------------------------------------------------------------------------

    def name(self, letter: str) -> str:
        """A new name."""
        self.count += 1
        return f"{letter}{self.count}"

    def known(self, value: Any, letter: str = "c") -> str:
        """A name for an object."""
        name = self.name(letter)
        self.names[name] = value
        return name

    def line(self, text: str) -> None:
        """Add a line."""
        self.lines.append(f"        {text}")
        self.steps[len(self.lines)] = self.step

    def effect(self) -> None:
        """Note that the next line has a side effect."""
        self.first_effect = min(self.first_effect, len(self.lines) + 1)

    def array(self, value: Value) -> str:
        """The name of a value as an array."""
        if value not in self.arrays:
            if value.source is Source.CONSTANT:
                self.arrays[value] = self.known(value.array)
            else:
                self.arrays[value] = name = self.name("a")
                self.line(f"{name} = asarray({self.scalars[value]})")
        return self.arrays[value]

    def scalar(self, value: Value) -> str:
        """The name of a value of rank 0 as a scalar."""
        if value not in self.scalars:
            if value.source is Source.CONSTANT:
                self.scalars[value] = self.known(value.array[()])
            else:
                self.scalars[value] = name = self.name("s")
                self.line(f"{name} = {self.arrays[value]}[()]")
        return self.scalars[value]

    def operand(self, value: Value) -> str:
        """The name of a value, as an array or a scalar."""
        return (
            self.arrays[value]
            if value in self.arrays
            else self.scalars[value]
            if value in self.scalars
            else (self.array(value))
        )

    def sees(self, value: Value) -> str:
        """The name of an operand: a scalar where its rank is 0, else an array."""
        return self.scalar(value) if value.array.ndim == 0 else self.array(value)

    # -- places ----------------------------------------------------------------------------------------------------

    def target(self, value: Value) -> str | None:
        """The name of the array for a result; None where NumPy allocates it."""
        place = self.plan.places[value]
        if place.home is Home.VARIABLE:
            self.effect()
            self.arrays[value] = f"v{place.variable}"
        elif place.home is Home.BUFFER:
            self.arrays[value] = self._buffer(value, place)
        elif value.whole is not None:
            whole, view = value.whole
            name = self.arrays[whole] if whole in self.arrays else self.target(whole)
            assert name is not None
            self.arrays[value] = self.seen(name, (view,))
        else:
            return None
        return self.arrays[value]

    def _buffer(self, value: Value, place: Place) -> str:
        name, array, buffer = self.name("b"), value.array, place.buffer
        assert buffer is not None
        self.static[name] = _lying(buffer.offset, array.dtype, array.shape, layouts.order(array))
        return name

    def new(self, value: Value) -> str:
        """The name of a new array for a result."""
        name = self.arrays[value] = self.name("a")
        axes, dtype = layouts.order(value.array), self.known(value.array.dtype)
        shape = [value.array.shape[axis] for axis in axes]
        turned = "" if axes == sorted(axes) else f".transpose({[axes.index(n) for n in range(len(axes))]})"
        self.line(f"{name} = empty({tuple(shape)}, {dtype}){turned}")
        return name

    def seen(self, name: str, path: tuple[View, ...]) -> str:
        """The name of a view of an array."""
        for method, argument in path:
            made = self.name("b" if name in self.static else "a")
            if name in self.static:
                self.static[made] = _viewed(name, method, argument)
            else:
                self.line(f"{made} = {self._see(name, method, argument)}")
            name = made
        return name

    def _see(self, name: str, method: str, argument: Any) -> str:
        if method == "broadcast":
            return f"{self.known(np.broadcast_to)}({name}, {argument!r})"
        if method in ("real", "imag"):
            return f"{name}.{method}"
        given = self.known(argument)
        return f"{name}[{given}]" if method == "getitem" else f"{name}.{method}({given})"


def listed(names: list[str]) -> str:
    """The source of a tuple's elements."""
    return f"{names[0]}," if len(names) == 1 else ", ".join(names)


def _lying(offset: int, dtype: Any, shape: Sequence[int], axes: Sequence[int]) -> Callable[[Any, Any], Any]:
    """A function that makes an array in the memory of an instance."""
    return lambda memory, names: layouts.in_order(memory[offset:], dtype, shape, axes)


def _viewed(name: str, method: str, argument: Any) -> Callable[[Any, Mapping[str, Any]], Any]:
    """A function that makes a view of such an array."""
    return lambda memory, names: see(names[name], method, argument)
