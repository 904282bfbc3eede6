"""Base: the base of all layers: names, shapes, masks, signatures, activations, serialization."""

from agog_core.exports import export as _export
from agog_layers.base.custom_objects import *
from agog_layers.base.policy import *
from agog_layers.base.variable_store import *

_export(globals())
