"""Keras: metrics with ``update_state``, as in ``tf.keras.metrics``."""

from agog_core.exports import export as _export
from agog_layers.metrics.keras.counts import *
from agog_layers.metrics.keras.means import *
from agog_layers.metrics.keras.metric import *

_export(globals())
