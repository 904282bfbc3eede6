"""``tf.examples.tutorials``: databases of the tutorials."""

from agog.examples.tutorials import mnist as mnist
from agog_compat.advice import face as _face

_face(globals(), "mnist")
