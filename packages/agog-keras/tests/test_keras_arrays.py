"""Functions of ``tf.keras.ops`` that NumPy has, against NumPy, and those that layers are made of, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core.errors import InvalidArgumentError
from agog_keras.ops import (
    arrays,
    creation,
    matrices,
    nn,
    reductions,
    statistics,
)
from agog_testing import says

rng = np.random.default_rng(9)
A, B, V = rng.normal(size=(3, 4)), rng.normal(size=(4, 5)), rng.normal(size=4)
T = rng.normal(size=(2, 3, 4))
GAPS = np.where(rng.random((3, 4)) > 0.7, np.nan, A)

CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("ravel", (T,), {}),
    ("append", (A, V), {}),
    ("append", (A, A), {"axis": 1}),
    ("hstack", ([A, A],), {}),
    ("hstack", ([V, V],), {}),
    ("vstack", ([V, A],), {}),
    ("swapaxes", (T, 0, -1), {}),
    ("fliplr", (A,), {}),
    ("flipud", (A,), {}),
    ("full_like", (A, 3.5), {}),
    ("tri", (3, 5, 1), {}),
    ("tri", (4,), {"k": -1}),
    *[("diagonal", (A, offset), {}) for offset in (-5, -2, 0, 1, 3, 9)],
    ("diagonal", (T, 1, 0, 2), {}),
    *[("diag", (x, k), {}) for x in (V, A) for k in (-2, 0, 1)],
    ("dot", (A, B), {}),
    ("dot", (T, B), {}),
    ("dot", (T, V), {}),
    ("dot", (V, V), {}),
    ("inner", (A, V), {}),
    ("inner", (T, A), {}),
    ("outer", (A, V), {}),
    ("vdot", (A, A), {}),
    ("vdot", (A * 1j, A + 1j), {}),
    ("exp2", (A,), {}),
    ("cbrt", (A,), {}),
    ("deg2rad", (A,), {}),
    ("rad2deg", (A,), {}),
    ("isclose", (A, A + 1e-6), {}),
    ("isclose", ([np.inf, np.nan, 1.0], [np.inf, np.nan, 2.0]), {}),
    ("isclose", ([np.inf, np.nan, 1.0], [-np.inf, np.nan, 1.0]), {"equal_nan": True}),
    ("allclose", (A, A), {}),
    ("nan_to_num", (np.array([np.nan, np.inf, -np.inf, 1.0]),), {}),
    ("nan_to_num", (np.array([np.nan, np.inf, -np.inf, 1.0]),), {"nan": 5.0, "posinf": 6.0, "neginf": 7.0}),
    ("nansum", (GAPS,), {"axis": 1}),
    ("nanmean", (GAPS,), {"axis": 1, "keepdims": True}),
    ("average", (A,), {"axis": 0}),
    ("average", (A,), {"axis": 1, "weights": np.abs(V)}),
    ("average", (A,), {"weights": np.abs(A)}),
    ("median", (A,), {}),
    ("median", (T,), {"axis": 1, "keepdims": True}),
    ("quantile", (T, 0.3), {"axis": 0}),
    ("quantile", (T, [0.0, 0.25, 1.0]), {"axis": -1}),
    ("quantile", (T, 0.9), {"keepdims": True}),
]


@pytest.mark.parametrize(("name", "arguments", "options"), CASES)
def test_as_in_numpy(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    modules = (arrays, statistics, reductions)
    (module,) = (each for each in modules if name in each.__all__)
    found = getattr(module, name)(*arguments, **options).numpy()
    wanted = getattr(np, name)(*arguments, **options)
    assert found.shape == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-12)


def test_powers() -> None:
    np.testing.assert_allclose(creation.logspace(-1, 2, 7, base=2.0).numpy(), np.logspace(-1, 2, 7, base=2), rtol=1e-6)


def test_quantiles_by_other_rules() -> None:
    with says(NotImplementedError, "quantile: method must be 'linear'; got 'nearest'."):
        statistics.quantile(A, 0.5, method="nearest")


@pytest.mark.parametrize("logits", [False, True])
def test_cross_entropies(logits: bool) -> None:
    x = A if logits else 1 / (1 + np.exp(-A))
    y = (A > 0.3).astype(float)
    p = 1 / (1 + np.exp(-x)) if logits else x
    wanted = -(y * np.log(p) + (1 - y) * np.log(1 - p))
    np.testing.assert_allclose(nn.binary_crossentropy(y, x, logits).numpy(), wanted, rtol=1e-6)
    p = np.exp(x) if logits else x
    p = p / p.sum(-1, keepdims=True)
    classes = np.array([1, 3, 0])
    wanted = -np.log(p[np.arange(3), classes])
    found = nn.categorical_crossentropy(np.eye(4)[classes], x, logits)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6)
    for shape in ((3,), (3, 1)):
        found = nn.sparse_categorical_crossentropy(classes.reshape(shape), x, logits)
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("first", [False, True])
def test_pools_and_convolutions(first: bool) -> None:
    x = rng.normal(size=(2, 4, 6, 3))
    kernel = rng.normal(size=(2, 2, 3, 5))
    given, layout = (x.transpose(0, 3, 1, 2), "channels_first") if first else (x, "channels_last")

    def last(found: Any) -> Any:
        return found.numpy().transpose(0, 2, 3, 1) if first else found.numpy()

    blocks = x.reshape(2, 2, 2, 3, 2, 3)
    np.testing.assert_allclose(last(nn.max_pool(given, 2, data_format=layout)), blocks.max((2, 4)))
    np.testing.assert_allclose(last(nn.average_pool(given, 2, data_format=layout)), blocks.mean((2, 4)))
    wanted = sum(x[:, i : i + 3, j : j + 5] @ kernel[i, j] for i in range(2) for j in range(2))
    np.testing.assert_allclose(last(nn.conv(given, kernel, data_format=layout)), wanted)


@pytest.mark.parametrize("first", [False, True])
def test_groups_of_channels_are_one_convolution(first: bool) -> None:
    x, kernel = rng.normal(size=(2, 4, 6, 6)), rng.normal(size=(2, 2, 3, 4))
    given, layout = (x.transpose(0, 3, 1, 2), "channels_first") if first else (x, "channels_last")
    with ag.profile() as profile:
        found = nn.conv(given, kernel, data_format=layout).numpy()
    wanted = sum(
        np.concatenate(
            [x[:, i : i + 3, j : j + 5, g * 3 : g * 3 + 3] @ kernel[i, j, :, g * 2 : g * 2 + 2] for g in range(2)], -1
        )
        for i in range(2)
        for j in range(2)
    )
    np.testing.assert_allclose(found.transpose(0, 2, 3, 1) if first else found, wanted)
    assert [(line.op, line.count) for line in profile.ops if line.op != "transpose"] == [("convolution", 1)]


def test_a_kernel_of_another_rank_is_refused() -> None:
    text = "conv: kernel must be of rank 4 (window, channels, filters); got shape (2, 3, 5)."
    with says(InvalidArgumentError, text):
        nn.conv(ag.ones([1, 4, 4, 3]), ag.ones([2, 3, 5]))


def test_classes() -> None:
    scores = np.array([[0.1, 0.7, 0.2], [0.5, 0.2, 0.3]])
    assert nn.in_top_k([2, 1], scores, 2).numpy().tolist() == [True, False]
    assert nn.multi_hot([[0, 2], [1, 1]], 3).numpy().tolist() == [[1, 0, 1], [0, 1, 0]]


def test_norms() -> None:
    np.testing.assert_allclose(nn.normalize(A, 0).numpy(), A / np.linalg.norm(A, axis=0))
    np.testing.assert_allclose(nn.normalize(A, 1, 1).numpy(), A / np.abs(A).sum(1, keepdims=True))
    wanted = 2.0 * A / np.sqrt((A * A).mean(-1, keepdims=True) + 1e-7)
    np.testing.assert_allclose(nn.rms_normalization(A, 2.0).numpy(), wanted)


def test_places() -> None:
    wanted = T.copy()
    wanted[1:2, 0:2, 1:3] = 7.0
    np.testing.assert_array_equal(nn.slice_update(T, [1, 0, 1], np.full((1, 2, 2), 7.0)).numpy(), wanted)
    assert nn.scatter([[0], [2], [0]], [1.0, 5.0, 2.0], [4]).numpy().tolist() == [3.0, 0.0, 5.0, 0.0]
    assert nn.segment_sum(ag.ones([3, 2]), [1, 0, 1], 3).numpy().tolist() == [[1, 1], [2, 2], [0, 0]]
    assert nn.segment_max([1.0, 3.0, 2.0], [0, 1, 0]).numpy().tolist() == [2.0, 3.0]


@pytest.mark.parametrize("lower", [False, True])
def test_triangles(lower: bool) -> None:
    a = rng.normal(size=(4, 4)) + 4 * np.eye(4)
    triangle = np.tril(a) if lower else np.triu(a)
    found = matrices.solve_triangular(triangle, V, lower).numpy()
    np.testing.assert_allclose(found, np.linalg.solve(triangle, V))
    np.testing.assert_allclose(matrices.solve_triangular(triangle, B, lower).numpy(), np.linalg.solve(triangle, B))
