"""Plugins that exist in the tests only."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import agog_core as ag
from agog_core.dispatch.op import Op
from agog_core.plugin import Backend, Conformance, Kernel, hookimpl


@pytest.fixture
def register() -> Iterator[Callable[..., None]]:
    """Registers a plugin, named "stranger" if nothing else is said, of given kernels, and takes it back."""
    names: list[str] = []

    def plugin(
        *kernels: Kernel,
        conformance: Conformance | None = None,
        backend: Backend | None = None,
        ops: tuple[Op, ...] = (),
        name: str = "stranger",
    ) -> None:
        class Hooks:
            @hookimpl
            def agog_kernels(self) -> tuple[Kernel, ...]:
                return kernels

            @hookimpl
            def agog_backends(self) -> list[Backend]:
                return [backend] if backend else []

            @hookimpl
            def agog_ops(self) -> tuple[Op, ...]:
                return ops

            @hookimpl
            def agog_conformance(self) -> Conformance:
                return conformance or Conformance()

        ag.register_plugin(Hooks(), name)
        names.append(name)

    yield plugin
    for name in names:
        ag.unregister_plugin(name)
