"""Normalizing: layers that give activations a mean and a variance."""

from agog_core.exports import export as _export
from agog_layers.normalizing.batch_normalization import *
from agog_layers.normalizing.normalization import *
from agog_layers.normalizing.unit import *

_export(globals())
