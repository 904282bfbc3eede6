"""``tf.examples.tutorials.mnist``: handwritten digits."""

from agog.examples.tutorials.mnist import input_data as input_data
from agog_compat.advice import face as _face

_face(globals(), "input_data")
