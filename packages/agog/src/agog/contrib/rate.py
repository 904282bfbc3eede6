"""``tf.contrib.rate``: how fast values change."""

from agog_compat.advice import face as _face
from agog_compat.rate import Rate as Rate

_face(globals())
