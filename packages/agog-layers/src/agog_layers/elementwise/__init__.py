"""Elementwise: activations, rectifiers, and masks of steps."""

from agog_core.exports import export as _export
from agog_layers.elementwise.activation import *
from agog_layers.elementwise.masking import *
from agog_layers.elementwise.rectifiers import *

_export(globals())
