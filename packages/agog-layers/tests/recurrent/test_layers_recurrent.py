"""Recurrent layers against recurrences in NumPy, in float64, example by example."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import (
    GRU,
    LSTM,
    RNN,
    CuDNNGRU,
    CuDNNLSTM,
    GRUCell,
    Layer,
    LSTMCell,
    SimpleRNN,
    SimpleRNNCell,
    StackedRNNCells,
)
from agog_testing.gradcheck import gradcheck

SEED = 31
BATCH, TIME, FEATURES, UNITS = 3, 5, 2, 4
X = np.random.default_rng(SEED).normal(size=(BATCH, TIME, FEATURES))
MASK = np.array([[1, 1, 1, 1, 1], [1, 0, 1, 0, 0], [0, 0, 1, 1, 1]], bool)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


def hard_sigmoid(x: np.ndarray) -> np.ndarray:
    return np.clip(0.2 * x + 0.5, 0, 1)


def lstm_step(gate: Any, x: np.ndarray, states: list[np.ndarray], w: list[np.ndarray]) -> list[np.ndarray]:
    i, f, c, o = np.split(x @ w[0] + states[0] @ w[1] + w[2].reshape(-1, 4 * UNITS).sum(0), 4)
    cell = gate(f) * states[1] + gate(i) * np.tanh(c)
    return [gate(o) * np.tanh(cell), cell]


def gru_step(gate: Any, x: np.ndarray, states: list[np.ndarray], w: list[np.ndarray]) -> list[np.ndarray]:
    (h,) = states
    bias = np.concatenate([w[2].ravel(), np.zeros(3 * UNITS)])[: 6 * UNITS].reshape(2, 3 * UNITS)
    zx, rx, cx = np.split(x @ w[0] + bias[0], 3)
    rz, rr, rc = np.split(w[1], 3, axis=1)
    bz, br, bc = np.split(bias[1], 3)
    z, r = gate(zx + h @ rz + bz), gate(rx + h @ rr + br)
    c = np.tanh(cx + (r * (h @ rc + bc) if w[2].size > 3 * UNITS else (r * h) @ rc))
    return [z * h + (1 - z) * c]


def simple_step(gate: Any, x: np.ndarray, states: list[np.ndarray], w: list[np.ndarray]) -> list[np.ndarray]:
    return [np.tanh(x @ w[0] + states[0] @ w[1] + w[2])]


def expected(
    step: Any, gate: Any, w: list[np.ndarray], count: int, x: np.ndarray, mask: Any = None, first: Any = None
) -> tuple[np.ndarray, list[np.ndarray]]:
    outputs, last = np.zeros((len(x), x.shape[1], UNITS)), []
    for n, example in enumerate(x):
        states = [np.zeros(UNITS)] * count if first is None else [each[n] for each in first]
        for time, inputs in enumerate(example):
            if mask is None or mask[n, time]:
                states = step(gate, inputs, states, w)
            outputs[n, time] = states[0]
        last.append(states)
    return outputs, [np.array(each) for each in zip(*last, strict=True)]


LAYERS: dict[str, tuple[Any, dict[str, Any], Any, Any, int]] = {
    "LSTM": (LSTM, {}, lstm_step, hard_sigmoid, 2),
    "LSTM, sigmoid": (LSTM, {"recurrent_activation": "sigmoid"}, lstm_step, sigmoid, 2),
    "LSTM, its own sigmoid": (LSTM, {"recurrent_activation": lambda x: ag.sigmoid(x)}, lstm_step, sigmoid, 2),
    "CuDNNLSTM": (CuDNNLSTM, {}, lstm_step, sigmoid, 2),
    "GRU": (GRU, {}, gru_step, hard_sigmoid, 1),
    "GRU, sigmoid": (GRU, {"recurrent_activation": "sigmoid"}, gru_step, sigmoid, 1),
    "GRU, its own sigmoid": (GRU, {"recurrent_activation": lambda x: ag.sigmoid(x)}, gru_step, sigmoid, 1),
    "GRU, reset after": (GRU, {"reset_after": True}, gru_step, hard_sigmoid, 1),
    "GRU, by steps": (GRU, {"reset_after": True, "activation": lambda x: ag.tanh(x)}, gru_step, hard_sigmoid, 1),
    "CuDNNGRU": (CuDNNGRU, {}, gru_step, sigmoid, 1),
    "SimpleRNN": (SimpleRNN, {}, simple_step, None, 1),
}


def built(kind: str, **options: Any) -> tuple[Any, list[np.ndarray], Any, Any, int]:
    make, more, step, gate, count = LAYERS[kind]
    layer = make(UNITS, dtype="float64", **more, **options)
    layer.build(ag.TensorShape([None, None, FEATURES]))
    rng = np.random.default_rng(SEED)
    for variable in layer.weights:
        variable.assign(rng.normal(size=variable.shape.as_list()))
    return layer, [variable.numpy() for variable in layer.weights], step, gate, count


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("backwards", [False, True])
def test_outputs_and_states(name: str, masked: bool, backwards: bool) -> None:
    layer, weights, step, gate, count = built(name, return_sequences=True, return_state=True, go_backwards=backwards)
    first = [np.random.default_rng(SEED + n).normal(size=(BATCH, UNITS)) for n in range(count)]
    mask = MASK if masked else None
    outputs, *states = layer(X, mask=mask, initial_state=first)
    turned = slice(None, None, -1 if backwards else 1)
    wanted, last = expected(step, gate, weights, count, X[:, turned], mask[:, turned] if masked else None, first)
    np.testing.assert_allclose(outputs.numpy(), wanted, rtol=1e-11, atol=1e-13, err_msg=f"seed {SEED}")
    for state, each in zip(states, last, strict=True):
        np.testing.assert_allclose(state.numpy(), each, rtol=1e-11, atol=1e-13, err_msg=f"seed {SEED}")
    with_states, *_ = layer([X, *first], mask=mask)
    np.testing.assert_array_equal(with_states.numpy(), outputs.numpy())


@pytest.mark.parametrize("name", LAYERS)
def test_last_output(name: str) -> None:
    layer, weights, step, gate, count = built(name)
    wanted, _ = expected(step, gate, weights, count, X)
    np.testing.assert_allclose(layer(X).numpy(), wanted[:, -1], rtol=1e-11, atol=1e-13, err_msg=f"seed {SEED}")


@pytest.mark.parametrize("name", ["LSTM", "LSTM, its own sigmoid", "GRU", "GRU, by steps", "CuDNNGRU", "SimpleRNN"])
def test_gradients(name: str) -> None:
    layer, _, _, _, _ = built(name)
    x = X[:, :3]

    def run(inputs: ag.Tensor) -> Any:
        return layer(inputs, mask=MASK[:, 2:])

    gradcheck(run, [x], seed=SEED)
    with ag.GradientTape() as tape:
        loss = ag.reduce_sum(ag.square(layer(x, mask=MASK[:, 2:])))
    gradients = tape.gradient(loss, layer.trainable_variables)
    for variable, gradient in zip(layer.trainable_variables, gradients, strict=True):
        before, direction = variable.numpy().copy(), np.random.default_rng(SEED).normal(size=variable.shape.as_list())
        values = []
        for step in (1e-6, -1e-6):
            variable.assign(before + step * direction)
            values.append(float(ag.reduce_sum(ag.square(layer(x, mask=MASK[:, 2:])))))
        variable.assign(before)
        slope = (values[0] - values[1]) / 2e-6
        np.testing.assert_allclose((gradient.numpy() * direction).sum(), slope, rtol=1e-6, err_msg=f"seed {SEED}")


@pytest.mark.parametrize("name", ["LSTM", "GRU", "SimpleRNN"])
def test_states_stay_where_asked(name: str) -> None:
    layer, weights, step, gate, count = built(name, stateful=True)
    layer(X)
    wanted, _ = expected(step, gate, weights, count, np.concatenate([X, X], 1))
    np.testing.assert_allclose(layer(X).numpy(), wanted[:, -1], rtol=1e-11, atol=1e-13, err_msg=f"seed {SEED}")
    layer.reset_states()
    wanted, _ = expected(step, gate, weights, count, X)
    np.testing.assert_allclose(layer(X).numpy(), wanted[:, -1], rtol=1e-11, atol=1e-13, err_msg=f"seed {SEED}")
    first = [np.ones((BATCH, UNITS))] * count
    layer.reset_states(first)
    wanted, _ = expected(step, gate, weights, count, X, first=first)
    np.testing.assert_allclose(layer(X).numpy(), wanted[:, -1], rtol=1e-11, atol=1e-13, err_msg=f"seed {SEED}")


SHAPES = {
    "LSTM": [(2, 16), (4, 16), (16,)],
    "CuDNNLSTM": [(2, 16), (4, 16), (32,)],
    "GRU": [(2, 12), (4, 12), (12,)],
    "GRU, reset after": [(2, 12), (4, 12), (2, 12)],
    "CuDNNGRU": [(2, 12), (4, 12), (24,)],
    "SimpleRNN": [(2, 4), (4, 4), (4,)],
}


@pytest.mark.parametrize("name", SHAPES)
def test_weights_have_the_names_and_shapes_of_keras(name: str) -> None:
    make, options, *_ = LAYERS[name]
    layer = make(UNITS, name="layer", **options)
    layer(np.zeros((1, 1, FEATURES), np.float32))
    assert [v.name for v in layer.weights] == ["layer/kernel:0", "layer/recurrent_kernel:0", "layer/bias:0"]
    assert [tuple(v.shape.as_list()) for v in layer.weights] == SHAPES[name]
    kernel = layer.weights[1].numpy()
    np.testing.assert_allclose(kernel @ kernel.T, np.eye(UNITS), atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("make", [LSTM, GRU, SimpleRNN, CuDNNLSTM, CuDNNGRU])
def test_half_precision(make: Any, dtype: str) -> None:
    layer, exact = make(3, dtype=dtype), make(3, dtype="float64")
    x = ag.cast(ag.constant(X), dtype)
    output = layer(x)
    exact.build((None, None, FEATURES))
    for variable, value in zip(exact.weights, layer.weights, strict=True):
        variable.assign(ag.cast(value, ag.float64))
    assert output.dtype == dtype
    wanted = exact(ag.cast(x, ag.float64)).numpy()
    # The steps of SimpleRNN are rounded one by one, those of the others once.
    tolerance = {"float16": 5e-3, "bfloat16": 4e-2}[dtype]
    np.testing.assert_allclose(ag.cast(output, ag.float64).numpy(), wanted, atol=tolerance, err_msg=f"seed {SEED}")


def test_the_forget_gate_begins_open() -> None:
    for make, parts in ((LSTM, [0, 1, 0, 0]), (CuDNNLSTM, [0, 0, 0, 0, 0, 1, 0, 0])):
        layer = make(2)
        layer.build((None, None, 3))
        np.testing.assert_array_equal(layer.cell.bias.numpy(), np.repeat(parts, 2))
    closed = LSTM(2, unit_forget_bias=False)
    closed.build((None, None, 3))
    assert not closed.cell.bias.numpy().any()
    assert len(LSTM(2, use_bias=False)(X, training=True).shape) == 2


def test_regularizers_and_constraints() -> None:
    layer = LSTM(
        UNITS,
        kernel_regularizer=ag.reduce_sum,
        recurrent_regularizer=ag.reduce_max,
        bias_regularizer=lambda bias: ag.reduce_sum(bias) * 3,
        activity_regularizer=ag.reduce_min,
        recurrent_constraint=ag.abs,
    )
    output = layer(X)
    kernel, recurrent, bias = [variable.numpy() for variable in layer.weights]
    wanted = [output.numpy().min(), kernel.sum(), recurrent.max(), 3 * bias.sum()]
    np.testing.assert_allclose([float(loss) for loss in layer.losses], wanted, rtol=1e-6)
    assert [variable.constraint for variable in layer.weights] == [None, ag.abs, None]


@pytest.mark.parametrize("make", [SimpleRNN, LSTM, GRU, CuDNNLSTM, CuDNNGRU])
def test_layers_are_made_again_from_their_description(make: Any) -> None:
    layer = make(3, return_sequences=True, name="again", kernel_initializer="ones")
    again = make.from_config(layer.get_config())
    assert again.get_config() == layer.get_config()
    assert "cell" not in layer.get_config()
    assert (again.name, again.units, again.return_sequences) == ("again", 3, True)


@pytest.mark.parametrize("make", [SimpleRNN, LSTM, GRU])
def test_the_same_inputs_are_dropped_at_all_times(make: Any) -> None:
    layer = make(1, return_sequences=True, dropout=0.5, recurrent_initializer="zeros", kernel_initializer="ones")
    x = np.ones((64, 5, 1), np.float32)
    outputs = layer(x, training=True).numpy()[..., 0]
    kept = outputs != 0  # what is dropped is so for the candidate too, so that the states stay zero
    assert 0 < kept[:, 0].sum() < 64
    np.testing.assert_array_equal(kept, np.repeat(kept[:, :1], 5, 1))
    np.testing.assert_array_equal(layer(x).numpy(), layer(x, training=False).numpy())


def test_the_same_states_are_dropped_at_all_times() -> None:
    layer = SimpleRNN(1, activation=None, return_sequences=True, recurrent_dropout=0.5)
    layer.build((None, None, 1))
    layer.set_weights([[[0.0]], [[0.5]], [1.0]])
    outputs = layer(np.zeros((64, 4, 1), np.float32), training=True).numpy()[..., 0]
    rows = {tuple(row) for row in outputs.tolist()}
    assert rows == {(1.0, 1.0, 1.0, 1.0), (1.0, 2.0, 3.0, 4.0)}


@pytest.mark.parametrize("masked", [False, True])
def test_fused_cells_in_a_stack(masked: bool) -> None:
    cells = [LSTMCell(UNITS, dtype="float64"), GRUCell(3, dtype="float64")]
    stacked = RNN(cells, return_sequences=True, return_state=True)
    mask = MASK if masked else None
    outputs, *states = stacked(X, mask=mask)
    for cell in cells:
        cell.activation = lambda x: ag.tanh(x)  # so that they go step by step
    by_steps, *states_by_steps = stacked(X, mask=mask)
    np.testing.assert_allclose(outputs.numpy(), by_steps.numpy(), rtol=1e-11, atol=1e-14, err_msg=f"seed {SEED}")
    for state, each in zip(states, states_by_steps, strict=True):
        np.testing.assert_allclose(state.numpy(), each.numpy(), rtol=1e-11, atol=1e-14, err_msg=f"seed {SEED}")


def test_states_of_other_examples() -> None:
    layer = GRU(2, stateful=True, name="n")
    layer(X)
    text = "GRU layer 'n' keeps the states of 3 examples; got an input of shape (2, 5, 2). Call reset_states first."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        layer(X[:2])


def test_cells_in_a_stack() -> None:
    cells = [LSTMCell(UNITS, dtype="float64"), GRUCell(3, dtype="float64"), SimpleRNNCell(2, dtype="float64")]
    stacked = RNN(cells, return_sequences=True, return_state=True, name="stack")
    outputs, *states = stacked(X)
    x = X
    for cell in cells:
        x = RNN(cell, return_sequences=True)(x)
    np.testing.assert_allclose(outputs.numpy(), x.numpy(), rtol=1e-12)
    assert [state.shape[1] for state in states] == [UNITS, UNITS, 3, 2]
    assert isinstance(stacked.cell, StackedRNNCells)
    assert stacked.cell.output_size == 2
    assert [v.name for v in stacked.weights][:4] == [
        *("stack/cell_0/kernel:0", "stack/cell_0/recurrent_kernel:0", "stack/cell_0/bias:0", "stack/cell_1/kernel:0")
    ]
    again = RNN.from_config(stacked.get_config())
    assert [type(cell).__name__ for cell in again.cell.cells] == ["LSTMCell", "GRUCell", "SimpleRNNCell"]


class Sum(Layer):
    """A cell of a program's own: the sum of all inputs so far, and of a constant."""

    state_size = FEATURES

    def call(self, inputs: ag.Tensor, states: Any, constants: Any = (0.0,)) -> Any:
        total = inputs + states[0] + constants[0]
        return total, [total]


