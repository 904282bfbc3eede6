"""Plan: the choices behind the calls of a program."""

from __future__ import annotations

from typing import NamedTuple

from agog_testing.random_programs.scope import Held


class Argument(NamedTuple):
    """An argument of the function: its name, its kind, and its shape in letters, of which A may change; of a variable
    its name.
    """

    name: str
    kind: str
    shape: str = ""
    dtype: str = "float32"


class Plan(NamedTuple):
    """The choices behind the calls of a program.

    Args:
        arguments: of the function ``f``.
        variables: of the program.
        results: how many tensors the function returns.
        sizes: of the letters A and B.
        large: whether arrays are large.
        has_inner: whether there is a traced function ``g`` of one tensor.
        random: whether the function draws random numbers.
        writes: whether it writes variables, or calls functions of Python.
        optimizer: the name of one outside of the function, or None.
    """

    arguments: list[Argument]
    variables: list[Held]
    results: int
    sizes: tuple[int, int]
    large: bool
    has_inner: bool
    random: bool
    writes: bool
    optimizer: str | None
