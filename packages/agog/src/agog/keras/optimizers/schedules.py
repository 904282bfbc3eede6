"""``tf.keras.optimizers.schedules``: learning rates that are computed of the number of steps."""

from agog_compat.advice import face as _face
from agog_training.optimizers.schedules import *

_face(globals())
