"""``tf.losses``: means of losses, with weights."""

from agog_compat.advice import face as _face
from agog_layers.losses import *

_face(globals())
