"""Layers that scale numbers and make vectors of categories, against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint import Checkpoint
from agog_core.errors import InvalidArgumentError
from agog_data import Dataset
from agog_keras.layers import CategoryEncoding, Discretization, Hashing, Normalization, Rescaling
from agog_layers import Dense, Input, Sequential
from agog_testing import says

rng = np.random.default_rng(43)
X = rng.normal(3.0, 2.0, size=(50, 4)).astype("f4")


def test_rescaling() -> None:
    pixels = np.array([0, 51, 255], "u1")
    np.testing.assert_allclose(Rescaling(1 / 127.5, offset=-1)(pixels).numpy(), pixels / 127.5 - 1, atol=1e-6)
    layer = Rescaling([1.0, 2.0], offset=[0.5, 0.0])
    again = Rescaling.from_config(layer.get_config())
    assert again([[1.0, 1.0]]).numpy().tolist() == [[1.5, 2.0]]


@pytest.mark.parametrize("axis", [-1, 1, None, (1, 2)])
def test_normalization(axis: Any) -> None:
    x = X.reshape(10, 5, 4)
    over = tuple(n for n in range(3) if axis is None or n not in np.atleast_1d(axis) % 3)
    mean, variance = x.mean(over, keepdims=True), x.var(over, keepdims=True)
    for data in (x, Dataset.from_tensor_slices(x).batch(3)):
        layer = Normalization(axis)
        layer.adapt(data)
        np.testing.assert_allclose(layer(x).numpy(), (x - mean) / np.sqrt(variance), rtol=1e-4, atol=1e-5)
        inverse = Normalization(axis, layer.mean.numpy(), layer.variance.numpy(), invert=True)
        np.testing.assert_allclose(inverse(layer(x)).numpy(), x, rtol=1e-4, atol=1e-5)


def test_normalization_forgets_and_stops() -> None:
    layer = Normalization()
    layer.adapt(X)
    layer.adapt(X[:10], batch_size=5, steps=1)
    np.testing.assert_allclose(layer.mean.numpy(), X[:5].mean(0), rtol=1e-5)
    assert int(layer.count) == 5


def test_given_moments() -> None:
    layer = Normalization(mean=[1.0, 2.0], variance=4.0)
    again = Normalization.from_config(layer.get_config())
    assert again([[3.0, 2.0]]).numpy().tolist() == [[1.0, 0.0]]
    with says(
        ValueError,
        "Normalization layer 'n': mean and variance were given, so there is nothing to adapt; leave them out.",
    ):
        Normalization(mean=0.0, variance=1.0, name="n").adapt(X)
    with says(ValueError, "Normalization layer 'n': mean and variance go together; got 0.0 and None."):
        Normalization(mean=0.0, name="n")
    with says(ValueError, "Normalization layer 'n': axis 0 counts examples; got axis=0 for shape (50, 4)."):
        Normalization(axis=0, name="n").adapt(X)


def test_what_is_learned_is_saved_with_the_model(tmp_path: Path) -> None:
    def model() -> Any:
        return Sequential([Normalization(), Dense(2)])

    one, other = model(), model()
    one.layers[0].adapt(X)
    expected = one(X).numpy()
    path = Checkpoint(model=one).write(str(tmp_path / "model"))
    other(X)
    Checkpoint(model=other).restore(path).assert_consumed()
    np.testing.assert_array_equal(other(X).numpy(), expected)


def test_labels_are_not_adapted_to() -> None:
    with says(
        TypeError,
        "Normalization layer 'n': adapt takes batches of inputs alone; got a tuple of 2. Leave labels out with "
        "dataset.map(lambda x, y: x).",
    ):
        Normalization(name="n").adapt(Dataset.from_tensor_slices((X, X)).batch(5))
    with says(TypeError, "Normalization layer 'n': adapt takes arrays or batches; got 3 of type int."):
        Normalization(name="n").adapt(3)


def test_discretization(tmp_path: Path) -> None:
    bins = [-1.0, 0.5, 2.0]
    x = np.array([[-2.0, -1.0, 0.0], [0.5, 1.0, 7.0]])
    layer = Discretization(bins)
    assert layer(x).numpy().tolist() == np.digitize(x, bins).tolist()
    learned = Discretization(num_bins=4)
    learned.adapt(Dataset.from_tensor_slices(X).batch(7))
    np.testing.assert_allclose(learned.bin_boundaries, np.quantile(X, [0.25, 0.5, 0.75]), rtol=1e-6)  # type: ignore[arg-type]
    again = Discretization.from_config(learned.get_config())
    assert again(X).numpy().tolist() == np.digitize(X, np.quantile(X, [0.25, 0.5, 0.75])).tolist()
    path = Checkpoint(layer=learned).write(str(tmp_path / "layer"))
    restored = Discretization(num_bins=4)
    Checkpoint(layer=restored).restore(path)
    assert restored.bin_boundaries == learned.bin_boundaries
    with says(
        RuntimeError, "Discretization layer 'd' has no boundaries yet: call adapt on data, or give bin_boundaries."
    ):
        Discretization(num_bins=3, name="d")(x)
    with says(ValueError, "Discretization layer 'd': give bin_boundaries, or num_bins and call adapt."):
        Discretization(bins, num_bins=3, name="d")
    with says(
        ValueError, "Discretization layer 'd': bin_boundaries were given, so there is nothing to adapt; give num_bins."
    ):
        Discretization(bins, name="d").adapt(x)


ROWS = np.array([[0, 2, 2], [1, 3, 0]])
EYE = np.eye(4)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("one_hot", EYE[ROWS]), ("multi_hot", np.minimum(EYE[ROWS].sum(1), 1)), ("count", EYE[ROWS].sum(1))],
)
def test_categories(mode: str, expected: Any) -> None:
    layer = CategoryEncoding(4, mode)
    again = CategoryEncoding.from_config(layer.get_config())
    assert again(ROWS).numpy().tolist() == expected.tolist()


def test_categories_in_columns_and_with_weights() -> None:
    assert CategoryEncoding(4, "one_hot")([[1], [3]]).numpy().tolist() == EYE[[1, 3]].tolist()
    assert CategoryEncoding(4, "one_hot")([1, 3]).numpy().tolist() == EYE[[1, 3]].tolist()
    assert CategoryEncoding(4)([1, 3]).numpy().tolist() == [0.0, 1.0, 0.0, 1.0]
    weighted = CategoryEncoding(4, "count")(ROWS, count_weights=[[0.5, 1.0, 2.0], [1.0, 1.0, 1.0]])
    assert weighted.numpy().tolist() == [[0.5, 0.0, 3.0, 0.0], [1.0, 1.0, 0.0, 1.0]]
    with says(
        InvalidArgumentError,
        "CategoryEncoding layer 'c': numbers must be from 0 to 2, one less than num_tokens; got 0 to 3.",
    ):
        CategoryEncoding(3, name="c")(ROWS)


def test_hashing() -> None:
    words = np.array([["a", "b"], ["a", ""]])
    plain = Hashing(5)(words).numpy()
    assert plain.tolist() == ag.string_to_hash_bucket_fast(words, 5).numpy().tolist()
    masked = Hashing(5, mask_value="")(words).numpy()
    assert masked[1, 1] == 0
    assert masked[:, 0].tolist() == [int(ag.string_to_hash_bucket_fast("a", 4)) + 1] * 2
    salted = Hashing.from_config(Hashing(100, salt=133).get_config())
    assert salted(words).numpy().tolist() == ag.string_to_hash_bucket_strong(words, 100, [133, 133]).numpy().tolist()
    assert Hashing(3, output_mode="one_hot")([[12], [7]]).shape.as_list() == [2, 3]
    numbers, texts = Hashing(50)([12, 7]).numpy(), Hashing(50)(["12", "7"]).numpy()
    assert numbers.tolist() == texts.tolist()


def test_layers_go_into_models_of_inputs() -> None:
    from agog_layers import Model

    x = Input(shape=[4])
    model = Model(x, Dense(1)(Rescaling(0.5)(Normalization(mean=0.0, variance=1.0)(x))))
    assert model(X).shape.as_list() == [50, 1]
