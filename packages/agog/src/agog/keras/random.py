"""``tf.keras.random``: random numbers with Keras's arguments."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_keras.random import *

_export(globals())

__getattr__ = _taught(__name__)
