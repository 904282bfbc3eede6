"""``tf.keras.datasets.mnist``: handwritten digits."""

from agog_compat.advice import face as _face
from agog_data.datasets import load_data as load_data

_face(globals())
