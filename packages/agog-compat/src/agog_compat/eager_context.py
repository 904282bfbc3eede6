"""Eager context: what TensorFlow's ``python.eager.context`` has beside public names, as far as programs call it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agog_compat.execution import _mode, num_gpus, set_execution_mode
from agog_core.dispatch.devices import list_devices

__all__ = ["Context", "context", "eager_mode", "graph_mode"]


@contextmanager
def eager_mode() -> Iterator[None]:
    """Do nothing: ops are always executed as they are called.

    Returns:
        A context manager.
    """
    yield


def graph_mode() -> Any:
    """Raise: there are no graphs.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError(
        "graph_mode: agog has no graphs, and ops run as they are called; leave the `with` statement out."
    )


class Context:
    """What a program asks of the context in which ops are executed."""

    @property
    def execution_mode(self) -> str:
        """The execution mode of this thread or task; it can be set."""
        return _mode.get()

    @execution_mode.setter
    def execution_mode(self, mode: str | None) -> None:
        set_execution_mode(mode)

    def executing_eagerly(self) -> bool:
        """True, always."""
        return True

    def num_gpus(self) -> int:
        """How many GPUs there are."""
        return num_gpus()

    def devices(self) -> list[str]:
        """The full names of the devices."""
        return list_devices()


_context = Context()


def context() -> Context:
    """The context, which is the same everywhere.

    Returns:
        A `Context`.

    >>> context().executing_eagerly()
    True
    """
    return _context
