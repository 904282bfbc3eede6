"""Merging: layers that make one tensor of several."""

from agog_core.exports import export as _export
from agog_layers.merging.layers import *

_export(globals())
