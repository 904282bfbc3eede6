"""``tf.keras.datasets.california_housing``: prices of houses in California."""

from agog_compat.advice import face as _face
from agog_data.datasets.california_housing import load_data as load_data

_face(globals())
