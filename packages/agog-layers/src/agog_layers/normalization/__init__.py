"""Normalization: layers that fix the mean, variance or norm of activations."""

from agog_core.exports import export as _export
from agog_layers.normalization.batch_normalization import *
from agog_layers.normalization.layer_normalization import *
from agog_layers.normalization.unit_normalization import *

_export(globals())
