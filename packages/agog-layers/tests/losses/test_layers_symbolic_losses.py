"""Losses of symbolic values, and what functional models add to their loss, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agog_core as ag
from agog_layers import Dense, Input, Model
from agog_layers.losses import lookup
from agog_layers.losses.loss import BinaryCrossentropy, MeanSquaredError
from agog_testing import says

RANDOM = np.random.default_rng(5)
Y, P = RANDOM.uniform(0.1, 0.9, (2, 6, 3)).astype(np.float32)
FORMULAS = {
    "mean_squared_error": lambda y, p: ((y - p) ** 2).mean(-1),
    "mae": lambda y, p: np.abs(y - p).mean(-1),
    "mean_absolute_percentage_error": lambda y, p: (100 * np.abs(y - p) / y).mean(-1),
    "msle": lambda y, p: ((np.log1p(y) - np.log1p(p)) ** 2).mean(-1),
    "binary_crossentropy": lambda y, p: -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean(-1),
    "categorical_crossentropy": lambda y, p: -(y * np.log(p / p.sum(-1, keepdims=True))).sum(-1),
    "kld": lambda y, p: (y * np.log(y / p)).sum(-1),
    "poisson": lambda y, p: (p - y * np.log(p + 1e-7)).mean(-1),
    "logcosh": lambda y, p: np.log(np.cosh(p - y)).mean(-1),
    "cosine_proximity": lambda y, p: -(y * p).sum(-1) / np.sqrt((y * y).sum(-1) * (p * p).sum(-1)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_losses_of_symbolic_values(name: str) -> None:
    y, p = Input([3]), Input([3])
    loss = getattr(lookup, name, None) or lookup.get(name)
    out = loss(y, p)
    assert out.shape.as_list() == [None]
    found = Model([y, p], out)([Y, P])
    np.testing.assert_allclose(found.numpy(), FORMULAS[name](Y.astype(float), P.astype(float)), rtol=2e-5, atol=1e-6)


def test_class_numbers_and_options() -> None:
    y, p = Input([1], dtype="int32"), Input([3])
    model: Any = Model([y, p], lookup.get("sparse_categorical_crossentropy")(y, p, from_logits=True))
    classes = np.array([[2], [0]])
    scores = P[:2].astype(float)
    wanted = np.log(np.exp(scores).sum(-1)) - scores[[0, 1], [2, 0]]
    np.testing.assert_allclose(model([classes, P[:2]]).numpy(), wanted, rtol=1e-5, atol=1e-6)
    again: Any = Model.from_config(model.get_config())
    np.testing.assert_array_equal(again([classes, P[:2]]).numpy(), model([classes, P[:2]]).numpy())


def test_objects_of_losses() -> None:
    y, p, w = Input([3]), Input([3]), Input([])
    model: Any = Model([y, p, w], [MeanSquaredError()(y, p), BinaryCrossentropy(reduction="sum")(y, p, w)])
    weights = np.arange(6.0, dtype=np.float32)
    squares, crossentropy = model([Y, P, weights])
    np.testing.assert_allclose(float(squares), FORMULAS["mean_squared_error"](Y, P).mean(), rtol=1e-5, atol=1e-6)
    wanted = (weights * FORMULAS["binary_crossentropy"](Y.astype(float), P.astype(float))).sum()
    np.testing.assert_allclose(float(crossentropy), wanted, rtol=1e-5, atol=1e-6)


def penalized() -> tuple[Any, Any]:
    x = Input([3], name="x")
    hidden = Dense(2, name="hidden")(x)
    extra = Dense(1, name="extra")(x)  # on no way to the output
    model: Any = Model(x, Dense(3, name="out")(hidden))
    model.add_loss(lookup.mse(x, model.outputs[0])[0] * 3.0)
    model.add_loss([(hidden * hidden)[0, 1], extra[0, 0]])
    return model, x


def terms(model: Any) -> list[float]:
    weights = {v.name: v.numpy().astype(float) for v in model.weights}
    hidden = Y @ weights["hidden/kernel:0"] + weights["hidden/bias:0"]
    out = hidden @ weights["out/kernel:0"] + weights["out/bias:0"]
    extra = Y @ weights["extra/kernel:0"] + weights["extra/bias:0"]
    return [float(((Y - out) ** 2)[0].mean() * 3), float(hidden[0, 1] ** 2), float(extra[0, 0])]


def test_each_call_computes_the_terms_of_a_functional_model() -> None:
    model, _ = penalized()
    for _ in range(2):
        model(Y)
        np.testing.assert_allclose([float(loss) for loss in model.losses], terms(model), rtol=1e-5, atol=1e-6)
        model.set_weights([RANDOM.normal(size=v.shape) for v in model.weights])
    assert [v.name for v in model.weights if v.name.startswith("extra")] == ["extra/kernel:0", "extra/bias:0"]
    assert model(Y).shape == (6, 3)


def test_gradients_go_through_the_terms() -> None:
    model, _ = penalized()
    with ag.GradientTape() as tape:
        model(Y)
        loss = ag.add_n(model.losses)
    kernel, bias = tape.gradient(loss, [v for v in model.weights if v.name.startswith("extra")])
    np.testing.assert_allclose(kernel.numpy()[:, 0], Y[0], rtol=1e-6)
    assert bias.numpy().tolist() == [1.0]


def test_a_description_has_the_terms() -> None:
    model, _ = penalized()
    again: Any = Model.from_config(model.get_config())
    again.set_weights(model.get_weights())
    again(Y)
    np.testing.assert_allclose([float(loss) for loss in again.losses], terms(model), rtol=1e-5, atol=1e-6)


def test_a_model_with_a_call_of_its_own_takes_no_symbolic_terms() -> None:
    class Own(Model):
        def call(self, inputs: Any) -> Any:
            return inputs

    x = Input([3])
    loss = lookup.mse(x, x * 2.0)
    with says(
        TypeError,
        "Model 'own': add_loss takes symbolic values in functional models, Model(inputs, outputs); got "
        f"<Symbolic {loss.name!r} shape=(?,) dtype=float32>. In a model with a `call` of its own, add what is computed "
        "there.",
    ):
        Own(name="own").add_loss(loss)
