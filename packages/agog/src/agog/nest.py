"""``tf.nest``: nested tuples, lists and dicts of values."""

from agog_compat.advice import face as _face
from agog_compat.nest.structures import *
from agog_core.nest import flatten as flatten
from agog_core.nest import is_nested as is_nested

_face(globals())
