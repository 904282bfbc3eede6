"""Replicas: the processes that train one model together, for what must know: optimizers, layers, metrics and `fit`.

A strategy of agog-distribute sets `present`; nobody else imports that package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from agog_core.settings import Setting

if TYPE_CHECKING:
    from agog_core.gradients.tape import GradientTape
    from agog_core.tensors.tensor import Tensor


class Replicas(Protocol):
    """The processes of a strategy, each of which is one replica; all call the same methods in the same order."""

    @property
    def rank(self) -> int:
        """The number of this process."""

    @property
    def size(self) -> int:
        """How many there are."""

    @property
    def in_step(self) -> bool:
        """Whether this process computes its part of a step now; else what is made here belongs to all of them."""

    def all_reduce(self, x: Any, reduction: str = "sum") -> Tensor:
        """The sum, mean, maximum or minimum of the processes' tensors."""

    def gather_rows(self, x: Any) -> Tensor:
        """The processes' tensors one behind the other, which may differ in their numbers of rows."""

    def gradient_tape(self) -> GradientTape:
        """A tape whose gradients are the sums over the processes, added up while it walks back."""

    def with_sums(self, apply: Callable[..., None], pairs: Any, *args: Any, **kwargs: Any) -> None:
        """Call ``apply_gradients`` with the sums over the processes, as of one; outside of a step an error."""

    def step(self) -> AbstractContextManager[None]:
        """A ``with`` block in which this process computes its part of steps."""


# In this thread or task; None where one process computes alone.
present: Setting[Replicas | None] = Setting("agog_replicas", None)
present_replicas = present.get  # bound once, as optimizers ask at each step
# Whether this process has no row of the present batch, and computes with one that does not count.
is_idle: Setting[bool] = Setting("agog_idle_replica", False)
# What gives the processes of a program without a strategy: agog-distribute's, once it is imported.
_of_run: list[Callable[[], Replicas]] = []


def offer_processes(find: Callable[[], Replicas]) -> None:
    """Let layers that synchronize find the processes of the run where no strategy says which."""
    _of_run[:] = [find]


def replicas_to_synchronize() -> Replicas | None:
    """The processes whose parts of a step a layer joins: those of the strategy, or else of the run; None for one alone.

    >>> replicas_to_synchronize() is None
    True
    """
    replicas = present_replicas()
    if replicas is None and _of_run:
        replicas = _of_run[0]()
    return replicas if replicas is not None and replicas.in_step and replicas.size > 1 else None


@contextmanager
def among(replicas: Replicas | None) -> Iterator[None]:
    """A ``with`` block of which some replicas are the present ones, or None of several.

    >>> with among(None):
    ...     present_replicas() is None
    True
    """
    token = present.set(replicas)
    try:
        yield
    finally:
        present.reset(token)


def replicas_of_step() -> Replicas | None:
    """The replicas where this process computes its part of a step of several; else None.

    >>> replicas_of_step() is None
    True
    """
    replicas = present_replicas()
    return replicas if replicas is not None and replicas.in_step and replicas.size > 1 else None
