"""Activations: activation functions, and their names."""

from agog_core.exports import export as _export
from agog_layers.activations.lookup import *
from agog_layers.activations.piecewise import *
from agog_layers.activations.smooth import *

_export(globals())
