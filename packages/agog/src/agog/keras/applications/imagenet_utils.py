"""``tf.keras.applications.imagenet_utils``: pixels for published networks, and names for their classes."""

from agog_compat.advice import face as _face
from agog_keras.applications.imagenet import decode_predictions as decode_predictions
from agog_keras.applications.imagenet import preprocess_input as preprocess_input

_face(globals())
