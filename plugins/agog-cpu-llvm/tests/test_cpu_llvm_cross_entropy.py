"""Cross entropy: compiled losses of class numbers and of distributions against float64, and by the kit."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_core import Tensor
from agog_core.errors import InvalidArgumentError
from agog_core.plugin import load_reference, threads
from agog_cpu_llvm import presence
from agog_cpu_llvm.kernels import cross_entropy
from agog_testing.conformance import collect

SENTENCE = presence.unavailable()
pytestmark = pytest.mark.skipif(SENTENCE is not None, reason=str(SENTENCE))

OPS = ("sparse_softmax_cross_entropy", "sparse_softmax_cross_entropy_grad")
DENSE = ("softmax_cross_entropy", "softmax_cross_entropy_grad")
ULPS = {"float32": 2.0**-23, "float64": 2.0**-52}
SHAPES = ((3, 1), (5, 7), (2, 3, 16), (4, 65), (2, 1000), (300, 10))


@pytest.fixture(autouse=True)
def all_sizes(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGOG_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "llvm"))
    monkeypatch.setattr(cross_entropy, "LEAST", 1)


def given(shape: tuple[int, ...], dtype: str, spread: int = 3) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(0)
    labels, g = random.integers(0, shape[-1], shape[:-1]), random.standard_normal(shape[:-1])
    return g.astype(dtype), labels, (random.standard_normal(shape) * spread).astype(dtype)


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ULPS)
@pytest.mark.parametrize("spread", [3, 100])
@pytest.mark.parametrize("shape", SHAPES)
def test_losses_and_gradients(shape: tuple[int, ...], spread: int, dtype: str, kind: str) -> None:
    g, labels, logits = given(shape, dtype, spread)
    wide = logits.astype(np.float64)
    differences = wide - wide.max(-1, keepdims=True)
    sums = np.exp(differences).sum(-1, keepdims=True)
    is_own = np.arange(shape[-1]) == labels[..., None]
    losses = np.log(sums[..., 0]) - differences[is_own].reshape(labels.shape)
    result = cross_entropy.make(OPS[0], dtype, "cpu:0")(labels.astype(kind), logits)
    assert result.dtype == np.dtype(dtype)
    scale = max(1, np.abs(differences).max())
    np.testing.assert_allclose(result, losses, rtol=0, atol=4 * ULPS[dtype] * scale)
    expected = (np.exp(differences) / sums - is_own) * g[..., None]
    result = cross_entropy.make(OPS[1], dtype, "cpu:0")(g, labels.astype(kind), logits)
    np.testing.assert_allclose(result, expected, rtol=0, atol=8 * ULPS[dtype] * np.abs(g).max())


def distributions(shape: tuple[int, ...], dtype: str) -> Any:
    """Labels of which some are 0, and whose sums are not 1."""
    labels = np.random.default_rng(1).uniform(-0.5, 1, shape)
    return np.maximum(labels, 0).astype(dtype)


@pytest.mark.parametrize("dtype", ULPS)
@pytest.mark.parametrize("spread", [3, 100])
@pytest.mark.parametrize("shape", SHAPES)
def test_losses_and_gradients_of_distributions(shape: tuple[int, ...], spread: int, dtype: str) -> None:
    g, _, logits = given(shape, dtype, spread)
    labels = distributions(shape, dtype)
    wide, shares = logits.astype(np.float64), labels.astype(np.float64)
    differences = wide - wide.max(-1, keepdims=True)
    sums = np.exp(differences).sum(-1, keepdims=True)
    terms = shares * (np.log(sums) - differences)
    result = cross_entropy.make(DENSE[0], dtype, "cpu:0")(labels, logits, axis=len(shape) - 1)
    assert result.dtype == np.dtype(dtype)
    np.testing.assert_allclose(result, terms.sum(-1), rtol=0, atol=8 * ULPS[dtype] * max(1, terms.sum(-1).max()))
    expected = (np.exp(differences) / sums * shares.sum(-1, keepdims=True) - shares) * g[..., None]
    result = cross_entropy.make(DENSE[1], dtype, "cpu:0")(g, labels, logits, axis=len(shape) - 1)
    scale = np.abs(g).max() * shares.sum(-1).max()
    np.testing.assert_allclose(result, expected, rtol=0, atol=8 * ULPS[dtype] * max(1, scale))


def test_classes_of_probability_0_add_nothing() -> None:
    logits = np.zeros((2, 40), "float32")
    logits[0, 3], logits[1, 3] = -np.inf, np.inf
    labels = np.zeros((2, 40), "float32")
    labels[:, 5] = 1
    losses = cross_entropy.make(DENSE[0], "float32", "cpu:0")(labels, logits, axis=1)
    np.testing.assert_allclose(losses[0], np.log(39), rtol=1e-6)
    assert np.isnan(losses[1])


def test_other_axes_and_layouts_are_the_references() -> None:
    _, _, logits = given((4, 50, 6), "float32")
    labels = distributions(logits.shape, "float32")
    for taken, axis in ((np.ascontiguousarray, 1), (np.asfortranarray, 2)):
        x, y = taken(logits), taken(labels)
        reference = load_reference(f"agog_cpu_numpy.kernels:{DENSE[0]}")(y, x, axis=axis)
        np.testing.assert_array_equal(cross_entropy.make(DENSE[0], "float32", "cpu:0")(y, x, axis=axis), reference)


def test_a_row_with_nan_is_nan_and_no_other() -> None:
    g, labels, logits = given((6, 40), "float32")
    logits[2, 7], logits[4, 1] = np.nan, np.inf
    losses = cross_entropy.make(OPS[0], "float32", "cpu:0")(labels, logits)
    assert np.array_equal(np.isnan(losses), [False, False, True, False, True, False])
    gradient = cross_entropy.make(OPS[1], "float32", "cpu:0")(g, labels, logits)
    assert np.array_equal(np.isnan(gradient).all(1), np.isnan(losses))
    assert np.array_equal(np.isnan(gradient).any(1), np.isnan(losses))


def test_wrong_labels_are_told_of() -> None:
    for label in (-1, 7):
        with pytest.raises(InvalidArgumentError, match=f"Received a label value of {label} which is outside"):
            ag.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, label], logits=ag.zeros((2, 7)))


@pytest.mark.parametrize("is_dense", [False, True])
def test_bits_are_the_same_at_any_number_of_threads(is_dense: bool) -> None:
    _, labels, logits = given((500, 100), "float32")
    function = cross_entropy.make((DENSE if is_dense else OPS)[0], "float32", "cpu:0")
    if is_dense:
        function, labels = partial(function, axis=1), distributions(logits.shape, "float32")
    try:
        threads.set_count(1)
        alone = function(labels, logits)
        threads.set_count(3)
        np.testing.assert_array_equal(alone, function(labels, logits))
    finally:
        threads.set_count(0)


@pytest.mark.parametrize("is_dense", [False, True])
@pytest.mark.parametrize("rows", [3, 100])
def test_traced_functions_have_the_bits_of_eager_ones(
    rows: int, is_dense: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cross_entropy, "LEAST", 1000)
    _, labels, logits = given((rows, 30), "float32")
    x = ag.constant(logits)
    if is_dense:
        labels, loss = distributions(logits.shape, "float32"), ag.nn.softmax_cross_entropy_with_logits
    else:
        loss = ag.nn.sparse_softmax_cross_entropy_with_logits

    def step(x: Tensor) -> tuple[Tensor, ...]:
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = loss(labels=labels, logits=x)
        return y, tape.gradient(y, x)

    for eager, traced in zip(step(x), ag.function(step)(x), strict=True):
        np.testing.assert_array_equal(eager.numpy(), traced.numpy())


@pytest.mark.parametrize("op", [*OPS, *DENSE])
def test_the_kit(op: str) -> None:
    ended = [(case.id, case.run()) for case in collect("cpu-llvm", [op], ["float32"])]
    assert len(ended) > 20
    assert not [(name, outcome) for name, outcome in ended if outcome.kind not in ("passed", "skipped")]
