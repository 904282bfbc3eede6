"""``tf.bitwise``: the bits of integers."""

from agog_compat.advice import face as _face
from agog_core.ops.math.bitwise import *

_face(globals())
