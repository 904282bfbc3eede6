"""Merging: layers from several tensors to one."""

from agog_core.exports import export as _export
from agog_layers.merging.layers import *

_export(globals())
