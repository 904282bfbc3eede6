"""Hooks: the plugin brings what runs traced functions on the device "cpu"."""

from __future__ import annotations

from collections.abc import Iterator

from agog_core.compiler import Executor
from agog_core.plugin import hookimpl, requires

requires(2)


@hookimpl
def agog_executors() -> Iterator[Executor]:
    """The executor."""
    yield Executor(name="numpy", device="cpu", prepare="agog_cpu_executor.executor:prepare", priority=0)
