"""``tf.contrib.nn``: order statistics."""

from agog_compat.advice import face as _face
from agog_core.ops.sorting.sorting import nth_element as nth_element

_face(globals())
