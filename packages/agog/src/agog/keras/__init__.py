"""``tf.keras``: models, and the namespaces of their parts."""

from agog.keras import activations, initializers, layers
from agog_layers import Model, Sequential

__all__ = ["Model", "Sequential", "activations", "initializers", "layers"]
