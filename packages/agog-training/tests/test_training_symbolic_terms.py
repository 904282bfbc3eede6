"""Models that add symbolic terms to their loss, as programs with variational autoencoders do, against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import agog_core as ag
from agog_layers import Dense, Input, Lambda
from agog_layers.losses import lookup
from agog_layers.losses.classification import binary_crossentropy
from agog_testing import says
from agog_training import Model
from agog_training.saving import load_model

X = np.random.default_rng(8).uniform(0.2, 0.8, (24, 5)).astype(np.float32)


def made(sampling: Any = lambda pair: pair[0]) -> Any:
    """An encoder and a decoder, and how far codes are from the normal distribution."""
    inputs = Input([5], name="inputs")
    hidden = Dense(4, activation="tanh", name="hidden")(inputs)
    mean, spread = Dense(2, name="mean")(hidden), Dense(2, name="spread")(hidden)
    code = Lambda(sampling, name="code")([mean, spread])
    outputs = Dense(5, activation="sigmoid", name="outputs")(code)
    model: Any = Model(inputs, outputs, name="vae")
    model.kl = -0.5 * (1 + spread - mean * mean - abs(spread))
    model.reconstruction = binary_crossentropy(inputs, outputs) * 5.0
    return model


def compiled(model: Any) -> Any:
    model.add_loss(
        lookup.mse(model.kl, 0.0 * model.kl)[0] + lookup.mae(model.reconstruction, 0.0 * model.reconstruction)
    )
    model.compile(optimizer="rmsprop")
    return model


def numpy_loss(model: Any, x: Any) -> float:
    w = {v.name.removesuffix(":0"): v.numpy().astype(float) for v in model.weights}

    def dense(name: str, y: Any) -> Any:
        return y @ w[f"{name}/kernel"] + w[f"{name}/bias"]

    hidden = np.tanh(dense("hidden", x.astype(float)))
    mean, spread = dense("mean", hidden), dense("spread", hidden)
    p = 1 / (1 + np.exp(-dense("outputs", mean)))
    kl = -0.5 * (1 + spread - mean**2 - np.abs(spread))
    reconstruction = -5 * (x * np.log(p) + (1 - x) * np.log(1 - p)).mean(-1)
    return float((kl**2).mean(-1)[0] + np.abs(reconstruction).mean())


def test_a_model_learns_from_its_terms_alone() -> None:
    model = compiled(made())
    np.testing.assert_allclose(model.evaluate(X, verbose=0), numpy_loss(model, X), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(model.test_on_batch(X[:3]), numpy_loss(model, X[:3]), rtol=1e-5, atol=1e-6)
    history = model.fit(X, epochs=8, batch_size=8, validation_data=(X[:6], None), verbose=0, shuffle=False).history
    np.testing.assert_allclose(history["val_loss"][-1], numpy_loss(model, X[:6]), rtol=1e-5, atol=1e-6)
    assert history["loss"][-1] < history["loss"][0]
    assert model.predict(X[:2]).shape == (2, 5)


def test_terms_that_draw_random_numbers() -> None:
    def sampling(pair: Any) -> Any:
        return pair[0] + ag.exp(0.5 * pair[1]) * ag.random_normal([len(pair[0].numpy()), 2])

    ag.set_random_seed(4)
    model = compiled(made(sampling))
    first, second = model.evaluate(X, verbose=0), model.evaluate(X, verbose=0)
    assert first != second
    assert model.fit(X, epochs=2, verbose=0).history["loss"][-1] > 0


def test_terms_are_saved(tmp_path: Path) -> None:
    inputs = Input([5])
    model: Any = Model(inputs, Dense(5)(inputs))
    model.add_loss(lookup.mse(inputs, model.outputs[0])[0])
    model.compile("sgd")
    model.save(str(tmp_path / "model"))
    again = load_model(str(tmp_path / "model"))
    wanted = float(((X[:4] - model.predict(X[:4])) ** 2)[0].mean())
    np.testing.assert_allclose(
        [each.test_on_batch(X[:4]) for each in (model, again)], [wanted] * 2, rtol=1e-5, atol=1e-6
    )


def test_a_loss_function_with_symbolic_values_is_told_of_add_loss() -> None:
    model = made()

    def loss(y: Any, p: Any) -> Any:
        return lookup.mse(y, p) + model.kl

    model.compile("sgd", loss)
    with says(
        TypeError,
        f"{model.kl!r} has no value: it stands for what layers will be called on. Call the function of tensors in a "
        "layer: tf.keras.layers.Lambda(lambda x: ...)(x); give terms of the loss to model.add_loss.",
    ):
        model.fit(X, X, verbose=0)
