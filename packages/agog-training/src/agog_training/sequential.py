"""Sequential: a model whose layers follow one another, and that trains itself."""

from __future__ import annotations

from typing import Any

import agog_layers
from agog_training.model import Model

__all__ = ["Sequential"]


class Sequential(agog_layers.Sequential, Model):
    """A model that feeds each layer's output to the next, and that trains itself.

    Args:
        layers: the layers.
        name: the model's name; by default ``sequential``, with a number from the second one on.

    >>> import numpy as np
    >>> from agog_layers import Dense
    >>> model = Sequential([Dense(1, kernel_initializer="zeros", input_shape=(2,))])
    >>> model.compile("sgd", "mse")
    >>> print(model.evaluate(np.eye(2), np.ones(2), verbose=0))
    1.0
    """

    def predict_classes(self, x: Any, batch_size: int | None = None, verbose: int = 0) -> Any:
        """The likeliest class of each example, or for one probability whether it is more than a half.

        Args:
            x, batch_size, verbose: see `predict`.

        Returns:
            An array of integers, of shape (examples,), or (examples, 1) for one probability.
        """
        scores = self.predict(x, batch_size, verbose)
        return scores.argmax(-1) if scores.shape[-1] > 1 else (scores > 0.5).astype("int32")

    def predict_proba(self, x: Any, batch_size: int | None = None, verbose: int = 0) -> Any:
        """The same as `predict`."""
        return self.predict(x, batch_size, verbose)
