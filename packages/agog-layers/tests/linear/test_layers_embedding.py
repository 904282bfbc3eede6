"""Embedding: rows, sparse gradients, masks; and ActivityRegularization."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import ActivityRegularization, Embedding, Sequential, constraints
from agog_testing import says

SEED = 8
TABLE = np.random.default_rng(SEED).normal(size=(6, 3)).astype(np.float32)


def embedding(**arguments: Any) -> Embedding:
    layer = Embedding(6, 3, **arguments)
    layer.build(ag.TensorShape([None]))
    layer.embeddings.assign(TABLE)
    return layer


@pytest.mark.parametrize("shape", [(), (4,), (2, 5), (2, 0), (2, 3, 2)])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float64"])
def test_rows(shape: tuple[int, ...], dtype: str) -> None:
    numbers = np.random.default_rng(SEED).integers(0, 6, shape)
    layer = embedding()
    got = layer(ag.constant(numbers, dtype))
    assert got.dtype == ag.float32
    np.testing.assert_array_equal(got.numpy(), TABLE[numbers])
    assert layer.compute_output_shape(shape) == got.shape


def test_gradients_are_sparse() -> None:
    layer = embedding()
    with ag.GradientTape() as tape:
        loss = ag.reduce_sum(ag.square(layer(ag.constant([[1, 4], [1, 1]]))))
    gradient = tape.gradient(loss, layer.embeddings)
    assert isinstance(gradient, ag.IndexedSlices)
    expected = np.zeros_like(TABLE)
    np.add.at(expected, [1, 4, 1, 1], 2 * TABLE[[1, 4, 1, 1]])
    np.testing.assert_allclose(ag.convert_to_tensor(gradient).numpy(), expected, rtol=1e-6)


def test_the_first_input_does_not_choose_the_dtype() -> None:
    layer = Embedding(3, 2)
    assert layer(ag.constant([1.0], "float64")).dtype == ag.float32
    assert Embedding(3, 2, dtype="float64")(ag.constant([1])).dtype == ag.float64


def test_weights_as_keras_has_them() -> None:
    layer = Embedding(1000, 64, name="e", embeddings_regularizer="l2", embeddings_constraint="unit_norm")
    layer(ag.constant([1]))
    assert [v.name for v in layer.weights] == ["e/embeddings:0"]
    values = layer.embeddings.numpy()
    assert 0.049 < np.abs(values).max() <= 0.05
    assert isinstance(layer.embeddings.constraint, constraints.UnitNorm)
    np.testing.assert_allclose([float(loss) for loss in layer.losses], [0.01 * (values**2).sum()], rtol=1e-5)


def test_masks() -> None:
    assert embedding().compute_mask(ag.constant([[1, 0]])) is None
    mask = embedding(mask_zero=True).compute_mask(ag.constant([[1, 0], [0, 2]]))
    assert mask is not None
    assert mask.numpy().tolist() == [[True, False], [False, True]]


def test_input_length() -> None:
    assert Embedding(6, 3, input_length=4).compute_output_shape((None, None)).as_list() == [None, 4, 3]
    assert Embedding(6, 3, input_length=(4, None)).compute_output_shape((2, 4, 5)).as_list() == [2, 4, 5, 3]
    assert Sequential([Embedding(6, 3, input_length=4)]).layers[0].built
    with says(ValueError, "Embedding layer 'e' has input_length 4; got an input of shape (?, 5)."):
        Embedding(6, 3, input_length=4, name="e").compute_output_shape((None, 5))


def test_wrong_sizes() -> None:
    with says(ValueError, "Embedding: input_dim must be an integer of at least 1; got 0."):
        Embedding(0, 3)


def test_activity_regularization() -> None:
    layer = ActivityRegularization(0.5, 0.25)
    x = ag.constant([[2.0, -4.0]])
    assert layer(x) is x
    assert [float(loss) for loss in layer.losses] == [0.5 * 6 + 0.25 * 20]
    layer(ag.constant([[0.0]]))
    assert [float(loss) for loss in layer.losses] == [0.0]
    assert layer.compute_output_shape((None, 2)).as_list() == [None, 2]
