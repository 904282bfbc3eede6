"""``tf.errors``: the exceptions, by TensorFlow's status codes, and those of plugins."""

from agog_compat.advice import face as _face
from agog_compat.error_codes import *
from agog_core.errors import *

_face(globals())
