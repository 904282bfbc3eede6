"""``tf.keras.random``: random numbers with Keras's arguments."""

from agog_compat.advice import face as _face
from agog_keras.random import *

_face(globals())
