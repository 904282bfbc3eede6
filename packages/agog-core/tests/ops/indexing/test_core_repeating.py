"""Repeated elements, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag

rng = np.random.default_rng(17)


@pytest.mark.parametrize(("repeats", "axis"), [(2, None), (3, 0), ([1, 0, 2], 1), (2, -1), ([2], 0)])
def test_repeat(repeats: Any, axis: int | None) -> None:
    x = rng.normal(size=(2, 3))
    np.testing.assert_array_equal(ag.repeat(x, repeats, axis).numpy(), np.repeat(x, repeats, axis))


def test_gradients_flow_through_repeat() -> None:
    (gradient,) = ag.gradients_function(lambda x: ag.repeat(x, [1, 3], 0))([1.0, 2.0])
    assert gradient.numpy().tolist() == [1.0, 3.0]
