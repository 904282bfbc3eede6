"""Every layer of agog-layers: what onnxruntime computes of it is what it computes in inference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from running import ROOT, change, check, module

import agog as tf

CASES = module(ROOT / "packages/agog-layers/tests/layer/test_layers_of_every_class.py").CASES


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_layer_computes_the_same(name: str) -> None:
    tf.set_random_seed(1)
    case = CASES[name]
    shapes = case.given if isinstance(case.given, list) else [case.given]
    layer = case.make()

    def examples(batch: int) -> list[np.ndarray[Any, Any]]:
        rng = np.random.default_rng(batch)
        if case.is_of_integers:
            return [rng.integers(0, 3, (batch, *shape)).astype(np.int32) for shape in shapes]
        return [rng.normal(size=(batch, *shape)).astype(np.float32) for shape in shapes]

    def call(*inputs: Any) -> Any:
        if name == "MultiHeadAttention":
            return layer(*inputs, training=False)
        return layer(list(inputs) if isinstance(case.given, list) else inputs[0], training=False)

    call(*map(tf.constant, examples(2)))
    change(layer.variables)
    check(call, examples, call)
