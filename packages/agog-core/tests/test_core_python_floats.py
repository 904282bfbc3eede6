"""Python floats beside float64 tensors keep their precision."""

from __future__ import annotations

import numpy as np

import agog_core as ag


def test_python_floats_are_not_rounded_to_float32() -> None:
    x = ag.constant(np.ones(2))
    assert (x * 0.9).numpy().tolist() == [0.9, 0.9]
    assert (0.9 - x).numpy().tolist() == [0.9 - 1, 0.9 - 1]
    assert ag.minimum(x, [0.1, 0.2]).numpy().tolist() == [0.1, 0.2]
    v = ag.Variable(np.zeros(1))
    assert v.assign([0.9]).numpy().tolist() == [0.9]
    assert (x * 0.9).dtype == ag.float64
    assert (ag.ones([1], "float16") * 0.5).dtype == ag.float16
