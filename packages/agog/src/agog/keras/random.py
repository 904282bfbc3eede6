"""``tf.keras.random``: random numbers with Keras's arguments."""

from agog_compat.advice import taught as _taught
from agog_compat.newer.keras_random import *
from agog_core.exports import export as _export

_export(globals())

__getattr__ = _taught(__name__)
