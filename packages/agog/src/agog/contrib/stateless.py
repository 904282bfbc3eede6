"""``tf.contrib.stateless``: random numbers that depend on nothing but a seed of two integers."""

from agog_compat.advice import face as _face
from agog_core.ops.random.stateless import *

_face(globals())
