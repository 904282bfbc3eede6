"""``tf.lookup.experimental``: values by keys, which can be added and removed."""

from agog_compat.advice import face as _face
from agog_compat.lookup.experimental_tables import *

_face(globals())
