"""``tf.keras.datasets.boston_housing``: prices of houses around Boston."""

from agog_compat.advice import face as _face
from agog_data.datasets.boston_housing import load_data as load_data

_face(globals())
