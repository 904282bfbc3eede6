"""Serialization: objects as data and by name, and the classes and functions that data may name."""

from agog_core.exports import export as _export
from agog_layers.serialization.custom_objects import *

_export(globals())
