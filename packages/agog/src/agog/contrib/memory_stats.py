"""``tf.contrib.memory_stats``: the memory of the current device."""

from agog_compat.advice import face as _face
from agog_compat.memory_stats import *

_face(globals())
