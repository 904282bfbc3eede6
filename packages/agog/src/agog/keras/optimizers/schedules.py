"""``tf.keras.optimizers.schedules``: learning rates that are computed of the number of steps."""

from agog_compat.advice import taught as _taught
from agog_core.exports import export as _export
from agog_training.optimizers.schedules import *

_export(globals())

__getattr__ = _taught(__name__)
