"""A training run asks plugins once, and resolves each kernel once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import agog as tf
from agog_core.dispatch.devices.table import KernelTable
from agog_core.dispatch.kernels import resolution
from agog_core.plugin import Conformance, Kernel, hookimpl


def test_a_training_run_asks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hook_calls: Counter[str] = Counter()
    installed: Counter[tuple[str, str, str]] = Counter()
    ranked: Counter[tuple[str, ...]] = Counter()
    install, candidates = KernelTable.install, resolution.candidates

    def counting_install(table: KernelTable, op: str, *rest: Any) -> None:
        installed[table.device.name, table.dtype.name, op] += 1
        install(table, op, *rest)

    def counting_candidates(*key: str) -> Any:
        ranked[key] += 1
        return candidates(*key)

    @hookimpl
    def agog_kernels() -> Iterator[Kernel]:
        hook_calls["agog_kernels"] += 1
        yield Kernel(op="relu", device="cpu", fn=lambda x: NotImplemented, priority=200, when="never")

    @hookimpl
    def agog_conformance() -> Conformance:
        hook_calls["agog_conformance"] += 1
        return Conformance()

    monkeypatch.setattr(KernelTable, "install", counting_install)
    monkeypatch.setattr(resolution, "candidates", counting_candidates)
    tf.register_plugin(SimpleNamespace(agog_kernels=agog_kernels, agog_conformance=agog_conformance), "counting")
    try:
        model = tf.keras.Sequential(
            [tf.keras.layers.Dense(8), tf.keras.layers.Activation("relu"), tf.keras.layers.Dense(1)]
        )
        optimizer = tf.train.AdamOptimizer(0.01)
        x = tf.constant(np.linspace(-1, 1, 32, dtype=np.float32).reshape(16, 2))

        def step() -> float:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(x) - 1.0) ** 2)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return float(loss)

        losses = [step()]
        first = installed.copy()
        losses += [step() for _ in range(5)]
    finally:
        tf.unregister_plugin("counting")
    assert hook_calls == {"agog_kernels": 1, "agog_conformance": 1}
    assert installed == first
    assert set(installed.values()) == {1}
    assert set(ranked.values()) == {1}
    assert ("relu", "cpu", "float32") in ranked
    assert len(installed) > 10
    assert losses[-1] < losses[0]
