"""What is computed twice is computed once, where that changes no bit."""

from __future__ import annotations

from typing import Any

import numpy as np

import agog_core as ag
from agog_core.tracing.functions.function import function


def test_two_equal_arrays_of_a_product_stay_two() -> None:
    """The BLAS library computes a product of a matrix with itself in another way."""

    def gram(x: Any) -> Any:
        return ag.matmul(ag.exp(x), ag.exp(x), transpose_b=True)

    x = ag.constant(np.random.default_rng(0).normal(size=(5, 80)).astype("float32"))
    traced = function(gram)
    np.testing.assert_array_equal([traced(x).numpy(), traced(x).numpy()], [gram(x).numpy()] * 2)


def test_equal_elementwise_calls_are_one() -> None:
    traced = function(lambda x: ag.exp(x) + ag.exp(x))
    traced(ag.constant([1.0]))
    assert [node.op.name for node in traced.graph().nodes] == ["exp", "add"]
