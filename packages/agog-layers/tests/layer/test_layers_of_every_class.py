"""Every class of layers: its description, the shapes and dtypes of its output, symbolic calls, and models of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import agog_core as ag
import agog_layers as layers
from agog_layers import Layer
from agog_testing.layers import called, check_description, check_model, check_shapes, outputs

Shape = tuple[int, ...]
BATCH = 4
# These hold other layers or a call of the program, and have tests of their own.
ELSEWHERE = {
    "Called",
    "InputLayer",
    "Lambda",
    "Layer",
    "MaskOf",
    "Model",
    "Network",
    "Operation",
    "Sequential",
    "Wrapper",
}


class Case(NamedTuple):
    """How a layer is made, the shape of an example or of several inputs, and the shape of its output.

    Args:
        is_of_integers: whether the inputs are integers below 3.
        varies: whether the output of one input varies from call to call in training.
    """

    make: Callable[[], Layer]
    given: Shape | list[Shape]
    out: Shape
    is_of_integers: bool = False
    varies: bool = False


def cell(kind: Any) -> Callable[[], Layer]:
    return lambda: layers.RNN(kind(5))


CASES: dict[str, Case] = {
    "Activation": Case(lambda: layers.Activation("softmax"), (3,), (3,)),
    "ActivityRegularization": Case(lambda: layers.ActivityRegularization(0.1, 0.2), (3,), (3,)),
    "Add": Case(layers.Add, [(2, 3), (2, 3), (2, 3)], (2, 3)),
    "AdditiveAttention": Case(layers.AdditiveAttention, [(2, 3), (5, 3)], (2, 3)),
    "AlphaDropout": Case(lambda: layers.AlphaDropout(0.3, seed=1), (3,), (3,), varies=True),
    "Attention": Case(lambda: layers.Attention(use_scale=True), [(2, 3), (5, 3)], (2, 3)),
    "Average": Case(layers.Average, [(3,), (3,)], (3,)),
    "AveragePooling1D": Case(lambda: layers.AveragePooling1D(2, padding="same"), (7, 3), (4, 3)),
    "AveragePooling2D": Case(lambda: layers.AveragePooling2D((2, 3)), (6, 7, 3), (3, 2, 3)),
    "AveragePooling3D": Case(lambda: layers.AveragePooling3D(2), (4, 4, 6, 2), (2, 2, 3, 2)),
    "BatchNormalization": Case(lambda: layers.BatchNormalization(momentum=0.5), (2, 3), (2, 3)),
    "Bidirectional": Case(lambda: layers.Bidirectional(layers.GRU(2)), (3, 4), (4,)),
    "Concatenate": Case(lambda: layers.Concatenate(axis=1), [(2, 3), (4, 3)], (6, 3)),
    "Conv1D": Case(lambda: layers.Conv1D(5, 2, dilation_rate=2), (7, 3), (5, 5)),
    "Conv1DTranspose": Case(lambda: layers.Conv1DTranspose(5, 2, strides=2), (4, 3), (8, 5)),
    "Conv2D": Case(lambda: layers.Conv2D(5, 3, 2, "same", activation="relu"), (6, 7, 3), (3, 4, 5)),
    "Conv2DTranspose": Case(lambda: layers.Conv2DTranspose(5, 3, padding="same"), (4, 5, 3), (4, 5, 5)),
    "Conv3D": Case(lambda: layers.Conv3D(2, 2), (3, 4, 5, 2), (2, 3, 4, 2)),
    "Conv3DTranspose": Case(lambda: layers.Conv3DTranspose(2, 2), (2, 3, 4, 2), (3, 4, 5, 2)),
    "ConvLSTM2D": Case(lambda: layers.ConvLSTM2D(2, 2, return_sequences=True), (2, 4, 4, 3), (2, 3, 3, 2)),
    "Cropping1D": Case(lambda: layers.Cropping1D((1, 2)), (6, 3), (3, 3)),
    "Cropping2D": Case(lambda: layers.Cropping2D(((1, 0), (2, 1))), (4, 6, 3), (3, 3, 3)),
    "Cropping3D": Case(lambda: layers.Cropping3D(1), (4, 5, 6, 2), (2, 3, 4, 2)),
    "CuDNNGRU": Case(lambda: layers.CuDNNGRU(3), (4, 2), (3,)),
    "CuDNNLSTM": Case(lambda: layers.CuDNNLSTM(3, return_sequences=True), (4, 2), (4, 3)),
    "Dense": Case(lambda: layers.Dense(5, "tanh", kernel_regularizer="l2"), (2, 3), (2, 5)),
    "DepthwiseConv2D": Case(lambda: layers.DepthwiseConv2D(2, depth_multiplier=2), (4, 4, 3), (3, 3, 6)),
    "Dot": Case(lambda: layers.Dot(axes=(2, 1)), [(2, 3), (3, 4)], (2, 4)),
    "Dropout": Case(lambda: layers.Dropout(0.3, seed=1), (3,), (3,), varies=True),
    "ELU": Case(lambda: layers.ELU(0.5), (3,), (3,)),
    "EinsumDense": Case(lambda: layers.EinsumDense("abc,cd->abd", (None, 5), bias_axes="d"), (2, 3), (2, 5)),
    "Embedding": Case(lambda: layers.Embedding(3, 5), (2,), (2, 5), is_of_integers=True),
    "Flatten": Case(layers.Flatten, (2, 3, 4), (24,)),
    "GRU": Case(lambda: layers.GRU(5, reset_after=True), (3, 2), (5,)),
    "GRUCell": Case(cell(layers.GRUCell), (3, 2), (5,)),
    "GaussianDropout": Case(lambda: layers.GaussianDropout(0.3), (3,), (3,), varies=True),
    "GaussianNoise": Case(lambda: layers.GaussianNoise(0.3), (3,), (3,), varies=True),
    **{
        f"Global{kind}Pooling{rank}D": Case(
            lambda kind=kind, rank=rank: getattr(layers, f"Global{kind}Pooling{rank}D")(),
            (*(3, 4, 2)[-rank:], 5),
            (5,),
        )
        for kind in ("Average", "Max")
        for rank in (1, 2, 3)
    },
    "GroupNormalization": Case(lambda: layers.GroupNormalization(2), (3, 4), (3, 4)),
    "Identity": Case(layers.Identity, (3,), (3,)),
    "InstanceNormalization": Case(layers.InstanceNormalization, (3, 3, 2), (3, 3, 2)),
    "LSTM": Case(lambda: layers.LSTM(5, return_sequences=True), (3, 2), (3, 5)),
    "LSTMCell": Case(cell(layers.LSTMCell), (3, 2), (5,)),
    "LayerNormalization": Case(layers.LayerNormalization, (2, 3), (2, 3)),
    "LeakyReLU": Case(lambda: layers.LeakyReLU(0.2), (3,), (3,)),
    "LocallyConnected1D": Case(lambda: layers.LocallyConnected1D(5, 2), (4, 3), (3, 5)),
    "LocallyConnected2D": Case(lambda: layers.LocallyConnected2D(5, 2), (3, 4, 2), (2, 3, 5)),
    "Masking": Case(layers.Masking, (3, 2), (3, 2)),
    "MaxPooling1D": Case(lambda: layers.MaxPooling1D(3, 1), (7, 3), (5, 3)),
    "MaxPooling2D": Case(lambda: layers.MaxPooling2D(), (6, 7, 3), (3, 3, 3)),
    "MaxPooling3D": Case(lambda: layers.MaxPooling3D(2, padding="same"), (3, 4, 5, 2), (2, 2, 3, 2)),
    "Maximum": Case(layers.Maximum, [(3,), (3,)], (3,)),
    "Minimum": Case(layers.Minimum, [(3,), (3,)], (3,)),
    "MultiHeadAttention": Case(lambda: layers.MultiHeadAttention(2, 3), [(4, 5), (6, 5)], (4, 5)),
    "Multiply": Case(layers.Multiply, [(2, 3), (2, 3)], (2, 3)),
    "PReLU": Case(lambda: layers.PReLU("ones", shared_axes=1), (2, 3), (2, 3)),
    "Permute": Case(lambda: layers.Permute((2, 1)), (2, 3), (3, 2)),
    "RMSNormalization": Case(layers.RMSNormalization, (2, 3), (2, 3)),
    "RNN": Case(lambda: layers.RNN([layers.SimpleRNNCell(3), layers.GRUCell(5)]), (3, 2), (5,)),
    "ReLU": Case(lambda: layers.ReLU(6.0, threshold=0.1), (3,), (3,)),
    "RepeatVector": Case(lambda: layers.RepeatVector(2), (3,), (2, 3)),
    "Reshape": Case(lambda: layers.Reshape((-1, 2)), (2, 3), (3, 2)),
    "SeparableConv1D": Case(lambda: layers.SeparableConv1D(5, 2), (4, 3), (3, 5)),
    "SeparableConv2D": Case(lambda: layers.SeparableConv2D(5, 2), (4, 5, 3), (3, 4, 5)),
    "SimpleRNN": Case(lambda: layers.SimpleRNN(5, go_backwards=True), (3, 2), (5,)),
    "SimpleRNNCell": Case(cell(layers.SimpleRNNCell), (3, 2), (5,)),
    "Softmax": Case(lambda: layers.Softmax(1), (2, 3), (2, 3)),
    **{
        f"SpatialDropout{rank}D": Case(
            lambda rank=rank: getattr(layers, f"SpatialDropout{rank}D")(0.3),
            (*(3, 4, 2)[-rank:], 5),
            (*(3, 4, 2)[-rank:], 5),
            varies=True,
        )
        for rank in (1, 2, 3)
    },
    "SpectralNormalization": Case(lambda: layers.SpectralNormalization(layers.Dense(5)), (3,), (5,), varies=True),
    "StackedRNNCells": Case(
        lambda: layers.RNN(layers.StackedRNNCells([layers.LSTMCell(2), layers.LSTMCell(5)])), (3, 2), (5,)
    ),
    "Subtract": Case(layers.Subtract, [(3,), (3,)], (3,)),
    "ThresholdedReLU": Case(lambda: layers.ThresholdedReLU(0.2), (3,), (3,)),
    "TimeDistributed": Case(lambda: layers.TimeDistributed(layers.Dense(5)), (2, 3), (2, 5)),
    "UnitNormalization": Case(layers.UnitNormalization, (2, 3), (2, 3)),
    **{
        f"UpSampling{rank}D": Case(
            lambda rank=rank: getattr(layers, f"UpSampling{rank}D")(2), (*(2, 3, 4)[:rank], 5), (*(4, 6, 8)[:rank], 5)
        )
        for rank in (1, 2, 3)
    },
    **{
        f"ZeroPadding{rank}D": Case(
            lambda rank=rank: getattr(layers, f"ZeroPadding{rank}D")(1),
            (*(2, 3, 4)[:rank], 5),
            (*(4, 5, 6)[:rank], 5),
        )
        for rank in (1, 2, 3)
    },
}
each_class = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def inputs(case: Case, dtype: str = "float32") -> Any:
    random = np.random.default_rng(5)

    def one(shape: Shape) -> Any:
        if case.is_of_integers:
            return ag.constant(random.integers(0, 3, (BATCH, *shape)))
        return ag.constant(random.uniform(0, 1, (BATCH, *shape)), dtype)

    return [*map(one, case.given)] if isinstance(case.given, list) else one(case.given)


def equal(x: Any, y: Any) -> None:
    np.testing.assert_array_equal(x.numpy(), y.numpy())


@each_class
def test_a_description_makes_an_equal_layer(case: Case) -> None:
    check_description(case.make(), inputs(case))


@each_class
def test_shapes_are_known_before_the_call(case: Case) -> None:
    check_shapes(case.make, inputs(case), case.out)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.is_of_integers])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_the_first_input_gives_the_dtype(name: str, dtype: str) -> None:
    case = CASES[name]
    layer = case.make()
    assert outputs(layer, inputs(case, dtype)).dtype.name == dtype


@each_class
def test_a_model_of_it_gives_what_it_gives_and_is_described(case: Case) -> None:
    check_model(case.make(), inputs(case))


@each_class
def test_training_varies_or_not(case: Case) -> None:
    layer, x = case.make(), inputs(case)
    found = [called(layer, x, training=True).numpy().tolist() for _ in range(3)]
    if case.varies:
        assert any(each != found[0] for each in found[1:])
        equal(layer(x, training=False), layer(x, training=False))
    else:
        assert all(each == found[0] for each in found[1:])


def test_every_class_is_in_the_table() -> None:
    known = {
        value.__name__ for value in vars(layers).values() if inspect.isclass(value) and issubclass(value, Layer)
    } | {"GRUCell", "LSTMCell", "SimpleRNNCell", "StackedRNNCells"}
    assert known - CASES.keys() - ELSEWHERE == set(), "add a case of this class to the table above"
    assert CASES.keys() <= known
    assert not CASES.keys() & ELSEWHERE
    assert known >= ELSEWHERE
