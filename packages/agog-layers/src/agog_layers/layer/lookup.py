"""Lookup of layers by name, as in ``tf.keras.layers``."""

from __future__ import annotations

from agog_layers.serialization.lookup import Lookup
from agog_layers.serialization.registry import classes

__all__ = ["deserialize", "get", "serialize"]

LAYERS = Lookup("layer", makers=classes["layer"])
get, serialize, deserialize = LAYERS.get, LAYERS.serialize, LAYERS.deserialize
