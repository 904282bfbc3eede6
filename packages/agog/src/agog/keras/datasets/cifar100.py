"""``tf.keras.datasets.cifar100``: small pictures in a hundred classes."""

from agog_compat.advice import face as _face
from agog_data.datasets.cifar100 import load_data as load_data

_face(globals())
