"""Models whose layers are called with names for all arguments, trained, against a step in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from agog_layers import Dense, Layer
from agog_training import Model
from agog_training.optimizers import SGD


class Scaled(Layer):
    """A layer whose first argument has a name of its own, and that trains otherwise than it predicts."""

    def call(self, query: Any, factor: float = 1.0, training: Any = None) -> Any:
        return query * (2.0 * factor if training else factor)


class Own(Model):
    """A model that calls them by names alone."""

    def __init__(self) -> None:
        super().__init__()
        self.scaled, self.dense = Scaled(), Dense(1, use_bias=False)

    def call(self, x: Any, training: Any = None) -> Any:
        return self.dense(inputs=self.scaled(training=training, factor=3.0, query=x))


def test_fit_evaluate_and_predict() -> None:
    random = np.random.default_rng(1)
    x, y = random.normal(size=(2, 16, 3)).astype(np.float32)
    y = y[:, :1]
    model: Any = Own()
    model(x=x)
    kernel = model.get_weights()[0].astype(float)
    model.compile(SGD(0.01), "mse")
    model.fit(x, y, batch_size=16, epochs=1, verbose=0)
    seen = 6.0 * x
    kernel -= 0.01 * 2 * seen.T @ (seen @ kernel - y) / 16
    np.testing.assert_allclose(model.get_weights()[0], kernel, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        model.evaluate(x, y, verbose=0), ((3 * x @ kernel - y) ** 2).mean(), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(model.predict(x), 3 * x @ kernel, rtol=1e-4, atol=1e-6)
