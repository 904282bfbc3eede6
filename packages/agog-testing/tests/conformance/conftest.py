"""Plugins that exist in the tests only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # so that the tests can import `square_checks`

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


class RemoteArray:
    """An array of a device that has memory of its own."""

    def __init__(self, memory: Any) -> None:
        self.memory = np.asarray(memory)
        self.shape, self.dtype = self.memory.shape, self.memory.dtype


@pytest.fixture
def remote() -> Backend:
    """A device of the type "remote"."""
    return Backend(
        device="remote",
        array_type=RemoteArray,
        device_count=lambda: 1,
        from_host=lambda host, index: RemoteArray(np.array(host)),
        to_host=lambda array: array.memory,
        allocate=lambda shape, dtype, index: RemoteArray(np.empty(shape, dtype)),
        copy=lambda array: RemoteArray(array.memory.copy()),
        synchronize=lambda index: None,
        memory_in_use=lambda index: None,
    )
