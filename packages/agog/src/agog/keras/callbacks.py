"""``tf.keras.callbacks``: what is told of each step of a training."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_training.callbacks import *

_export(globals())

__getattr__ = _taught(__name__)
