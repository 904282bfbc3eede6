"""``tf.layers``: layers as classes, and as functions that make a new layer with each call."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_layers import InputSpec as InputSpec
from agog_layers import dropout as dropout
from agog_layers import flatten as flatten
from agog_layers.tf_layers.functions import *
from agog_layers.tf_layers.layers import *

_export(globals())

__getattr__ = _taught(__name__)
