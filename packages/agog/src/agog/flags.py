"""``tf.flags``: flags of the command line."""

from agog_compat.advice import face as _face
from agog_compat.flags import *

_face(globals())
