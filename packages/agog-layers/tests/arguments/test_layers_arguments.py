"""Arguments of constructors: integers, classes in the place of objects, and the class that errors name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agog_core as ag
import agog_layers
from agog_layers import (
    GRU,
    LSTM,
    RNN,
    BatchNormalization,
    Bidirectional,
    Concatenate,
    Conv2D,
    ConvLSTM2D,
    Cropping1D,
    Dense,
    Embedding,
    Flatten,
    Input,
    Layer,
    LSTMCell,
    MaxPooling2D,
    MultiHeadAttention,
    Permute,
    RepeatVector,
    Reshape,
    Sequential,
    TimeDistributed,
    ZeroPadding2D,
)
from agog_layers.convolution.convolution import Conv
from agog_layers.losses import lookup as losses
from agog_layers.losses.loss import Huber
from agog_layers.metrics import lookup as metrics
from agog_layers.metrics.keras.means import BinaryAccuracy
from agog_layers.tf_layers import layers as tf_layers
from agog_testing import says

NO_INTEGERS: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (Dense, TypeError, "Dense: units must be an integer; got {}."),
    (LSTM, TypeError, "LSTM: units must be an integer; got {}."),
    (GRU, TypeError, "GRU: units must be an integer; got {}."),
    (LSTMCell, TypeError, "LSTMCell: units must be an integer; got {}."),
    (lambda n: ConvLSTM2D(n, 3), TypeError, "ConvLSTM2D: filters must be an integer; got {}."),
    (RepeatVector, TypeError, "RepeatVector: n must be an integer; got {}."),
    (lambda n: MultiHeadAttention(n, 3), TypeError, "MultiHeadAttention: num_heads must be an integer; got {}."),
    (lambda n: MultiHeadAttention(2, n), TypeError, "MultiHeadAttention: key_dim must be an integer; got {}."),
]
NO_SIZES: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda n: Conv2D(n, 3), ValueError, "Conv2D: filters must be an integer of at least 1; got {}."),
    (lambda n: Conv2D(8, n), ValueError, "Conv2D: kernel_size must be an integer of at least 1, or 2 of them; got {}."),
    (
        lambda n: MaxPooling2D(n),
        ValueError,
        "MaxPooling2D: pool_size must be an integer of at least 1, or 2 of them; got {}.",
    ),
    (lambda n: Embedding(n, 4), ValueError, "Embedding: input_dim must be an integer of at least 1; got {}."),
    (lambda n: Embedding(8, n), ValueError, "Embedding: output_dim must be an integer of at least 1; got {}."),
    (
        ZeroPadding2D,
        ValueError,
        "ZeroPadding2D: padding must be an integer that is not negative, 2 of them, or 2 pairs of them; got {}.",
    ),
    (
        Cropping1D,
        ValueError,
        "Cropping1D: cropping must be an integer that is not negative, a pair of them; got {}.",
    ),
    (lambda n: Reshape([n]), TypeError, "Reshape: target_shape must be integers; got [{}]."),
    (lambda n: Permute([n]), TypeError, "Permute: dims must be integers; got [{}]."),
    (lambda n: Concatenate(axis=n), TypeError, "Concatenate: axis must be integers; got [{}]."),
    (lambda n: BatchNormalization(axis=n), TypeError, "BatchNormalization: axis must be integers; got [{}]."),
]


@pytest.mark.parametrize("value", ["8", "88", 8.5, None, float("nan"), float("inf")], ids=repr)
@pytest.mark.parametrize(("make", "kind", "text"), [*NO_INTEGERS, *NO_SIZES])
def test_what_is_no_integer_is_named(make: Callable[[Any], Any], kind: type[Exception], text: str, value: Any) -> None:
    of_type = f" of type {type(value).__name__}" if (make, kind, text) in NO_INTEGERS else ""
    with pytest.raises(kind, match=f"^{re.escape(text.format(repr(value) + of_type))}$"):
        make(value)


@pytest.mark.parametrize("value", [8, 8.0, np.int64(8), np.float32(8.0), ag.constant(8)], ids=repr)
def test_what_is_an_integer_in_another_type_is_taken(value: Any) -> None:
    assert Dense(value).units == 8
    assert RepeatVector(value).n == 8


def test_a_layer_that_is_not_made_yet_is_named() -> None:
    kinds = "is a name, a function, or what serialize returned"
    cases: list[tuple[Callable[[], Any], str, str]] = [
        (lambda: Sequential([Dense], name="s"), "Sequential 's' takes layers", "Dense"),
        (lambda: RNN(LSTMCell), "RNN: a cell must be an object", "LSTMCell"),
        (lambda: RNN([LSTMCell(2), LSTMCell]), "StackedRNNCells: cell 1 must be an object", "LSTMCell"),
        (lambda: losses.get(Huber), f"A loss {kinds}", "Huber"),
        (lambda: metrics.get(BinaryAccuracy), f"A metric {kinds}", "BinaryAccuracy"),
    ]
    for make, text, name in cases:
        with says(TypeError, f"{text}; got the class {name}: make one of it, {name}(...)."):
            make()
    with says(
        ValueError,
        "TimeDistributed: Please initialize `TimeDistributed` layer with a `Layer` instance; got the class Dense: make "
        "one of it, Dense(...).",
    ):
        TimeDistributed(Dense)  # type: ignore[arg-type]


def test_a_layer_that_is_not_recurrent_has_no_second_direction() -> None:
    with pytest.raises(TypeError, match=r".") as caught:
        Bidirectional(Flatten(name="f"))  # type: ignore[arg-type]
    assert str(caught.value).startswith("Bidirectional: layer must be recurrent, as LSTM is; got <")
    assert str(caught.value).endswith("of type Flatten.")


@pytest.mark.parametrize(
    ("base", "arguments"),
    [(Dense, [0]), (Embedding, [0, 1]), (RepeatVector, [0]), (MultiHeadAttention, [0, 1])],
)
def test_errors_name_the_derived_class(base: Any, arguments: list[int]) -> None:
    with pytest.raises(ValueError, match=r"^Mine: \w+ must be "):
        type("Mine", (base,), {})(*arguments)


def test_errors_of_calls_name_the_class() -> None:
    class Mine(Dense):
        """A derived class."""

    x = ag.zeros([2, 3])
    cases: list[tuple[type[Exception], Callable[[], Any], str]] = [
        (
            TypeError,
            lambda: Mine(2, name="m")(ag.zeros([2, 3], "int32")),
            "Mine layer 'm' takes floats; got an input of dtype int32 and shape (2, 3). Cast it with "
            "tf.cast(x, tf.float32).",
        ),
        (
            ValueError,
            lambda: Mine(2, name="m")([x, x]),
            "Mine layer 'm' takes one tensor; got a list of 2, which would be that many inputs. Make one tensor of it "
            "with tf.convert_to_tensor.",
        ),
        (
            ValueError,
            lambda: Mine(2, name="m")(x[0]),
            "Mine layer 'm' takes inputs of shape (batch, ..., features) with known features; got shape (3,).",
        ),
        (
            ValueError,
            lambda: Mine(2, name="m").add_weight("w", [None]),
            "Mine layer 'm': the shape of weight 'w' must be fully known; got (?,).",
        ),
        (
            AttributeError,
            lambda: Mine(2, name="m").output,
            "Mine layer 'm' has no output: it was not called on a tf.keras.Input, or on what comes of one.",
        ),
    ]
    for kind, make, text in cases:
        with pytest.raises(kind, match=f"^{re.escape(text)}$"):
            make()


def test_an_input_is_no_argument_of_a_constructor() -> None:
    x = Input((3,), name="x")
    with says(
        TypeError, "Dense: units must be an integer; got <Symbolic 'x' shape=(?, 3) dtype=float32> of type Symbolic."
    ):
        Dense(x)  # type: ignore[arg-type]


def test_layer_is_the_name_of_a_layer_of_no_other_class() -> None:
    with pytest.raises(
        ValueError, match=r"^Layer layer 'l': the shape of weight 'w' must be fully known; got \(\?,\)\.$"
    ):
        Layer(name="l").add_weight("w", [None])


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: agog_layers.Conv2D(3), "Conv2D.__init__() missing 1 required positional argument: 'kernel_size'"),
        (lambda: tf_layers.Conv2D(3), "Conv2D.__init__() missing 1 required positional argument: 'kernel_size'"),
        (lambda: agog_layers.Add(1, 2, 3, 4), "Add.__init__() takes from 1 to 4 positional arguments but 5 were given"),
        (
            lambda: agog_layers.MaxPooling1D(*range(9)),
            "MaxPooling1D.__init__() takes from 1 to 6 positional arguments but 10 were given",
        ),
        (
            lambda: agog_layers.SimpleRNNCell(),
            "SimpleRNNCell.__init__() missing 1 required positional argument: 'units'",
        ),
    ],
)
def test_errors_name_the_class_and_not_its_base(make: Callable[[], Any], text: str) -> None:
    with says(TypeError, text):
        make()


def test_a_constructor_that_a_class_has_from_its_base_is_the_same() -> None:
    base, own = Conv.__init__, agog_layers.Conv2D.__init__
    assert inspect.signature(own) == inspect.signature(base)
    assert (own.__doc__, own.__module__) == (base.__doc__, base.__module__)


def test_constructors_of_several_bases_are_called_in_their_order() -> None:
    class Mixed(agog_layers.Add, Dense):
        pass

    assert Mixed(3).units == 3
