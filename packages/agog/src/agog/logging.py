"""``tf.logging``: messages of a program."""

from agog_compat.advice import face as _face
from agog_compat.logging import *

_face(globals())
