"""Sequential: a model with a chain of layers, with `fit`, `evaluate` and `predict`."""

from __future__ import annotations

import agog_layers
from agog_training.model import Model

__all__ = ["Sequential"]


class Sequential(agog_layers.Sequential, Model):
    """A chain of layers with `fit`, `evaluate` and `predict`.

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
