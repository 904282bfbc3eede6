"""``tf.keras.activations``: activation functions, and how they are named."""

from agog_core.ops.elementary import sigmoid, tanh
from agog_core.ops.nn import relu, softmax
from agog_layers.activations import get, linear

__all__ = ["get", "linear", "relu", "sigmoid", "softmax", "tanh"]
