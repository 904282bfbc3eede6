"""Tf layers: variables and layers shared by name, as in ``tf.get_variable`` and ``tf.layers``."""

from agog_core.exports import export as _export
from agog_layers.tf_layers.functions import *
from agog_layers.tf_layers.template import *
from agog_layers.tf_layers.variable_scope import *

_export(globals())
