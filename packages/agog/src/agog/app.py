"""``tf.app``: how programs start."""

from agog import flags as flags
from agog_compat.advice import face as _face
from agog_compat.app import run as run

_face(globals(), "flags")
