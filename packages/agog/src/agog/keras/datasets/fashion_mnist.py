"""``tf.keras.datasets.fashion_mnist``: pictures of clothes."""

from agog_compat.advice import face as _face
from agog_data.datasets.fashion_mnist import load_data as load_data

_face(globals())