def test_cells_of_a_program() -> None:
    layer = RNN(Sum(), return_sequences=True, dtype="float64")
    np.testing.assert_allclose(layer(X).numpy(), X.cumsum(1), rtol=1e-12)
    with_constants = layer(X, constants=ag.constant(1.0, ag.float64))
    np.testing.assert_allclose(with_constants.numpy(), (X + 1).cumsum(1), rtol=1e-12)
    masked = layer(X, mask=MASK)
    np.testing.assert_allclose(masked.numpy(), (X * MASK[:, :, None]).cumsum(1), rtol=1e-12)


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (
            lambda: LSTM(2, name="n")(np.zeros((1, 2), np.float32)),
            ValueError,
            "LSTM layer 'n' takes inputs of shape (batch, time, features); got shape (1, 2).",
        ),
        (
            lambda: built("LSTM", name="n")[0](np.zeros((1, 2, 3))),
            ValueError,
            "LSTM layer 'n' takes inputs of shape (batch, time, 2); got shape (1, 2, 3).",
        ),
        (
            lambda: built("GRU", name="n")[0](ag.zeros((1, 2, 2))),
            ag.errors.InvalidArgumentError,
            "GRU layer 'n' has a kernel of dtype float64; got an input of dtype float32 and shape (1, 2, 2). Cast it "
            "with tf.cast(x, tf.float64).",
        ),
        (
            lambda: built("LSTM", name="n")[0](np.zeros((1, 2, 2)), initial_state=[np.zeros((1, 3))]),
            ValueError,
            "LSTM layer 'n' has states of the shapes (1, 4), (1, 4); got (1, 3).",
        ),
        (
            lambda: [layer(np.zeros((1, 2, width))) for layer in [RNN([LSTMCell(2)], name="n")] for width in (2, 3)],
            ValueError,
            "RNN layer 'n' takes inputs of shape (batch, time, 2); got shape (1, 2, 3).",
        ),
        (lambda: LSTM(0), ValueError, "LSTM: units must be above 0; got 0."),
        (
            lambda: LSTM(2, name="n").reset_states(),
            AttributeError,
            "LSTM layer 'n' has no states that stay; make it with stateful=True.",
        ),
        (
            lambda: RNN(ag.tanh),
            ValueError,
            "RNN: a cell must have `call(inputs, states)` and `state_size`; function has no `call`.",
        ),
        (
            lambda: RNN([LSTMCell(2), Layer()]),
            ValueError,
            "StackedRNNCells: cell 1 must have `call(inputs, states)` and `state_size`; Layer has no `state_size`.",
        ),
        (
            lambda: SimpleRNN(2, name="n")(np.zeros((1, 0, 2), np.float32)),
            ValueError,
            "SimpleRNN layer 'n' takes at least one time step; got none.",
        ),
    ],
)
def test_errors(run: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        run()


class Twice:
    """A cell that is no layer: it keeps twice its input."""

    state_size = output_size = FEATURES

    def call(self, inputs: Any, states: Any) -> Any:
        return 2 * inputs, [2 * inputs]


@pytest.mark.parametrize("reverse", [False, True])
def test_the_order_of_the_states_of_stacked_cells(reverse: bool) -> None:
    stacked = StackedRNNCells([LSTMCell(FEATURES), Twice(), GRUCell(UNITS)], reverse_state_order=reverse)
    sizes = (FEATURES, FEATURES, FEATURES, UNITS)
    assert stacked.state_size == (sizes[::-1] if reverse else sizes)
    output, *states = RNN(stacked, return_state=True)(X)
    np.testing.assert_array_equal(states[0 if reverse else -1], output)
    first = states[2:] if reverse else states[:2]
    np.testing.assert_array_equal(states[1 if reverse else 2], 2 * first[0].numpy())
    again = RNN(stacked, return_state=True)(X[:, 3:], initial_state=RNN(stacked, return_state=True)(X[:, :3])[1:])
    np.testing.assert_allclose(again[0], output, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("by_steps", [False, True])
@pytest.mark.parametrize("mask", [None, MASK])
def test_the_last_output_of_stacked_cells(reverse: bool, by_steps: bool, mask: Any) -> None:
    cells = [LSTMCell(UNITS, dtype="float64"), GRUCell(UNITS, dtype="float64")]
    if by_steps:
        cells[1].activation = lambda x: ag.tanh(x)
    stacked = StackedRNNCells(cells, reverse_state_order=reverse)
    last, *states = RNN(stacked, return_state=True)(X, mask=mask)
    outputs = RNN(stacked, return_sequences=True)(X, mask=mask)
    x = X
    for cell in cells:
        x = RNN(cell, return_sequences=True)(x, mask=mask)
    np.testing.assert_allclose(outputs, x, rtol=1e-11, err_msg=f"seed {SEED}")
    np.testing.assert_allclose(last, x[:, -1], rtol=1e-11, err_msg=f"seed {SEED}")
    np.testing.assert_allclose(states[0 if reverse else 2], last, rtol=1e-11, err_msg=f"seed {SEED}")


def test_a_cell_with_steps_of_its_own_runs_them() -> None:
    class Doubled(SimpleRNNCell):
        def call(self, inputs: ag.Tensor, states: Any, training: Any = None) -> tuple[ag.Tensor, list[ag.Tensor]]:
            output, _ = super().call(inputs, states, training)
            return output * 2, [output * 2]

    layer = RNN(Doubled(UNITS, dtype="float64"), return_sequences=True, dtype="float64")
    got = layer(X).numpy()
    kernel, recurrent, bias = layer.get_weights()
    for example, outputs in zip(X, got, strict=True):
        state = np.zeros(UNITS)
        for x, output in zip(example, outputs, strict=True):
            state = 2 * np.tanh(x @ kernel + state @ recurrent + bias)
            np.testing.assert_allclose(output, state, rtol=1e-12)


def test_simple_rnn_multiplies_the_inputs_of_all_times_at_once() -> None:
    layer = SimpleRNN(UNITS, dtype="float64")
    layer(X)
    with ag.profile() as profile:
        layer(X)
    calls = {row.op: row.count for row in profile.ops}
    assert (calls["matmul_bias"], calls["matmul"]) == (1, TIME)
