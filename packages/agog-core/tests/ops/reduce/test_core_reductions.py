"""Reductions and scans: old names of arguments, fused gradients, infinities, and products with zeros."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.ops.reduce.scans import linear_recurrence
from agog_testing.gradcheck import gradcheck

X = np.random.default_rng(20181105).normal(size=(3, 4))
REDUCTIONS = [ag.reduce_sum, ag.reduce_mean, ag.reduce_prod, ag.reduce_max, ag.reduce_min, ag.reduce_logsumexp]


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_older_names_of_arguments(reduce: Callable[..., ag.Tensor]) -> None:
    expected = reduce(X, 1, True).numpy()
    assert np.array_equal(reduce(X, reduction_indices=[1], keep_dims=True).numpy(), expected)
    assert np.array_equal(reduce(X, axis=ag.constant([1]), keepdims=True).numpy(), expected)
    assert np.array_equal(reduce(X, -1, keepdims=False, keep_dims=True).numpy(), expected[:, 0])


def test_older_names_of_positions() -> None:
    assert ag.argmax(X, dimension=1).numpy().tolist() == X.argmax(1).tolist()
    assert ag.arg_max(X, 1, "int32").dtype is ag.int32
    assert ag.arg_max(X, 1).numpy().tolist() == X.argmax(1).tolist()
    assert ag.arg_min(X, -2).numpy().tolist() == ag.argmin(X).numpy().tolist() == X.argmin(0).tolist()


@pytest.mark.parametrize(
    ("reduce", "backward"),
    [(ag.reduce_sum, "reduce_sum_grad"), (ag.reduce_mean, "reduce_mean_grad"), (ag.reduce_max, "reduce_extremum_grad")],
)
def test_one_kernel_each_way(reduce: Callable[..., ag.Tensor], backward: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = ag.constant(X)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = reduce(x)
    tape.gradient(y, x)  # from here on all kernels are known
    names: list[str] = []
    kernels = x._table.kernels

    class Counting(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            names.append(name)
            return kernels[name]

    monkeypatch.setattr(x._table, "kernels", Counting(kernels))
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = reduce(x)
    tape.gradient(y, x)
    # A device with memory of its own has a kernel make the ones that a gradient begins with.
    assert [name for name in names if name != "fill"] == [reduce.__name__, backward]


@pytest.mark.parametrize("reduce", [ag.reduce_max, ag.reduce_min])
def test_equal_extrema_share_the_gradient(reduce: Callable[..., ag.Tensor]) -> None:
    for x in ([2.0, 2.0, 2.0, 2.0], [[2.0, 2.0], [2.0, 2.0]]):
        (gradient,) = ag.gradients_function(reduce, [0])(ag.constant(x))
        assert gradient.numpy().tolist() == np.full(np.shape(x), 0.25).tolist()


@pytest.mark.parametrize(("dtype", "count"), [("float16", 100_000), ("bfloat16", 300)])
@pytest.mark.parametrize("reduce", [ag.reduce_mean, ag.reduce_max])
def test_counts_beyond_half_precision(reduce: Callable[..., ag.Tensor], dtype: str, count: int) -> None:
    """The dtype does not hold the count, but its share of the gradient."""
    x = ag.ones([count], dtype)
    (gradient,) = ag.gradients_function(reduce, [0])(x)
    assert gradient.dtype.name == dtype
    assert gradient.numpy()[7] == np.float32(1 / count).astype(x.dtype.numpy_dtype)


def test_infinities_in_logsumexp() -> None:
    inf = np.inf
    assert ag.reduce_logsumexp([[-inf, 0.0], [inf, 0.0], [-inf, -inf], [inf, inf]], 1).numpy().tolist() == [
        *(0.0, inf, -inf, inf)
    ]
    assert np.isnan(ag.reduce_logsumexp([np.nan, inf]).numpy())
    (gradient,) = ag.gradients_function(ag.reduce_logsumexp, [0])([1000.0, 1000.0, -inf])
    assert gradient.numpy().tolist() == [0.5, 0.5, 0.0]


ZEROS = [[1.5, -2.0, 3.0, 0.5], [1.5, 0.0, 3.0, 0.5], [0.0, -2.0, 3.0, 0.0], [0.0, 0.0, 0.0, 2.0], [0.0] * 4]


@pytest.mark.parametrize("x", ZEROS)
def test_derivatives_of_products_with_zeros(x: list[float]) -> None:
    """The first three derivatives of a product are the products of the other elements."""
    function: Callable[..., Any] = ag.reduce_prod
    one = ag.gradients_function(function, [0])(ag.constant(x, "float64"))[0].numpy()
    assert one.tolist() == pytest.approx([np.prod([v for j, v in enumerate(x) if j != i]) for i in range(4)])
    for i, j in combinations(range(4), 2):

        def partial(values: Any, i: int = i) -> Any:
            return ag.gradients_function(ag.reduce_prod, [0])(values)[0][i]

        second = ag.gradients_function(partial, [0])(ag.constant(x, "float64"))[0].numpy()
        assert second[i] == pytest.approx(0)
        assert second[j] == pytest.approx(np.prod([v for n, v in enumerate(x) if n not in (i, j)]))
        k, left = (n for n in range(4) if n not in (i, j))
        third = ag.gradients_function(lambda v, j=j, p=partial: ag.gradients_function(p, [0])(v)[0][j], [0])(
            ag.constant(x, "float64")
        )[0].numpy()
        assert third[k] == pytest.approx(x[left])


@pytest.mark.parametrize("x", ZEROS)
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_derivatives_of_running_products_with_zeros(x: list[float], exclusive: bool, reverse: bool) -> None:
    gradcheck(lambda x: ag.cumprod(x, 0, exclusive, reverse), [np.array(x)])


def test_long_products() -> None:
    x = np.random.default_rng(7).uniform(0.9, 1.1, 1000)
    x[500] = 0
    (gradient,) = ag.gradients_function(ag.reduce_prod, [0])(x)
    expected = np.zeros(1000)
    expected[500] = np.prod(np.delete(x, 500))
    np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-12)


def test_axis_of_a_scan_may_be_a_tensor() -> None:
    assert ag.cumsum([[1, 2], [3, 4]], ag.constant(1)).numpy().tolist() == [[1, 3], [3, 7]]
    assert ag.cumsum([[1, 2], [3, 4]], np.int64(-1), True).numpy().tolist() == [[0, 1], [0, 3]]


def test_recurrence_is_an_exponential_average() -> None:
    terms = np.random.default_rng(3).normal(size=50)
    expected, y = [], 0.0
    for term in terms:
        y = 0.9 * y + term
        expected.append(y)
    np.testing.assert_allclose(linear_recurrence(np.full(50, 0.9), terms).numpy(), expected, rtol=1e-13)
