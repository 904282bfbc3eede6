"""``tf.layers``: layers as classes, and as functions that make their layer anew with each call."""

from agog_layers import Dense, Dropout, Flatten, Layer, dense, dropout, flatten

__all__ = ["Dense", "Dropout", "Flatten", "Layer", "dense", "dropout", "flatten"]
