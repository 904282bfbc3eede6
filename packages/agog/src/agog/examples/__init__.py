"""``tf.examples``: what TensorFlow's tutorials import."""

from agog.examples import tutorials as tutorials
from agog_compat.advice import face as _face

_face(globals(), "tutorials")
