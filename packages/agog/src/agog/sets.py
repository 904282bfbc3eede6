"""``tf.sets``: sets on the last axis."""

from agog_compat.advice import face as _face
from agog_core.ops.sorting.sets import *
from agog_core.ops.sorting.sets import set_difference as difference
from agog_core.ops.sorting.sets import set_intersection as intersection
from agog_core.ops.sorting.sets import set_size as size
from agog_core.ops.sorting.sets import set_union as union

_face(globals())
