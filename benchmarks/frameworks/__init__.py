"""Frameworks: what the kinds of cases ask of agog and of each peer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

# Names on the command line and in tables, and the classes that do it.
NAMES = {
    "agog": "agog:Eager",
    "agog, traced": "agog:Traced",
    "torch": "torch:Eager",
    "torch.compile": "torch:Compiled",
    "jax.jit": "jax:Compiled",
}


class Framework(Protocol):
    """A framework in one of its ways to compute."""

    name: str
    family: str
    module: Any

    def tensor(self, array: Any) -> Any:
        """An input of a formula."""

    def variable(self, array: Any) -> Any:
        """A parameter that is trained."""

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function as this way to compute calls it."""

    def gradient(
        self, formula: Callable[..., Any], inputs: Sequence[Any], sources: Sequence[int]
    ) -> Callable[..., Any]:
        """A function of the inputs that gives its result, which no framework may leave out, and its gradients by those
        of some numbers."""

    def training(
        self, loss: Callable[..., Any], parameters: Sequence[Any], batch: Sequence[Any], rate: float
    ) -> Callable[[], Any]:
        """A step of Adam, which gives the loss; `loss` takes the parameters and then the batch."""

    def number(self, result: Any) -> float:
        """The sum of the sizes of a result's numbers, once they are computed."""


def present() -> list[str]:
    """The names of frameworks that are installed here."""
    return [name for name, where in NAMES.items() if find_spec(where.partition(":")[0])]


def framework(name: str, threads: int) -> Framework:
    """A framework by its name, set to a number of threads."""
    file, _, kind = NAMES[name].partition(":")
    made: Framework = getattr(import_module(f"benchmarks.frameworks.{file}"), kind)(name, threads)
    return made
