"""Precision of products: it is the process's, and kernels are bound anew when it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import agog_core as ag
from agog_core.dispatch.devices.backends import backends
from agog_core.plugin import Backend, Kernel, hookimpl, matmul_precision
from agog_testing import says


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    with ag.device(None):
        yield
    ag.set_matmul_precision("float32")


def test_float32_is_whole_until_somebody_chooses_less() -> None:
    assert ag.matmul_precision() == "float32"
    ag.set_matmul_precision("bf16")
    assert ag.matmul_precision() == "bf16"


def test_an_unknown_precision_is_refused_and_changes_nothing() -> None:
    ag.set_matmul_precision("tf32")
    with says(
        ag.errors.InvalidArgumentError,
        "set_matmul_precision: precision must be 'float32', 'tf32' or 'bf16'; got 'float16'.",
    ):
        ag.set_matmul_precision("float16")
    assert ag.matmul_precision() == "tf32"


def test_the_cpu_computes_in_float32_whatever_is_chosen() -> None:
    x = ag.constant([[1 + 2.0**-20]])
    ag.set_matmul_precision("bf16")
    assert ag.matmul(x, ag.constant([[1.0]])).numpy().item() == 1 + 2.0**-20


def test_kernels_are_bound_anew_when_it_changes() -> None:
    bound = []

    def bind(kernel: Callable[..., Any], op: str, dtype: str, index: int) -> Callable[..., Any]:
        bound.append((op, matmul_precision()))
        return kernel

    @hookimpl
    def agog_backends() -> Iterator[Backend]:
        host = next(backend for backend in backends() if backend.device == "cpu")
        yield replace(host, device="rounder", host_memory=False, bind=bind, memory_in_use=None, for_scalars=None)

    @hookimpl
    def agog_kernels() -> Iterator[Kernel]:
        yield Kernel(op="matmul", device="rounder", fn=lambda a, b, **_: a @ b)

    ag.register_plugin(SimpleNamespace(agog_backends=agog_backends, agog_kernels=agog_kernels), "rounders")
    try:
        with ag.device("rounder"):
            x = ag.constant([[1.0]])
            ag.matmul(x, x)
            ag.matmul(x, x)
            ag.set_matmul_precision("tf32")
            ag.matmul(x, x)
    finally:
        ag.unregister_plugin("rounders")
    assert bound == [("matmul", "float32"), ("matmul", "tf32")]
