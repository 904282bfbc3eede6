"""``tf.keras.datasets.cifar10``: small pictures of things and animals."""

from agog_compat.advice import face as _face
from agog_data.datasets.cifar10 import load_data as load_data

_face(globals())
