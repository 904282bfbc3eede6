"""Tf layers: variables and layers that are found or made by name, as ``tf.get_variable`` and ``tf.layers`` do."""

from agog_core.exports import export as _export
from agog_layers.tf_layers.functions import *
from agog_layers.tf_layers.template import *
from agog_layers.tf_layers.variable_scope import *

_export(globals())
