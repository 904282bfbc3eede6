"""Reshaping: layers that change the shape of each example."""

from agog_core.exports import export as _export
from agog_layers.reshaping.flatten import *
from agog_layers.reshaping.reshaping import *

_export(globals())
