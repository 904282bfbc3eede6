"""Products, quotients and logarithms that are 0 where a factor is 0, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.math import quotients

A, B = np.array([0.0, 0.0, 2.0, -1.5]), np.array([0.0, np.inf, 3.0, 0.5])
WITHOUT_NAN: dict[str, tuple[Any, list[float], list[float]]] = {
    "xlogy": (quotients.xlogy, [0, 0, 2 * np.log(3), -1.5 * np.log(0.5)], [0, 0, np.log(3), np.log(0.5)]),
    "xlog1py": (quotients.xlog1py, [0, 0, 2 * np.log(4), -1.5 * np.log(1.5)], [0, 0, np.log(4), np.log(1.5)]),
    "xdivy": (quotients.xdivy, [0, 0, 2 / 3, -3], [0, 0, 1 / 3, 2]),
    "multiply_no_nan": (lambda a, b: quotients.multiply_no_nan(b, a), [0, 0, 6, -0.75], [0, 0, 3, 0.5]),
}


@pytest.mark.parametrize("name", WITHOUT_NAN)
def test_nothing_times_anything_is_nothing(name: str) -> None:
    function, values, gradients = WITHOUT_NAN[name]
    np.testing.assert_allclose(function(A, B).numpy(), values, rtol=1e-12)
    (gradient,) = ag.gradients_function(lambda a: function(a, B))(A)
    np.testing.assert_allclose(gradient.numpy(), gradients, rtol=1e-12)


def test_reciprocals_of_nothing() -> None:
    (gradient,) = ag.gradients_function(lambda x: quotients.reciprocal_no_nan(x))([0.0, 4.0])
    assert quotients.reciprocal_no_nan([0.0, 4.0]).numpy().tolist() == [0.0, 0.25]
    assert gradient.numpy().tolist() == [0.0, -0.0625]


def test_shapes_broadcast() -> None:
    assert quotients.xlogy(np.ones((2, 1)), np.ones(3)).shape.as_list() == [2, 3]
