"""Attention: layers with weighted means of positions as outputs."""

from agog_core.exports import export as _export
from agog_layers.attention.attention import *
from agog_layers.attention.multi_head_attention import *

_export(globals())
