"""Base: what all layers stand on: names, shapes, masks, signatures, activations, and objects that data describe."""

from agog_core.exports import export as _export
from agog_layers.base.custom_objects import *
from agog_layers.base.policy import *
from agog_layers.base.variable_store import *

_export(globals())
