"""``tf.lookup``: values by keys."""

from agog.lookup import experimental as experimental
from agog_compat.advice import face as _face
from agog_compat.lookup.static_tables import *

_face(globals(), "experimental")
