"""``tf.keras.layers``: layers as classes."""

from agog_layers import Activation, Dense, Dropout, Flatten, Layer

__all__ = ["Activation", "Dense", "Dropout", "Flatten", "Layer"]
