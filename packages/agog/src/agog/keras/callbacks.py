"""``tf.keras.callbacks``: what is told of each step of a training."""

from agog_compat.advice import face as _face
from agog_training.callbacks import *

_face(globals())
