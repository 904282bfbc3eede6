"""Scope: which executors and compilers run traced functions, whatever plugins there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from agog_core.compiler import Compiler, Executor
from agog_core.dispatch.devices.lookup import clear_tables
from agog_core.dispatch.plugins.loader import loader


@contextmanager
def compilers_in_use(*compilers: Compiler) -> Iterator[None]:
    """A block in which no compilers but these are used."""
    with _in_use("compilers", compilers):
        yield


@contextmanager
def executors_in_use(*executors: Executor) -> Iterator[None]:
    """A block in which no executors but these are used."""
    with _in_use("executors", executors):
        yield


@contextmanager
def _in_use(kind: str, chosen: Sequence[Executor | Compiler]) -> Iterator[None]:
    plugins = loader().plugins
    before = [getattr(plugin, kind) for plugin in plugins]
    for plugin in plugins:
        setattr(plugin, kind, [])
    setattr(plugins[0], kind, list(chosen))
    clear_tables()
    try:
        yield
    finally:
        for plugin, earlier in zip(plugins, before, strict=True):
            setattr(plugin, kind, earlier)
        clear_tables()
