"""Functions of ``tf.keras.ops`` in other dtypes than floats, and with Keras's arguments, by hand in NumPy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_keras.ops import (
    activations,
    creation,
    dtypes,
    matrices,
    nn,
    reductions,
    selection,
)
from agog_keras.ops.dtypes import promote, result_dtype
from agog_testing import says

SMALL = np.array([200, 100], np.uint8)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ((np.uint8(1), np.int8(1)), "int16"),
        ((np.int32(1), 0.5), "float32"),
        ((np.float16(1), np.int64(1)), "float16"),
        ((np.float16(1), 2.5), "float16"),
        ((ag.constant(1, "bfloat16"), np.float16(1)), "float32"),
        ((np.uint32(1), np.int8(1)), "int64"),
        ((np.uint64(1), np.int64(1)), "float32"),
        ((np.bool_(1), 3), "int32"),
        ((True, 2), "int32"),
        ((np.complex64(1), np.float64(1)), "complex128"),
    ],
)
def test_dtypes_that_hold_others(values: tuple[Any, ...], wanted: str) -> None:
    assert result_dtype(*values) == result_dtype(*reversed(values)) == wanted


def test_functions_take_other_dtypes() -> None:
    names: Any = dict.fromkeys(" ".join(dtypes._WAYS).split(), ag.add)
    names |= {"exp": ag.exp, "divide": ag.divide, "greater": ag.greater, "logical_and": ag.logical_and}
    promote(names)
    assert names["exp"]([0, 0]).dtype == names["divide"]([1], [2]).dtype == "float32"
    assert names["add"](np.array([True]), np.array([True])).numpy().tolist() == [True]
    assert names["add"](SMALL, 0.5).numpy().tolist() == [200.5, 100.5]
    assert names["greater"](SMALL, -1).numpy().tolist() == [True, True]
    assert names["logical_and"]([1, 0], [2, 2]).numpy().tolist() == [True, False]


def test_sums_means_and_variances_of_integers() -> None:
    assert (int(reductions.sum(SMALL)), int(reductions.prod(SMALL))) == (300, 20000)
    assert reductions.sum(SMALL).dtype == "uint32"
    assert reductions.sum(np.array([True, True])).dtype == "int32"
    for found, wanted in (
        (reductions.mean([1, 2]), 1.5),
        (reductions.var([1, 2]), 0.25),
        (reductions.std([1, 2]), 0.5),
    ):
        assert found.dtype == "float32"
        assert float(found) == wanted
    assert float(reductions.average([1, 4], weights=[1, 2])) == 3.0
    with says(
        ValueError,
        "average: weights of shape (2,) belong to one axis of x of shape (2, 3); give that axis, or weights of that "
        "shape; got axis None.",
    ):
        reductions.average(np.ones((2, 3)), weights=[1.0, 2.0])


def test_ranges_and_rounding() -> None:
    assert creation.arange(0, 1, 0.25).numpy().tolist() == [0.0, 0.25, 0.5, 0.75]
    assert creation.arange(5, 0, -2).numpy().tolist() == [5, 3, 1]
    assert creation.arange(3).dtype == "int32"
    np.testing.assert_allclose(creation.round([1.2345, -2.5], 2).numpy(), [1.23, -2.5], rtol=1e-6)
    assert creation.round([25, 35, -14], -1).numpy().tolist() == [20, 40, -10]
    assert creation.linspace([0, 1], 3, 3, axis=1).numpy().tolist() == [[0.0, 1.5, 3.0], [1.0, 2.0, 3.0]]


def test_angles() -> None:
    np.testing.assert_allclose(reductions.angle([-2.0, 0.0, 3.0, -0.0]).numpy(), [np.pi, 0, 0, np.pi], rtol=1e-6)
    np.testing.assert_allclose(reductions.angle(np.array([1j])).numpy(), [np.pi / 2])


@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_norms_of_matrices(order: Any) -> None:
    x = np.random.default_rng(3).normal(size=(2, 3, 4))
    wanted = np.linalg.norm(x, order, (0, 2), True)
    np.testing.assert_allclose(reductions.norm(x, order, (0, 2), True).numpy(), wanted, rtol=1e-9)


@pytest.mark.parametrize("order", [None, 0, 1, 2, 3, np.inf, -np.inf])
def test_norms_of_vectors(order: Any) -> None:
    x = np.array([[3, 0, -4], [1, 2, 2]])
    np.testing.assert_allclose(reductions.norm(x, order, 1).numpy(), np.linalg.norm(x, order, 1), rtol=1e-5)


def test_norms_that_do_not_exist() -> None:
    text = "norm: ord must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf for matrices; got 3."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        reductions.norm([[1.0]], 3)


def test_counts_of_rows() -> None:
    rows = [[0, 1, 1], [3, 0, 0]]
    assert reductions.bincount(rows, minlength=5).numpy().tolist() == [[1, 2, 0, 0, 0], [2, 0, 0, 1, 0]]
    weighted = reductions.bincount([0, 1, 1], weights=[1.0, 0.5, 2.0])
    assert weighted.numpy().tolist() == [1.0, 2.5]


def test_segments_without_rows() -> None:
    assert nn.segment_max([1.0, 5.0], [0, 2], 4).numpy().tolist() == [1.0, -np.inf, 5.0, -np.inf]
    assert nn.segment_max(np.int8([3]), [1], 2).numpy().tolist() == [-128, 3]


def test_activations_of_keras() -> None:
    x = np.array([-4.0, -1.0, 0.0, 2.0])
    np.testing.assert_allclose(activations.hard_sigmoid(x).numpy(), np.clip(x / 6 + 0.5, 0, 1))
    tanh = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    np.testing.assert_allclose(activations.gelu(x).numpy(), tanh, rtol=1e-9)
    shares = np.exp(x) / np.exp(x).sum()
    np.testing.assert_allclose(activations.softmax(x.reshape(2, 2), None).numpy().ravel(), shares, rtol=1e-9)
    np.testing.assert_allclose(activations.elu(x, 0.5).numpy(), np.where(x > 0, x, 0.5 * np.expm1(x)))
    np.testing.assert_allclose(activations.leaky_relu(x).numpy(), np.where(x > 0, x, 0.2 * x))


def test_elements_that_move() -> None:
    x = np.arange(6).reshape(2, 3)
    for found, wanted in (
        (selection.pad(x, ((1, 0), (0, 2)), "edge"), np.pad(x, ((1, 0), (0, 2)), "edge")),
        (selection.pad(x, 1, constant_values=7), np.pad(x, 1, constant_values=7)),
        (selection.roll(x, 2), np.roll(x, 2)),
        (selection.tile(x, 2), np.tile(x, 2)),
        (selection.flip(x), np.flip(x)),
        (selection.expand_dims(x, (0, 2)), np.expand_dims(x, (0, 2))),
        (selection.cumsum(x), np.cumsum(x)),
        (selection.clip(x, 0.5, 3.5), [[0, 1, 2], [3, 3, 3]]),
        (selection.where(x > 2, x, 0.5), np.where(x > 2, x, 0.5)),
    ):
        np.testing.assert_array_equal(found.numpy(), wanted)
    text = "pad: mode must be 'constant', 'edge', 'reflect' or 'symmetric'; got 'wrap'."
    with pytest.raises(NotImplementedError, match=f"^{re.escape(text)}$"):
        selection.pad(x, 1, "wrap")


def test_factors_come_in_the_order_of_numpy() -> None:
    x = np.random.default_rng(4).normal(size=(2, 3))
    u, s, vh = matrices.svd(x, full_matrices=False)
    np.testing.assert_allclose(u.numpy() * s.numpy() @ vh.numpy(), x, rtol=1e-9)
    q, r = matrices.qr(x.T, "complete")
    np.testing.assert_allclose(q.numpy() @ r.numpy(), x.T, rtol=1e-9, atol=1e-12)
    assert q.shape == (3, 3)
    np.testing.assert_allclose(matrices.solve(x[:, :2], x[:, 2]).numpy(), np.linalg.solve(x[:, :2], x[:, 2]))
