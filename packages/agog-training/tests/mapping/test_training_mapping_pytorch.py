"""Weights in PyTorch's layouts, whose layers are computed here by hand; `nox -s oracle` asks PyTorch itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_checkpoint.warning import CheckpointWarning
from agog_layers import (
    GRU,
    LSTM,
    RNN,
    Bidirectional,
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    CuDNNGRU,
    CuDNNLSTM,
    Dense,
    DepthwiseConv2D,
    Embedding,
    Flatten,
    GlobalAveragePooling2D,
    GRUCell,
    MaxPooling2D,
    MultiHeadAttention,
    PReLU,
    Reshape,
    SimpleRNN,
)
from agog_training import Model, Sequential, propose_mapping

Tree = dict[str, np.ndarray]


def random(seed: int, **shapes: tuple[int, ...]) -> Tree:
    """Tensors by keys, in which two underscores stand for a dot."""
    state = np.random.RandomState(seed)
    return {name.replace("__", "."): state.uniform(-1, 1, shape) for name, shape in shapes.items()}


def filtered(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, groups: int = 1) -> np.ndarray:
    """PyTorch's convolution of images (batch, channels, height, width), without padding."""
    n, _, h, w = x.shape
    out, _, m, k = weight.shape
    y = np.zeros((n, out, h - m + 1, w - k + 1))
    inside, each = x.shape[1] // groups, out // groups
    for o in range(out):
        part = x[:, o // each * inside :][:, :inside]
        for i in range(y.shape[2]):
            for j in range(y.shape[3]):
                y[:, o, i, j] = np.sum(part[:, :, i : i + m, j : j + k] * weight[o], (1, 2, 3)) + bias[o]
    return y


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def close(actual: Any, expected: np.ndarray) -> None:
    np.testing.assert_allclose(actual.numpy(), expected, rtol=2e-5, atol=2e-6)


def behind(x: np.ndarray) -> np.ndarray:
    """Images with their channels behind, as a tensor."""
    return np.float32(np.moveaxis(x, 1, -1))


def assigned(model: Any, given: Tree) -> None:
    mapping = propose_mapping(model, given)
    assert mapping.unused == []
    mapping.assign()


CNN = {
    "conv1__weight": (3, 3, 3, 3),
    "conv1__bias": (3,),
    "conv2__weight": (3, 3, 3, 3),
    "conv2__bias": (3,),
    "fc__weight": (12, 12),
    "fc__bias": (12,),
}


@pytest.mark.parametrize("arrange", [list, sorted])
def test_square_convolutions_and_a_flattened_image_before_a_square_matrix(arrange: Any) -> None:
    given = random(0, **CNN)
    x = np.random.RandomState(1).rand(2, 3, 6, 6)
    y = x
    for name in ("conv1", "conv2"):
        y = np.maximum(filtered(y, given[f"{name}.weight"], given[f"{name}.bias"]), 0)
    expected = y.reshape(2, -1) @ given["fc.weight"].T + given["fc.bias"]
    model = Sequential([Conv2D(3, 3, activation="relu"), Conv2D(3, 3, activation="relu"), Flatten(), Dense(12)])
    model(behind(x))
    assigned(model, {key: given[key] for key in arrange(given)})
    close(model(behind(x)), expected)


def test_tenth_convolutions_of_a_sorted_file_come_behind_the_ninth() -> None:
    given = random(0, **{f"c{n}__weight": (1, 1, 1) for n in range(12)})
    model = Sequential([Conv1D(1, 1, use_bias=False) for _ in range(12)])
    model(np.ones((1, 2, 1), np.float32))
    mapping = propose_mapping(model, {key: given[key] for key in sorted(given)})
    assert [mapping[name] for name in mapping] == [f"c{n}.weight" for n in range(12)]


def test_depthwise_and_transposed_convolutions() -> None:
    given = random(0, a__weight=(6, 1, 2, 2), a__bias=(6,), b__weight=(6, 6, 2, 2), b__bias=(6,))
    x = np.random.RandomState(1).rand(1, 3, 3, 3)
    y = filtered(x, given["a.weight"], given["a.bias"], groups=3)
    expected = np.zeros((1, 6, 3, 3)) + given["b.bias"][:, None, None]
    for i in range(2):
        for j in range(2):
            # Each input spreads its kernel (out, height, width) over the output.
            expected[:, :, i : i + 2, j : j + 2] += np.einsum("nc,cohw->nohw", y[:, :, i, j], given["b.weight"])
    model = Sequential([DepthwiseConv2D(2, depth_multiplier=2), Conv2DTranspose(6, 2)])
    model(behind(x))
    assigned(model, given)
    np.testing.assert_allclose(model(behind(x)).numpy(), np.moveaxis(expected, 1, -1), rtol=2e-5, atol=1e-5)


def test_a_matrix_whose_outputs_become_an_image() -> None:
    given = random(0, l__weight=(12, 12), l__bias=(12,), c__weight=(3, 3, 1, 1), c__bias=(3,))
    x = np.random.RandomState(1).rand(2, 12)
    image = (x @ given["l.weight"].T + given["l.bias"]).reshape(2, 3, 2, 2)
    model = Sequential([Dense(12), Reshape((2, 2, 3)), Conv2D(3, 1)])
    model(np.float32(x))
    assigned(model, given)
    close(model(np.float32(x)), behind(filtered(image, given["c.weight"], given["c.bias"])))


def recurrence(kind: str, x: np.ndarray, w: Tree, end: str) -> np.ndarray:
    """PyTorch's formulas: gates i, f, g, o of LSTM, and r, z, n of GRU."""
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    from_x, from_h, bias_x, bias_h = (w[f"rnn.{name}_{end}"] for name in names)
    h = c = np.zeros((len(x), from_h.shape[1]))
    outputs = []
    for step in np.moveaxis(x, 1, 0):
        a, b = step @ from_x.T + bias_x, h @ from_h.T + bias_h
        if kind == "LSTM":
            i, f, g, o = np.split(a + b, 4, 1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
        elif kind == "GRU":
            (xr, xz, xn), (hr, hz, hn) = np.split(a, 3, 1), np.split(b, 3, 1)
            z = sigmoid(xz + hz)
            h = (1 - z) * np.tanh(xn + sigmoid(xr + hr) * hn) + z * h
        else:
            h = np.tanh(a + b)
        outputs.append(h)
    return np.stack(outputs, 1)


def weights_of_rnn(gates: int, inputs: int, *ends: str) -> Tree:
    shapes: dict[str, tuple[int, ...]] = {}
    for end in ends:
        shapes |= {f"rnn__weight_ih_{end}": (gates * 3, inputs), f"rnn__weight_hh_{end}": (gates * 3, 3)}
        shapes |= {f"rnn__bias_ih_{end}": (gates * 3,), f"rnn__bias_hh_{end}": (gates * 3,)}
    return random(0, **shapes)


OF_PYTORCH = {"recurrent_activation": "sigmoid", "return_sequences": True}
RECURRENT = [
    ("LSTM", 4, lambda: LSTM(3, **OF_PYTORCH)),
    ("LSTM", 4, lambda: CuDNNLSTM(3, return_sequences=True)),
    ("GRU", 3, lambda: GRU(3, reset_after=True, **OF_PYTORCH)),
    ("GRU", 3, lambda: CuDNNGRU(3, return_sequences=True)),
    ("RNN", 1, lambda: SimpleRNN(3, return_sequences=True)),
]


@pytest.mark.parametrize(("kind", "gates", "make"), RECURRENT)
def test_two_recurrent_layers_of_one_module(kind: str, gates: int, make: Any) -> None:
    given = weights_of_rnn(gates, 3, "l0", "l1")
    x = np.random.RandomState(1).rand(2, 4, 3)
    model = Sequential([make(), make()])
    model(np.float32(x))
    assigned(model, given)
    close(model(np.float32(x)), recurrence(kind, recurrence(kind, x, given, "l0"), given, "l1"))


@pytest.mark.parametrize(("kind", "gates", "make"), RECURRENT)
def test_both_directions(kind: str, gates: int, make: Any) -> None:
    given = weights_of_rnn(gates, 2, "l0", "l0_reverse")
    x = np.random.RandomState(1).rand(2, 4, 2)
    backwards = recurrence(kind, x[:, ::-1], given, "l0_reverse")[:, ::-1]
    model = Sequential([Bidirectional(make())])
    model(np.float32(x))
    assigned(model, given)
    close(model(np.float32(x)), np.concatenate([recurrence(kind, x, given, "l0"), backwards], -1))


def test_stacked_cells() -> None:
    given = weights_of_rnn(3, 3, "l0", "l1")
    cells = [GRUCell(3, recurrent_activation="sigmoid", reset_after=True) for _ in range(2)]
    x = np.random.RandomState(1).rand(2, 4, 3)
    model = Sequential([RNN(cells, return_sequences=True)])
    model(np.float32(x))
    assigned(model, given)
    close(model(np.float32(x)), recurrence("GRU", recurrence("GRU", x, given, "l0"), given, "l1"))


def test_attention() -> None:
    given = random(0, in_proj_weight=(18, 6), in_proj_bias=(18,), out_proj__weight=(6, 6), out_proj__bias=(6,))
    x = np.random.RandomState(1).rand(2, 5, 6)
    q, k, v = (
        part.reshape(2, 5, 3, 2).transpose(0, 2, 1, 3)  # three heads of two features
        for part in np.split(x @ given["in_proj_weight"].T + given["in_proj_bias"], 3, -1)
    )
    scores = np.exp(q @ k.swapaxes(2, 3) / np.sqrt(2))
    means = (scores / scores.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3).reshape(2, 5, 6)
    layer = MultiHeadAttention(3, 2)
    layer(np.float32(x))
    assigned(layer, {f"encoder.attention.{key}": value for key, value in given.items()})
    close(layer(np.float32(x)), means @ given["out_proj.weight"].T + given["out_proj.bias"])


def test_one_slope_or_one_for_each_channel() -> None:
    x = np.random.RandomState(1).uniform(-1, 1, (2, 3, 4, 5))
    for given, layer in (
        (random(0, weight=(1,)), PReLU()),
        (random(0, weight=(3,)), PReLU(shared_axes=[1, 2])),
        (random(0, weight=(3,)), PReLU()),
    ):
        layer(behind(x))
        assigned(layer, given)
        close(layer(behind(x)), behind(np.where(x > 0, x, x * given["weight"][:, None, None])))


def test_a_model_with_a_call_of_its_own_goes_by_its_attributes() -> None:
    class Net(Model):
        def __init__(self) -> None:
            super().__init__(name="net")
            self.key, self.query = Dense(4, use_bias=False), Dense(4, use_bias=False)
            self.blocks = [Dense(4, use_bias=False), Dense(4, use_bias=False)]

        def call(self, x: Any) -> Any:
            x = ag.tanh(self.query(x)) * self.key(x)
            return self.blocks[0](self.blocks[1](x))

    given = random(0, **{f"{name}__weight": (4, 4) for name in ("blocks__0", "blocks__1", "key", "query")})
    x = np.random.RandomState(1).rand(2, 4)
    model = Net()
    model(np.float32(x))
    assigned(model, given)
    y = np.tanh(x @ given["query.weight"].T) * (x @ given["key.weight"].T)
    close(model(np.float32(x)), y @ given["blocks.1.weight"].T @ given["blocks.0.weight"].T)


def test_settings_that_differ_are_told() -> None:
    model = Sequential([LSTM(3, input_shape=(4, 2), name="lstm")], name="net")
    mapping = propose_mapping(model, weights_of_rnn(4, 2, "l0"))
    note = "recurrent_activation is 'hard_sigmoid' in net/lstm, and 'sigmoid' in PyTorch; make the layer with that."
    assert mapping.notes == [note]
    with pytest.warns(CheckpointWarning) as caught:
        mapping.assign()
    assert [str(each.message) for each in caught] == [f"WeightMapping: {note}"]


def test_what_images_and_sequences_lose_before_a_matrix() -> None:
    model = Sequential([Conv2D(3, 1, input_shape=(4, 4, 3)), MaxPooling2D(), GlobalAveragePooling2D(), Dense(3)])
    given = random(0, c__weight=(3, 3, 1, 1), c__bias=(3,), d__weight=(3, 3), d__bias=(3,))
    assigned(model, given)
    np.testing.assert_array_equal(model.layers[-1].kernel.numpy(), np.float32(given["d.weight"].T))
    model = Sequential([Embedding(4, 4, input_shape=(3,)), Flatten(), Dense(2)])
    given = random(0, e__weight=(4, 4), d__weight=(2, 12), d__bias=(2,))
    assigned(model, given)
    np.testing.assert_array_equal(model.layers[0].embeddings.numpy(), np.float32(given["e.weight"]))
    np.testing.assert_array_equal(model.layers[-1].kernel.numpy(), np.float32(given["d.weight"].T))
