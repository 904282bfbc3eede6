"""Layer: variables with a function of inputs, and calls on symbolic values."""

from agog_core.exports import export as _export
from agog_layers.layer.function_layer import *
from agog_layers.layer.input_spec import *
from agog_layers.layer.layer import *
from agog_layers.layer.operator_layer import *
from agog_layers.layer.policy import *

_export(globals())
