"""Scope: the compilers for traced functions in a block, regardless of plugins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from agog_core.compiler import Compiler
from agog_core.dispatch.devices.lookup import clear_tables
from agog_core.dispatch.plugins.loader import loader


@contextmanager
def compilers_in_use(*compilers: Compiler) -> Iterator[None]:
    """A block in which no compilers but these are used."""
    plugins = loader().plugins
    before = [plugin.compilers for plugin in plugins]
    for plugin in plugins:
        plugin.compilers = []
    plugins[0].compilers = list(compilers)
    clear_tables()
    try:
        yield
    finally:
        for plugin, earlier in zip(plugins, before, strict=True):
            plugin.compilers = earlier
        clear_tables()
