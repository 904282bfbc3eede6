"""``tf.keras.applications.densenet``: densely connected networks."""

from agog_compat.advice import face as _face
from agog_keras.applications.densenet import *
from agog_keras.applications.imagenet import decode_predictions as decode_predictions
from agog_keras.applications.imagenet import preprocess_input_by_torch as preprocess_input

_face(globals())
