"""Eager context: private names of TensorFlow's ``python.eager.context`` that programs call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

from agog_compat.execution import SYNC, _mode, check_mode, chosen_mode, num_gpus
from agog_core.dispatch.devices.device_spec import DeviceSpec
from agog_core.dispatch.devices.lookup import device, list_devices, scope_name
from agog_core.random import set_random_seed as set_global_seed
from agog_core.variables.name_scope import current_name_scope

__all__ = ["Context", "context", "eager_mode", "graph_mode", "set_global_seed"]


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
    """What a program asks of the context in which ops are executed.

    Args:
        config: accepted; see `agog_compat.execution.enable_eager_execution`.
        device_policy: accepted.
        execution_mode: its mode at first; None for `agog_compat.execution.SYNC`.
    """

    _mode: ContextVar[str]

    def __init__(self, config: Any = None, device_policy: Any = None, execution_mode: str | None = None) -> None:
        self._handle = self
        self._scope: ContextVar[str | None] = ContextVar("agog_context_scope", default=None)
        self._writer: ContextVar[Any] = ContextVar("agog_context_writer", default=None)
        check_mode("Context", execution_mode)
        self._mode = ContextVar("agog_context_mode", default=execution_mode or SYNC)

    def get_execution_mode(self) -> str:
        """The execution mode of this thread or task."""
        return self._mode.get()

    def set_execution_mode(self, mode: str | None) -> None:
        """See `agog_compat.execution.set_execution_mode`."""
        check_mode("set_execution_mode", mode)
        self._mode.set(mode or SYNC)

    def execution_mode(self, mode: str | None) -> AbstractContextManager[None]:
        """See `agog_compat.execution.execution_mode`."""
        return chosen_mode(self._mode, mode)

    @property
    def scope_name(self) -> str:
        """The path of the name scope, or what this thread or task has set."""
        chosen = self._scope.get()
        return current_name_scope() if chosen is None else chosen

    @scope_name.setter
    def scope_name(self, path: str | None) -> None:
        self._scope.set(path)

    @property
    def summary_writer_resource(self) -> Any:
        """What this thread or task has set; None before."""
        return self._writer.get()

    @summary_writer_resource.setter
    def summary_writer_resource(self, resource: Any) -> None:
        self._writer.set(resource)

    @property
    def device_name(self) -> str:
        """The full name of the device that the innermost scope asks for; empty where none does."""
        return scope_name()

    @property
    def device_spec(self) -> DeviceSpec:
        """The same, part by part."""
        return DeviceSpec.from_string(self.device_name)

    def device(self, name: Any) -> AbstractContextManager[None]:
        """See `agog_core.dispatch.devices.device`."""
        return device(name)

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
_context._mode = _mode  # what `agog_compat.execution` writes, too


def context() -> Context:
    """The context, which is the same everywhere.

    Returns:
        A `Context`.

    >>> context().executing_eagerly()
    True
    """
    return _context
